#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pw::formats {

using Json = nlohmann::json;

/// Parses a document that must be an object with `"format": format` and a version up to 1. Nesting is limited, since
/// what follows recurses. Errors name line and column.
Result<Json> parseDocument(std::string_view text, std::string_view format, const std::string& file);

/// Any JSON value, with the same guards.
Result<Json> parseJson(std::string_view text, const std::string& file);

/// Fails where brackets nest too deep for readers that recurse.
Status checkJsonNesting(std::string_view text, const std::string& file);
/// Why a text that is no JSON is none, in the words and with the place of parseJson(); `byte` is where its reader stopped.
Error jsonSyntaxError(std::string_view text, std::size_t byte, const std::string& file);

/// An object on its way through a reader: typed access to keys whose errors name the path ("ops[3].cost_us").
class JsonObject {
public:
    JsonObject(const Json& value, std::string path)
        : m_value(&value)
        , m_path(std::move(path)) {}

    /// Fails if `value` is no object.
    static Result<JsonObject> of(const Json& value, std::string path);

    const Json* find(const char* key) const; ///< nullptr if absent or null
    const Json& value() const { return *m_value; }
    const std::string& path() const { return m_path; }
    std::string pathOf(std::string_view key) const;

    Result<std::string> text(const char* key, std::string fallback = {}) const;
    Result<std::string> requiredText(const char* key) const;
    Result<double> number(const char* key, double fallback) const;
    Result<std::int64_t> integer(const char* key, std::int64_t fallback) const;
    /// The array under `key`; an empty one if absent.
    Result<const Json*> array(const char* key) const;

private:
    const Json* m_value;
    std::string m_path;
};

/// "object", "text", ... for messages.
std::string jsonKind(const Json& value);
Result<double> jsonNumber(const Json& value, const std::string& path);
/// Whole numbers, also written as 1e6.
Result<std::int64_t> jsonInteger(const Json& value, const std::string& path);
Result<std::string> jsonText(const Json& value, const std::string& path);

/// A quoted JSON string; bytes that are not UTF-8 are replaced.
std::string jsonString(std::string_view text);

} // namespace pw::formats
