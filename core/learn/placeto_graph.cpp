#include "core/learn/placeto_graph.h"

#include "core/graph/reachability.h"

#include <algorithm>
#include <cmath>

namespace pw::learn {

namespace {

using Rows = std::vector<std::vector<std::uint32_t>>;

/// Nodes by the length of the longest path that leads to them over `before`.
Rows levelsOf(const IndexRows& before, const std::vector<std::uint32_t>& order) {
    std::vector<std::size_t> level(order.size(), 0);
    Rows levels;
    for (const auto node : order) {
        for (const auto other : before[node])
            level[node] = std::max(level[node], level[other] + 1);
        if (levels.size() <= level[node])
            levels.resize(level[node] + 1);
        levels[level[node]].push_back(node);
    }
    return levels;
}

void divideByMaximum(std::vector<double>& values) {
    const double maximum = values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
    if (maximum > 0.0)
        for (auto& value : values)
            value /= maximum;
}

Topology topologyOf(const Grouping& grouping) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
    for (const auto& arc : grouping.arcs)
        arcs.emplace_back(arc.from.value(), arc.to.value());
    std::vector<std::uint32_t> order;
    for (const auto group : grouping.order)
        order.push_back(group.value());
    return Topology(grouping.groupCount(), arcs, order);
}

/// The code has one cost per op for all devices; on a mixed set this is the mean over the devices the group may use.
double meanCostUs(const PlacementProblem& problem, GroupId group) {
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t d = 0; d < problem.deviceCount(); ++d) {
        if (problem.allowed(group, DeviceId(d))) {
            sum += problem.groupCostUs(group, DeviceId(d));
            count += 1.0;
        }
    }
    return count > 0.0 ? sum / count : 0.0;
}

/// First outputs of the members.
double firstOutputBytes(const PlacementProblem& problem, GroupId group) {
    double sum = 0.0;
    for (const auto op : problem.grouping().members[group.index()]) {
        const auto outputs = problem.graph().outputs(op);
        if (!outputs.empty())
            sum += static_cast<double>(problem.graph().tensor(outputs[0]).bytes);
    }
    return sum;
}

} // namespace

IndexRows::IndexRows(const Rows& rows) : m_start{0} {
    for (const auto& row : rows) {
        m_items.insert(m_items.end(), row.begin(), row.end());
        m_start.push_back(m_items.size());
    }
}

Topology::Topology(std::size_t count, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& arcs,
                   const std::vector<std::uint32_t>& order)
    : nodeCount(count), visitOrder(order) {
    Rows parentRows(count);
    Rows childRows(count);
    for (const auto& [from, to] : arcs) {
        parentRows[to].push_back(from);
        childRows[from].push_back(to);
    }
    parents = IndexRows(parentRows);
    children = IndexRows(childRows);
    forwardLevels = IndexRows(levelsOf(parents, order));
    backwardLevels = IndexRows(levelsOf(children, std::vector<std::uint32_t>(order.rbegin(), order.rend())));

    const Reachability reach(count, arcs, order);
    Rows above(count);
    Rows below(count);
    Rows beside(count);
    for (std::size_t v = 0; v < count; ++v) {
        for (std::size_t u = 0; u < count; ++u) {
            if (u == v)
                continue;
            auto& rows = reach.reaches(u, v) ? above : reach.reaches(v, u) ? below : beside;
            rows[v].push_back(static_cast<std::uint32_t>(u));
        }
    }
    ancestors = IndexRows(above);
    descendants = IndexRows(below);
    parallel = IndexRows(beside);
}

PlacetoGraph::PlacetoGraph(ProblemPtr source)
    : problem(std::move(source)), topology(topologyOf(problem->grouping())), deviceCount(problem->deviceCount()) {
    for (std::size_t g = 0; g < topology.nodeCount; ++g) {
        cost.push_back(meanCostUs(*problem, GroupId(g)));
        outputSize.push_back(static_cast<double>(problem->groupOutputBytes(GroupId(g))));
        memory.push_back(firstOutputBytes(*problem, GroupId(g)));
        for (std::size_t d = 0; d < deviceCount; ++d)
            allowedDevices.push_back(problem->allowed(GroupId(g), DeviceId(d)) ? 1 : 0);
    }
    divideByMaximum(cost);
    divideByMaximum(outputSize);
    divideByMaximum(memory);
}

PlacetoGraph::PlacetoGraph(Topology given, std::size_t devices, std::vector<double> costUs, std::vector<double> outputBytes)
    : topology(std::move(given)), deviceCount(devices), cost(std::move(costUs)), outputSize(std::move(outputBytes)),
      memory(outputSize), allowedDevices(topology.nodeCount * devices, 1) {
    divideByMaximum(cost);
    divideByMaximum(outputSize);
    divideByMaximum(memory);
}

template<class Real>
void writeFeatures(const PlacetoGraph& graph, const PlacetoConfig& config, const StepView& step, Real* out,
                   std::size_t nodeStride, std::size_t featureStride) {
    const std::size_t n = graph.topology.nodeCount;
    // Shifted so that the current node is at 0; the reference divides by the maximum and leaves raw microseconds where
    // that is 0 (the current node starts last), `safe` divides by the largest magnitude.
    const double shift = step.startUs[step.node];
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double value = static_cast<double>(step.startUs[i]) - shift;
        largest = std::max(largest, config.features == PlacetoConfig::Features::Safe ? std::abs(value) : value);
    }
    const double scale = largest > 0.0 ? 1.0 / largest : 1.0;
    const std::size_t oneHot = config.shape.memoryAttribute ? 6 : 5;
    for (std::size_t i = 0; i < n; ++i) {
        Real* row = out + i * nodeStride;
        row[0] = static_cast<Real>(graph.cost[i]);
        row[featureStride] = static_cast<Real>(graph.outputSize[i]);
        row[2 * featureStride] = static_cast<Real>(step.visits[i]);
        row[3 * featureStride] = static_cast<Real>(i == step.node ? 1 : 0);
        row[4 * featureStride] = static_cast<Real>((static_cast<double>(step.startUs[i]) - shift) * scale);
        if (config.shape.memoryAttribute)
            row[5 * featureStride] = static_cast<Real>(graph.memory[i]);
        for (std::size_t d = 0; d < graph.deviceCount; ++d)
            row[(oneHot + d) * featureStride] = static_cast<Real>(step.placement[i].index() == d ? 1 : 0);
    }
}

template void writeFeatures<float>(const PlacetoGraph&, const PlacetoConfig&, const StepView&, float*, std::size_t, std::size_t);
template void writeFeatures<double>(const PlacetoGraph&, const PlacetoConfig&, const StepView&, double*, std::size_t, std::size_t);

} // namespace pw::learn
