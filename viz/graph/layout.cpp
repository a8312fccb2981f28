#include "viz/graph/layout.h"

#include "core/base/hash.h"
#include "viz/graph/layout_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace pw::viz {

namespace layout {
namespace {

/// Boxes and links of one connected part, with their ranks.
using Part = Column;

constexpr int kMaxLanes = 8; ///< beyond these, lines of different sources share a lane
constexpr double kGutter = 20;

std::uint32_t findRoot(std::vector<std::uint32_t>& parent, std::uint32_t at) {
    while (parent[at] != at) {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    return at;
}

/// Picks boxes out of an input. `keep` holds them in order; links with both ends in it go along.
std::vector<Part> splitBy(const LayoutInput& input, const std::vector<std::uint32_t>& partOf, std::size_t count) {
    std::vector<Part> parts(count);
    std::vector<std::uint32_t> local(input.boxes.size());
    for (Part& part : parts)
        part.graph.aspect = input.aspect;
    for (std::uint32_t i = 0; i < input.boxes.size(); ++i) {
        Part& part = parts[partOf[i]];
        local[i] = static_cast<std::uint32_t>(part.boxes.size());
        part.boxes.push_back(i);
        part.graph.boxes.push_back(input.boxes[i]);
        if (!input.closed.empty())
            part.graph.closed.push_back(input.closed[i]);
    }
    for (std::uint32_t i = 0; i < input.links.size(); ++i) {
        const LayoutLink& link = input.links[i];
        if (partOf[link.from] != partOf[link.to])
            continue;
        Part& part = parts[partOf[link.from]];
        part.links.push_back(i);
        part.graph.links.push_back({local[link.from], local[link.to]});
    }
    return parts;
}

/// Connected parts in the order of their first box; boxes without any link come together as the last part.
std::vector<Part> connectedParts(const LayoutInput& input, bool& lastIsLoose) {
    std::vector<std::uint32_t> parent(input.boxes.size());
    std::iota(parent.begin(), parent.end(), 0U);
    std::vector<bool> linked(input.boxes.size(), false);
    for (const LayoutLink& link : input.links) {
        linked[link.from] = linked[link.to] = true;
        const std::uint32_t a = findRoot(parent, link.from);
        const std::uint32_t b = findRoot(parent, link.to);
        parent[std::max(a, b)] = std::min(a, b);
    }
    std::vector<std::uint32_t> partOf(input.boxes.size(), 0);
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < input.boxes.size(); ++i) {
        if (linked[i])
            partOf[i] = numbers.try_emplace(findRoot(parent, i), static_cast<std::uint32_t>(numbers.size())).first->second;
    }
    const auto loose = static_cast<std::uint32_t>(numbers.size());
    lastIsLoose = false;
    for (std::uint32_t i = 0; i < input.boxes.size(); ++i) {
        if (!linked[i]) {
            partOf[i] = loose;
            lastIsLoose = true;
        }
    }
    return splitBy(input, partOf, numbers.size() + (lastIsLoose ? 1 : 0));
}

// --- columns ---------------------------------------------------------------------------------------------------------

/// What every rank of a part needs: for deciding where to cut.
struct RankProfile {
    std::vector<double> height; ///< with the gap below
    std::vector<double> width;
    std::vector<std::uint32_t> crossing; ///< links over the boundary above the rank
    double totalHeight = 0;
};

RankProfile profileOf(const Part& part, const std::vector<BoxSize>& sizes) {
    const std::size_t ranks = *std::max_element(part.ranks.begin(), part.ranks.end()) + 1U;
    RankProfile profile;
    profile.height.assign(ranks, 0);
    profile.width.assign(ranks, -kBoxGap);
    profile.crossing.assign(ranks + 1, 0);
    for (std::size_t i = 0; i < part.ranks.size(); ++i) {
        profile.height[part.ranks[i]] = std::max(profile.height[part.ranks[i]], sizes[i].height + kRankGap);
        profile.width[part.ranks[i]] += sizes[i].width + kBoxGap;
    }
    for (const LayoutLink& link : part.graph.links) {
        const auto [low, high] = std::minmax(part.ranks[link.from], part.ranks[link.to]);
        for (std::uint32_t r = low + 1; r <= high; ++r)
            ++profile.crossing[r];
    }
    profile.totalHeight = std::accumulate(profile.height.begin(), profile.height.end(), 0.0);
    return profile;
}

/// First rank of each column when columns are about `target` high: the cut is made late, at the fewest crossing links.
std::vector<std::size_t> cutRanks(const RankProfile& profile, double target) {
    std::vector<std::size_t> starts = {0};
    const std::size_t ranks = profile.height.size();
    while (true) {
        std::size_t best = ranks;
        double sum = 0;
        double left = 0;
        for (std::size_t r = starts.back(); r < ranks; ++r)
            left += profile.height[r];
        if (left <= target * 1.15)
            return starts;
        for (std::size_t r = starts.back(); r < ranks; ++r) {
            if (r > starts.back() && sum >= 0.7 * target && (best == ranks || profile.crossing[r] <= profile.crossing[best]))
                best = r;
            sum += profile.height[r];
            if (sum > target * 1.05 && best != ranks)
                break;
        }
        if (best == ranks)
            return starts;
        starts.push_back(best);
    }
}

double widthOf(const RankProfile& profile, const std::vector<std::size_t>& starts, double& height) {
    double width = 0;
    height = 0;
    for (std::size_t c = 0; c < starts.size(); ++c) {
        const std::size_t end = c + 1 < starts.size() ? starts[c + 1] : profile.height.size();
        double widest = 0;
        double sum = 0;
        for (std::size_t r = starts[c]; r < end; ++r) {
            widest = std::max(widest, profile.width[r]);
            sum += profile.height[r];
        }
        width += widest + (c > 0 ? kGutter + 8 : 0);
        height = std::max(height, sum);
    }
    return width;
}

/// The number of columns whose outline comes nearest to the wanted aspect; one where the part is low anyway.
std::vector<std::size_t> chooseColumns(const RankProfile& profile, double aspect) {
    const double longChain = static_cast<double>(kLongChain) * 62; // why 62: a closed scope and its gap
    if (profile.height.size() <= kLongChain && profile.totalHeight <= longChain)
        return {0};
    std::vector<std::size_t> best = {0};
    double bestCost = std::numeric_limits<double>::infinity();
    const std::size_t most = std::min<std::size_t>(profile.height.size(), 24);
    for (std::size_t columns = 1; columns <= most; ++columns) {
        const auto starts = cutRanks(profile, profile.totalHeight / static_cast<double>(columns));
        double height = 0;
        const double width = widthOf(profile, starts, height);
        double cost = std::abs(std::log(width / height / aspect)) + 0.1 * static_cast<double>(starts.size() - 1);
        for (std::size_t c = 1; c < starts.size(); ++c)
            cost += 0.02 * profile.crossing[starts[c]];
        if (cost < bestCost) {
            bestCost = cost;
            best = starts;
        }
    }
    return best;
}

/// Columns as they were chosen for closed boxes, if those still give a picture of about the wanted shape.
std::vector<std::size_t> stableColumns(const Part& part) {
    const RankProfile real = profileOf(part, part.graph.boxes);
    if (!part.graph.closed.empty()) {
        constexpr double kOutOfShape = 1.6; // factor off the wanted aspect
        const auto starts = chooseColumns(profileOf(part, part.graph.closed), part.graph.aspect);
        double height = 0;
        const double width = widthOf(real, starts, height);
        if (std::abs(std::log(width / height / part.graph.aspect)) < std::log(kOutOfShape))
            return starts;
    }
    return chooseColumns(real, part.graph.aspect);
}

ScopeLayout layoutColumn(const Column& column) {
    if (isPath(column))
        return layoutPath(column);
    const RankProfile profile = profileOf(column, column.graph.boxes);
    const double widest = *std::max_element(profile.width.begin(), profile.width.end());
    const bool flat = widest > 6 * column.graph.aspect * profile.totalHeight;
    if (!flat && column.boxes.size() <= kMaxDotBoxes && column.graph.links.size() <= kMaxDotLinks) {
        if (auto layout = layoutWithDot(column.graph))
            return *std::move(layout);
    }
    return layoutInRows(column.graph, column.ranks);
}

/// The free strips above and below the row that a box stands in.
struct Strips {
    std::vector<double> top;
    std::vector<double> bottom;
};

Strips stripsOf(const ScopeLayout& layout, const std::vector<BoxSize>& boxes) {
    std::vector<std::uint32_t> order(boxes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return layout.positions[a].y() < layout.positions[b].y();
    });
    Strips strips;
    strips.top.resize(boxes.size());
    strips.bottom.resize(boxes.size());
    for (std::size_t i = 0; i < order.size();) {
        const double top = layout.positions[order[i]].y();
        double bottom = top + boxes[order[i]].height;
        std::size_t end = i + 1;
        while (end < order.size() && layout.positions[order[end]].y() < bottom) {
            bottom = std::max(bottom, layout.positions[order[end]].y() + boxes[order[end]].height);
            ++end;
        }
        for (; i < end; ++i) {
            strips.top[order[i]] = top;
            strips.bottom[order[i]] = bottom;
        }
    }
    return strips;
}

/// Puts the columns of one part side by side and draws the links between them through the gutters.
class ColumnJoiner {
public:
    ColumnJoiner(const Part& part, std::vector<Column> columns) : m_part(part), m_columns(std::move(columns)) {}

