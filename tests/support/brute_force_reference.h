#pragma once

#include "tests/support/brute_force_links.h"

namespace pw::test {

/// The `reference` model straight from the rules of Placeto's released code: one heap of (time, kind, key) with an event per
/// dependency, names compared as strings. The set is homogeneous.
BruteForceResult bruteForceReference(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement);

} // namespace pw::test
