#include "viz/graph/layout.h"

#include "core/base/hash.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace pw::viz {

namespace {

constexpr int kLayoutVersion = 2; ///< goes up when layoutScope() gives another picture for the same input
constexpr std::string_view kMagic = "pwlayout1";

/// 1/100 px is finer than any picture.
void append(std::string& text, double value) {
    char buffer[32];
    const int length = std::snprintf(buffer, sizeof buffer, " %lld", std::llround(value * 100));
    text.append(buffer, static_cast<std::size_t>(length));
}

class Reader {
public:
    explicit Reader(std::string_view text) : m_text(text) {}

    std::optional<long long> integer() {
        if (m_text.empty() || m_text.front() != ' ')
            return std::nullopt;
        m_text.remove_prefix(1);
        long long value = 0;
        const auto [end, error] = std::from_chars(m_text.data(), m_text.data() + m_text.size(), value);
        if (error != std::errc())
            return std::nullopt;
        m_text.remove_prefix(static_cast<std::size_t>(end - m_text.data()));
        return value;
    }
    std::optional<double> px() {
        const auto value = integer();
        if (!value || std::llabs(*value) > 100'000'000'000LL)
            return std::nullopt;
        return static_cast<double>(*value) / 100;
    }
    std::optional<std::size_t> count(std::size_t most) {
        const auto value = integer();
        if (!value || *value < 0 || static_cast<unsigned long long>(*value) > most)
            return std::nullopt;
        return static_cast<std::size_t>(*value);
    }
    bool point(QPointF& point) {
        const auto x = px();
        const auto y = px();
        if (!x || !y)
            return false;
        point = QPointF(*x, *y);
        return true;
    }
    bool atEnd() const { return m_text.empty(); }
    std::size_t left() const { return m_text.size(); }

private:
    std::string_view m_text;
};

} // namespace

std::string layoutKey(const LayoutInput& input) {
    Hasher hasher;
    hasher.add(kLayoutVersion);
    hasher.add(input.aspect);
    hasher.add(input.boxes.size());
    for (const BoxSize& box : input.boxes) {
        hasher.add(std::llround(box.width * 100));
        hasher.add(std::llround(box.height * 100));
    }
    for (const BoxSize& box : input.closed) {
        hasher.add(std::llround(box.width * 100));
        hasher.add(std::llround(box.height * 100));
    }
    hasher.add(input.links.size());
    for (const LayoutLink& link : input.links) {
        hasher.add(link.from);
        hasher.add(link.to);
    }
    return hasher.finishHex();
}

std::string encodeLayout(const ScopeLayout& layout) {
    std::string text(kMagic);
    append(text, layout.width);
    append(text, layout.height);
    for (const QPointF& position : layout.positions) {
        append(text, position.x());
        append(text, position.y());
    }
    for (const LayoutRoute& route : layout.routes) {
        text += ' ' + std::to_string(route.pointCount) + (route.curve ? " 1" : " 0");
        for (std::uint32_t i = 0; i < route.pointCount; ++i) {
            append(text, layout.points[route.firstPoint + i].x());
            append(text, layout.points[route.firstPoint + i].y());
        }
    }
    return text;
}

std::optional<ScopeLayout> decodeLayout(std::string_view text, const LayoutInput& input) {
    if (text.substr(0, kMagic.size()) != kMagic)
        return std::nullopt;
    Reader reader(text.substr(kMagic.size()));
    ScopeLayout layout;
    const auto width = reader.px();
    const auto height = reader.px();
    if (!width || !height)
        return std::nullopt;
    layout.width = *width;
    layout.height = *height;
    layout.positions.resize(input.boxes.size());
    for (QPointF& position : layout.positions) {
        if (!reader.point(position))
            return std::nullopt;
    }
    layout.routes.resize(input.links.size());
    for (LayoutRoute& route : layout.routes) {
        const auto count = reader.count(reader.left()); // why: a point takes more than one character
        const auto curve = reader.count(1);
        if (!count || !curve || (*curve == 1 && *count > 0 && (*count < 4 || (*count - 1) % 3 != 0)) || *count == 1)
            return std::nullopt;
        route = {static_cast<std::uint32_t>(layout.points.size()), static_cast<std::uint32_t>(*count), *curve == 1};
        for (std::size_t i = 0; i < *count; ++i) {
            QPointF point;
            if (!reader.point(point))
                return std::nullopt;
            layout.points.push_back(point);
        }
    }
    if (!reader.atEnd())
        return std::nullopt;
    return layout;
}

} // namespace pw::viz
