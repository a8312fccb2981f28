#pragma once

#include "core/place/placer.h"

namespace pw {

/// METIS k-way partitioning of the group graph without directions: vertex weight = time, edge weight = bytes in both
/// directions, 5 % imbalance; memory is a second constraint where the capacities bind. It knows nothing of dependencies:
/// a chain that is cut in the middle is balanced and gains nothing.
class MetisPlacer : public Placer {
public:
    std::string name() const override { return "metis"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

} // namespace pw
