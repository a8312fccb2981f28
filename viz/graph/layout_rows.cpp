#include "viz/graph/layout_parts.h"

#include "viz/graph/scene_chunks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pw::viz::layout {

std::vector<std::uint32_t> rankBoxes(const LayoutInput& input) {
    ItemGraph items;
    items.count = input.boxes.size();
    for (const LayoutLink& link : input.links)
        items.edges.emplace_back(link.from, link.to);
    const std::vector<std::uint32_t> order = topologicalItems(items);
    std::vector<std::uint32_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        position[order[i]] = static_cast<std::uint32_t>(i);
    // Links in the order of their tail (head), so that one pass settles each box.
    std::vector<std::uint32_t> byTail(input.links.size());
    std::iota(byTail.begin(), byTail.end(), 0U);
    std::stable_sort(byTail.begin(), byTail.end(), [&](std::uint32_t a, std::uint32_t b) {
        return position[input.links[a].from] < position[input.links[b].from];
    });
    std::vector<std::uint32_t> rank(input.boxes.size(), 0);
    std::vector<bool> isSource(input.boxes.size(), true);
    for (const std::uint32_t i : byTail) {
        const LayoutLink& link = input.links[i];
        if (position[link.from] >= position[link.to])
            continue; // closes a cycle
        rank[link.to] = std::max(rank[link.to], rank[link.from] + 1);
        isSource[link.to] = false;
    }
    std::vector<std::uint32_t> firstReader(input.boxes.size(), std::numeric_limits<std::uint32_t>::max());
    for (const LayoutLink& link : input.links) {
        if (position[link.from] < position[link.to])
            firstReader[link.from] = std::min(firstReader[link.from], rank[link.to]);
    }
    for (std::size_t i = 0; i < rank.size(); ++i) {
        if (isSource[i] && firstReader[i] != std::numeric_limits<std::uint32_t>::max())
            rank[i] = firstReader[i] - 1;
    }
    return rank;
}

Packing packInRows(const std::vector<BoxSize>& sizes, double aspect, double gap) {
    double area = 0;
    double widest = 0;
    for (const BoxSize& size : sizes) {
        area += (size.width + gap) * (size.height + gap);
        widest = std::max(widest, size.width);
    }
    const double limit = std::max(widest, std::sqrt(area * aspect));
    Packing packing;
    double x = 0;
    double y = 0;
    double rowHeight = 0;
    for (const BoxSize& size : sizes) {
        if (x > 0 && x + size.width > limit) {
            y += rowHeight + gap;
            x = 0;
            rowHeight = 0;
        }
        packing.positions.emplace_back(x, y);
        x += size.width + gap;
        rowHeight = std::max(rowHeight, size.height);
        packing.size.width = std::max(packing.size.width, x - gap);
        packing.size.height = y + rowHeight;
    }
    return packing;
}

bool isPath(const Column& column) {
    const std::size_t count = column.boxes.size();
    if (column.graph.links.size() + 1 != count)
        return false;
    std::vector<std::uint8_t> in(count, 0);
    std::vector<std::uint8_t> out(count, 0);
    for (const LayoutLink& link : column.graph.links) {
        if (column.ranks[link.from] + 1 != column.ranks[link.to] || ++out[link.from] > 1 || ++in[link.to] > 1)
            return false;
    }
    return true;
}

ScopeLayout layoutPath(const Column& column) {
    const auto& boxes = column.graph.boxes;
    std::vector<std::uint32_t> order(boxes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return column.ranks[a] < column.ranks[b]; });
    ScopeLayout layout;
    for (const BoxSize& box : boxes)
        layout.width = std::max(layout.width, box.width);
    layout.positions.resize(boxes.size());
    double y = 0;
    for (const std::uint32_t i : order) {
        layout.positions[i] = QPointF((layout.width - boxes[i].width) / 2, y);
        layout.height = y + boxes[i].height;
        y = layout.height + kRankGap;
    }
    for (const LayoutLink& link : column.graph.links) {
        layout.routes.push_back({static_cast<std::uint32_t>(layout.points.size()), 2, false});
        layout.points.emplace_back(layout.width / 2, layout.positions[link.from].y() + boxes[link.from].height);
        layout.points.emplace_back(layout.width / 2, layout.positions[link.to].y());
    }
    return layout;
}

