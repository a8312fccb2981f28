#pragma once

#include "app/cli/inputs.h"
#include "core/experiment/run_driver.h"

namespace pw::cli {

/// The spec of one placement run of `problem`.
RunSpec placementSpec(const PlacementProblem& problem, const std::string& method, const PlaceOptions& options);

/// Runs a placer, recorded in --project when that is given.
Result<PlaceResult> runPlacer(const Cli& cli, const ProblemPtr& problem, const Placer& placer, const PlaceOptions& options,
                              const RepositoryPtr& repository);

/// A run named by its number, "last", or its name.
Result<RunRecord> findRun(const RunRepository& repository, const std::string& text);

} // namespace pw::cli
