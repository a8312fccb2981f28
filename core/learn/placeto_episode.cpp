#include "core/learn/placeto_episode.h"

#include <algorithm>
#include <cmath>

namespace pw::learn {

namespace {

/// Reachability and masks take memory with the square of the groups.
constexpr std::size_t kMaxGroups = 2048;

/// Softmax over the allowed devices; the others get 0.
void softmax(std::span<const float> logits, const PlacetoGraph& graph, std::size_t node, std::vector<double>& out) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < logits.size(); ++d)
        if (graph.allowed(node, d))
            largest = std::max(largest, static_cast<double>(logits[d]));
    double sum = 0.0;
    for (std::size_t d = 0; d < logits.size(); ++d) {
        out[d] = graph.allowed(node, d) ? std::exp(static_cast<double>(logits[d]) - largest) : 0.0;
        sum += out[d];
    }
    for (auto& value : out)
        value /= sum;
}

std::size_t sample(std::span<const double> probabilities, Rng& rng) {
    double rest = rng.uniform();
    std::size_t last = 0;
    for (std::size_t d = 0; d < probabilities.size(); ++d) {
        if (probabilities[d] <= 0.0)
            continue;
        last = d;
        rest -= probabilities[d];
        if (rest < 0.0)
            break;
    }
    return last;
}

double entropyOf(std::span<const double> probabilities) {
    double entropy = 0.0;
    for (const double p : probabilities)
        if (p > 0.0)
            entropy -= p * std::log(p);
    return entropy;
}

} // namespace

bool BestPlacement::offer(std::span<const DeviceId> candidate, const Outcome& candidateOutcome) {
    const Evaluation& now = candidateOutcome.evaluation;
    const Evaluation& before = outcome.evaluation;
    const bool better = groups.empty() || (now.valid != before.valid ? now.valid
                                           : now.valid               ? now.stepTimeUs < before.stepTimeUs
                                                                     : candidateOutcome.cost < outcome.cost);
    if (better) {
        groups.assign(candidate.begin(), candidate.end());
        outcome = candidateOutcome;
    }
    return better;
}

PlacetoEnvironment::PlacetoEnvironment(ProblemPtr problem, const PlacetoConfig& config)
    : m_config(config), m_graph(problem), m_simulator(std::move(problem)) {}

Result<PlacetoEnvironment> PlacetoEnvironment::create(ProblemPtr problem, const PlacetoConfig& config, GroupPins pins,
                                                      GroupPlacement start, std::uint64_t seed) {
    const std::string where = "graph " + problem->graph().name();
    const std::size_t groups = problem->groupCount();
    if (groups == 0)
        return fail(ErrorCode::Invalid, "has no op to place", where);
    if (groups > kMaxGroups)
        return fail(ErrorCode::TooLarge, "has " + std::to_string(groups) + " groups; Placeto takes at most " +
                                             std::to_string(kMaxGroups) + ": merge ops into fewer groups", where);
    if (!pins.empty() && pins.size() != groups)
        return fail(ErrorCode::Invalid, "pins do not match its groups", where);
    if (!start.empty() && start.size() != groups)
        return fail(ErrorCode::Invalid, "start placement does not match its groups", where);
    PlacetoEnvironment environment(std::move(problem), config);
    PW_CHECK(environment.setUp(pins, std::move(start), seed));
    return environment;
}

