#include "ui/manual_text.h"

#include "core/base/text.h"

#include <charconv>

namespace pw::ui {

namespace {

std::optional<std::size_t> toNumber(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

std::string manualToText(const ManualPlacement& manual) {
    std::string text;
    for (const char c : manual.name)
        text += c == '\n' ? ' ' : c;
    text += '\n';
    for (std::size_t i = 0; i < manual.ops.size();) {
        std::size_t end = i;
        while (end < manual.ops.size() && manual.ops[end] == manual.ops[i])
            ++end;
        if (i > 0)
            text += ' ';
        text += std::to_string(manual.ops[i].index()) + '*' + std::to_string(end - i);
        i = end;
    }
    text += '\n';
    for (std::size_t i = 0; i < manual.pinned.size(); ++i)
        text += (i > 0 ? " " : "") + std::to_string(manual.pinned[i]);
    return text;
}

std::optional<ManualPlacement> manualFromText(std::string_view text, std::size_t opCount, std::size_t deviceCount) {
    const auto lines = text::split(text, '\n');
    if (lines.size() != 3)
        return std::nullopt;
    ManualPlacement manual;
    manual.name = std::string(lines[0]);
    for (const auto part : text::split(lines[1], ' ')) {
        const auto star = part.find('*');
        if (star == std::string_view::npos)
            return std::nullopt;
        const auto device = toNumber(part.substr(0, star));
        const auto count = toNumber(part.substr(star + 1));
        if (!device || !count || *device >= deviceCount || *count > opCount - manual.ops.size())
            return std::nullopt;
        manual.ops.insert(manual.ops.end(), *count, DeviceId(*device));
    }
    if (manual.ops.size() != opCount)
        return std::nullopt;
    for (const auto part : text::split(lines[2], ' ')) {
        if (part.empty())
            continue;
        const auto op = toNumber(part);
        if (!op || *op >= opCount || (!manual.pinned.empty() && *op <= manual.pinned.back()))
            return std::nullopt;
        manual.pinned.push_back(static_cast<std::uint32_t>(*op));
    }
    return manual;
}

} // namespace pw::ui
