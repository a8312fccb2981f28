#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pw {

/// All-pairs reachability of a small DAG as bit rows. O(n * edges / 64) time, n^2 / 8 bytes: meant for group graphs.
class Reachability {
public:
    /// `arcs` are (from, to) with ids below n; `order` is a topological order of all n nodes.
    Reachability(std::size_t n, std::span<const std::pair<std::uint32_t, std::uint32_t>> arcs,
                 std::span<const std::uint32_t> order);

    /// True if there is a path of at least one arc from a to b.
    bool reaches(std::size_t a, std::size_t b) const { return (m_rows[a * m_words + b / 64] >> (b % 64)) & 1U; }
    std::size_t size() const { return m_n; }

private:
    std::size_t m_n;
    std::size_t m_words;
    std::vector<std::uint64_t> m_rows;
};

} // namespace pw