Status PlacetoEnvironment::setUp(const GroupPins& pins, GroupPlacement start, std::uint64_t seed) {
    const std::size_t devices = m_graph.deviceCount;
    for (std::size_t g = 0; g < nodeCount(); ++g) {
        if (!pins.empty() && pins[g])
            for (std::size_t d = 0; d < devices; ++d)
                m_graph.allowedDevices[g * devices + d] = pins[g]->index() == d ? m_graph.allowedDevices[g * devices + d] : 0;
        const auto row = m_graph.allowedDevices.begin() + static_cast<std::ptrdiff_t>(g * devices);
        if (std::find(row, row + static_cast<std::ptrdiff_t>(devices), 1) == row + static_cast<std::ptrdiff_t>(devices))
            return fail(ErrorCode::Invalid, "may not run on any device of this set",
                        "group " + m_graph.problem->grouping().names[g]);
    }
    const auto nearest = [this, devices](std::size_t g, std::size_t wish) {
        for (std::size_t d = 0; !allowed(g, wish) && d < devices; ++d)
            if (allowed(g, d))
                wish = d;
        return DeviceId(wish);
    };
    std::vector<GroupPlacement> singles(devices, GroupPlacement(nodeCount()));
    m_singleUs = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < devices; ++d) {
        for (std::size_t g = 0; g < nodeCount(); ++g)
            singles[d][g] = nearest(g, d);
        m_singleUs = std::min(m_singleUs, m_simulator.evaluateGroups(singles[d]).stepTimeUs);
    }
    if (!std::isfinite(m_singleUs) || m_singleUs <= 0.0)
        m_singleUs = 1.0; // why: a graph of zero cost; every placement is as good
    for (const auto& single : singles)
        evaluate(single);

    if (!start.empty()) {
        m_start = std::move(start);
    } else if (m_config.start == PlacetoConfig::Start::Random) {
        Rng rng = Rng::derive(seed, "start");
        m_start = randomPlacement(rng);
    } else {
        m_start = singles[0];
    }
    for (std::size_t g = 0; g < nodeCount(); ++g)
        m_start[g] = nearest(g, m_start[g].index() < devices ? m_start[g].index() : 0);
    m_startOutcome = evaluate(m_start);
    m_startStarts = m_starts;
    return {};
}

Outcome PlacetoEnvironment::evaluate(std::span<const DeviceId> groups) {
    Outcome outcome;
    outcome.evaluation = m_simulator.evaluateGroups(groups);
    ++evaluations;
    const auto starts = m_simulator.startsUs();
    m_starts.resize(nodeCount());
    for (std::size_t g = 0; g < nodeCount(); ++g) {
        const auto value = static_cast<float>(starts[m_graph.problem->grouping().centre[g].index()]);
        m_starts[g] = std::isfinite(value) ? value : 0.0F;
    }
    outcome.cost = costOf(outcome.evaluation);
    if (best.offer(groups, outcome) && best.outcome.evaluation.valid && onBest)
        onBest(best);
    return outcome;
}

double PlacetoEnvironment::costOf(const Evaluation& evaluation) const {
    const double singleS = m_singleUs * 1e-6;
    const double penalty = m_config.memPenaltySPerGb < 0.0 ? singleS : m_config.memPenaltySPerGb;
    const double cap = m_config.costCapS < 0.0 ? 10.0 * singleS : m_config.costCapS;
    double excessGb = 0.0;
    const auto peaks = m_simulator.peakBytes();
    for (std::size_t d = 0; d < peaks.size(); ++d) {
        const auto capacity = static_cast<double>(m_graph.problem->capacityBytes(DeviceId(d)));
        const double limit = m_config.maxMemGb < 0.0 ? capacity : m_config.maxMemGb * 1e9;
        if (limit > 0.0)
            excessGb = std::max(excessGb, (static_cast<double>(peaks[d]) - limit) * 1e-9);
    }
    double cost = std::isfinite(evaluation.stepTimeUs) ? evaluation.stepTimeUs * 1e-6 : cap;
    if (penalty > 0.0)
        cost = std::min(cost + penalty * excessGb, cap);
    if (!evaluation.valid && excessGb <= 0.0)
        cost = cap; // why: no path between two devices; there is no amount by which it is too much
    return m_config.normaliseCost ? cost / singleS : cost;
}

GroupPlacement PlacetoEnvironment::randomPlacement(Rng& rng) const {
    GroupPlacement placement(nodeCount());
    std::vector<std::size_t> choices;
    for (std::size_t g = 0; g < nodeCount(); ++g) {
        choices.clear();
        for (std::size_t d = 0; d < m_graph.deviceCount; ++d)
            if (allowed(g, d))
                choices.push_back(d);
        placement[g] = DeviceId(choices[rng.below(choices.size())]);
    }
    return placement;
}