    ScopeLayout join() {
        placeLanes();
        m_result.positions.resize(m_part.boxes.size());
        m_result.routes.resize(m_part.links.size());
        m_result.height = m_top;
        double x = gutterWidth(0, m_usesFirstGutter);
        for (std::size_t c = 0; c < m_columns.size(); ++c) {
            m_gutterX.push_back(x - gutterWidth(c, true) + kGutter / 2);
            x += placeColumn(c, x);
            m_result.width = x;
            x += gutterWidth(c + 1, true);
        }
        m_gutterX.push_back(m_result.width + kGutter / 2);
        for (std::size_t i = 0; i < m_part.links.size(); ++i) {
            const LayoutLink& link = m_part.graph.links[i];
            if (m_columnOf[link.from] != m_columnOf[link.to])
                routeAcross(i, link);
        }
        if (m_usesLastGutter)
            m_result.width += gutterWidth(m_columns.size(), true);
        return std::move(m_result);
    }

private:
    struct Place {
        double top = 0;
        double bottom = 0;
    };

    double gutterWidth(std::size_t gutter, bool used) const {
        return used ? kGutter + kLane * std::min<double>(kMaxLanes, static_cast<double>(m_lanes[gutter].size())) : 0;
    }
    double lane(std::size_t gutter, std::uint32_t source) const {
        return kLane * (m_lanes[gutter].at(source) % kMaxLanes);
    }

