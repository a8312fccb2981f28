#include "core/formats/profile_readers.h"
#include "core/formats/recognise.h"

#include "core/base/text.h"

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxTextProfile = 512LL << 20;

Result<Profile> readRecognised(Format format, const OpenFile& file, const std::string& path) {
    if (format == Format::TraceProfile)
        return readTraceProfile(file, path);
    if (format == Format::TfStepStats)
        return readTfStepStats(file, path);
    PW_TRY(const std::string content, readFile(path, kMaxTextProfile));
    if (format == Format::TfStepStatsText)
        return readTfStepStatsText(content);
    std::string_view table = content;
    if (table.starts_with("\xef\xbb\xbf"))
        table.remove_prefix(3);
    if (const std::string_view start = text::trim(table); start.starts_with('{') || start.starts_with('['))
        return readTraceProfile(file, path);
    if (!text::isValidUtf8(table) || table.find('\0') != std::string_view::npos)
        return fail(ErrorCode::Parse,
                    "is no profile: neither JSON events, nor TensorFlow's RunMetadata, nor a table \"op,us\"");
    return readCsvProfile(table);
}

} // namespace

Result<Profile> loadProfile(const std::string& path) {
    PW_TRY(const OpenFile file, openRegularFile(path));
    if (file.size == 0)
        return fail(ErrorCode::Parse, "is empty", {}, path);
    PW_TRY(const std::string head, readUpTo(file, kHeadBytes, path));
    const Recognition found = recognise(head, file.size);
    if (found.format != Format::Unknown && kindOf(found.format) != FileKind::Profile)
        return fail(ErrorCode::Parse, "is no profile, but something else that this program opens", {}, path);
    auto profile = readRecognised(found.format, file, path);
    if (!profile && profile.error().file.empty())
        profile.error().file = path;
    if (profile && profile->entries.empty())
        return fail(ErrorCode::Parse, "holds no time of any op", {}, path);
    return profile;
}

} // namespace pw::formats
