#include "core/formats/dot_guard.h"

#include <cctype>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pw::formats {

namespace {

constexpr std::uint64_t kMaxEdges = 20'000'000;
constexpr std::size_t kMaxDepth = 500;

// cgraph keeps an entry of some 100 bytes per node and subgraph around it, and a pointer per node, edge or subgraph and
// attribute name of the file. Files as programs write them stay below 2 entries and 5 pointers per byte.
constexpr std::uint64_t kFreeMemberships = 100'000;
constexpr std::uint64_t kMembershipsPerByte = 2;
constexpr std::uint64_t kFreeAttributes = 1'000'000;
constexpr std::uint64_t kAttributesPerByte = 8;

enum class Token { End, Id, EdgeOp, Open, Close, Separator };

class Scanner {
public:
    explicit Scanner(std::string_view text)
        : m_text(text) {}

    std::string_view id; ///< of the last Id
    std::unordered_set<std::string_view> attributes; ///< distinct words before a "="

    Token next() {
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (skipComment() || skipBracketed(c))
                continue;
            if (c == '"')
                return quotedId();
            if (c == '<')
                return htmlId();
            ++m_at;
            if (c == '=')
                attributes.insert(id);
            if (c == '{' || c == '}')
                return c == '{' ? Token::Open : Token::Close;
            if (c == ';' || c == ',')
                return Token::Separator;
            if (c == '-' && m_at < m_text.size() && (m_text[m_at] == '>' || m_text[m_at] == '-')) {
                ++m_at;
                return Token::EdgeOp;
            }
            if (isWord(c)) {
                --m_at;
                return wordId();
            }
        }
        return Token::End;
    }

private:
    static bool isWord(char c) {
        const auto byte = static_cast<unsigned char>(c);
        return std::isalnum(byte) != 0 || c == '_' || c == '.' || byte >= 0x80;
    }

    bool skipTo(std::string_view end) {
        const auto at = m_text.find(end, m_at + 1);
        m_at = at == std::string_view::npos ? m_text.size() : at + end.size();
        return true;
    }

    bool skipComment() {
        const std::string_view rest = m_text.substr(m_at);
        const bool isLineStart = m_at == 0 || m_text[m_at - 1] == '\n';
        if (rest.starts_with("//") || (rest.starts_with("#") && isLineStart))
            return skipTo("\n");
        return rest.starts_with("/*") && skipTo("*/");
    }

    /// Attribute lists hold no nodes.
    bool skipBracketed(char c) {
        if (c != '[')
            return false;
        for (++m_at; m_at < m_text.size() && m_text[m_at] != ']';) {
            if (m_text[m_at] == '"')
                quotedId();
            else if (m_text[m_at] == '<')
                htmlId();
            else if (isWord(m_text[m_at]))
                wordId();
            else if (m_text[m_at++] == '=')
                attributes.insert(id);
        }
        m_at = m_at < m_text.size() ? m_at + 1 : m_at;
        return true;
    }

    Token wordId() {
        const std::size_t start = m_at;
        while (m_at < m_text.size() && isWord(m_text[m_at]))
            ++m_at;
        id = m_text.substr(start, m_at - start);
        return Token::Id;
    }

    Token quotedId() {
        const std::size_t start = m_at++;
        while (m_at < m_text.size() && m_text[m_at] != '"')
            m_at += m_text[m_at] == '\\' ? 2 : 1;
        m_at = std::min(m_at + 1, m_text.size());
        id = m_text.substr(start, m_at - start);
        return Token::Id;
    }

