#include "core/learn/placeto_trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pw::learn {

namespace {

constexpr double kCheckpointSeconds = 8.0; ///< "at least every 10 s", with room for the update in progress
/// Rows of one batched evaluation. Small enough that a stop is felt within 100 ms and that the batch stays in cache.
constexpr std::size_t kBatchRows = 4096;
constexpr double kAdamBeta1 = 0.9;
constexpr double kAdamBeta2 = 0.999;
constexpr double kAdamEpsilon = 1e-8;

Status checkSpec(const TrainSpec& spec) {
    if (spec.problems.empty())
        return fail(ErrorCode::Invalid, "there is no graph to train on");
    if (spec.maxEpisodes <= 0 && spec.maxSeconds <= 0.0 && spec.maxEvaluations <= 0)
        return fail(ErrorCode::Invalid, "training needs a budget in episodes, seconds or evaluations");
    for (const auto& problem : spec.problems) {
        if (!problem)
            return fail(ErrorCode::Invalid, "a graph is missing");
        if (problem->deviceCount() != spec.problems[0]->deviceCount())
            return fail(ErrorCode::Invalid, "has " + std::to_string(problem->deviceCount()) + " devices, the first graph " +
                                                std::to_string(spec.problems[0]->deviceCount()) +
                                                ": a policy is bound to one device count", "graph " + problem->graph().name());
    }
    return {};
}

template<class T>
T elementOr(const std::vector<T>& values, std::size_t index) {
    return index < values.size() ? values[index] : T();
}

} // namespace

PlacetoTrainer::PlacetoTrainer(const TrainSpec& spec, const TrainHooks& hooks, PlacetoConfig config)
    : m_spec(spec), m_hooks(hooks), m_config(std::move(config)), m_layout(m_config.shape) {}

Result<std::unique_ptr<PlacetoTrainer>> PlacetoTrainer::create(const TrainSpec& spec, const TrainHooks& hooks) {
    PW_CHECK(checkSpec(spec));
    PW_TRY(auto config, makePlacetoConfig(spec.parameters, spec.problems[0]->deviceCount()));
    std::unique_ptr<PlacetoTrainer> trainer(new PlacetoTrainer(spec, hooks, std::move(config)));
    PW_CHECK(trainer->setUp());
    PW_CHECK(trainer->startOrResume());
    return trainer;
}

Status PlacetoTrainer::setUp() {
    m_context.parameters = m_config.values;
    m_context.deviceCount = m_config.shape.deviceCount;
    m_context.parameterCount = m_layout.parameterCount;
    for (std::size_t i = 0; i < m_spec.problems.size(); ++i) {
        m_context.problemHashes.push_back(m_spec.problems[i]->hash());
        m_context.groupCounts.push_back(m_spec.problems[i]->groupCount());
        PW_TRY(auto environment,
               PlacetoEnvironment::create(m_spec.problems[i], m_config, elementOr(m_spec.pinned, i),
                                          elementOr(m_spec.start, i), m_spec.seed));
        m_environments.push_back(std::move(environment));
    }
    for (const auto& environment : m_environments) // only now: the environments no longer move
        m_forwards.emplace_back(m_layout, environment.graph().topology);
    PW_TRY(auto gradient, PlacetoGradient<float>::create(m_layout, m_spec.device));
    m_gradient.emplace(std::move(gradient));
    return {};
}

Status PlacetoTrainer::startOrResume() {
    if (!m_spec.resumeFrom.empty()) {
        PW_TRY(m_state, readCheckpoint(m_spec.resumeFrom, m_context));
        m_secondsBefore = m_state.seconds;
        m_lastCheckpoint = m_state.seconds;
        for (std::size_t i = 0; i < m_environments.size(); ++i) {
            m_environments[i].best = m_state.problems[i].best;
            m_environments[i].evaluations = m_state.problems[i].evaluations;
        }
    } else {
        m_state.seed = m_spec.seed;
        m_state.rng = Rng::derive(m_spec.seed, "sample").state();
        Rng weightRng = Rng::derive(m_spec.seed, "weights");
        m_state.weights = initialWeights(m_layout, weightRng);
        m_state.firstMoment.assign(m_layout.parameterCount, 0.0F);
        m_state.secondMoment.assign(m_layout.parameterCount, 0.0F);
        for (const auto& environment : m_environments)
            m_state.problems.push_back({{}, environment.best, environment.evaluations});
    }
    for (std::size_t i = 0; i < m_environments.size(); ++i) {
        if (!m_hooks.onBest)
            continue;
        m_environments[i].onBest = [this, i](const BestPlacement& best) {
            m_hooks.onBest(i, best.groups, best.outcome.evaluation);
        };
        if (m_environments[i].best.outcome.evaluation.valid)
            m_environments[i].onBest(m_environments[i].best);
    }
    return {};
}

