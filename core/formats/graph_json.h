#pragma once

#include "core/formats/exporters.h"

namespace pw::formats {

std::string toGraphJson(const OpGraph& graph, const DeviceNames& deviceOf);

constexpr int kMaxBodyDepth = 64; ///< why: bodies are read, written and freed recursively

} // namespace pw::formats
