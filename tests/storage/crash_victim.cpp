// Trains into a project until it is killed: crash_victim PROJECT LOG CHECKPOINT_EVERY. Writes one byte after the first
// episode.

#include "tests/storage/crash_protocol.h"
#include "tests/support/fake_learner.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    using namespace pw;
    if (argc != 4)
        return 2;
    test::CrashLog* log = test::CrashLog::map(argv[2]);
    const auto repository = storage::openProject(argv[1]);
    if (!log || !repository) {
        std::fprintf(stderr, "%s\n", repository ? "no log" : repository.error().toString().c_str());
        return 3;
    }
    test::FakeLearner::Options options;
    options.checkpointEvery = std::atoll(argv[3]);
    options.afterEpisode = [&](std::int64_t episode) {
        const double now = test::monotonicSeconds();
        log->endedAt[episode] = now;
        if (episode == 1 && ::write(STDOUT_FILENO, "1", 1) != 1)
            std::_Exit(4);
        while (test::monotonicSeconds() < now + 0.0005) {
            // an episode takes half a millisecond of work
        }
    };
    JobContext context;
    const auto outcome =
        runTraining(test::crashSpec(test::CrashLog::kEpisodes - 1), test::crashProblems(),
                    test::FakeLearner(options), *repository, 0, nullptr, context);
    std::fprintf(stderr, "%s\n", outcome ? "was not killed in time" : outcome.error().toString().c_str());
    return 5;
}
