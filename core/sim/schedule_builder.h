#pragma once

#include "core/sim/recorder.h"
#include "core/sim/simulator.h"

namespace pw {

/// Turns a recorded run into a Schedule: transfers by start time, memory, critical path. The fault is left to the caller.
Schedule buildSchedule(const PlacementProblem& problem, std::span<const DeviceId> placement, FullRecorder recorder,
                       std::span<const double> startsUs);

} // namespace pw
