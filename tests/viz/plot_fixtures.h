#pragma once

#include "core/devices/device_set.h"
#include "core/graph/op_graph.h"
#include "core/sim/simulator.h"

#include <memory>

namespace pw::test {

/// A small picture of Inception: `blocks` blocks of four branches, forward, backward and update, spread over four GPUs,
/// simulated by the program's own simulator.
struct PlacedStep {
    ProblemPtr problem;
    std::shared_ptr<const Schedule> schedule;
};
PlacedStep inceptionStep(int blocks = 11);

/// Schedules made by hand, so that their numbers are known.
struct HandMade {
    GraphPtr graph;
    DeviceSet devices;
    std::shared_ptr<Schedule> schedule;
};
/// a (A, 0 to 10) sends to b (B, 14 to 20, its transfer 10 to 14 with 2 us in the queue), c (A, 10 to 30), d (B, 20 to
/// 22).
HandMade fourOps();
/// `bars` ops over `devices` devices, back to back, of pseudo-random length; a transfer for every tenth.
HandMade manyBars(std::size_t bars, std::size_t devices);

DeviceSet gpus(std::size_t count);

} // namespace pw::test
