#pragma once

#include "core/experiment/run_repository.h"
#include "core/jobs/mailbox.h"
#include "core/learn/learn.h"
#include "core/place/placer.h"

namespace pw {

/// What a running experiment shows live: samples appended, best overwritten. Of the first problem.
struct RunLive {
    RowId run = 0;
    GroupPlacement bestGroups;
    std::shared_ptr<const PlacementProblem> problem;
    Evaluation best;
};
using RunMailbox = Mailbox<RunLive, MetricSample>;

struct RunOutcome {
    RowId run = 0; ///< 0 without a repository
    RunStatus status = RunStatus::Done;
    std::vector<PlaceResult> results; ///< per problem
    std::int64_t episodes = 0;
    std::vector<std::uint8_t> policy; ///< of a training run
};

/// Runs one experiment on the calling thread and records it: run row first, samples in batches (at most one second is
/// ever unwritten), the best placement, checkpoints, the end. `repository` may be null (nothing is kept), so may `mailbox`.
/// Empty hashes and names of `spec` are filled in from the problem.
/// Ends: Done; Stopped (requestStop: the best so far is kept); Interrupted (abort: results dropped, what was stored stays).
/// A placer that fails marks the run failed and returns its error. A failing repository fails the run with that error;
/// the placement found so far is in the mailbox.
Result<RunOutcome> runPlacement(const RunSpec& spec, const ProblemPtr& problem, const Placer& placer,
                                const RepositoryPtr& repository, RunMailbox* mailbox, JobContext& context);

/// Trains, recorded in the same way. `resumeRun` > 0 continues that run from its last checkpoint (from the beginning if
/// it has none) and drops later samples. Then everything in `spec` but the limits and `device` must be as in the stored
/// run; a spec without method stands for the stored one.
Result<RunOutcome> runTraining(const RunSpec& spec, const std::vector<ProblemPtr>& problems,
                               const learn::Library& library, const RepositoryPtr& repository, RowId resumeRun,
                               RunMailbox* mailbox, JobContext& context);

/// The problems of a stored spec, from the graphs and devices of its project: what resuming and repeating need.
Result<std::vector<ProblemPtr>> loadProblems(const RunSpec& spec, const RunRepository& repository);

} // namespace pw
