#include "core/formats/csv.h"

namespace pw::formats {

bool CsvReader::next(std::vector<std::string>& row) {
    row.clear();
    if (m_at == 0 && m_text.starts_with("\xef\xbb\xbf"))
        m_at = 3; // byte order mark of spreadsheets
    if (m_at >= m_text.size())
        return false;
    m_rowLine = m_line;
    while (true) {
        row.push_back(readField());
        if (!m_error.empty())
            return false;
        if (m_at >= m_text.size())
            return true;
        const char separator = m_text[m_at++];
        if (separator == '\r' && m_at < m_text.size() && m_text[m_at] == '\n')
            ++m_at;
        if (separator != ',') {
            ++m_line;
            return true;
        }
    }
}

std::string CsvReader::readField() {
    if (m_at >= m_text.size() || m_text[m_at] != '"') {
        const auto end = std::min(m_text.find_first_of(",\r\n", m_at), m_text.size());
        std::string field(m_text.substr(m_at, end - m_at));
        m_at = end;
        return field;
    }
    std::string field;
    for (++m_at; m_at < m_text.size(); ++m_at) {
        const char c = m_text[m_at];
        if (c == '\n')
            ++m_line;
        if (c != '"') {
            field += c;
        } else if (m_at + 1 < m_text.size() && m_text[m_at + 1] == '"') {
            field += '"';
            ++m_at;
        } else {
            ++m_at;
            if (m_at < m_text.size() && m_text[m_at] != ',' && m_text[m_at] != '\r' && m_text[m_at] != '\n')
                m_error = "text after a closing quote";
            return field;
        }
    }
    m_error = "a quote is not closed";
    return field;
}

std::string csvField(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string field = "\"";
    for (const char c : text) {
        field += c;
        if (c == '"')
            field += '"';
    }
    return field + '"';
}

} // namespace pw::formats
