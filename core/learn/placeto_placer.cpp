#include "core/learn/learn_loader.h"

namespace pw::learn {

namespace {

constexpr std::int64_t kDefaultEpisodes = 300;

/// A policy that has stopped changing its mind needs no simulations, so a budget of evaluations alone might never be
/// used up: episodes are limited as well.
std::int64_t episodesFor(std::int64_t maxEvaluations, std::size_t groups) {
    return std::max(kDefaultEpisodes, 8 * maxEvaluations / static_cast<std::int64_t>(std::max<std::size_t>(1, groups)));
}

PlaceSample toSample(const EpisodeSample& episode) {
    PlaceSample sample;
    sample.step = episode.episode;
    sample.evaluations = episode.evaluations;
    sample.seconds = episode.seconds;
    sample.stepTimeUs = episode.stepTimeUs;
    sample.bestStepTimeUs = episode.bestStepTimeUs;
    sample.values = {{"reward", episode.reward}, {"entropy", episode.entropy}, {"grad_norm", episode.gradNorm},
                     {"lr", episode.learningRate}};
    return sample;
}

/// `parameters` may also name the compute device: device=cuda:0.
class PlacetoPlacer final : public Placer {
public:
    std::string name() const override { return "placeto"; }

    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override {
        PW_TRY(const auto* library, load());
        TrainSpec spec;
        spec.problems = {problem};
        spec.seed = options.seed;
        spec.parameters = options.parameters;
        if (const auto device = spec.parameters.extract("device"))
            spec.device = device.mapped();
        spec.maxSeconds = options.maxSeconds;
        spec.maxEvaluations = options.maxEvaluations;
        if (options.maxEvaluations > 0)
            spec.maxEpisodes = episodesFor(options.maxEvaluations, problem->groupCount());
        else if (options.maxSeconds <= 0.0)
            spec.maxEpisodes = kDefaultEpisodes;
        if (!options.pinned.empty())
            spec.pinned = {options.pinned};
        if (!options.start.empty())
            spec.start = {options.start};
        TrainHooks hooks;
        if (sink)
            hooks.onEpisode = [&sink](const EpisodeSample& episode) { sink(toSample(episode)); };
        PW_TRY(auto result, library->train(spec, hooks, context));
        return std::move(result.best[0]);
    }
};

} // namespace

std::unique_ptr<Placer> makePlacetoPlacer() {
    return std::make_unique<PlacetoPlacer>();
}

} // namespace pw::learn
