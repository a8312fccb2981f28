#include "tests/support/fake_learner.h"

#include "core/base/rng.h"

#include <cstring>

namespace pw::test {

namespace {

/// All that a checkpoint holds, beside the best placements.
struct State {
    std::int64_t episode = 0;
    Rng::State rng{};
    double bestUs = std::numeric_limits<double>::infinity();
};

learn::Bytes pack(const State& state, const GroupPlacement& best) {
    learn::Bytes bytes(sizeof state);
    std::memcpy(bytes.data(), &state, sizeof state);
    for (const DeviceId device : best)
        bytes.push_back(static_cast<std::uint8_t>(device.index()));
    return bytes;
}

State unpack(const learn::Bytes& bytes, GroupPlacement& best) {
    State state;
    std::memcpy(&state, bytes.data(), sizeof state);
    for (std::size_t i = sizeof state; i < bytes.size(); ++i)
        best.push_back(DeviceId(bytes[i]));
    return state;
}

} // namespace

std::vector<learn::ParameterInfo> FakeLearner::parameters(const std::string&) const {
    return {};
}

Result<learn::TrainResult> FakeLearner::train(const learn::TrainSpec& spec, const learn::TrainHooks& hooks,
                                              JobContext& context) const {
    const PlacementProblem& problem = *spec.problems.front();
    Simulator simulator(spec.problems.front());
    GroupPlacement best;
    State state{0, Rng::derive(spec.seed, "fake").state(), std::numeric_limits<double>::infinity()};
    if (!spec.resumeFrom.empty())
        state = unpack(spec.resumeFrom, best);
    Rng rng;
    rng.setState(state.rng);
    while (!context.stopRequested() && (spec.maxEpisodes == 0 || state.episode < spec.maxEpisodes)) {
        GroupPlacement groups(problem.groupCount());
        for (auto& device : groups)
            device = DeviceId(rng.below(problem.deviceCount()));
        const Evaluation evaluation = simulator.evaluateGroups(groups);
        ++state.episode;
        if (state.episode == m_options.failAtEpisode)
            return fail(ErrorCode::External, "the fake learner was told to fail");
        if (evaluation.valid && evaluation.stepTimeUs < state.bestUs) {
            state.bestUs = evaluation.stepTimeUs;
            best = groups;
            hooks.onBest(0, groups, evaluation);
        }
        learn::EpisodeSample sample;
        sample.episode = state.episode;
        sample.evaluations = state.episode;
        sample.seconds = 0.001 * static_cast<double>(state.episode);
        sample.reward = rng.uniform();
        sample.stepTimeUs = evaluation.stepTimeUs;
        sample.bestStepTimeUs = state.bestUs;
        hooks.onEpisode(sample);
        state.rng = rng.state();
        if (state.episode % m_options.checkpointEvery == 0)
            hooks.onCheckpoint(state.episode, pack(state, best));
        if (m_options.afterEpisode)
            m_options.afterEpisode(state.episode);
    }
    learn::TrainResult result;
    result.episodes = state.episode;
    result.checkpoint = pack(state, best);
    result.policy = {1, 2, 3};
    if (!best.empty()) {
        PlaceResult placed;
        placed.groups = best;
        placed.placement = expandPlacement(problem.grouping(), best);
        placed.evaluation = {state.bestUs, true};
        result.best.push_back(std::move(placed));
    }
    return result;
}

Result<PlaceResult> FakeLearner::infer(const learn::InferSpec&, JobContext&) const {
    return fail(ErrorCode::Unsupported, "the fake learner does not infer");
}

Result<learn::PolicyInfo> FakeLearner::inspect(const learn::Bytes&) const {
    return fail(ErrorCode::Unsupported, "the fake learner has no policies");
}

learn::LocalInfo FakeLearner::localInfo(bool) const {
    return {};
}

} // namespace pw::test
