#pragma once

#include "core/learn/placeto_config.h"

#include <span>

namespace pw::learn {

/// Lists of node indices, one per row.
class IndexRows {
public:
    explicit IndexRows(const std::vector<std::vector<std::uint32_t>>& rows = {});
    std::span<const std::uint32_t> operator[](std::size_t row) const {
        return std::span(m_items).subspan(m_start[row], m_start[row + 1] - m_start[row]);
    }
    std::size_t size() const { return m_start.size() - 1; }

private:
    std::vector<std::uint32_t> m_items;
    std::vector<std::size_t> m_start;
};

/// Who is connected to whom in a group graph, for message passing and pools. Immutable.
struct Topology {
    /// `arcs` are distinct (from, to) pairs of a DAG over `count` nodes, `order` one topological order of it.
    Topology(std::size_t count, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& arcs,
             const std::vector<std::uint32_t>& order);

    std::size_t nodeCount = 0;
    std::vector<std::uint32_t> visitOrder;
    IndexRows parents;
    IndexRows children;
    IndexRows forwardLevels;  ///< nodes whose parents are all in earlier levels
    IndexRows backwardLevels; ///< the same for children
    IndexRows ancestors;      ///< every node with a path to this one
    IndexRows descendants;
    IndexRows parallel; ///< no path in either direction
};

/// What Placeto sees of a problem: topology and the features that do not change.
struct PlacetoGraph {
    explicit PlacetoGraph(ProblemPtr problem);
    /// For tests of the network, where there is no problem: costs and sizes as given.
    PlacetoGraph(Topology topology, std::size_t deviceCount, std::vector<double> costUs, std::vector<double> outputBytes);

    bool allowed(std::size_t node, std::size_t device) const { return allowedDevices[node * deviceCount + device] != 0; }

    ProblemPtr problem; ///< may be null
    Topology topology;
    std::size_t deviceCount = 0;
    // Already divided by their maximum.
    std::vector<double> cost;
    std::vector<double> outputSize;
    std::vector<double> memory;
    std::vector<std::uint8_t> allowedDevices;
};

/// What changes from step to step.
struct StepView {
    std::span<const DeviceId> placement;
    std::span<const std::uint32_t> visits; ///< per node, in this episode, before this step
    std::span<const float> startUs;        ///< per node: start of its centre op
    std::size_t node = 0;                  ///< to be placed now
};

/// Writes the features, in the order of Placeto's released code: value c of node n goes to out[n * nodeStride + c * featureStride].
template<class Real>
void writeFeatures(const PlacetoGraph& graph, const PlacetoConfig& config, const StepView& step, Real* out,
                   std::size_t nodeStride, std::size_t featureStride);

} // namespace pw::learn