    void claim(std::size_t gutter, std::uint32_t source) {
        m_lanes[gutter].try_emplace(source, static_cast<int>(m_lanes[gutter].size()));
    }

    void placeLanes() {
        m_columnOf.resize(m_part.boxes.size());
        for (std::uint32_t c = 0; c < m_columns.size(); ++c) {
            for (const std::uint32_t box : m_columns[c].boxes)
                m_columnOf[box] = c;
        }
        m_lanes.resize(m_columns.size() + 1); // gutter c is left of column c
        int busLanes = 0;
        for (const LayoutLink& link : m_part.graph.links) {
            const std::uint32_t a = m_columnOf[link.from];
            const std::uint32_t b = m_columnOf[link.to];
            if (a == b)
                continue;
            claim(a + 1, link.from);
            m_usesLastGutter = m_usesLastGutter || a + 1 == m_columns.size();
            if (b == a + 1)
                continue;
            claim(b, link.from);
            m_usesFirstGutter = m_usesFirstGutter || b == 0;
            if (m_busLane.try_emplace(link.from, busLanes % kMaxLanes).second)
                ++busLanes;
        }
        m_top = busLanes == 0 ? 0 : 8 + kLane * std::min(busLanes, kMaxLanes);
        for (const auto& lanes : m_lanes) // room above the columns for lines that come up a gutter
            m_top = std::max(m_top, lanes.empty() ? 0.0 : kRankGap / 2 + 2);
    }

    double placeColumn(std::size_t c, double x) {
        const Column& column = m_columns[c];
        const ScopeLayout inner = layoutColumn(column);
        const Strips strips = stripsOf(inner, column.graph.boxes);
        m_strips.resize(m_part.boxes.size());
        const QPointF shift(x, m_top);
        for (std::size_t i = 0; i < column.boxes.size(); ++i) {
            m_result.positions[column.boxes[i]] = inner.positions[i] + shift;
            m_strips[column.boxes[i]] = {strips.top[i] + m_top, strips.bottom[i] + m_top};
        }
        for (std::size_t i = 0; i < column.links.size(); ++i) {
            LayoutRoute route = inner.routes[i];
            const std::uint32_t first = route.firstPoint;
            route.firstPoint = static_cast<std::uint32_t>(m_result.points.size());
            for (std::uint32_t p = 0; p < route.pointCount; ++p)
                m_result.points.push_back(inner.points[first + p] + shift);
            m_result.routes[column.links[i]] = route;
        }
        m_result.height = std::max(m_result.height, m_top + inner.height + (m_lanes[c + 1].empty() ? 0 : kRankGap));
        return inner.width;
    }

