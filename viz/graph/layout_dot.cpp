#include "viz/graph/layout_parts.h"

#include "core/base/graphviz_gate.h"

#include <graphviz/gvc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace pw::viz::layout {

namespace {

constexpr double kDotRankGap = 26; ///< wider than kRankGap: branches fan out here
constexpr double kPointsPerInch = 72.0; ///< Graphviz sizes are inches, positions points; a point is a px of ours

/// Context of the process, made once behind the gate: loading Graphviz's plugins takes longer than a layout.
GVC_t* context() {
    static GVC_t* const instance = gvContext();
    return instance;
}

std::array<char, 32> inches(double px) {
    std::array<char, 32> text{};
    // why not to_string: Graphviz reads numbers in the C locale, and so does snprintf as long as nobody sets LC_NUMERIC;
    // integers of 1/1000 avoid the question.
    const long thousandths = static_cast<long>(px / kPointsPerInch * 1000.0 + 0.5);
    std::snprintf(text.data(), text.size(), "%ld.%03ld", thousandths / 1000, thousandths % 1000);
    return text;
}

template<std::size_t N>
std::array<char, N> literal(const char (&text)[N]) {
    std::array<char, N> copy{};
    for (std::size_t i = 0; i < N; ++i)
        copy[i] = text[i];
    return copy;
}

void set(void* object, const char* name, const char* value) {
    auto nameCopy = std::string(name);
    auto valueCopy = std::string(value);
    auto empty = literal("");
    agsafeset(object, nameCopy.data(), valueCopy.data(), empty.data());
}

struct GraphCloser {
    void operator()(Agraph_t* graph) const { agclose(graph); }
};
using DotGraph = std::unique_ptr<Agraph_t, GraphCloser>;

struct Built {
    DotGraph graph;
    std::vector<Agnode_t*> nodes;
    std::vector<Agedge_t*> edges;
};

Built makeGraph(const LayoutInput& input) {
    Built built;
    auto name = literal("scope");
    built.graph.reset(agopen(name.data(), Agdirected, nullptr));
    Agraph_t* const g = built.graph.get();
    set(g, "rankdir", "TB");
    set(g, "nodesep", inches(kBoxGap).data());
    set(g, "ranksep", inches(kDotRankGap).data());
    set(g, "splines", "true");
    // Bounds on network simplex and crossing reduction: a picture soon beats a slightly better one later.
    set(g, "nslimit", "2");
    set(g, "nslimit1", "2");
    set(g, "mclimit", "0.5");
    for (std::size_t i = 0; i < input.boxes.size(); ++i) {
        auto id = std::to_string(i);
        Agnode_t* const node = agnode(g, id.data(), 1);
        set(node, "shape", "box");
        set(node, "fixedsize", "true");
        set(node, "label", "");
        set(node, "width", inches(input.boxes[i].width).data());
        set(node, "height", inches(input.boxes[i].height).data());
        built.nodes.push_back(node);
    }
    for (const LayoutLink& link : input.links) {
        Agedge_t* const edge = agedge(g, built.nodes[link.from], built.nodes[link.to], nullptr, 1);
        set(edge, "tailport", "s");
        set(edge, "headport", "n");
        set(edge, "arrowhead", "none");
        built.edges.push_back(edge);
    }
    return built;
}

void readRoute(ScopeLayout& layout, std::size_t link, Agedge_t* edge, double top, double left) {
    LayoutRoute& route = layout.routes[link];
    const splines* const spl = ED_spl(edge);
    if (spl == nullptr || spl->size < 1 || spl->list[0].size < 4 || (spl->list[0].size - 1) % 3 != 0)
        return;
    route.firstPoint = static_cast<std::uint32_t>(layout.points.size());
    route.pointCount = static_cast<std::uint32_t>(spl->list[0].size);
    route.curve = true;
    for (int i = 0; i < spl->list[0].size; ++i) {
        const pointf p = spl->list[0].list[i];
        layout.points.emplace_back(p.x - left, top - p.y);
    }
}

/// One call of dot. The caller holds the gate.
std::optional<ScopeLayout> runDot(GVC_t* gvc, const LayoutInput& input) {
    const Built built = makeGraph(input);
    if (gvLayout(gvc, built.graph.get(), "dot") != 0)
        return std::nullopt;
    const boxf box = GD_bb(built.graph.get());
    ScopeLayout layout;
    layout.width = box.UR.x - box.LL.x;
    layout.height = box.UR.y - box.LL.y;
    layout.routes.resize(input.links.size());
    for (std::size_t i = 0; i < input.boxes.size(); ++i) {
        const pointf center = ND_coord(built.nodes[i]);
        layout.positions.emplace_back(center.x - box.LL.x - input.boxes[i].width / 2,
                                      box.UR.y - center.y - input.boxes[i].height / 2);
    }
    for (std::size_t i = 0; i < input.links.size(); ++i)
        readRoute(layout, i, built.edges[i], box.UR.y, box.LL.x);
    gvFreeLayout(gvc, built.graph.get());
    return layout;
}

/// Every box as high as the highest of its rank. Nothing if they are already.
std::optional<LayoutInput> levelled(const LayoutInput& input, const ScopeLayout& layout) {
    std::map<long, double> heights; // by middle line, to the half px
    const auto rankOf = [&](std::size_t i) {
        return std::lround(2 * (layout.positions[i].y() + input.boxes[i].height / 2));
    };
    for (std::size_t i = 0; i < input.boxes.size(); ++i) {
        double& height = heights.try_emplace(rankOf(i), 0.0).first->second;
        height = std::max(height, input.boxes[i].height);
    }
    LayoutInput result = input;
    bool changed = false;
    for (std::size_t i = 0; i < input.boxes.size(); ++i) {
        result.boxes[i].height = heights[rankOf(i)];
        changed = changed || result.boxes[i].height > input.boxes[i].height + 0.5;
    }
    return changed ? std::optional(std::move(result)) : std::nullopt;
}

/// Lines that leave a levelled box start at the foot of the real one, which stands at the top.
void extendTails(ScopeLayout& layout, const LayoutInput& input) {
    std::vector<QPointF> points;
    for (std::size_t i = 0; i < input.links.size(); ++i) {
        LayoutRoute& route = layout.routes[i];
        const auto first = static_cast<std::uint32_t>(points.size());
        const QPointF* const old = layout.points.data() + route.firstPoint;
        if (route.pointCount > 0) {
            const std::uint32_t box = input.links[i].from;
            const double foot = layout.positions[box].y() + input.boxes[box].height;
            if (foot < old[0].y() - 0.5) {
                const QPointF start(old[0].x(), foot);
                points.insert(points.end(), {start, start, old[0]});
            }
        }
        points.insert(points.end(), old, old + route.pointCount);
        route.firstPoint = first;
        route.pointCount = static_cast<std::uint32_t>(points.size()) - first;
    }
    layout.points = std::move(points);
}

/// Boxes of one rank have one foot line once they are levelled: the strips between ranks are free of boxes.
struct Ranks {
    std::vector<std::size_t> of; ///< per box
    std::vector<double> top, bottom;
};

Ranks ranksOf(const LayoutInput& levelledInput, const ScopeLayout& layout) {
    std::map<long, std::size_t> numbers;
    Ranks ranks;
    for (const QPointF& position : layout.positions)
        numbers.try_emplace(std::lround(position.y()), 0);
    for (auto& [y, number] : numbers) {
        number = ranks.top.size();
        ranks.top.push_back(static_cast<double>(y));
        ranks.bottom.push_back(0);
    }
    for (std::size_t i = 0; i < layout.positions.size(); ++i) {
        ranks.of.push_back(numbers[std::lround(layout.positions[i].y())]);
        double& bottom = ranks.bottom[ranks.of.back()];
        bottom = std::max(bottom, layout.positions[i].y() + levelledInput.boxes[i].height);
    }
    return ranks;
}

/// Lines to the next rank run down, across, down: easier to follow than flat curves. One height per reader, as long as there
/// are few of them between two ranks.
void squareShortLinks(ScopeLayout& layout, const LayoutInput& input, const LayoutInput& levelledInput) {
    constexpr std::size_t kMostHeights = 4;
    const Ranks ranks = ranksOf(levelledInput, layout);
    std::map<std::size_t, std::vector<std::uint32_t>> readers; // per rank: those that are read from the rank above
    for (const LayoutLink& link : input.links) {
        if (ranks.of[link.from] + 1 != ranks.of[link.to])
            continue;
        auto& list = readers[ranks.of[link.to]];
        if (std::find(list.begin(), list.end(), link.to) == list.end())
            list.push_back(link.to);
    }
    for (std::size_t i = 0; i < input.links.size(); ++i) {
        const LayoutLink& link = input.links[i];
        const std::size_t rank = ranks.of[link.to];
        if (ranks.of[link.from] + 1 != rank || readers[rank].size() > kMostHeights)
            continue;
        const auto& list = readers[rank];
        const auto lane = static_cast<double>(std::find(list.begin(), list.end(), link.to) - list.begin());
        const double gap = ranks.top[rank] - ranks.bottom[rank - 1];
        const double y = ranks.top[rank] - gap * (lane + 1) / static_cast<double>(list.size() + 1);
        const QPointF from = layout.positions[link.from] + QPointF(input.boxes[link.from].width / 2,
                                                                   input.boxes[link.from].height);
        const QPointF to = layout.positions[link.to] + QPointF(input.boxes[link.to].width / 2, 0);
        layout.routes[i] = {static_cast<std::uint32_t>(layout.points.size()), 4, false};
        layout.points.insert(layout.points.end(), {from, {from.x(), y}, {to.x(), y}, to});
        if (std::abs(from.x() - to.x()) < 1.5) { // straight on
            layout.points.resize(layout.points.size() - 4);
            layout.points.insert(layout.points.end(), {from, to});
            layout.routes[i].pointCount = 2;
        }
    }
}

} // namespace

/// dot centres the boxes of a rank on a line. Branches of different length read better when they start on one line, so a
/// second call pretends that all boxes of a rank have one height; the real ones stand at the top of those.
std::optional<ScopeLayout> layoutWithDot(const LayoutInput& input) {
    const auto gate = graphvizGate();
    GVC_t* const gvc = context();
    if (gvc == nullptr)
        return std::nullopt;
    std::optional<ScopeLayout> layout = runDot(gvc, input);
    if (!layout)
        return std::nullopt;
    LayoutInput level = input;
    if (const auto higher = levelled(input, *layout)) {
        if (auto second = runDot(gvc, *higher)) {
            level = *higher;
            layout = std::move(second);
            extendTails(*layout, input);
        }
    }
    squareShortLinks(*layout, input, level);
    return layout;
}

} // namespace pw::viz::layout
