#include "core/graph/graph_stats.h"

#include "core/base/saturate.h"

#include <algorithm>

namespace pw {

namespace {

/// Nested bodies are counted with an explicit stack: their depth comes from the file.
std::int64_t parameterBytesWithBodies(const OpGraph& graph) {
    std::int64_t total = 0;
    std::vector<const OpGraph*> open = {&graph};
    while (!open.empty()) {
        const OpGraph* at = open.back();
        open.pop_back();
        total = addSaturating(total, at->unattachedParameterBytes());
        for (const Op& op : at->ops()) {
            total = addSaturating(total, op.paramBytes);
            for (const Body& body : op.bodies)
                open.push_back(body.graph.get());
        }
    }
    return total;
}

std::size_t longestPath(const OpGraph& graph) {
    std::vector<std::size_t> depth(graph.opCount(), 1);
    std::size_t deepest = 0;
    for (const OpId id : graph.topologicalOrder()) {
        for (const Edge& edge : graph.inEdges(id))
            depth[id.index()] = std::max(depth[id.index()], depth[edge.producer.index()] + 1);
        deepest = std::max(deepest, depth[id.index()]);
    }
    return deepest;
}

} // namespace

GraphStats computeStats(const OpGraph& graph) {
    GraphStats stats;
    stats.ops = graph.opCount();
    stats.opsTotal = graph.opCountWithBodies();
    stats.tensors = graph.tensorCount();
    stats.scopes = graph.scopeCount() - 1;
    stats.parameterBytes = parameterBytesWithBodies(graph);
    std::vector<OpId> producers;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const Op& op = graph.op(OpId(i));
        ++stats.opTypes[op.type];
        ++stats.devices[op.device.empty() ? "(none)" : op.device];
        if (op.flops >= 0.0)
            stats.flops += op.flops;
        else
            ++stats.flopsUnknown;
        producers.clear();
        for (const Edge& edge : graph.inEdges(OpId(i))) {
            if (edge.kind == EdgeKind::Capture)
                continue;
            ++stats.edges;
            stats.controlEdges += edge.kind == EdgeKind::Control ? 1 : 0;
            producers.push_back(edge.producer);
        }
        std::sort(producers.begin(), producers.end());
        stats.edgesDistinct += static_cast<std::size_t>(std::unique(producers.begin(), producers.end()) - producers.begin());
    }
    if (!graph.isCyclic())
        stats.depth = longestPath(graph);
    return stats;
}

} // namespace pw
