#pragma once

#include "core/experiment/run_repository.h"
#include "core/jobs/mailbox.h"
#include "core/learn/learn.h"
#include "core/place/placer.h"

namespace pw {

/// What a running experiment shows live: samples appended, best overwritten.
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
/// A failing repository fails the run with that error; the placement found so far is in the message's run if any.
Result<RunOutcome> runPlacement(const RunSpec& spec, const ProblemPtr& problem, const Placer& placer,
                                const RepositoryPtr& repository, RunMailbox* mailbox, JobContext& context);

/// Trains. `resumeRun` > 0 continues that run from its last checkpoint.
Result<RunOutcome> runTraining(const RunSpec& spec, const std::vector<ProblemPtr>& problems,
                               const learn::Library& library, const RepositoryPtr& repository, RowId resumeRun,
                               RunMailbox* mailbox, JobContext& context);

} // namespace pw
