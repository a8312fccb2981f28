#include "core/formats/json_tape.h"

#include "core/base/text.h"
#include "core/formats/json_util.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pw::formats {

namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 30; ///< what fits into a node

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

void appendUtf8(std::string& out, std::uint32_t code) {
    const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xc0U | code >> 6);
        byte(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        byte(0xe0U | code >> 12);
        byte(0x80U | (code >> 6 & 0x3fU));
        byte(0x80U | (code & 0x3fU));
    } else {
        byte(0xf0U | code >> 18);
        byte(0x80U | (code >> 12 & 0x3fU));
        byte(0x80U | (code >> 6 & 0x3fU));
        byte(0x80U | (code & 0x3fU));
    }
}

} // namespace

/// One pass over the text without recursion. Says only whether it is JSON; the reason is looked for afterwards.
class JsonTapeParser {
public:
    JsonTapeParser(JsonTape& tape, std::string_view text)
        : m_tape(tape)
        , m_text(text) {}

    bool run() {
        // One value begins after each of these; memory that stays untouched costs nothing.
        m_tape.m_nodes.reserve(1 + static_cast<std::size_t>(std::count_if(m_text.begin(), m_text.end(), [](char c) {
                                   return c == ',' || c == ':' || c == '[' || c == '{';
                               })));
        if (m_text.starts_with("\xef\xbb\xbf"))
            m_at = 3;
        while (value()) {
            while (!m_isValueNext) {
                skipSpace();
                if (m_open.empty())
                    return m_at == m_text.size();
                if (!afterValue())
                    return false;
            }
        }
        return false;
    }

    std::size_t position() const { return m_at; }

private:
    using Kind = JsonValue::Kind;

