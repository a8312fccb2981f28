#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace pw::formats {

/// Where a reader is in a document, as a chain on its stack. Spelled out ("ops[3].outputs[0].bytes") for messages only:
/// most are never needed.
struct JsonPath {
    static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

    const JsonPath* parent = nullptr;
    std::string_view key = {};    ///< of an object's member; "" at the root
    std::size_t index = kNoIndex; ///< of an array's element

    JsonPath member(std::string_view name) const { return {this, name, kNoIndex}; }
    JsonPath element(std::size_t i) const { return {this, {}, i}; }
    std::string toString() const;
};

class JsonTape;

/// A value of a tape; cheap to copy, valid as long as its tape and the tape's text are.
class JsonValue {
public:
    enum class Kind : std::uint8_t { Null, False, True, Number, Text, DecodedText, Array, Object };

    JsonValue() = default; ///< absent
    JsonValue(const JsonTape& tape, std::uint32_t node)
        : m_tape(&tape)
        , m_node(node) {}

    bool isPresent() const { return m_tape != nullptr; }
    Kind kind() const;
    bool isNull() const { return kind() == Kind::Null; }
    bool isBool() const { return kind() == Kind::False || kind() == Kind::True; }
    bool isText() const { return kind() == Kind::Text || kind() == Kind::DecodedText; }
    bool isArray() const { return kind() == Kind::Array; }
    bool isObject() const { return kind() == Kind::Object; }

    std::string_view text() const;   ///< of a Text, escapes decoded
    std::string_view number() const; ///< of a Number, as the file writes it
    std::string toJson() const;      ///< without white space

    /// Calls `visit(JsonValue)` for the elements of an array, `visit(std::string_view key, JsonValue)` for the members
    /// of an object in the file's order, a key that is there twice twice; each returns a Status. Stops at the first
    /// failure.
    template<class Visit>
    Status forEachElement(const Visit& visit) const;
    template<class Visit>
    Status forEachMember(const Visit& visit) const;

private:
    void appendJson(std::string& out) const;

    const JsonTape* m_tape = nullptr;
    std::uint32_t m_node = 0;
};

/// A JSON document as one array of 8-byte records over its text, in the order of the file: no tree, no copies but of
/// strings with escapes. A tree of the usual kind takes ten times the file; this takes about as much as the file
/// itself.
class JsonTape {
public:
    /// Accepts and refuses what parseJson() does, with the same messages. `text` must outlive the tape.
    static Result<JsonTape> parse(std::string_view text, const std::string& file);

    JsonValue root() const { return JsonValue(*this, 0); }

private:
    friend class JsonValue;
    friend class JsonTapeParser;

    struct Node {
        std::uint64_t kind : 3;
        std::uint64_t begin : 30; ///< in the text, or in m_decoded
        std::uint64_t size : 31;  ///< bytes; of arrays and objects: the node after the last one inside
    };
    static_assert(sizeof(Node) == 8);

    std::uint32_t after(std::uint32_t node) const {
        return m_nodes[node].kind >= static_cast<std::uint64_t>(JsonValue::Kind::Array)
                   ? static_cast<std::uint32_t>(m_nodes[node].size)
                   : node + 1;
    }

    std::string_view m_text;
    std::vector<Node> m_nodes;
    std::string m_decoded; ///< the strings that have escapes
};

inline JsonValue::Kind JsonValue::kind() const {
    return static_cast<Kind>(m_tape->m_nodes[m_node].kind);
}

template<class Visit>
Status JsonValue::forEachElement(const Visit& visit) const {
    const std::uint32_t end = m_tape->after(m_node);
    for (std::uint32_t at = m_node + 1; at < end; at = m_tape->after(at))
        PW_CHECK(visit(JsonValue(*m_tape, at)));
    return {};
}

template<class Visit>
Status JsonValue::forEachMember(const Visit& visit) const {
    const std::uint32_t end = m_tape->after(m_node);
    for (std::uint32_t at = m_node + 1; at < end; at = m_tape->after(at + 1))
        PW_CHECK(visit(JsonValue(*m_tape, at).text(), JsonValue(*m_tape, at + 1)));
    return {};
}

/// "an object", "text", ... for messages.
std::string jsonKind(JsonValue value);
Result<double> jsonNumber(JsonValue value, const JsonPath& path);
/// Whole numbers, also written as 1e6.
Result<std::int64_t> jsonInteger(JsonValue value, const JsonPath& path);
Result<std::string_view> jsonText(JsonValue value, const JsonPath& path);

} // namespace pw::formats
