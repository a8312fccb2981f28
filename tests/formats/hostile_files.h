#pragma once

#include <functional>
#include <string>

namespace pw::test {

/// Every standard way to spoil a small valid file: cut at every byte, every bit of the first 2 kB flipped, doubled,
/// empty, and, one token at a time, names of 4,000 characters or of bytes that are not UTF-8, numbers that are
/// negative, huge or no numbers at all. `use` gets each variant and words for it; false stops.
void forEachHostileVariant(const std::string& valid,
                           const std::function<bool(const std::string& content, const std::string& what)>& use);

} // namespace pw::test
