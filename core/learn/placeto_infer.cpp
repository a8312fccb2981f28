#include "core/learn/placeto_infer.h"

#include "core/base/clock.h"
#include "core/learn/placeto_state.h"

#include <algorithm>

namespace pw::learn {

Result<PlaceResult> inferPlaceto(const InferSpec& spec, JobContext& context) {
    const Stopwatch watch;
    PW_TRY(const auto policy, readPolicy(spec.policy));
    if (policy.info.method != "placeto")
        return fail(ErrorCode::Unsupported, "is for method \"" + policy.info.method + "\"", "policy");
    if (!spec.problem)
        return fail(ErrorCode::Invalid, "there is no graph to place");
    if (policy.info.deviceCount != spec.problem->deviceCount())
        return fail(ErrorCode::Invalid, "was trained for " + std::to_string(policy.info.deviceCount) + " devices, the set " +
                                            spec.problem->devices().name() + " has " +
                                            std::to_string(spec.problem->deviceCount()), "policy");
    PW_TRY(const auto config, makePlacetoConfig(policy.parameters, policy.info.deviceCount));
    const NetLayout layout(config.shape);
    if (layout.parameterCount != policy.weights.size())
        return fail(ErrorCode::Parse, "holds " + std::to_string(policy.weights.size()) + " weights where its architecture has " +
                                          std::to_string(layout.parameterCount), "policy");
    PW_TRY(auto environment, PlacetoEnvironment::create(spec.problem, config, {}, {}, spec.seed));
    PlacetoForward<float> forward(layout, environment.graph().topology);
    Rng rng = Rng::derive(spec.seed, "infer");
    PlaceResult result;
    Episode episode;
    for (int sweep = 0; sweep <= spec.sampledSweeps && !context.stopRequested(); ++sweep) {
        runEpisode(environment, config, {policy.weights, sweep == 0, {}}, forward, rng,
                   [&context] { return context.stopRequested(); }, episode);
        if (sweep == 0)
            result.confidence = std::min(1.0, episode.confidence);
        Progress progress;
        progress.stage = "infer";
        progress.fraction = (sweep + 1.0) / (spec.sampledSweeps + 1.0);
        context.report(progress);
    }
    result.groups = environment.best.groups;
    result.placement = expandPlacement(spec.problem->grouping(), result.groups);
    result.evaluation = environment.best.outcome.evaluation;
    result.peakBytes = environment.peakBytes(result.groups);
    result.evaluations = environment.evaluations;
    result.seconds = watch.seconds();
    return result;
}

} // namespace pw::learn