double PlacetoTrainer::secondsNow() const {
    return m_secondsBefore + m_watch.seconds();
}

std::int64_t PlacetoTrainer::evaluationsNow() const {
    std::int64_t sum = 0;
    for (const auto& environment : m_environments)
        sum += environment.evaluations;
    return sum;
}

bool PlacetoTrainer::budgetLeft() const {
    return (m_spec.maxEpisodes <= 0 || m_state.episodes < m_spec.maxEpisodes) &&
           (m_spec.maxEvaluations <= 0 || evaluationsNow() < m_spec.maxEvaluations) &&
           (m_spec.maxSeconds <= 0.0 || secondsNow() < m_spec.maxSeconds);
}

/// Share of the budget that the schedules follow: episodes and evaluations where they are limited, else time, which alone
/// is not the same in every run.
double PlacetoTrainer::budgetUsed() const {
    double used = 0.0;
    if (m_spec.maxEpisodes > 0)
        used = static_cast<double>(m_state.episodes) / static_cast<double>(m_spec.maxEpisodes);
    if (m_spec.maxEvaluations > 0)
        used = std::max(used, static_cast<double>(m_state.evaluations()) / static_cast<double>(m_spec.maxEvaluations));
    if (m_spec.maxEpisodes <= 0 && m_spec.maxEvaluations <= 0)
        used = secondsNow() / m_spec.maxSeconds;
    return std::min(1.0, used);
}

Result<TrainResult> PlacetoTrainer::run(JobContext& context) {
    report(context);
    while (budgetLeft() && !context.stopRequested()) {
        PW_TRY(const bool complete, update(context));
        if (!complete)
            break;
        report(context);
        if (m_hooks.onCheckpoint && m_state.seconds - m_lastCheckpoint >= kCheckpointSeconds)
            saveCheckpoint();
    }
    if (m_hooks.onCheckpoint && !context.abortRequested())
        saveCheckpoint();
    return result();
}

/// One update; false if a stop or the budget cut it short, and then the state is as before.
Result<bool> PlacetoTrainer::update(JobContext& context) {
    const double used = budgetUsed();
    const double learningRate = m_config.lr + (m_config.lrEnd - m_config.lr) * used;
    const double entropyWeight = m_config.entropy + (m_config.entropyEnd - m_config.entropy) * used;
    PlacetoState before = m_state;
    std::vector<Rollout> rollouts;
    std::vector<float> gradient(m_layout.parameterCount, 0.0F);
    bool complete = rollOut(context, rollouts);
    if (complete) {
        computeAdvantages(rollouts);
        PW_TRY(complete, computeGradient(context, rollouts, entropyWeight, gradient));
    }
    if (!complete) {
        m_state = std::move(before);
        return false;
    }
    const double gradNorm = applyGradient(gradient, learningRate);
    commit(rollouts, gradNorm, learningRate);
    return true;
}

bool PlacetoTrainer::rollOut(JobContext& context, std::vector<Rollout>& rollouts) {
    const auto stop = [this, &context] {
        return context.stopRequested() || (m_spec.maxEvaluations > 0 && evaluationsNow() >= m_spec.maxEvaluations) ||
               (m_spec.maxSeconds > 0.0 && secondsNow() >= m_spec.maxSeconds);
    };
    const std::size_t wanted = m_config.graphsPerUpdate == 0 ? 4 : m_config.graphsPerUpdate;
    Rng rng;
    rng.setState(m_state.rng);
    for (std::size_t i = 0; i < std::min(wanted, m_environments.size()); ++i) {
        const std::size_t problem = m_state.nextProblem;
        m_state.nextProblem = (problem + 1) % m_environments.size();
        for (std::size_t r = 0; r < m_config.rollouts; ++r) {
            Rollout& rollout = rollouts.emplace_back();
            rollout.problem = problem;
            if (!runEpisode(m_environments[problem], m_config, {m_state.weights, false, {}}, m_forwards[problem], rng, stop,
                            rollout.episode))
                return false;
            rollout.returns = returnsOf(rollout.episode.costs, m_config.reward, m_config.gamma);
        }
    }
    m_state.rng = rng.state();
    return true;
}

void PlacetoTrainer::computeAdvantages(std::vector<Rollout>& rollouts) {
    const std::span<Rollout> all(rollouts);
    for (std::size_t first = 0; first < rollouts.size(); first += m_config.rollouts)
        computeAdvantagesOf(all.subspan(first, m_config.rollouts), m_state.problems[rollouts[first].problem]);
}

