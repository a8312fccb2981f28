#pragma once

#include "core/experiment/run_repository.h"

namespace pw {

/// Rebuilds the problems of a stored run (its graphs, device set, grouping and simulator options) from the project, in the
/// order of the spec. Fails naming what the project does not hold.
Result<std::vector<ProblemPtr>> problemsOf(const RunSpec& spec, const RunRepository& repository);

} // namespace pw
