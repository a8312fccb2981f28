#include "viz/graph/layout_parts.h"

#include "core/base/graphviz_gate.h"

#include <graphviz/gvc.h>

#include <array>
#include <cstdio>
#include <memory>

namespace pw::viz::layout {

namespace {

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
    set(g, "ranksep", inches(kRankGap).data());
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

} // namespace

std::optional<ScopeLayout> layoutWithDot(const LayoutInput& input) {
    const auto gate = graphvizGate();
    GVC_t* const gvc = context();
    if (gvc == nullptr)
        return std::nullopt;
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

} // namespace pw::viz::layout
