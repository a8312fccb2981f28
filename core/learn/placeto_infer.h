#pragma once

#include "core/learn/learn.h"

namespace pw::learn {

/// Zero-shot placement with a trained policy: one greedy sweep, then sampled ones; the best placement seen. Needs no
/// LibTorch: the forward pass is by hand.
Result<PlaceResult> inferPlaceto(const InferSpec& spec, JobContext& context);

} // namespace pw::learn
