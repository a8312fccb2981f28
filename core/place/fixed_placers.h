#pragma once

#include "core/place/placer.h"

namespace pw {

/// Everything on one device: the first gpu (else the first device) that holds it, or `device=NAME`. Groups that may not
/// run there take their first device.
class SinglePlacer : public Placer {
public:
    std::string name() const override { return "single"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

/// The best of as many uniformly random placements as the budget says; one by default.
class RandomPlacer : public Placer {
public:
    std::string name() const override { return "random"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

/// Groups in topological order, one device after the other.
class RoundRobinPlacer : public Placer {
public:
    std::string name() const override { return "round_robin"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

/// The topological order cut into one block per device so that the busiest block takes as little time as possible.
class ContiguousPlacer : public Placer {
public:
    std::string name() const override { return "contiguous"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

} // namespace pw
