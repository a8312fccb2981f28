#pragma once

#include "core/learn/placeto_net.h"

#include <memory>
#include <string>

namespace pw::learn {

/// Some steps of one episode, laid out for one batched evaluation.
template<class Real>
struct StepBatch {
    std::size_t steps = 0;
    std::vector<Real> features;          ///< [node][step][feature]
    std::vector<std::uint32_t> nodes;    ///< per step: the node that was placed
    std::vector<std::uint32_t> actions;  ///< per step: the device chosen
    std::vector<Real> advantages;        ///< per step
    std::vector<std::uint8_t> allowed;   ///< [step][device]
};

/// The batched network with a tape, by LibTorch. Not thread-safe: one per training run.
template<class Real>
class PlacetoGradient {
public:
    /// `layout` must outlive it. Fails on a device that LibTorch does not have.
    static Result<PlacetoGradient> create(const NetLayout& layout, const std::string& device);
    ~PlacetoGradient();
    PlacetoGradient(PlacetoGradient&&) noexcept;

    /// Adds d loss / d weights to `gradient` (sums, not means, as in Placeto's released code) and returns the loss.
    Result<double> addGradient(std::span<const Real> weights, const Topology& topology, const StepBatch<Real>& batch,
                               double entropyWeight, std::span<Real> gradient);
    /// Logits of every step, [step][device].
    Result<std::vector<Real>> logits(std::span<const Real> weights, const Topology& topology,
                                     const StepBatch<Real>& batch);

private:
    struct Impl;
    explicit PlacetoGradient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// The authors' constant inside the logarithm of the entropy (Placeto's released code).
inline constexpr double kEntropyEpsilon = 1e-3;

} // namespace pw::learn
