#pragma once

#include <string>
#include <string_view>

namespace pw::test {

/// Feeds one file to one reader, by the reader's name in fuzz_targets.cpp; the outcome does not matter, only that there is
/// one. False if there is no such reader.
bool fuzzOnce(std::string_view target, const std::string& path);

} // namespace pw::test
