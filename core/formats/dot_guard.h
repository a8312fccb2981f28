#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace pw::formats {

/// Refuses DOT texts that would make the parser explode: `{a b c} -> {d e f}` stands for nine edges, so a small file
/// may ask for billions, and cgraph can neither be limited nor stopped. Counts an upper bound without building
/// anything; also refuses braces nested too deep. Syntax is not checked.
Status checkDotSize(std::string_view text, const std::string& path);

} // namespace pw::formats