/// Baseline and scale, of the rollouts of one problem.
void PlacetoTrainer::computeAdvantagesOf(std::span<Rollout> rollouts, ProblemState& problem) const {
    const std::size_t steps = rollouts[0].returns.size();
    std::vector<double> mean(steps, 0.0);
    for (const auto& rollout : rollouts)
        for (std::size_t i = 0; i < steps; ++i)
            mean[i] += rollout.returns[i] / static_cast<double>(rollouts.size());
    std::vector<double> baseline = mean; // of the first update with the window: its own value
    if (m_config.baseline == PlacetoConfig::Baseline::Window) {
        auto& window = problem.window;
        if (m_config.baselineIncludesCurrent)
            window.push_back(mean);
        if (window.size() > m_config.baselineWindow)
            window.erase(window.begin());
        for (std::size_t i = 0; i < steps && !window.empty(); ++i) {
            baseline[i] = 0.0;
            for (const auto& row : window)
                baseline[i] += row[i] / static_cast<double>(window.size());
        }
        if (!m_config.baselineIncludesCurrent)
            window.push_back(mean);
    }
    double sum = 0.0;
    double squares = 0.0;
    for (const auto& rollout : rollouts) {
        for (std::size_t i = 0; i < steps; ++i) {
            sum += rollout.returns[i] - baseline[i];
            squares += (rollout.returns[i] - baseline[i]) * (rollout.returns[i] - baseline[i]);
        }
    }
    const auto count = static_cast<double>(rollouts.size() * steps);
    const double average = m_config.advantageNorm == PlacetoConfig::AdvantageNorm::Std ? sum / count : 0.0;
    const double spread = std::max(m_config.advantageFloor, std::sqrt(std::max(0.0, squares / count - average * average)));
    const double scale = m_config.advantageNorm == PlacetoConfig::AdvantageNorm::None || spread < 1e-12 ? 1.0 : 1.0 / spread;
    for (auto& rollout : rollouts) {
        rollout.advantages.resize(steps);
        for (std::size_t i = 0; i < steps; ++i)
            rollout.advantages[i] = static_cast<float>((rollout.returns[i] - baseline[i]) * scale);
    }
}

Result<bool> PlacetoTrainer::computeGradient(JobContext& context, const std::vector<Rollout>& rollouts,
                                             double entropyWeight, std::vector<float>& gradient) {
    for (const auto& rollout : rollouts) {
        const auto& topology = m_environments[rollout.problem].graph().topology;
        const std::size_t steps = rollout.returns.size();
        const std::size_t chunk = std::max<std::size_t>(1, kBatchRows / topology.nodeCount);
        for (std::size_t first = 0; first < steps; first += chunk) {
            if (context.stopRequested())
                return false;
            const auto batch = batchOf(rollout, first, std::min(chunk, steps - first));
            PW_CHECK(m_gradient->addGradient(m_state.weights, topology, batch, entropyWeight, gradient));
        }
    }
    return true;
}

/// Rebuilds the features as they were at each step: placement and visits before it, start times of the simulation before it.
StepBatch<float> PlacetoTrainer::batchOf(const Rollout& rollout, std::size_t first, std::size_t count) const {
    const auto& graph = m_environments[rollout.problem].graph();
    const auto& episode = rollout.episode;
    const std::size_t n = graph.topology.nodeCount;
    const std::size_t width = m_config.shape.featureCount();
    StepBatch<float> batch;
    batch.steps = count;
    batch.features.resize(n * count * width);
    batch.allowed.reserve(count * graph.deviceCount);
    GroupPlacement placement = episode.initial;
    std::vector<std::uint32_t> visits(n, 0);
    for (std::size_t i = 0; i < first + count; ++i) {
        const std::uint32_t node = episode.nodes[i];
        if (i >= first) {
            const StepView view{placement, visits, std::span(episode.startBlocks).subspan(episode.startBlock[i] * n, n), node};
            writeFeatures(graph, m_config, view, batch.features.data() + (i - first) * width, count * width, 1);
            batch.nodes.push_back(node);
            batch.actions.push_back(episode.actions[i]);
            batch.advantages.push_back(rollout.advantages[i]);
            for (std::size_t d = 0; d < graph.deviceCount; ++d)
                batch.allowed.push_back(graph.allowed(node, d) ? 1 : 0);
        }
        placement[node] = DeviceId(episode.actions[i]);
        ++visits[node];
    }
    return batch;
}