    void routeAcross(std::size_t index, const LayoutLink& link) {
        const std::uint32_t a = m_columnOf[link.from];
        const std::uint32_t b = m_columnOf[link.to];
        const QPointF from = m_result.positions[link.from] + QPointF(m_part.graph.boxes[link.from].width / 2,
                                                                     m_part.graph.boxes[link.from].height);
        const QPointF to = m_result.positions[link.to] + QPointF(m_part.graph.boxes[link.to].width / 2, 0);
        const double below = m_strips[link.from].bottom + kRankGap / 2;
        const double above = m_strips[link.to].top - kRankGap / 2;
        const double right = m_gutterX[a + 1] + lane(a + 1, link.from);
        auto& points = m_result.points;
        LayoutRoute& route = m_result.routes[index];
        route.firstPoint = static_cast<std::uint32_t>(points.size());
        points.insert(points.end(), {from, {from.x(), below}, {right, below}});
        double turn = right;
        if (b != a + 1) {
            turn = m_gutterX[b] + lane(b, link.from);
            const double bus = m_top - 10 - kLane * m_busLane.at(link.from);
            points.insert(points.end(), {{right, bus}, {turn, bus}});
        }
        points.insert(points.end(), {{turn, above}, {to.x(), above}, to});
        route.pointCount = static_cast<std::uint32_t>(points.size()) - route.firstPoint;
    }

    const Part& m_part;
    std::vector<Column> m_columns;
    std::vector<std::uint32_t> m_columnOf;
    std::vector<std::map<std::uint32_t, int>> m_lanes; ///< per gutter: lane of a source box
    std::map<std::uint32_t, int> m_busLane;            ///< above the columns
    std::vector<double> m_gutterX;
    std::vector<Place> m_strips;
    ScopeLayout m_result;
    double m_top = 0;
    bool m_usesFirstGutter = false;
    bool m_usesLastGutter = false;
};

ScopeLayout layoutPart(Part& part) {
    part.ranks = rankBoxes(part.graph);
    const std::vector<std::size_t> starts = stableColumns(part);
    std::vector<std::uint32_t> columnOf(part.boxes.size());
    for (std::size_t i = 0; i < part.boxes.size(); ++i) {
        const auto after = std::upper_bound(starts.begin(), starts.end(), part.ranks[i]);
        columnOf[i] = static_cast<std::uint32_t>(after - starts.begin()) - 1;
    }
    std::vector<Column> columns = splitBy(part.graph, columnOf, starts.size());
    for (Column& column : columns) {
        std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
        for (const std::uint32_t box : column.boxes) {
            column.ranks.push_back(part.ranks[box]);
            least = std::min(least, part.ranks[box]);
        }
        for (std::uint32_t& rank : column.ranks)
            rank -= least;
    }
    if (columns.size() == 1)
        return layoutColumn(columns.front());
    return ColumnJoiner(part, std::move(columns)).join();
}

ScopeLayout layoutLoose(const Part& part) {
    const Packing packing = packInRows(part.graph.boxes, part.graph.aspect, kBoxGap);
    ScopeLayout layout;
    layout.width = packing.size.width;
    layout.height = packing.size.height;
    layout.positions = packing.positions;
    return layout;
}

} // namespace
} // namespace layout

ScopeLayout layoutScope(const LayoutInput& input) {
    ScopeLayout result;
    result.positions.resize(input.boxes.size());
    result.routes.resize(input.links.size());
    if (input.boxes.empty())
        return result;
    bool lastIsLoose = false;
    std::vector<layout::Part> parts = layout::connectedParts(input, lastIsLoose);
    std::vector<ScopeLayout> layouts;
    std::vector<BoxSize> sizes;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool loose = lastIsLoose && i + 1 == parts.size();
        layouts.push_back(loose ? layout::layoutLoose(parts[i]) : layout::layoutPart(parts[i]));
        sizes.push_back({layouts.back().width, layouts.back().height});
    }
    const layout::Packing packing = layout::packInRows(sizes, input.aspect, layout::kRankGap);
    result.width = packing.size.width;
    result.height = packing.size.height;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const QPointF shift = packing.positions[p];
        for (std::size_t i = 0; i < parts[p].boxes.size(); ++i)
            result.positions[parts[p].boxes[i]] = layouts[p].positions[i] + shift;
        for (std::size_t i = 0; i < parts[p].links.size(); ++i) {
            LayoutRoute route = layouts[p].routes[i];
            const std::uint32_t first = route.firstPoint;
            route.firstPoint = static_cast<std::uint32_t>(result.points.size());
            for (std::uint32_t k = 0; k < route.pointCount; ++k)
                result.points.push_back(layouts[p].points[first + k] + shift);
            result.routes[parts[p].links[i]] = route;
        }
    }
    return result;
}

} // namespace pw::viz
