#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pw::formats {

/// Rows of RFC 4180: fields may stand in quotes, "" is a quote, quoted fields may hold commas and line ends.
class CsvReader {
public:
    explicit CsvReader(std::string_view text)
        : m_text(text) {}

    /// False at the end or on an error.
    bool next(std::vector<std::string>& row);
    std::size_t line() const { return m_rowLine; } ///< where the last row began, from 1
    const std::string& error() const { return m_error; }

private:
    std::string readField();

    std::string_view m_text;
    std::size_t m_at = 0;
    std::size_t m_line = 1;
    std::size_t m_rowLine = 0;
    std::string m_error;
};

/// A field with quotes where it needs them.
std::string csvField(std::string_view text);

} // namespace pw::formats
