#pragma once

#include "core/sim/simulator.h"

#include <string>

namespace pw::cli {

/// A schedule as Chrome trace events (opens in Perfetto and chrome://tracing): a process per device with a compute
/// thread and a thread per destination of its transfers. Times are the simulator's microseconds.
std::string toChromeTrace(const PlacementProblem& problem, const Schedule& schedule);

} // namespace pw::cli
