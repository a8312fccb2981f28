#pragma once

#include "tests/support/brute_force_links.h"

namespace pw::test {

/// The `reference` model straight from specs/placeto.md 5.3 and 5.4: one heap of (time, kind, key) with an event per
/// dependency, names compared as strings. The set is homogeneous.
BruteForceResult bruteForceReference(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement);

} // namespace pw::test
