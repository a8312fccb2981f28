#include "tests/learn/learn_support.h"

#include "tests/support/graph_dsl.h"

#include <cmath>
#include <stdexcept>

namespace pw::test {

using namespace learn;

PlacetoGraph w3Graph(std::size_t devices) {
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}, {4, 5}};
    return {Topology(6, arcs, {0, 1, 2, 3, 4, 5}), devices, {40, 200, 200, 200, 60, 10},
            {380000, 190000, 190000, 190000, 7600, 1000}};
}

std::vector<double> oracleWeights(const NetLayout& layout) {
    std::vector<double> weights(layout.parameterCount);
    for (std::size_t l = 0; l < layout.layers.size(); ++l) {
        const auto& layer = layout.layers[l];
        const auto number = static_cast<double>(l);
        for (std::size_t r = 0; r < layer.in; ++r) {
            for (std::size_t c = 0; c < layer.out; ++c) {
                const auto row = static_cast<double>(r);
                const auto column = static_cast<double>(c);
                weights[layer.weight + r * layer.out + c] =
                    0.3 * std::sin(1.7 * number + 0.9 * row + 1.3 * column + 0.1 * row * column);
            }
        }
        for (std::size_t c = 0; c < layer.out; ++c)
            weights[layer.bias + c] = 0.05 * std::cos(number + static_cast<double>(c));
    }
    return weights;
}

OracleState oracleState() {
    return {placementOf({0, 0, 1, 1, 0, 0}), {1, 1, 0, 0, 0, 0}, {0.0F, 45.7F, 90.0F, 295.7F, 520.7F, 586.4F}};
}

template<class Real>
StepBatch<Real> someSteps(const PlacetoGraph& graph, const PlacetoConfig& config, std::uint64_t seed) {
    Rng rng(seed);
    const std::size_t n = graph.topology.nodeCount;
    const std::size_t width = config.shape.featureCount();
    StepBatch<Real> batch;
    batch.steps = n;
    batch.features.resize(n * n * width);
    std::vector<std::uint32_t> visits(n, 0);
    std::vector<DeviceId> placement;
    for (std::size_t i = 0; i < n; ++i)
        placement.emplace_back(static_cast<std::size_t>(rng.below(graph.deviceCount)));
    std::vector<float> starts(n);
    for (std::size_t s = 0; s < n; ++s) {
        const auto node = graph.topology.visitOrder[s];
        for (auto& start : starts)
            start = static_cast<float>(1000.0 * rng.uniform());
        writeFeatures(graph, config, {placement, visits, starts, node}, batch.features.data() + s * width, n * width, 1);
        batch.nodes.push_back(node);
        batch.actions.push_back(static_cast<std::uint32_t>(rng.below(graph.deviceCount)));
        batch.advantages.push_back(static_cast<Real>(rng.normal()));
        for (std::size_t d = 0; d < graph.deviceCount; ++d)
            batch.allowed.push_back(1);
        placement[node] = DeviceId(batch.actions.back());
        ++visits[node];
    }
    return batch;
}

template StepBatch<float> someSteps(const PlacetoGraph&, const PlacetoConfig&, std::uint64_t);
template StepBatch<double> someSteps(const PlacetoGraph&, const PlacetoConfig&, std::uint64_t);

PlacetoConfig config(const std::map<std::string, std::string>& parameters, std::size_t devices) {
    return makePlacetoConfig(parameters, devices).value();
}

ProblemPtr problemOf(const GraphPtr& graph, std::size_t devices, SimModel model, std::int64_t memoryBytes) {
    std::vector<Device> list;
    std::vector<Link> links;
    for (std::size_t i = 0; i < devices; ++i) {
        list.push_back({"gpu:" + std::to_string(i), "gpu", "test", memoryBytes, 1e6, 1e5, 5.7});
        for (std::size_t j = 0; j < devices; ++j)
            if (i != j)
                links.push_back({DeviceId(i), DeviceId(j), 7600.0, 25.0, ""});
    }
    auto set = DeviceSet::create("test set", std::move(list), std::move(links));
    if (!set)
        throw std::runtime_error(set.error().toString());
    SimOptions options;
    options.model = model;
    auto problem = PlacementProblem::compile(graph, *set, trivialGrouping(*graph), options);
    if (!problem)
        throw std::runtime_error(problem.error().toString());
    return *problem;
}

} // namespace pw::test
