#pragma once

#include "core/base/result.h"
#include "core/sim/simulator.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pw::storage {

/// Column `placement.devices`: one little-endian uint16 device index per op, in op order.
std::vector<std::uint8_t> packPlacement(std::span<const DeviceId> placement);
Result<OpPlacement> unpackPlacement(std::span<const std::uint8_t> blob);

} // namespace pw::storage
