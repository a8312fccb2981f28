#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace pw::viz {

/// A small graph of items 0..count-1, in the order they shall have where edges do not say otherwise.
struct ItemGraph {
    std::size_t count = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges; ///< may repeat, may form cycles
};

/// Items so that edges point forward wherever possible; the smallest item first among the free ones. On a cycle the
/// smallest item left is taken.
std::vector<std::uint32_t> topologicalItems(const ItemGraph& items);

/// Cuts the items into bands of about sqrt(count) (12 to 120) items that follow each other, at places where few edges
/// cross. Every item is in exactly one band.
std::vector<std::vector<std::uint32_t>> cutIntoBands(const ItemGraph& items);

} // namespace pw::viz
