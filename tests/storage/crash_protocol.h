#pragma once

#include "core/experiment/run_driver.h"
#include "tests/storage/project_fixture.h"

#include <atomic>
#include <chrono>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pw::test {

/// When each episode of the victim ended, in a file that both processes map: it survives the victim.
struct CrashLog {
    static constexpr std::size_t kEpisodes = 1 << 16;
    std::atomic<double> endedAt[kEpisodes];

    static CrashLog* map(const std::string& path) {
        const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0 || ::ftruncate(file, sizeof(CrashLog)) != 0)
            return nullptr;
        void* memory = ::mmap(nullptr, sizeof(CrashLog), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        return memory == MAP_FAILED ? nullptr : static_cast<CrashLog*>(memory);
    }
};

/// The same clock in both processes.
inline double monotonicSeconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::vector<ProblemPtr> crashProblems() {
    return {*PlacementProblem::compile(w1(), pairOfDevices(), GroupingOptions(), {})};
}

inline RunSpec crashSpec(std::int64_t episodes) {
    RunSpec spec;
    spec.kind = "train";
    spec.method = "fake";
    spec.maxEpisodes = episodes;
    spec.seed = 3;
    return spec;
}

} // namespace pw::test
