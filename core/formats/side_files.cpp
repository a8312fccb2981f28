#include "core/formats/side_files.h"

#include "core/base/text.h"
#include "core/formats/csv.h"
#include "core/formats/wire_head.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace pw::formats {

namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string_view withoutSpace(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// Takes a quoted text off the front; nothing if there is none that ends in the head.
std::optional<std::string_view> takeQuoted(std::string_view& rest) {
    if (!rest.starts_with('"'))
        return std::nullopt;
    for (std::size_t i = 1; i < rest.size(); ++i) {
        if (rest[i] == '\\') {
            ++i;
        } else if (rest[i] == '"') {
            const std::string_view text = rest.substr(1, i - 1);
            rest.remove_prefix(i + 1);
            return text;
        }
    }
    return std::nullopt;
}

bool isDeviceWord(std::string_view text) {
    const std::string lower = text::toLower(text);
    const std::string_view kind = std::string_view(lower).substr(0, lower.find(':'));
    static constexpr std::string_view kWords[] = {"cpu", "gpu", "cuda", "disk", "mps", "xpu", "npu", "hpu", "tpu"};
    return std::find(std::begin(kWords), std::end(kWords), kind) != std::end(kWords) ||
           contains(lower, "executionprovider") || (lower.starts_with('/') && contains(lower, ":"));
}

/// `{"model.embed": 0, "lm_head": "cpu"}`: nothing but names and devices, as far as the head reaches.
bool looksLikeDeviceMap(std::string_view head) {
    std::string_view rest = withoutSpace(head);
    if (!rest.starts_with('{'))
        return false;
    std::size_t pairs = 0;
    for (char before = '{'; before == '{' || before == ','; ++pairs) {
        rest = withoutSpace(rest.substr(1));
        if (!takeQuoted(rest))
            return pairs > 0 && (rest.empty() || rest.front() == '"');
        rest = withoutSpace(rest);
        if (!rest.starts_with(':'))
            return pairs > 0 && rest.empty();
        rest = withoutSpace(rest.substr(1));
        if (rest.starts_with('"')) {
            const auto device = takeQuoted(rest);
            if (!device)
                return pairs > 0;
            if (!isDeviceWord(*device))
                return false;
        } else {
            const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
            if (digits == 0 && !rest.empty())
                return false;
            rest.remove_prefix(digits);
        }
        rest = withoutSpace(rest);
        if (rest.empty())
            return true;
        before = rest.front();
        if (before != ',' && before != '}')
            return false;
    }
    return true;
}

bool isNumber(std::string_view field) {
    field = text::trim(field);
    double value = 0.0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return !field.empty() && error != std::errc::invalid_argument && end == field.data() + field.size();
}

bool isDeviceString(std::string_view text) {
    return text.starts_with("/job:") || text.starts_with("/device:") || text.starts_with("/host:") ||
           text.starts_with("/replica:") || text.starts_with("/gpu:") || text.starts_with("/cpu:");
}

/// A message whose first field is a list of devices with statistics.
bool startsWithDevices(std::string_view message) {
    FieldWalk step(message);
    if (!step.next() || step.field != 1 || step.wire != 2)
        return false;
    FieldWalk device(step.payload);
    return device.next() && device.field == 1 && device.wire == 2 && isDeviceString(device.payload) &&
           (!device.next() || (device.field == 2 && device.wire == 2 && device.payload.starts_with('\x0a')) ||
            (device.field == 3 && device.wire == 2));
}

} // namespace

Format recogniseSideJson(std::string_view head) {
    if (contains(head, "\"traceEvents\"") ||
        (contains(head, "\"ph\"") && (contains(head, "\"ts\"") || contains(head, "\"dur\""))))
        return Format::TraceProfile;
    if (contains(head, "\"ep_name\"") && contains(head, "\"nodes\""))
        return Format::OrtAssignment;
    return looksLikeDeviceMap(head) ? Format::DeviceMap : Format::Unknown;
}

Format recogniseTable(std::string_view head) {
    // The last line may be cut off by the end of the head.
    const auto lastLine = head.rfind('\n');
    CsvReader reader(head.substr(0, lastLine == std::string_view::npos ? head.size() : lastLine));
    std::vector<std::string> row;
    std::size_t times = 0;
    for (std::size_t line = 0; line < 8 && reader.next(row); ++line) {
        if (row.size() == 1 && text::trim(row.front()).empty())
            continue;
        if (row.size() < 2 || row.size() > 3)
            return Format::Unknown;
        const std::string second = text::toLower(text::trim(row[1]));
        if (line == 0 && (second == "us" || second.ends_with("_us") || second == "microseconds"))
            return Format::CsvProfile;
        if (line == 0 && text::toLower(text::trim(row[0])) == "op" && second == "device")
            return Format::PlacementCsv;
        if (!isNumber(row[1]))
            return row.size() == 2 && times == 0 && isDeviceWord(row[1]) ? Format::PlacementCsv : Format::Unknown;
        ++times;
    }
    return times > 0 ? Format::CsvProfile : Format::Unknown;
}

bool looksLikeStepStats(std::string_view head) {
    FieldWalk outer(head);
    return startsWithDevices(head) ||
           (outer.next() && outer.field == 1 && outer.wire == 2 && startsWithDevices(outer.payload));
}

bool looksLikeStepStatsText(std::string_view head) {
    return contains(head, "dev_stats") && (contains(head, "node_stats") || contains(head, "device:"));
}

} // namespace pw::formats
