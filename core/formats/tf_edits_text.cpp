#include "core/formats/tf_edits.h"

#include "core/formats/tf_text.h"

#include <cctype>

namespace pw::formats::tf {

namespace {

bool isSpace(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

char closing(char open) {
    return open == '{' ? '}' : open == '<' ? '>' : ']';
}

/// One `name: value` of a message in text form.
struct TextField {
    std::string_view name;
    std::size_t begin = 0; ///< of its name
    std::size_t value = 0; ///< begin of its value
    std::size_t end = 0;   ///< after its value
};

class TextEditor {
public:
    TextEditor(std::string_view content, const WantedDevices& wanted)
        : m_content(content)
        , m_wanted(wanted) {}

    Result<std::vector<Edit>> run(Wrapping wrapping) {
        const std::size_t start = m_content.starts_with("\xef\xbb\xbf") ? 3 : 0;
        PW_CHECK(editMessage(wrapping, start, m_content.size()));
        if (m_node != m_wanted.size())
            return fail(ErrorCode::Invalid, "the original has " + std::to_string(m_node) + " nodes, the graph " +
                                                std::to_string(m_wanted.size()));
        return std::move(m_edits);
    }

private:
    tl::unexpected<Error> damaged(std::size_t at) const {
        return fail(ErrorCode::Parse, "the original is damaged", placeInText(m_content, at));
    }

    std::size_t skipSpace(std::size_t at, std::size_t end) const {
        while (at < end) {
            if (isSpace(m_content[at]))
                ++at;
            else if (m_content[at] == '#')
                at = std::min(skipQuoted(m_content, at), end);
            else
                break;
        }
        return at;
    }

    /// After the bracket that closes the one at `at`; npos if there is none before `end`.
    std::size_t skipBrackets(std::size_t at, std::size_t end) const {
        std::size_t depth = 0;
        while (at < end) {
            const char c = m_content[at];
            if (const std::size_t next = skipQuoted(m_content, at); next != at) {
                at = next;
                continue;
            }
            ++at;
            if (c == '{' || c == '<' || c == '[')
                ++depth;
            else if ((c == '}' || c == '>' || c == ']') && --depth == 0)
                return at;
        }
        return std::string_view::npos;
    }

    /// After a scalar: a word, a number, or texts that stand one behind the other and count as one.
    std::size_t skipScalar(std::size_t at, std::size_t end) const {
        if (m_content[at] != '"' && m_content[at] != '\'') {
            if (m_content[at] == '-')
                at = skipSpace(at + 1, end);
            while (at < end && !isSpace(m_content[at]) && std::string_view(",;{}<>[]#").find(m_content[at]) == std::string_view::npos)
                ++at;
            return at;
        }
        std::size_t last = at;
        while (at < end && (m_content[at] == '"' || m_content[at] == '\'')) {
            last = std::min(skipQuoted(m_content, at), end);
            at = skipSpace(last, end);
        }
        return last;
    }

    /// The field that begins at `at`, which is neither space nor separator.
    Result<TextField> readField(std::size_t at, std::size_t end) const {
        TextField field;
        field.begin = at;
        if (m_content[at] == '[') { // an extension
            at = skipBrackets(at, end);
            if (at == std::string_view::npos)
                return damaged(field.begin);
        } else {
            while (at < end && (std::isalnum(static_cast<unsigned char>(m_content[at])) != 0 || m_content[at] == '_'))
                ++at;
        }
        field.name = m_content.substr(field.begin, at - field.begin);
        at = skipSpace(at, end);
        if (at < end && m_content[at] == ':')
            at = skipSpace(at + 1, end);
        if (field.name.empty() || at >= end)
            return damaged(field.begin);
        field.value = at;
        const char c = m_content[at];
        field.end = c == '{' || c == '<' || c == '[' ? skipBrackets(at, end) : skipScalar(at, end);
        if (field.end == std::string_view::npos || field.end == field.value)
            return damaged(field.begin);
        return field;
    }

    /// Calls `visit(field)` for the fields between two bytes.
    template<class Visit>
    Status forEachField(std::size_t at, std::size_t end, const Visit& visit) {
        while (true) {
            at = skipSpace(at, end);
            while (at < end && (m_content[at] == ',' || m_content[at] == ';'))
                at = skipSpace(at + 1, end);
            if (at >= end)
                return {};
            PW_TRY(const TextField field, readField(at, end));
            PW_CHECK(visit(field));
            at = field.end;
        }
    }

    /// Calls `visit(begin, end)` with the inside of a message, or of each message of a list.
    template<class Visit>
    Status forEachMessage(const TextField& field, const Visit& visit) {
        const char open = m_content[field.value];
        if (open == '{' || open == '<')
            return visit(field.value + 1, field.end - 1);
        if (open != '[')
            return damaged(field.value);
        for (std::size_t at = skipSpace(field.value + 1, field.end); at < field.end - 1;) {
            if (m_content[at] != '{' && m_content[at] != '<') {
                at = skipSpace(at + 1, field.end);
                continue;
            }
            const std::size_t end = skipBrackets(at, field.end);
            if (end == std::string_view::npos || m_content[end - 1] != closing(m_content[at]))
                return damaged(at);
            PW_CHECK(visit(at + 1, end - 1));
            at = skipSpace(end, field.end);
        }
        return {};
    }

    Status editMessage(Wrapping wrapping, std::size_t begin, std::size_t end) {
        const std::string_view wantedField = wrapping == Wrapping::GraphDef       ? "node"
                                             : wrapping == Wrapping::MetaGraphDef ? "graph_def"
                                                                                  : "meta_graphs";
        bool isFirst = true;
        return forEachField(begin, end, [&](const TextField& field) -> Status {
            if (field.name != wantedField)
                return {};
            return forEachMessage(field, [&](std::size_t innerBegin, std::size_t innerEnd) -> Status {
                if (wrapping == Wrapping::GraphDef)
                    return editNode(innerBegin, innerEnd);
                if (wrapping == Wrapping::MetaGraphDef)
                    return editMessage(Wrapping::GraphDef, innerBegin, innerEnd);
                return std::exchange(isFirst, false) ? editMessage(Wrapping::MetaGraphDef, innerBegin, innerEnd) : Status();
            });
        });
    }

    Status editNode(std::size_t begin, std::size_t end) {
        const std::size_t index = m_node++;
        if (index >= m_wanted.size() || !m_wanted[index])
            return {};
        std::optional<TextField> before; ///< the last of name, op and input: the device stands behind it
        std::vector<TextField> devices;
        PW_CHECK(forEachField(begin, end, [&](const TextField& field) -> Status {
            if (field.name == "name" || field.name == "op" || field.name == "input")
                before = field;
            if (field.name == "device")
                devices.push_back(field);
            return {};
        }));
        const std::string& device = *m_wanted[index];
        if (devices.empty() && !device.empty())
            insert(before, begin, device);
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const TextField& old = devices[i];
            const bool isLast = i + 1 == devices.size();
            if (!device.empty() && isLast)
                m_edits.push_back({old.value, old.end - old.value, "\"" + device + "\""});
            else if (device.empty())
                remove(old);
        }
        return {};
    }

    /// With the line end and the indentation of the field before it.
    void insert(const std::optional<TextField>& before, std::size_t begin, const std::string& device) {
        const std::string text = "device: \"" + device + "\"";
        if (!before) {
            m_edits.push_back({begin, 0, " " + text + " "});
            return;
        }
        std::size_t lineStart = before->begin;
        while (lineStart > begin && (m_content[lineStart - 1] == ' ' || m_content[lineStart - 1] == '\t'))
            --lineStart;
        const bool isOwnLine = lineStart > 0 && m_content[lineStart - 1] == '\n';
        const std::size_t lineEnd = lineStart > 1 && m_content[lineStart - 2] == '\r' ? lineStart - 2 : lineStart - 1;
        const std::string_view lead = isOwnLine ? m_content.substr(lineEnd, before->begin - lineEnd) : " ";
        m_edits.push_back({before->end, 0, std::string(lead) + text});
    }

    /// With the space before it, so that inserting and removing leaves nothing behind.
    void remove(const TextField& field) {
        std::size_t begin = field.begin;
        while (begin > 0 && isSpace(m_content[begin - 1]))
            --begin;
        m_edits.push_back({begin, field.end - begin, {}});
    }

    std::string_view m_content;
    const WantedDevices& m_wanted;
    std::size_t m_node = 0;
    std::vector<Edit> m_edits;
};

} // namespace

Result<std::vector<Edit>> textEdits(std::string_view content, Wrapping wrapping, const WantedDevices& wanted) {
    return TextEditor(content, wanted).run(wrapping);
}

} // namespace pw::formats::tf
