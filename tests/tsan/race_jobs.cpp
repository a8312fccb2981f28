// Jobs that are started, watched, stopped, aborted, moved and destroyed from other threads while they run.

#include "core/jobs/job.h"
#include "tests/tsan/expect.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

using namespace pw;

namespace {

/// Reports until it is asked to leave.
Status work(JobContext& context) {
    double done = 0.0;
    while (!context.stopRequested()) {
        done += 1.0;
        context.report({"work", 0.0, done, "round", -1.0, -1.0});
    }
    return {};
}

void verbsFromManyThreads() {
    for (int round = 0; round < 30; ++round) {
        std::atomic<int> hooks = 0;
        Job job("work", work, [&hooks] { ++hooks; });
        std::latch start(4);
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&, i] {
                start.arrive_and_wait();
                for (int k = 0; k < 50; ++k) {
                    (void)job.takeProgress();
                    (void)job.end();
                }
                if (i == 0)
                    job.requestStop();
                if (i == 1 && round % 2 == 0)
                    job.abort();
            });
        }
        start.arrive_and_wait();
        const JobEnd end = job.wait();
        for (auto& thread : threads)
            thread.join();
        PW_EXPECT(end.outcome == JobOutcome::Stopped || end.outcome == JobOutcome::Aborted);
        PW_EXPECT(round % 2 == 0 || end.outcome == JobOutcome::Stopped);
        { const Job dropped = std::move(job); }
        joinAllJobs();
        PW_EXPECT(hooks == 1);
    }
}

void destroyedWhileRunning() {
    std::atomic<int> ended = 0;
    std::atomic<int> aborted = 0;
    constexpr int kJobs = 60;
    std::vector<std::thread> owners;
    for (int owner = 0; owner < 3; ++owner) {
        owners.emplace_back([&] {
            for (int i = 0; i < kJobs / 3; ++i) {
                Job job("work", [&](JobContext& context) {
                    const Status status = work(context);
                    aborted += context.abortRequested();
                    ++ended;
                    return status;
                });
                (void)job.takeProgress();
            }
        });
    }
    for (auto& owner : owners)
        owner.join();
    joinAllJobs();
    PW_EXPECT(ended == kJobs);
    PW_EXPECT(aborted == kJobs);
}

/// The hook of one job destroys another, as a window does that reacts to an end.
void destroyedFromAHook() {
    for (int round = 0; round < 30; ++round) {
        std::atomic<bool> destroyed = false;
        auto other = std::make_unique<Job>("other", work);
        std::latch ready(1);
        Job job(
            "first",
            [&](JobContext&) {
                ready.wait();
                return Status();
            },
            [&] {
                other.reset();
                destroyed = true;
            });
        ready.count_down();
        { const Job dropped = std::move(job); }
        joinAllJobs(); // the first one
        joinAllJobs(); // the other one, which it handed over meanwhile
        PW_EXPECT(destroyed);
    }
}

} // namespace

int main() {
    verbsFromManyThreads();
    destroyedWhileRunning();
    destroyedFromAHook();
    return test::exitCode();
}
