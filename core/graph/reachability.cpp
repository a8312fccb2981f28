#include "core/graph/reachability.h"

namespace pw {

Reachability::Reachability(std::size_t n, std::span<const std::pair<std::uint32_t, std::uint32_t>> arcs,
                           std::span<const std::uint32_t> order)
    : m_n(n), m_words((n + 63) / 64), m_rows(n * m_words, 0) {
    std::vector<std::vector<std::uint32_t>> successors(n);
    for (const auto& [from, to] : arcs)
        successors[from].push_back(to);
    for (std::size_t i = order.size(); i-- > 0;) {
        std::uint64_t* row = m_rows.data() + order[i] * m_words;
        for (const std::uint32_t to : successors[order[i]]) {
            const std::uint64_t* other = m_rows.data() + to * m_words;
            for (std::size_t w = 0; w < m_words; ++w)
                row[w] |= other[w];
            row[to / 64] |= std::uint64_t{1} << (to % 64);
        }
    }
}

} // namespace pw
