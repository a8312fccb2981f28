#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pw::text {

/// The parts between separators, empty ones included.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string toLower(std::string_view text);
bool isValidUtf8(std::string_view text);
/// Every byte that is not part of valid UTF-8 becomes U+FFFD, so that names can be shown and written to JSON.
std::string toValidUtf8(std::string_view text);
/// Shortest text that reads back as the same double ("0.1", "1e-07", "12").
std::string number(double value);
/// 12345678 -> "12,345,678".
std::string grouped(std::int64_t value);
/// Bytes with a decimal unit: "12.0 GB", "76.0 kB", "12 B".
std::string bytes(double value);
/// Microseconds with a fitting unit: "12.3 us", "3,333.6 ms" stays in ms up to minutes.
std::string duration(double us);

} // namespace pw::text
