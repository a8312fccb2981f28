#pragma once

#include "viz/graph/layout.h"

/// Inner pieces of layoutScope(); nobody else includes this.
namespace pw::viz::layout {

/// Rank per box: links point to a higher rank, except those that close a cycle. Sources stand right above their reader.
std::vector<std::uint32_t> rankBoxes(const LayoutInput& input);

/// Boxes of one column and the links between them, as indices into `boxes`.
struct Column {
    LayoutInput graph;
    std::vector<std::uint32_t> boxes;       ///< index in the caller's input
    std::vector<std::uint32_t> links;       ///< the same for links
    std::vector<std::uint32_t> ranks;       ///< per box, for our own layout
};

/// Graphviz `dot`. Nothing if Graphviz fails. Takes the gate.
std::optional<ScopeLayout> layoutWithDot(const LayoutInput& graph);
/// Ranks as rows, ordered by the middle of what they read, long rows folded. Any size, linear but for sorting.
ScopeLayout layoutInRows(const LayoutInput& graph, const std::vector<std::uint32_t>& ranks);
/// A stack of boxes, each linked to the next only.
bool isPath(const Column& column);
ScopeLayout layoutPath(const Column& column);

/// Packs rectangles of the given sizes into rows of about the wanted aspect, in order. Returns positions and total size.
struct Packing {
    std::vector<QPointF> positions;
    BoxSize size;
};
Packing packInRows(const std::vector<BoxSize>& sizes, double aspect, double gap);

} // namespace pw::viz::layout
