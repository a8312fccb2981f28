#pragma once

#include "core/learn/placeto_net.h"

#include <functional>
#include <optional>

namespace pw::learn {

using GroupPins = std::vector<std::optional<DeviceId>>;

/// A simulated placement with Placeto's penalised cost.
struct Outcome {
    Evaluation evaluation;
    double cost = 0.0; ///< seconds, or single-device step times if the configuration normalises
};

/// The best placement of one problem: valid before invalid, then by step time (by cost while none is valid).
struct BestPlacement {
    GroupPlacement groups;
    Outcome outcome;

    /// Takes the placement if it is better.
    bool offer(std::span<const DeviceId> candidate, const Outcome& candidateOutcome);
};

/// One problem as Placeto meets it: simulator, cost scale, start placement. Not thread-safe.
class PlacetoEnvironment {
public:
    /// Simulates every single-device placement (for the scale) and the fixed start. `pins` and `start` may be empty.
    static Result<PlacetoEnvironment> create(ProblemPtr problem, const PlacetoConfig& config, GroupPins pins,
                                             GroupPlacement start, std::uint64_t seed);

    const PlacetoGraph& graph() const { return m_graph; }
    std::size_t nodeCount() const { return m_graph.topology.nodeCount; }
    bool allowed(std::size_t node, std::size_t device) const { return m_graph.allowed(node, device); }

    /// Simulates; counts; offers the placement to `best`.
    Outcome evaluate(std::span<const DeviceId> groups);
    /// Of the last evaluation, per group: start of the centre op, us.
    std::span<const float> startsUs() const { return m_starts; }

    /// Where an episode starts; for the fixed starts no simulation is needed.
    GroupPlacement startPlacement(Rng& rng) const;
    Outcome evaluateStart(std::span<const DeviceId> groups);
    /// A uniformly random allowed device for every group.
    GroupPlacement randomPlacement(Rng& rng) const;

    double singleDeviceUs() const { return m_singleUs; } ///< the fastest
    std::vector<std::int64_t> peakBytes(std::span<const DeviceId> groups); ///< not counted

    BestPlacement best;
    std::int64_t evaluations = 0;
    std::function<void(const BestPlacement&)> onBest; ///< called for valid ones

private:
    PlacetoEnvironment(ProblemPtr problem, const PlacetoConfig& config);
    double costOf(const Evaluation& evaluation) const;
    Status setUp(const GroupPins& pins, GroupPlacement start, std::uint64_t seed);

    PlacetoConfig m_config;
    PlacetoGraph m_graph;
    Simulator m_simulator;
    std::vector<float> m_starts;
    double m_singleUs = 0.0;
    GroupPlacement m_start; ///< fixed one
    Outcome m_startOutcome;
    std::vector<float> m_startStarts;
};

/// One episode: what was done, what it cost, and enough to rebuild the features of every step.
struct Episode {
    GroupPlacement initial;
    GroupPlacement placement; ///< at the end
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> actions;
    std::vector<double> costs;             ///< steps + 1
    std::vector<float> startBlocks;        ///< start times of the groups, a block per simulation
    std::vector<std::uint32_t> startBlock; ///< per step: the block that held before it
    double entropy = 0.0;                  ///< mean over the steps, exact
    double confidence = 0.0;               ///< mean over ops of the largest probability
    Outcome last;
};

/// How actions are chosen.
struct RolloutPolicy {
    std::span<const float> weights;
    bool greedy = false;
    std::span<const std::uint32_t> forced; ///< if not empty: the action of every step, to replay an episode
};

/// Runs one episode. `stop` is asked before every step; false is returned if it cut the episode short.
bool runEpisode(PlacetoEnvironment& environment, const PlacetoConfig& config, const RolloutPolicy& policy,
                PlacetoForward<float>& forward, Rng& rng, const std::function<bool()>& stop, Episode& episode);

/// Return of every step from the costs before and after the actions.
std::vector<double> returnsOf(std::span<const double> costs, PlacetoConfig::Reward reward, double gamma);

} // namespace pw::learn
