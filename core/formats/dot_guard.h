#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace pw::formats {

/// Refuses DOT texts that would make the parser explode: `{a b c} -> {d e f}` stands for nine edges, so a small file
/// may ask for billions, and cgraph can neither be limited nor stopped. So do `node [a=1, b=2, ...]`, which gives every
/// node all of it, and nodes deep in subgraphs. Counts upper bounds without building anything; also refuses braces
/// nested too deep. Syntax is not checked.
Status checkDotSize(std::string_view text, const std::string& path);

} // namespace pw::formats