GroupPlacement PlacetoEnvironment::startPlacement(Rng& rng) const {
    if (m_config.start == PlacetoConfig::Start::RandomEach)
        return randomPlacement(rng);
    return m_config.start == PlacetoConfig::Start::Best ? best.groups : m_start;
}

Outcome PlacetoEnvironment::evaluateStart(std::span<const DeviceId> groups) {
    if (!std::equal(groups.begin(), groups.end(), m_start.begin(), m_start.end()))
        return evaluate(groups);
    m_starts = m_startStarts;
    return m_startOutcome;
}

std::vector<std::int64_t> PlacetoEnvironment::peakBytes(std::span<const DeviceId> groups) {
    m_simulator.evaluateGroups(groups);
    const auto peaks = m_simulator.peakBytes();
    return {peaks.begin(), peaks.end()};
}

bool runEpisode(PlacetoEnvironment& environment, const PlacetoConfig& config, const RolloutPolicy& policy,
                PlacetoForward<float>& forward, Rng& rng, const std::function<bool()>& stop, Episode& episode) {
    const PlacetoGraph& graph = environment.graph();
    const std::size_t n = environment.nodeCount();
    episode = {};
    episode.initial = environment.startPlacement(rng);
    episode.placement = episode.initial;
    episode.last = environment.evaluateStart(episode.placement);
    episode.costs.push_back(episode.last.cost);
    const auto keepStarts = [&] {
        const auto starts = environment.startsUs();
        episode.startBlocks.insert(episode.startBlocks.end(), starts.begin(), starts.end());
    };
    keepStarts();
    std::vector<std::uint32_t> visits(n, 0);
    std::vector<float> features(config.shape.featureCount() * n);
    std::vector<float> logits(config.shape.deviceCount);
    std::vector<double> probabilities(config.shape.deviceCount);
    for (const auto node : graph.topology.visitOrder) {
        if (stop())
            return false;
        const std::size_t block = episode.startBlocks.size() / n - 1;
        const StepView view{episode.placement, visits, std::span(episode.startBlocks).subspan(block * n, n), node};
        writeFeatures(graph, config, view, features.data(), 1, n);
        forward.run(policy.weights, features, node, logits);
        softmax(logits, graph, node, probabilities);
        const auto likeliest = static_cast<std::size_t>(
            std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin());
        const std::size_t action = !policy.forced.empty() ? policy.forced[episode.actions.size()]
                                   : policy.greedy        ? likeliest
                                                          : sample(probabilities, rng);
        const auto members = static_cast<double>(graph.problem->grouping().members[node].size());
        episode.confidence += probabilities[likeliest] * members / static_cast<double>(graph.problem->opCount());
        episode.entropy += entropyOf(probabilities) / static_cast<double>(n);
        episode.nodes.push_back(node);
        episode.actions.push_back(static_cast<std::uint32_t>(action));
        episode.startBlock.push_back(static_cast<std::uint32_t>(block));
        ++visits[node];
        if (episode.placement[node].index() != action) { // an action that changes nothing needs no simulation
            episode.placement[node] = DeviceId(action);
            episode.last = environment.evaluate(episode.placement);
            keepStarts();
        }
        episode.costs.push_back(episode.last.cost);
    }
    return true;
}

std::vector<double> returnsOf(std::span<const double> costs, PlacetoConfig::Reward reward, double gamma) {
    const std::size_t steps = costs.size() - 1;
    std::vector<double> returns(steps);
    double later = reward == PlacetoConfig::Reward::MinRuntime ? std::numeric_limits<double>::infinity() : 0.0;
    for (std::size_t i = steps; i-- > 0;) {
        switch (reward) {
        case PlacetoConfig::Reward::Intermediate: // before minus after: an improvement is positive
            later = costs[i] - costs[i + 1] + gamma * later;
            returns[i] = later;
            break;
        case PlacetoConfig::Reward::MinRuntime:
            later = std::min(later, costs[i + 1]);
            returns[i] = costs[i] - later;
            break;
        case PlacetoConfig::Reward::Terminal:
            returns[i] = -costs[steps];
            break;
        }
    }
    return returns;
}

} // namespace pw::learn
