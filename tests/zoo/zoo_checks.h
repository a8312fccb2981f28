#pragma once

#include "core/graph/graph_stats.h"
#include "core/zoo/zoo.h"

#include <QtTest>

#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

// What the tests of the zoo's workloads ask about a graph.

namespace pw::test {

/// The workload of a spec; null (and a warning that says why) if there is none.
inline GraphPtr emitted(const std::string& spec) {
    auto graph = zoo::makeFromSpec(spec);
    if (!graph)
        qWarning("%s", graph.error().message.c_str());
    return graph ? *graph : nullptr;
}

inline bool within(double value, double expected, double share) {
    return std::abs(value - expected) <= share * expected;
}

inline double phaseFlops(const OpGraph& graph, Phase phase) {
    double flops = 0.0;
    for (const Op& op : graph.ops())
        flops += op.phase == phase ? op.flops : 0.0;
    return flops;
}

/// Millions of parameters of four bytes.
inline double parametersM(const OpGraph& graph) {
    return static_cast<double>(computeStats(graph).parameterBytes) / 4e6;
}

/// Weakly connected components.
inline std::size_t componentCount(const OpGraph& graph) {
    std::vector<std::size_t> parent(graph.opCount());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t at) {
        while (parent[at] != at)
            at = parent[at] = parent[parent[at]];
        return at;
    };
    std::size_t count = graph.opCount();
    for (const Edge& edge : graph.edges()) {
        const std::size_t a = root(edge.producer.index());
        const std::size_t b = root(edge.consumer.index());
        count -= a != b ? 1 : 0;
        parent[a] = b;
    }
    return count;
}

inline const std::string* attribute(const Op& op, std::string_view key) {
    for (const auto& [name, value] : op.attributes) {
        if (name == key)
            return &value;
    }
    return nullptr;
}

} // namespace pw::test
