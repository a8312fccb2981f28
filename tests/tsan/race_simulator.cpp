// Evaluations run in parallel on one shared problem, one workspace per thread, same numbers as serial.

#include "core/base/rng.h"
#include "core/sim/simulator.h"
#include "tests/support/graph_dsl.h"
#include "tests/tsan/expect.h"

#include <thread>
#include <vector>

using namespace pw;

namespace {

DeviceSet devices(std::size_t count) {
    std::vector<Device> all(count);
    std::vector<Link> links;
    for (std::size_t i = 0; i < count; ++i) {
        all[i].name = "gpu:" + std::to_string(i);
        all[i].kind = "gpu";
        all[i].flopsPerUs = 1e6;
        all[i].bytesPerUs = 1e5;
        for (std::size_t j = 0; j < count; ++j) {
            if (i != j)
                links.push_back({DeviceId(i), DeviceId(j), 7600.0, 25.0, {}});
        }
    }
    return *DeviceSet::create("set", all, links);
}

struct Numbers {
    double stepTimeUs = 0.0;
    std::vector<std::int64_t> peaks;
    bool operator==(const Numbers&) const = default;
};

void run(SimModel model) {
    constexpr std::size_t kThreads = 4;
    constexpr std::size_t kPlacements = 64;
    SimOptions options;
    options.model = model;
    const auto problem = PlacementProblem::compile(test::generated(200), devices(3), GroupingOptions(), options);
    PW_EXPECT(problem.has_value());
    if (!problem)
        return;
    std::vector<GroupPlacement> placements(kPlacements, GroupPlacement((*problem)->groupCount()));
    Rng rng(1);
    for (auto& placement : placements) {
        for (auto& device : placement)
            device = DeviceId(rng.below(3));
    }
    const auto evaluate = [&](Simulator& simulator, const GroupPlacement& placement) {
        Numbers numbers{simulator.evaluateGroups(placement).stepTimeUs, {}};
        numbers.peaks.assign(simulator.peakBytes().begin(), simulator.peakBytes().end());
        return numbers;
    };
    std::vector<Numbers> serial;
    Simulator simulator(*problem);
    for (const auto& placement : placements)
        serial.push_back(evaluate(simulator, placement));

    std::vector<std::vector<Numbers>> parallel(kThreads, std::vector<Numbers>(kPlacements));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            Simulator own(*problem);
            for (std::size_t i = 0; i < kPlacements; ++i) {
                const std::size_t at = (i * 7 + t * 13) % kPlacements; // each thread in an order of its own
                parallel[t][at] = evaluate(own, placements[at]);
            }
            (void)own.schedule(expandPlacement((*problem)->grouping(), placements[t]));
        });
    }
    for (auto& thread : threads)
        thread.join();
    for (const auto& numbers : parallel)
        PW_EXPECT(numbers == serial);
}

} // namespace

int main() {
    run(SimModel::Links);
    run(SimModel::Reference);
    return test::exitCode();
}
