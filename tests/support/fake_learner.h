#pragma once

#include "core/learn/learn.h"

#include <functional>

namespace pw::test {

/// Stands in for the learned placers without LibTorch: every episode draws a random placement and simulates it.
/// Deterministic for a seed, and resuming from a checkpoint equals never having stopped.
class FakeLearner final : public learn::Library {
public:
    struct Options {
        std::int64_t checkpointEvery = 5;
        /// Called after every episode on the training thread (1, 2, ...): where tests request a stop, wait or throw.
        std::function<void(std::int64_t episode)> afterEpisode;
        std::int64_t failAtEpisode = 0; ///< 0 = never
    };

    FakeLearner() = default;
    explicit FakeLearner(Options options) : m_options(std::move(options)) {}

    std::vector<learn::ParameterInfo> parameters(const std::string& method) const override;
    Result<learn::TrainResult> train(const learn::TrainSpec& spec, const learn::TrainHooks& hooks,
                                     JobContext& context) const override;
    Result<PlaceResult> infer(const learn::InferSpec& spec, JobContext& context) const override;
    Result<learn::PolicyInfo> inspect(const learn::Bytes& policy) const override;
    learn::LocalInfo localInfo(bool measure) const override;
    double blasError() const override { return 0.0; }
    Result<GraphPtr> importTorchScript(const learn::TorchScriptSpec&) const override {
        return fail(ErrorCode::Unsupported, "no LibTorch here");
    }

private:
    Options m_options;
};

} // namespace pw::test
