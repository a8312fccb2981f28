#pragma once

#include "core/place/placer.h"

namespace pw {

/// Hill climbing: moves one random group, keeps the move if it is not worse; after
/// 3 N (D - 1) moves without an improvement goes on from the best with N / 15 groups changed. 1,000 evaluations by default.
class LocalSearchPlacer : public Placer {
public:
    static constexpr std::int64_t kDefaultEvaluations = 1000;

    std::string name() const override { return "local_search"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

} // namespace pw
