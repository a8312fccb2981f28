#include "core/base/text.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace pw::text {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos)
            return parts;
        text.remove_prefix(at + 1);
    }
}

std::string_view trim(std::string_view text) {
    const auto isSpace = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && isSpace(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && isSpace(text.back()))
        text.remove_suffix(1);
    return text;
}

std::string toLower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

namespace {

/// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
std::size_t sequenceLength(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return 1;
    std::size_t length = 0;
    std::uint32_t minimum = 0;
    std::uint32_t code = 0;
    if ((first & 0xe0) == 0xc0) {
        length = 2, minimum = 0x80, code = first & 0x1f;
    } else if ((first & 0xf0) == 0xe0) {
        length = 3, minimum = 0x800, code = first & 0x0f;
    } else if ((first & 0xf8) == 0xf0) {
        length = 4, minimum = 0x10000, code = first & 0x07;
    } else {
        return 0;
    }
    if (text.size() < length)
        return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
        code = (code << 6) | (byte(i) & 0x3fU);
    }
    const bool legal = code >= minimum && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return legal ? length : 0;
}

} // namespace

bool isValidUtf8(std::string_view text) {
    while (!text.empty()) {
        // why: nearly all text is ASCII, which needs no look at single bytes.
        for (std::uint64_t word = 0; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
            std::memcpy(&word, text.data(), sizeof word);
            if ((word & 0x8080808080808080ULL) != 0)
                break;
        }
        if (text.empty())
            break;
        const std::size_t n = sequenceLength(text);
        if (n == 0)
            return false;
        text.remove_prefix(n);
    }
    return true;
}

std::string toValidUtf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const std::size_t n = sequenceLength(text);
        if (n == 0) {
            valid += "\xef\xbf\xbd";
            text.remove_prefix(1);
        } else {
            valid += text.substr(0, n);
            text.remove_prefix(n);
        }
    }
    return valid;
}

std::string number(double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
    return std::string(buffer, end.ptr);
}

std::string grouped(std::int64_t value) {
    std::string digits = std::to_string(value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

namespace {

std::string fixed(double value, int decimals) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
    std::string digits = buffer;
    const auto dot = digits.find('.');
    const std::size_t first = digits[0] == '-' ? 1 : 0;
    for (std::size_t at = dot == std::string::npos ? digits.size() : dot; at > first + 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

} // namespace

std::string bytes(double value) {
    static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (std::abs(value) >= 1000.0 && unit < 4) {
        value /= 1000.0;
        ++unit;
    }
    return fixed(value, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

std::string duration(double us) {
    if (std::abs(us) < 1000.0)
        return fixed(us, 1) + " us";
    if (std::abs(us) < 60e6)
        return fixed(us / 1000.0, 1) + " ms";
    return fixed(us / 1e6, 1) + " s";
}

} // namespace pw::text
