#include "core/formats/tf_text.h"

#include "core/base/text.h"
#include "core/formats/proto_text.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <climits>

namespace pw::formats::tf {

namespace {

constexpr int kMaxNesting = 100;
/// A message costs up to 200 bytes in memory but may take four in the text. Honest graphs have more than this many bytes
/// per message; the free ones are for small files.
constexpr std::size_t kBytesPerMessage = 12;
constexpr std::size_t kFreeMessages = 100'000;

Status checkNesting(std::string_view content) {
    std::size_t messages = 0;
    int depth = 0;
    for (std::size_t at = 0; at < content.size(); ++at) {
        const std::size_t next = skipQuoted(content, at);
        if (next != at) {
            at = next - 1;
            continue;
        }
        const char c = content[at];
        if (c == '{' || c == '<') {
            ++messages;
            if (++depth > kMaxNesting)
                return fail(ErrorCode::TooLarge, "messages nest more than " + std::to_string(kMaxNesting) + " deep",
                            placeInText(content, at));
        } else if ((c == '}' || c == '>') && depth > 0) {
            --depth;
        }
    }
    if (messages > kFreeMessages + content.size() / kBytesPerMessage)
        return fail(ErrorCode::TooLarge, "holds more messages than a file of its size can mean");
    return {};
}

} // namespace

std::size_t skipQuoted(std::string_view content, std::size_t at) {
    const char open = content[at];
    if (open == '#')
        return std::min(content.find('\n', at), content.size());
    if (open != '"' && open != '\'')
        return at;
    for (std::size_t i = at + 1; i < content.size(); ++i) {
        if (content[i] == '\\')
            ++i;
        else if (content[i] == open || content[i] == '\n')
            return i + 1;
    }
    return content.size();
}

std::string placeInText(std::string_view content, std::size_t byte) {
    const std::string_view before = content.substr(0, byte);
    const auto line = std::count(before.begin(), before.end(), '\n');
    const auto lineStart = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return "line " + std::to_string(line + 1) + ", column " + std::to_string(byte - lineStart + 1);
}

Status parseText(std::string_view content, const std::string& what, google::protobuf::Message& into) {
    if (content.starts_with("\xef\xbb\xbf"))
        content.remove_prefix(3);
    if (content.size() > static_cast<std::size_t>(INT_MAX))
        return fail(ErrorCode::TooLarge, "texts beyond 2 GB cannot be read");
    PW_CHECK(checkNesting(content));
    FirstError error;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&error);
    parser.AllowUnknownField(true);
    parser.AllowUnknownExtension(true);
    parser.AllowPartialMessage(true);
    parser.SetRecursionLimit(kMaxNesting + 1);
    google::protobuf::io::ArrayInputStream stream(content.data(), static_cast<int>(content.size()));
    if (!parser.Parse(&stream, &into))
        return fail(ErrorCode::Parse, "not a readable " + what + ": " + text::toValidUtf8(error.text), error.where);
    return {};
}

} // namespace pw::formats::tf
