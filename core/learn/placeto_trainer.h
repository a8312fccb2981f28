#pragma once

#include "core/base/clock.h"
#include "core/learn/placeto_gradient.h"
#include "core/learn/placeto_state.h"

namespace pw::learn {

/// REINFORCE with a baseline per step, Adam, schedules over the budget. One per run; single-threaded.
/// The state moves from update to update: an update that a stop cuts short never happened, except that the best
/// placement it saw is kept in the result.
class PlacetoTrainer {
public:
    /// `spec` and `hooks` must outlive it.
    static Result<std::unique_ptr<PlacetoTrainer>> create(const TrainSpec& spec, const TrainHooks& hooks);

    Result<TrainResult> run(JobContext& context);

    const PlacetoState& state() const { return m_state; }

private:
    struct Rollout {
        std::size_t problem = 0;
        Episode episode;
        std::vector<double> returns;
        std::vector<float> advantages;
    };

    PlacetoTrainer(const TrainSpec& spec, const TrainHooks& hooks, PlacetoConfig config);
    Status setUp();
    Status startOrResume();
    bool budgetLeft() const;
    double budgetUsed() const;
    double secondsNow() const;
    std::int64_t evaluationsNow() const;
    Result<bool> update(JobContext& context);
    bool rollOut(JobContext& context, std::vector<Rollout>& rollouts);
    void computeAdvantages(std::vector<Rollout>& rollouts);
    void computeAdvantagesOf(std::span<Rollout> rollouts, ProblemState& problem) const;
    Result<bool> computeGradient(JobContext& context, const std::vector<Rollout>& rollouts, double entropyWeight,
                                 std::vector<float>& gradient);
    StepBatch<float> batchOf(const Rollout& rollout, std::size_t first, std::size_t count) const;
    double applyGradient(std::vector<float>& gradient, double learningRate);
    void commit(const std::vector<Rollout>& rollouts, double gradNorm, double learningRate);
    void report(JobContext& context) const;
    void saveCheckpoint();
    std::string describeTraining() const;
    TrainResult result();

    const TrainSpec& m_spec;
    const TrainHooks& m_hooks;
    PlacetoConfig m_config;
    NetLayout m_layout;
    CheckpointContext m_context;
    std::vector<PlacetoEnvironment> m_environments;
    std::vector<PlacetoForward<float>> m_forwards;
    std::optional<PlacetoGradient<float>> m_gradient;
    PlacetoState m_state;
    Stopwatch m_watch;
    double m_secondsBefore = 0.0; ///< of earlier runs
    double m_lastCheckpoint = 0.0;
};

} // namespace pw::learn
