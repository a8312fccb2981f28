#pragma once

#include "core/place/placer.h"

namespace pw {

/// What a human expert does, as Placeto's authors and Mirhoseini describe their baselines [R+]:
/// (a) layered nets: contiguous layers to the devices in order (op attribute "expert_layer", 0 = at the input);
/// (b) branching image nets: branch b to device b mod D, joins on device 0 (op attribute "expert_branch");
/// (c) graphs without such attributes: contiguous blocks of equal cost.
/// The workloads of the zoo carry the attributes. A group follows the tag that most of its time carries; one without a tag
/// follows the group it gets most bytes from. Gpus only, if there are any.
class ExpertPlacer : public Placer {
public:
    std::string name() const override { return "expert"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

} // namespace pw