    char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    bool take(char c) {
        if (peek() != c)
            return false;
        ++m_at;
        return true;
    }
    void skipSpace() {
        while (m_at < m_text.size() &&
               (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t' || m_text[m_at] == '\r'))
            ++m_at;
    }
    void add(Kind kind, std::size_t begin, std::size_t size) {
        m_tape.m_nodes.push_back({static_cast<std::uint64_t>(kind), begin & ((1U << 30) - 1), size & ((1U << 31) - 1)});
    }

    bool value() {
        skipSpace();
        m_isValueNext = false;
        switch (peek()) {
        case '{':
        case '[':
            return open();
        case '"':
            return string();
        case 't':
            return word("true", Kind::True);
        case 'f':
            return word("false", Kind::False);
        case 'n':
            return word("null", Kind::Null);
        default:
            return number();
        }
    }

    bool open() {
        const bool isObject = m_text[m_at] == '{';
        m_open.push_back(static_cast<std::uint32_t>(m_tape.m_nodes.size()));
        add(isObject ? Kind::Object : Kind::Array, m_at++, 0);
        skipSpace();
        if (take(isObject ? '}' : ']'))
            return close();
        m_isValueNext = true;
        return !isObject || key();
    }

    bool close() {
        m_tape.m_nodes[m_open.back()].size = m_tape.m_nodes.size() & ((1U << 31) - 1);
        m_open.pop_back();
        return true;
    }

    bool key() {
        skipSpace();
        if (peek() != '"' || !string())
            return false;
        skipSpace();
        return take(':');
    }

    /// A comma and what follows it, or the end of what is open.
    bool afterValue() {
        const bool isObject = m_tape.m_nodes[m_open.back()].kind == static_cast<std::uint64_t>(Kind::Object);
        if (take(isObject ? '}' : ']'))
            return close();
        if (!take(','))
            return false;
        m_isValueNext = true;
        return !isObject || key();
    }

    bool word(std::string_view letters, Kind kind) {
        if (m_text.substr(m_at, letters.size()) != letters)
            return false;
        add(kind, m_at, letters.size());
        m_at += letters.size();
        return true;
    }

    bool digits() {
        const std::size_t first = m_at;
        while (isDigit(peek()))
            ++m_at;
        return m_at > first;
    }

    bool number() {
        const std::size_t begin = m_at;
        take('-');
        if (!take('0') && !digits())
            return false;
        bool mayOverflow = m_at - begin > 300;
        if (take('.') && !digits())
            return false;
        if (peek() == 'e' || peek() == 'E') {
            ++m_at;
            if (peek() == '+' || peek() == '-')
                ++m_at;
            if (!digits())
                return false;
            mayOverflow = true;
        }
        double parsed = 0.0;
        if (mayOverflow && (std::from_chars(m_text.data() + begin, m_text.data() + m_at, parsed).ec != std::errc() &&
                            !isTiny(m_text.substr(begin, m_at - begin))))
            return false;
        add(Kind::Number, begin, m_at - begin);
        return true;
    }

    /// from_chars reports numbers next to 0 as out of range as well.
    static bool isTiny(std::string_view number) {
        const auto exponent = number.find_first_of("eE");
        return exponent != std::string_view::npos && exponent + 1 < number.size() && number[exponent + 1] == '-';
    }

    bool string() {
        const std::size_t begin = ++m_at;
        bool isAscii = true;
        for (; m_at < m_text.size(); ++m_at) {
            const auto c = static_cast<unsigned char>(m_text[m_at]);
            if (c == '"') {
                const std::string_view content = m_text.substr(begin, m_at - begin);
                if (!isAscii && !text::isValidUtf8(content))
                    return false;
                add(Kind::Text, begin, content.size());
                ++m_at;
                return true;
            }
            if (c == '\\')
                return decodedString(begin);
            if (c < 0x20)
                return false;
            isAscii = isAscii && c < 0x80;
        }
        return false;
    }

    /// A string with an escape at the current place.
    bool decodedString(std::size_t begin) {
        std::string& out = m_tape.m_decoded;
        const std::size_t start = out.size();
        while (m_at < m_text.size() && m_text[m_at] != '"') {
            if (static_cast<unsigned char>(m_text[m_at]) < 0x20)
                return false;
            if (m_text[m_at] != '\\') {
                ++m_at;
                continue;
            }
            out += m_text.substr(begin, m_at - begin);
            if (!escape())
                return false;
            begin = m_at;
        }
        if (m_at >= m_text.size())
            return false;
        out += m_text.substr(begin, m_at - begin);
        ++m_at;
        add(Kind::DecodedText, start, out.size() - start);
        return text::isValidUtf8(std::string_view(out).substr(start));
    }

    bool escape() {
        ++m_at;
        static constexpr std::string_view kLetters = "\"\\/bfnrt";
        static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
        if (take('u'))
            return unicodeEscape();
        const auto which = m_at < m_text.size() ? kLetters.find(m_text[m_at]) : std::string_view::npos;
        if (which == std::string_view::npos)
            return false;
        m_tape.m_decoded += kMeanings[which];
        ++m_at;
        return true;
    }

    bool hex4(std::uint32_t& code) {
        const char* const first = m_text.data() + m_at;
        if (m_text.size() - m_at < 4)
            return false;
        const auto [stop, error] = std::from_chars(first, first + 4, code, 16);
        m_at += 4;
        return error == std::errc() && stop == first + 4;
    }

    bool unicodeEscape() {
        std::uint32_t code = 0;
        if (!hex4(code) || (code >= 0xdc00 && code <= 0xdfff))
            return false;
        if (code >= 0xd800 && code <= 0xdbff) {
            std::uint32_t low = 0;
            if (!take('\\') || !take('u') || !hex4(low) || low < 0xdc00 || low > 0xdfff)
                return false;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        appendUtf8(m_tape.m_decoded, code);
        return true;
    }

    JsonTape& m_tape;
    std::string_view m_text;
    std::size_t m_at = 0;
    std::vector<std::uint32_t> m_open; ///< arrays and objects around the current place
    bool m_isValueNext = true;
};

std::string JsonPath::toString() const {
    if (parent == nullptr)
        return std::string(key);
    std::string path = parent->toString();
    if (index != kNoIndex)
        return path + "[" + std::to_string(index) + "]";
    return path.empty() ? std::string(key) : path + "." + std::string(key);
}

Result<JsonTape> JsonTape::parse(std::string_view text, const std::string& file) {
    if (text.size() >= kMaxText)
        return fail(ErrorCode::TooLarge, "more than " + text::bytes(static_cast<double>(kMaxText)) + " of JSON", {},
                    file);
    PW_CHECK(checkJsonNesting(text, file));
    JsonTape tape;
    tape.m_text = text;
    JsonTapeParser parser(tape, text);
    if (!parser.run())
        return fail(jsonSyntaxError(text, parser.position(), file));
    return tape;
}

std::string_view JsonValue::text() const {
    const auto& node = m_tape->m_nodes[m_node];
    const std::string_view from = kind() == Kind::DecodedText ? std::string_view(m_tape->m_decoded) : m_tape->m_text;
    return from.substr(node.begin, node.size);
}

std::string_view JsonValue::number() const {
    const auto& node = m_tape->m_nodes[m_node];
    return m_tape->m_text.substr(node.begin, node.size);
}

std::string JsonValue::toJson() const {
    std::string out;
    appendJson(out);
    return out;
}

void JsonValue::appendJson(std::string& out) const {
    switch (kind()) {
    case Kind::Text:
        ((out += '"') += text()) += '"';
        break;
    case Kind::DecodedText:
        out += jsonString(text());
        break;
    case Kind::Array:
    case Kind::Object: {
        out += isArray() ? '[' : '{';
        const std::size_t begin = out.size();
        const auto append = [&](std::string_view key, JsonValue value) {
            out += out.size() > begin ? "," : "";
            if (isObject())
                out += jsonString(key) + ":";
            value.appendJson(out);
            return Status();
        };
        (void)(isArray() ? forEachElement([&](JsonValue value) { return append({}, value); }) : forEachMember(append));
        out += isArray() ? ']' : '}';
        break;
    }
    default: // numbers and words stand as the file has them
        out += number();
    }
}

std::string jsonKind(JsonValue value) {
    switch (value.kind()) {
    case JsonValue::Kind::Null:
        return "null";
    case JsonValue::Kind::Object:
        return "an object";
    case JsonValue::Kind::Array:
        return "an array";
    case JsonValue::Kind::Text:
    case JsonValue::Kind::DecodedText:
        return "text";
    case JsonValue::Kind::False:
    case JsonValue::Kind::True:
        return "true or false";
    case JsonValue::Kind::Number:
        break;
    }
    return "a number";
}

Result<double> jsonNumber(JsonValue value, const JsonPath& path) {
    if (value.kind() != JsonValue::Kind::Number)
        return fail(ErrorCode::Parse, "expected a number, found " + jsonKind(value), path.toString());
    double number = 0.0; // what from_chars leaves there for numbers too small for a double
    const std::string_view digits = value.number();
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

Result<std::int64_t> jsonInteger(JsonValue value, const JsonPath& path) {
    if (value.kind() == JsonValue::Kind::Number) {
        const std::string_view digits = value.number();
        std::int64_t whole = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, whole);
        if (stop == end && error == std::errc())
            return whole;
        if (stop == end)
            return fail(ErrorCode::Parse, "number too large", path.toString());
    }
    PW_TRY(const double number, jsonNumber(value, path));
    if (std::floor(number) != number || std::abs(number) > 9.0e18)
        return fail(ErrorCode::Parse, "expected a whole number, found " + std::string(value.number()), path.toString());
    return static_cast<std::int64_t>(number);
}

Result<std::string_view> jsonText(JsonValue value, const JsonPath& path) {
    if (!value.isText())
        return fail(ErrorCode::Parse, "expected text, found " + jsonKind(value), path.toString());
    return value.text();
}

} // namespace pw::formats