namespace {

/// Two sweeps of the barycentre rule: each box goes to the middle of what it reads, then of what reads it.
std::vector<std::vector<std::uint32_t>> orderedRows(const LayoutInput& graph, const std::vector<std::uint32_t>& ranks) {
    const std::uint32_t last = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
    std::vector<std::vector<std::uint32_t>> rows(static_cast<std::size_t>(last) + 1);
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        rows[ranks[i]].push_back(i);
    std::vector<double> place(ranks.size(), 0);
    const auto settle = [&](const std::vector<std::uint32_t>& row) {
        for (std::size_t i = 0; i < row.size(); ++i)
            place[row[i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(row.size());
    };
    for (const auto& row : rows)
        settle(row);
    for (int sweep = 0; sweep < 4; ++sweep) {
        const bool down = sweep % 2 == 0;
        std::vector<double> sum(ranks.size(), 0);
        std::vector<double> count(ranks.size(), 0);
        for (const LayoutLink& link : graph.links) {
            const std::uint32_t at = down ? link.to : link.from;
            const std::uint32_t other = down ? link.from : link.to;
            sum[at] += place[other];
            count[at] += 1;
        }
        for (auto& row : rows) {
            std::stable_sort(row.begin(), row.end(), [&](std::uint32_t a, std::uint32_t b) {
                const double left = count[a] > 0 ? sum[a] / count[a] : place[a];
                const double right = count[b] > 0 ? sum[b] / count[b] : place[b];
                return left < right;
            });
            settle(row);
        }
    }
    return rows;
}

void addCurve(ScopeLayout& layout, const LayoutInput& graph, const LayoutLink& link) {
    const QPointF a = layout.positions[link.from] +
                      QPointF(graph.boxes[link.from].width / 2, graph.boxes[link.from].height);
    const QPointF b = layout.positions[link.to] + QPointF(graph.boxes[link.to].width / 2, 0);
    const double bend = std::max(kRankGap, std::abs(b.y() - a.y()) / 3);
    layout.routes.push_back({static_cast<std::uint32_t>(layout.points.size()), 4, true});
    layout.points.insert(layout.points.end(), {a, a + QPointF(0, bend), b - QPointF(0, bend), b});
}

} // namespace

ScopeLayout layoutInRows(const LayoutInput& graph, const std::vector<std::uint32_t>& ranks) {
    double area = 0;
    double widest = 0;
    for (const BoxSize& box : graph.boxes) {
        area += (box.width + kBoxGap) * (box.height + kRankGap);
        widest = std::max(widest, box.width);
    }
    const double limit = std::max(widest, std::sqrt(area * graph.aspect * 1.5));
    ScopeLayout layout;
    layout.positions.resize(graph.boxes.size());
    double y = 0;
    std::vector<std::pair<std::vector<std::uint32_t>, double>> lines; // boxes and width of each line
    for (const auto& row : orderedRows(graph, ranks)) {
        lines.clear();
        for (const std::uint32_t i : row) {
            if (lines.empty() || lines.back().second + kBoxGap + graph.boxes[i].width > limit)
                lines.emplace_back(std::vector<std::uint32_t>{}, -kBoxGap);
            lines.back().first.push_back(i);
            lines.back().second += kBoxGap + graph.boxes[i].width;
        }
        for (const auto& [boxes, width] : lines) {
            double x = (limit - width) / 2;
            double height = 0;
            for (const std::uint32_t i : boxes) {
                layout.positions[i] = QPointF(x, y);
                x += graph.boxes[i].width + kBoxGap;
                height = std::max(height, graph.boxes[i].height);
            }
            layout.height = y + height;
            y += height + kRankGap;
        }
        y += kRankGap; // a rank ends: room for its edges
    }
    double left = limit;
    double right = 0;
    for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
        left = std::min(left, layout.positions[i].x());
        right = std::max(right, layout.positions[i].x() + graph.boxes[i].width);
    }
    for (QPointF& position : layout.positions)
        position.rx() -= left;
    layout.width = std::max(0.0, right - left);
    for (const LayoutLink& link : graph.links)
        addCurve(layout, graph, link);
    return layout;
}

} // namespace pw::viz::layout
