#include "tests/formats/hostile_files.h"

#include <array>
#include <cctype>

namespace pw::test {

namespace {

using Use = std::function<bool(const std::string& content, const std::string& what)>;

constexpr std::size_t kFlippedBytes = 2048;

bool cutAndFlip(const std::string& valid, const Use& use) {
    for (std::size_t length = 0; length < valid.size(); ++length) {
        if (!use(valid.substr(0, length), "cut at byte " + std::to_string(length)))
            return false;
    }
    std::string flipped = valid;
    for (std::size_t bit = 0; bit < 8 * std::min(valid.size(), kFlippedBytes); ++bit) {
        const auto mask = static_cast<char>(1U << (bit % 8));
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ mask);
        if (!use(flipped, "bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8)))
            return false;
        flipped[bit / 8] = valid[bit / 8];
    }
    return true;
}

bool isDigit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool isLetter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Each run of characters of one class replaced by each of the texts.
template<std::size_t N>
bool replaceRuns(const std::string& valid, bool (*isInside)(char), const std::array<std::string, N>& texts,
                 const Use& use) {
    for (std::size_t at = 0; at < valid.size();) {
        std::size_t end = at;
        while (end < valid.size() && isInside(valid[end]))
            ++end;
        for (std::size_t i = 0; end > at && i < N; ++i) {
            const std::string what = texts[i].size() > 40 ? "a long name" : "\"" + texts[i] + "\"";
            if (!use(valid.substr(0, at) + texts[i] + valid.substr(end), what + " at byte " + std::to_string(at)))
                return false;
        }
        at = std::max(end, at + 1);
    }
    return true;
}

} // namespace

void forEachHostileVariant(const std::string& valid, const Use& use) {
    static const std::array<std::string, 9> kNumbers = {
        "-1",    "0",      "4294967296", "9223372036854775807", "-9223372036854775808", "99999999999999999999",
        "1e300", "1e-300", "nan"};
    static const std::array<std::string, 3> kNames = {std::string(4000, 'x'), "\xff\xfe\xc0", ""};
    if (use("", "empty") && use(valid + valid, "doubled") && use(valid + std::string(1, '\0'), "a zero byte behind") &&
        cutAndFlip(valid, use) && replaceRuns(valid, isDigit, kNumbers, use))
        replaceRuns(valid, isLetter, kNames, use);
}

} // namespace pw::test
