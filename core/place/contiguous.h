#pragma once

#include "core/place/placement_search.h"

namespace pw {

/// The topological order of the groups cut into one block per device so that the busiest block takes as little time as
/// possible; pins and device kinds are kept, memory is not looked at.
GroupPlacement contiguousBlocks(const PlacementSearch& search, const JobContext& context);

} // namespace pw
