#include "core/formats/csv.h"
#include "core/formats/profile_readers.h"
#include "core/formats/profile_sums.h"

#include "core/base/text.h"

#include <charconv>
#include <cmath>
#include <map>

namespace pw::formats {

namespace {

std::optional<double> numberIn(std::string_view field) {
    field = text::trim(field);
    double value = 0.0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc::result_out_of_range)
        return HUGE_VAL;
    return error == std::errc() && end == field.data() + field.size() ? std::optional(value) : std::nullopt;
}

/// "op,us" or "op,us,device_kind", with the usual other words for the time.
bool isHeader(const std::vector<std::string>& row) {
    const std::string time = text::toLower(text::trim(row[1]));
    return time == "us" || time.ends_with("_us") || time == "microseconds";
}

Result<double> timeIn(const std::vector<std::string>& row, const std::string& where) {
    if (row.size() < 2 || row.size() > 3 || row[0].empty())
        return fail(ErrorCode::Parse, "expected \"op,us\" or \"op,us,device_kind\"", where);
    const auto us = numberIn(row[1]);
    if (!us)
        return fail(ErrorCode::Parse, "\"" + text::toValidUtf8(row[1]) + "\" is no number of microseconds", where);
    if (!isOpTime(*us))
        return fail(ErrorCode::Invalid, "a time must be 0 or more and at most 1e15 us, not " + row[1], where);
    return *us;
}

} // namespace

Result<Profile> readCsvProfile(std::string_view content) {
    ProfileSums sums;
    std::vector<std::optional<std::string>> kinds;
    std::map<std::string, std::uint32_t> laneOf;
    CsvReader reader(content);
    std::vector<std::string> row;
    bool first = true;
    while (reader.next(row)) {
        if (row.size() == 1 && text::trim(row.front()).empty())
            continue;
        const bool isFirst = std::exchange(first, false);
        if (isFirst && row.size() >= 2 && !numberIn(row[1]) && isHeader(row))
            continue;
        PW_TRY(const double us, timeIn(row, "line " + std::to_string(reader.line())));
        const std::string kind = row.size() > 2 ? text::toLower(text::trim(row[2])) : std::string();
        const auto [lane, isNew] = laneOf.try_emplace(kind, static_cast<std::uint32_t>(kinds.size()));
        if (isNew)
            kinds.emplace_back(kind);
        sums.add(row[0], lane->second, us);
    }
    if (!reader.error().empty())
        return fail(ErrorCode::Parse, reader.error(), "line " + std::to_string(reader.line()));
    return Profile{"CSV", sums.entries(kinds, ProfileSums::Combine::Mean), {}};
}

} // namespace pw::formats
