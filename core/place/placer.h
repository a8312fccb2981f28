#pragma once

#include "core/jobs/job_context.h"
#include "core/sim/simulator.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pw {

/// Limits and inputs of one run of a placer. Whichever limit is met first ends the run with the best so far.
struct PlaceOptions {
    std::uint64_t seed = 1;
    std::int64_t maxEvaluations = 0; ///< simulations, 0 = the placer's own default
    double maxSeconds = 0.0;         ///< wall time, 0 = no limit
    std::vector<std::optional<DeviceId>> pinned; ///< per group; empty = nothing pinned
    GroupPlacement start;                        ///< where search begins; empty = the placer's own choice
    std::map<std::string, std::string> parameters; ///< method-specific, "key=value"; unknown keys are errors
};

struct PlaceResult {
    GroupPlacement groups;
    OpPlacement placement;
    Evaluation evaluation;
    std::vector<std::int64_t> peakBytes; ///< per device
    std::int64_t evaluations = 0;        ///< simulations made; repeated placements that were looked up do not count
    double seconds = 0.0;
    double confidence = -1.0; ///< learned placers: mean over ops of the largest probability; negative = does not apply
};

/// A sample of an iterative method, for curves. Times in us.
struct PlaceSample {
    std::int64_t step = 0;        ///< episode, round, or evaluation
    std::int64_t evaluations = 0;
    double seconds = 0.0;
    double stepTimeUs = 0.0;      ///< of this step's placement
    double bestStepTimeUs = 0.0;  ///< so far
    std::map<std::string, double> values; ///< "reward", "entropy", "grad_norm", "lr" ...
};

/// A method that decides which device runs each group. Stateless between calls, so one object serves all threads.
///
/// Contract (checked for all by tests/place/tst_placers): every group gets a device it is allowed on; pins are kept; the result is
/// the best placement seen and is never reported valid when it is not; same seed, same bytes (unless the time limit cut
/// it); requestStop returns the best so far, abort returns within 100 ms.
class Placer {
public:
    using SampleSink = std::function<void(const PlaceSample&)>;

    virtual ~Placer() = default;
    virtual std::string name() const = 0; ///< as on the command line: "local_search"
    virtual Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                                      const SampleSink& sink) const = 0;
};

/// The placers of this build. Explicit: main() adds them, nothing registers itself.
class PlacerRegistry {
public:
    void add(std::unique_ptr<Placer> placer);
    /// nullptr if there is none of that name.
    const Placer* find(std::string_view name) const;
    std::vector<std::string> names() const; ///< in order of addition

private:
    std::vector<std::unique_ptr<Placer>> m_placers;
};

/// Adds single, random, round_robin, contiguous, expert, metis, local_search.
void addClassicPlacers(PlacerRegistry& registry);

} // namespace pw
