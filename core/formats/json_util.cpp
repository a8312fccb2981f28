#include "core/formats/json_util.h"

#include <cmath>

namespace pw::formats {

namespace {

constexpr std::size_t kMaxNesting = 512; ///< why: readers recurse over bodies, five levels of JSON each

std::string placeOf(std::string_view text, std::size_t byte) {
    std::size_t line = 1;
    std::size_t lineStart = 0;
    byte = std::min(byte, text.size());
    for (std::size_t i = 0; i < byte; ++i) {
        if (text[i] == '\n') {
            ++line;
            lineStart = i + 1;
        }
    }
    return "line " + std::to_string(line) + ", column " + std::to_string(byte - lineStart + 1);
}

/// The byte where brackets nest too deep, or npos.
std::size_t tooDeepAt(std::string_view text) {
    std::size_t depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                inString = false;
        } else if (c == '"') {
            inString = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMaxNesting)
                return i;
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return std::string_view::npos;
}

/// nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..." without its prefix.
std::string reasonOf(const std::string& what) {
    const auto colon = what.find(": ");
    return colon == std::string::npos ? what : what.substr(colon + 2);
}

Error syntaxError(const Json::exception& error, std::string_view text, const std::string& file) {
    const auto* parse = dynamic_cast<const Json::parse_error*>(&error);
    return {ErrorCode::Parse, "not valid JSON: " + reasonOf(error.what()), file,
            parse == nullptr ? std::string() : placeOf(text, parse->byte > 0 ? parse->byte - 1 : 0)};
}

} // namespace

Status checkJsonNesting(std::string_view text, const std::string& file) {
    if (const auto at = tooDeepAt(text); at != std::string_view::npos) {
        return fail(ErrorCode::TooLarge, "brackets nest more than " + std::to_string(kMaxNesting) + " deep",
                    placeOf(text, at), file);
    }
    return {};
}

Error jsonSyntaxError(std::string_view text, std::size_t byte, const std::string& file) {
    try {
        // Keeps nothing of what it reads: only the message is wanted.
        [[maybe_unused]] const Json nothing =
            Json::parse(text.begin(), text.end(), [](int, Json::parse_event_t, const Json&) { return false; });
    } catch (const Json::exception& error) {
        return syntaxError(error, text, file);
    }
    return {ErrorCode::Parse, "not valid JSON", file, placeOf(text, byte)};
}

Result<Json> parseJson(std::string_view text, const std::string& file) {
    PW_CHECK(checkJsonNesting(text, file));
    try {
        return Json::parse(text.begin(), text.end());
    } catch (const Json::exception& error) {
        return fail(syntaxError(error, text, file));
    }
}

Result<Json> parseDocument(std::string_view text, std::string_view format, const std::string& file) {
    PW_TRY(Json document, parseJson(text, file));
    const auto wanted = "expected \"format\": \"" + std::string(format) + "\"";
    if (!document.is_object())
        return fail(ErrorCode::Parse, wanted + ", found " + jsonKind(document), {}, file);
    const auto found = document.find("format");
    if (found == document.end())
        return fail(ErrorCode::Parse, wanted + ", found no such key", "format", file);
    if (!found->is_string() || found->get_ref<const std::string&>() != format)
        return fail(ErrorCode::Parse, wanted + ", found " + found->dump(-1, ' ', false, Json::error_handler_t::replace),
                    "format", file);
    auto version = JsonObject(document, {}).integer("version", 1);
    if (!version) {
        version.error().file = file;
        return fail(std::move(version).error());
    }
    if (*version != 1) {
        return fail(ErrorCode::Unsupported,
                    "version " + std::to_string(*version) + " is newer than this program reads (1)", "version", file);
    }
    return document;
}

std::string jsonKind(const Json& value) {
    switch (value.type()) {
    case Json::value_t::null:
        return "null";
    case Json::value_t::object:
        return "an object";
    case Json::value_t::array:
        return "an array";
    case Json::value_t::string:
        return "text";
    case Json::value_t::boolean:
        return "true or false";
    default:
        return "a number";
    }
}

Result<double> jsonNumber(const Json& value, const std::string& path) {
    if (!value.is_number())
        return fail(ErrorCode::Parse, "expected a number, found " + jsonKind(value), path);
    return value.get<double>();
}

Result<std::int64_t> jsonInteger(const Json& value, const std::string& path) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
        return fail(ErrorCode::Parse, "number too large", path);
    if (value.is_number_integer())
        return value.get<std::int64_t>();
    PW_TRY(const double number, jsonNumber(value, path));
    if (std::floor(number) != number || std::abs(number) > 9.0e18)
        return fail(ErrorCode::Parse, "expected a whole number, found " + value.dump(), path);
    return static_cast<std::int64_t>(number);
}

Result<std::string> jsonText(const Json& value, const std::string& path) {
    if (!value.is_string())
        return fail(ErrorCode::Parse, "expected text, found " + jsonKind(value), path);
    return value.get<std::string>();
}

Result<JsonObject> JsonObject::of(const Json& value, std::string path) {
    if (!value.is_object())
        return fail(ErrorCode::Parse, "expected an object, found " + jsonKind(value), std::move(path));
    return JsonObject(value, std::move(path));
}

const Json* JsonObject::find(const char* key) const {
    const auto found = m_value->find(key);
    return found == m_value->end() || found->is_null() ? nullptr : &*found;
}

std::string JsonObject::pathOf(std::string_view key) const {
    return m_path.empty() ? std::string(key) : m_path + "." + std::string(key);
}

Result<std::string> JsonObject::text(const char* key, std::string fallback) const {
    const Json* found = find(key);
    return found != nullptr ? jsonText(*found, pathOf(key)) : Result<std::string>(std::move(fallback));
}

Result<std::string> JsonObject::requiredText(const char* key) const {
    if (find(key) == nullptr)
        return fail(ErrorCode::Parse, "missing", pathOf(key));
    return text(key);
}

Result<double> JsonObject::number(const char* key, double fallback) const {
    const Json* found = find(key);
    return found != nullptr ? jsonNumber(*found, pathOf(key)) : Result<double>(fallback);
}

Result<std::int64_t> JsonObject::integer(const char* key, std::int64_t fallback) const {
    const Json* found = find(key);
    return found != nullptr ? jsonInteger(*found, pathOf(key)) : Result<std::int64_t>(fallback);
}

Result<const Json*> JsonObject::array(const char* key) const {
    static const Json kEmpty = Json::array();
    const Json* found = find(key);
    if (found == nullptr)
        return &kEmpty;
    if (!found->is_array())
        return fail(ErrorCode::Parse, "expected an array, found " + jsonKind(*found), pathOf(key));
    return found;
}

std::string jsonString(std::string_view text) {
    return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace pw::formats
