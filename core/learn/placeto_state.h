#pragma once

#include "core/learn/placeto_episode.h"

namespace pw::learn {

/// What training keeps about one problem.
struct ProblemState {
    std::vector<std::vector<double>> window; ///< baseline: returns per step of the last updates, oldest first
    BestPlacement best;
    std::int64_t evaluations = 0;
};

/// Everything that decides how training goes on. Two runs with equal states stay equal.
struct PlacetoState {
    std::vector<float> weights;
    std::vector<float> firstMoment;
    std::vector<float> secondMoment;
    std::int64_t updates = 0;        ///< Adam's counter
    std::int64_t skippedUpdates = 0; ///< not applied because a gradient was not finite
    Rng::State rng{};
    std::uint64_t seed = 0;
    std::int64_t episodes = 0;
    std::size_t nextProblem = 0;
    double seconds = 0.0;
    std::vector<ProblemState> problems;

    std::int64_t evaluations() const;
};

/// What a checkpoint must agree on with the run that resumes from it.
struct CheckpointContext {
    std::map<std::string, std::string> parameters;
    std::vector<std::string> problemHashes;
    std::size_t deviceCount = 0;
    std::size_t parameterCount = 0;
    std::vector<std::size_t> groupCounts;
};

Bytes writeCheckpoint(const PlacetoState& state, const CheckpointContext& context);
Result<PlacetoState> readCheckpoint(const Bytes& bytes, const CheckpointContext& context);

/// A trained policy: one JSON line that describes it, then the weights.
struct PlacetoPolicy {
    PolicyInfo info;
    std::map<std::string, std::string> parameters;
    std::vector<float> weights;
};

Bytes writePolicy(const PlacetoPolicy& policy);
Result<PlacetoPolicy> readPolicy(const Bytes& bytes);

} // namespace pw::learn
