#pragma once

#include "core/base/rng.h"
#include "core/devices/device_set.h"
#include "core/graph/op_graph.h"

#include <vector>

namespace pw::test {

/// Small random graphs with everything that can go wrong in a simulator: several outputs, one tensor read twice, control
/// edges, zero bytes, zero costs, many equal times, graph order that is not topological, parameters and workspace.
GraphPtr randomGraph(Rng& rng, std::size_t maxOps);
/// 1 to `maxDevices` devices of kinds gpu and cpu with unequal speeds; `sparse` leaves out links. Shared links included.
DeviceSet randomDevices(Rng& rng, std::size_t maxDevices, bool sparse, bool capacities);
/// Equal gpus, links between all: launch 5.7, latency 25, 7,600 bytes/us, as in Placeto's released code.
DeviceSet equalDevices(std::size_t count, double launchUs = 5.7, double latencyUs = 25.0, double bytesPerUs = 7600.0);
std::vector<DeviceId> randomPlacement(Rng& rng, std::size_t ops, std::size_t devices);
/// A layered graph of exactly `ops` ops in layers of `width`, one to three inputs each, costs and sizes of the magnitude of
/// real networks (tens to hundreds of us, up to 1 MB).
GraphPtr layeredGraph(std::size_t ops, std::size_t width, std::uint64_t seed);

} // namespace pw::test
