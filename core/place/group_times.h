#pragma once

#include "core/sim/problem.h"

#include <vector>

namespace pw {

/// Time of a group on a device with the launches of its ops (us), group * devices + device.
std::vector<double> groupTimesUs(const PlacementProblem& problem);

} // namespace pw
