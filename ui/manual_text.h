#pragma once

#include "core/sim/simulator.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pw::ui {

/// A hand-made placement as it is kept in the project between edits (a small named value that every edit overwrites).
/// Three lines: name; devices as runs "device*count"; pinned ops. Belongs to one graph and device set by its key.
struct ManualPlacement {
    std::string name;
    OpPlacement ops;
    std::vector<std::uint32_t> pinned; ///< ascending

    bool operator==(const ManualPlacement&) const = default;
};

std::string manualToText(const ManualPlacement& manual);
/// Nothing unless the text is whole and gives exactly `opCount` ops a device below `deviceCount`.
std::optional<ManualPlacement> manualFromText(std::string_view text, std::size_t opCount, std::size_t deviceCount);

} // namespace pw::ui