/// Clips, then Adam. A gradient that is not finite is not applied. Returns the norm before clipping.
double PlacetoTrainer::applyGradient(std::vector<float>& gradient, double learningRate) {
    double squares = 0.0;
    for (const float value : gradient)
        squares += static_cast<double>(value) * static_cast<double>(value);
    const double norm = std::sqrt(squares);
    if (!std::isfinite(norm)) {
        ++m_state.skippedUpdates;
        return norm;
    }
    const double scale = m_config.clip > 0.0 && norm > m_config.clip ? m_config.clip / norm : 1.0;
    ++m_state.updates;
    const double correction1 = 1.0 - std::pow(kAdamBeta1, static_cast<double>(m_state.updates));
    const double correction2 = 1.0 - std::pow(kAdamBeta2, static_cast<double>(m_state.updates));
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double g = scale * static_cast<double>(gradient[i]);
        const double first = kAdamBeta1 * static_cast<double>(m_state.firstMoment[i]) + (1.0 - kAdamBeta1) * g;
        const double second = kAdamBeta2 * static_cast<double>(m_state.secondMoment[i]) + (1.0 - kAdamBeta2) * g * g;
        m_state.firstMoment[i] = static_cast<float>(first);
        m_state.secondMoment[i] = static_cast<float>(second);
        m_state.weights[i] -= static_cast<float>(learningRate * (first / correction1) /
                                                 (std::sqrt(second / correction2) + kAdamEpsilon));
    }
    return norm;
}

void PlacetoTrainer::commit(const std::vector<Rollout>& rollouts, double gradNorm, double learningRate) {
    for (std::size_t i = 0; i < m_environments.size(); ++i) {
        m_state.problems[i].best = m_environments[i].best;
        m_state.problems[i].evaluations = m_environments[i].evaluations;
    }
    m_state.seconds = secondsNow();
    for (const auto& rollout : rollouts) {
        ++m_state.episodes;
        if (!m_hooks.onEpisode)
            continue;
        const auto& episode = rollout.episode;
        const double scale = m_config.normaliseCost ? 1.0 : 1e6 / m_environments[rollout.problem].singleDeviceUs();
        EpisodeSample sample;
        sample.episode = m_state.episodes;
        sample.evaluations = m_state.evaluations();
        sample.seconds = m_state.seconds;
        sample.reward = (episode.costs.front() - episode.costs.back()) * scale;
        sample.stepTimeUs = episode.last.evaluation.stepTimeUs;
        sample.bestStepTimeUs = m_state.problems[0].best.outcome.evaluation.stepTimeUs;
        sample.entropy = episode.entropy;
        sample.gradNorm = gradNorm;
        sample.learningRate = learningRate;
        sample.problem = rollout.problem;
        m_hooks.onEpisode(sample);
    }
}

void PlacetoTrainer::report(JobContext& context) const {
    Progress progress;
    progress.stage = "train";
    progress.unit = "episode";
    progress.fraction = budgetUsed();
    const double seconds = secondsNow();
    if (seconds > 0.0)
        progress.rate = static_cast<double>(m_state.episodes) / seconds;
    if (progress.fraction > 0.0)
        progress.etaSeconds = seconds * (1.0 - progress.fraction) / progress.fraction;
    const auto& best = m_environments[0].best.outcome.evaluation;
    progress.bestStepTimeUs = best.valid ? best.stepTimeUs : -1.0;
    context.report(progress);
}

void PlacetoTrainer::saveCheckpoint() {
    m_lastCheckpoint = m_state.seconds;
    m_hooks.onCheckpoint(m_state.episodes, writeCheckpoint(m_state, m_context));
}

std::string PlacetoTrainer::describeTraining() const {
    const auto& first = *m_spec.problems[0];
    std::string text = first.graph().name();
    if (m_spec.problems.size() > 1)
        text += " and " + std::to_string(m_spec.problems.size() - 1) + " more graphs";
    return text + " on " + first.devices().name() + ", " + std::to_string(m_state.episodes) + " episodes";
}

TrainResult PlacetoTrainer::result() {
    TrainResult result;
    result.episodes = m_state.episodes;
    for (auto& environment : m_environments) {
        PlaceResult place;
        place.groups = environment.best.groups;
        place.placement = expandPlacement(environment.graph().problem->grouping(), place.groups);
        place.evaluation = environment.best.outcome.evaluation;
        place.peakBytes = environment.peakBytes(place.groups);
        place.evaluations = environment.evaluations;
        place.seconds = secondsNow();
        result.best.push_back(std::move(place));
    }
    result.checkpoint = writeCheckpoint(m_state, m_context);
    PlacetoPolicy policy;
    policy.info = {"placeto", architectureName(m_config.shape), m_config.shape.deviceCount, m_layout.parameterCount,
                   describeTraining(), 1};
    policy.parameters = m_config.values;
    policy.weights = m_state.weights;
    result.policy = writePolicy(policy);
    return result;
}

} // namespace pw::learn
