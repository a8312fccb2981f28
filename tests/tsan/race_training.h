#pragma once

#include "core/experiment/run_driver.h"
#include "core/jobs/job.h"
#include "tests/support/fake_learner.h"
#include "tests/support/graph_dsl.h"
#include "tests/support/two_devices.h"
#include "tests/tsan/expect.h"

#include <optional>

namespace pw::test {

inline ProblemPtr raceProblem() {
    return *PlacementProblem::compile(w1(), pairOfDevices(), GroupingOptions(), {});
}

/// A training job as the window runs one: this thread drains the mailbox and reads the runs while it works, then stops
/// it. Returns what was drained.
inline std::vector<MetricSample> trainAndWatch(const RepositoryPtr& repository, JobOutcome expected) {
    const ProblemPtr problem = raceProblem();
    const auto mailbox = std::make_shared<RunMailbox>();
    RunSpec spec;
    spec.method = "fake";
    std::vector<MetricSample> drained;
    {
        Job job("train", [repository, mailbox, problem, spec](JobContext& context) -> Status {
            FakeLearner::Options options;
            options.checkpointEvery = 200;
            const auto outcome =
                runTraining(spec, {problem}, FakeLearner(options), repository, 0, mailbox.get(), context);
            if (!outcome)
                return fail(outcome.error());
            return {};
        });
        std::optional<RunLive> live;
        const auto drain = [&] {
            auto content = mailbox->drain();
            drained.insert(drained.end(), content.samples.begin(), content.samples.end());
            if (content.state)
                live = std::move(content.state);
        };
        while (drained.size() < 1000 && !job.end()) {
            drain();
            (void)job.takeProgress();
            if (live) {
                (void)repository->run(live->run);
                (void)repository->lastCheckpoint(live->run);
            }
        }
        if (expected == JobOutcome::Stopped)
            job.requestStop();
        else
            job.abort();
        PW_EXPECT(job.wait().outcome == expected);
        drain();
        PW_EXPECT(live.has_value() && !live->bestGroups.empty());
    }
    joinAllJobs();
    return drained;
}

/// What was shown is what was stored.
inline void raceTraining(const RepositoryPtr& repository) {
    const auto drained = trainAndWatch(repository, JobOutcome::Stopped);
    PW_EXPECT(drained.size() >= 1000);
    PW_EXPECT(*repository->metrics(1, 0) == drained);
    PW_EXPECT(repository->run(1)->status == RunStatus::Stopped);
    const auto aborted = trainAndWatch(repository, JobOutcome::Aborted);
    PW_EXPECT(*repository->metrics(2, 0) == aborted);
    PW_EXPECT(repository->run(2)->status == RunStatus::Interrupted);
}

} // namespace pw::test