    Token htmlId() {
        const std::size_t start = m_at;
        std::size_t depth = 0;
        for (; m_at < m_text.size(); ++m_at) {
            if (m_text[m_at] == '<')
                ++depth;
            else if (m_text[m_at] == '>' && --depth == 0)
                break;
        }
        m_at = std::min(m_at + 1, m_text.size());
        id = m_text.substr(start, m_at - start);
        return Token::Id;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

/// Upper bound of nodes and edges by statement.
class Counter {
public:
    Status run(std::string_view text, const std::string& path) {
        Scanner scanner(text);
        m_levels.emplace_back();
        for (Token token = scanner.next(); token != Token::End; token = scanner.next()) {
            take(token, scanner.id);
            if (m_levels.size() > kMaxDepth)
                return fail(ErrorCode::TooLarge, "braces nest more than " + std::to_string(kMaxDepth) + " deep", {},
                            path);
            if (m_edges > kMaxEdges)
                return fail(ErrorCode::TooLarge, "stands for more than " + std::to_string(kMaxEdges) + " edges", {},
                            path);
            if (m_memberships > kFreeMemberships + kMembershipsPerByte * text.size())
                return fail(ErrorCode::TooLarge, "has too many nodes in subgraphs in subgraphs", {}, path);
        }
        if ((m_objects + m_edges) * scanner.attributes.size() > kFreeAttributes + kAttributesPerByte * text.size())
            return fail(ErrorCode::TooLarge, "has too many attributes (" + std::to_string(scanner.attributes.size()) +
                                                 ") for its nodes, edges and subgraphs",
                        {}, path);
        return {};
    }

private:
    struct Level {
        std::uint64_t nodes = 0;   ///< mentioned inside so far
        std::uint64_t last = 0;    ///< nodes of the operand just read
        std::uint64_t left = 0;    ///< of the operand before a pending "->", 0 = none pending
        std::string_view subgraph; ///< name that follows "subgraph"
        bool nameFollows = false;
        std::string_view opened; ///< name of this subgraph
    };

    void take(Token token, std::string_view id) {
        Level& level = m_levels.back();
        if (token == Token::Id && id == "subgraph") {
            level.nameFollows = true;
        } else if (token == Token::Id && level.nameFollows) {
            level.nameFollows = false;
            level.subgraph = id;
            const auto known = m_named.find(id); // "subgraph x" again means all its nodes
            mention(known == m_named.end() ? 0 : known->second);
        } else if (token == Token::Id) {
            level.subgraph = {};
            mention(1);
        } else if (token == Token::EdgeOp) {
            level.left = level.last;
            level.subgraph = {};
        } else if (token == Token::Separator) {
            level.left = level.last = 0;
            level.subgraph = {};
        } else if (token == Token::Open) {
            const std::string_view name = level.subgraph;
            level.nameFollows = false;
            ++m_objects;
            m_levels.emplace_back();
            m_levels.back().opened = name;
        } else if (token == Token::Close && m_levels.size() > 1) {
            const Level inner = m_levels.back();
            m_levels.pop_back();
            if (!inner.opened.empty())
                m_named[inner.opened] += inner.nodes;
            m_levels.back().subgraph = {};
            operand(inner.nodes);
        }
    }

    /// Nodes by name, which all subgraphs around them get.
    void mention(std::uint64_t nodes) {
        m_objects += nodes;
        m_memberships += nodes * m_levels.size();
        operand(nodes);
    }

    void operand(std::uint64_t nodes) {
        Level& level = m_levels.back();
        level.nodes += nodes;
        if (level.left > 0 && nodes > 0) {
            m_edges += level.left > kMaxEdges || nodes > kMaxEdges ? kMaxEdges + 1 : level.left * nodes;
            level.left = 0;
        }
        level.last = nodes;
    }

    std::vector<Level> m_levels;
    std::unordered_map<std::string_view, std::uint64_t> m_named;
    std::uint64_t m_edges = 0;
    std::uint64_t m_memberships = 0; ///< of nodes in subgraphs and in the graph
    std::uint64_t m_objects = 0;     ///< nodes and subgraphs, mentioned twice counted twice
};

} // namespace

Status checkDotSize(std::string_view text, const std::string& path) {
    return Counter().run(text, path);
}

} // namespace pw::formats
