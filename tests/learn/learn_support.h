#pragma once

#include "core/learn/placeto_gradient.h"
#include "core/sim/problem.h"

namespace pw::test {

/// W3 as a Placeto graph, one node per op; no problem behind it.
learn::PlacetoGraph w3Graph(std::size_t devices = 2);

/// The weights of the oracle: W_L[r][c] = 0.3 sin(1.7 L + 0.9 r + 1.3 c + 0.1 r c), b_L[c] = 0.05 cos(L + c).
std::vector<double> oracleWeights(const learn::NetLayout& layout);

/// The state of the oracle as one step of node n2.
struct OracleState {
    std::vector<DeviceId> placement;
    std::vector<std::uint32_t> visits;
    std::vector<float> startUs;
    learn::StepView view() const { return {placement, visits, startUs, 2}; }
};
OracleState oracleState();

/// A few steps of an episode on `graph` with made-up start times, for comparisons of the two networks.
template<class Real>
learn::StepBatch<Real> someSteps(const learn::PlacetoGraph& graph, const learn::PlacetoConfig& config, std::uint64_t seed);

/// Any configuration, by parameters.
learn::PlacetoConfig config(const std::map<std::string, std::string>& parameters, std::size_t devices = 2);

/// A graph as a problem with one group per op, on `devices` equal devices with launch 5.7 us, latency 25 us, 7,600 bytes/us.
ProblemPtr problemOf(const GraphPtr& graph, std::size_t devices = 2, SimModel model = SimModel::Reference,
                     std::int64_t memoryBytes = 0);

} // namespace pw::test
