#pragma once

#include <QPointF>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pw::viz {

/// Everything in px at 100 % zoom.
struct BoxSize {
    double width = 0;
    double height = 0;
};

/// All edges from one box to another inside one scope.
struct LayoutLink {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

/// One scope as the layout sees it: boxes of known size, at most one link per ordered pair.
struct LayoutInput {
    std::vector<BoxSize> boxes;
    /// The same boxes when closed, or empty. Columns are cut by these, so that opening a scope moves no other box to another
    /// column unless the picture would get out of shape.
    std::vector<BoxSize> closed;
    std::vector<LayoutLink> links;
    double aspect = 1.5; ///< wanted width / height
};

/// A link's line: 1 + 3n points of Bezier curves, or the corners of a polyline that is drawn with rounded corners.
struct LayoutRoute {
    std::uint32_t firstPoint = 0;
    std::uint32_t pointCount = 0; ///< 0 = not drawn
    bool curve = false;
};

/// Where everything is, relative to the top left corner of the content area. Immutable once made.
struct ScopeLayout {
    double width = 0;
    double height = 0;
    std::vector<QPointF> positions; ///< top left corner per box
    std::vector<LayoutRoute> routes; ///< per link
    std::vector<QPointF> points;
};

namespace layout {
inline constexpr double kRankGap = 18;    ///< between boxes above each other
inline constexpr double kBoxGap = 12;     ///< between boxes beside each other
inline constexpr double kLane = 4;        ///< between parallel lines
inline constexpr std::size_t kMaxDotBoxes = 300;
inline constexpr std::size_t kMaxDotLinks = 400; ///< dot needs up to 0.3 s for these (bench_graph_view)
inline constexpr std::size_t kLongChain = 12;    ///< more boxes above each other than this wrap into columns
} // namespace layout

/// Lays out one scope: connected parts are packed beside each other; each is ranked, cut into columns where it is tall,
/// and its columns are laid out by Graphviz (behind the gate), or by ourselves where there are too many boxes or links.
/// Pure and deterministic. Boxes never overlap, whatever the links.
ScopeLayout layoutScope(const LayoutInput& input);

/// Content hash of an input (with the version of this code): the key of caches.
std::string layoutKey(const LayoutInput& input);
std::string encodeLayout(const ScopeLayout& layout);
/// Nothing if the text is not a layout of that input: damaged, or from other code.
std::optional<ScopeLayout> decodeLayout(std::string_view text, const LayoutInput& input);

} // namespace pw::viz
