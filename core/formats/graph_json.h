#pragma once

#include "core/formats/formats.h"

namespace pw::formats {

/// Device name per op; empty = the names that the graph itself carries.
using DeviceNames = std::vector<std::string>;

std::string toGraphJson(const OpGraph& graph, const DeviceNames& deviceOf);

constexpr int kMaxBodyDepth = 64; ///< why: bodies are read, written and freed recursively

} // namespace pw::formats
