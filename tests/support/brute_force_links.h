#pragma once

#include "core/devices/device_set.h"
#include "core/graph/op_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pw::test {

/// The `links` model straight from the rules in core/sim/README.md, as simple and slow as possible: no queues, everything is
/// looked for again at every step, memory is summed over intervals afterwards. An oracle for small graphs.
struct BruteForceResult {
    double stepTimeUs = 0.0;
    bool everyPathExists = true;
    std::vector<double> startUs;
    std::vector<std::int64_t> peakBytes;
};
/// Costs are those of Op::costs, by device kind, else "".
BruteForceResult bruteForceLinks(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement);

} // namespace pw::test
