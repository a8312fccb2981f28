#pragma once

#include "core/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace pw::test {

/// Feeds one file to one reader, by the reader's name in fuzz_targets.cpp: what the reader said. Nothing if there is no
/// such reader. Throws std::logic_error where what the program writes cannot be read again.
std::optional<Status> fuzzOnce(std::string_view target, const std::string& path);

} // namespace pw::test
