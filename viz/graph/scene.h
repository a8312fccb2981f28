#pragma once

#include "core/base/result.h"
#include "core/jobs/job_context.h"
#include "viz/graph/layout.h"
#include "viz/graph/scene_tree.h"

#include <QRectF>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace pw::viz {

/// Sizes at 100 % zoom, px.
namespace scene {
inline constexpr double kOpWidth = 108;
inline constexpr double kOpHeight = 20;
inline constexpr double kScopeWidth = 136;
inline constexpr double kScopeHeight = 44;
inline constexpr double kHeader = 28;  ///< head line of an open scope
inline constexpr double kMargin = 12;  ///< between the frame of an open scope and its content
inline constexpr double kEntry = 14;   ///< room for the lines that enter and leave at the top and bottom
} // namespace scene

/// A box in the picture. `open` is the index of its SceneScope, or kClosed.
struct SceneBox {
    static constexpr std::uint32_t kClosed = std::numeric_limits<std::uint32_t>::max();
    NodeIndex node = 0;
    QRectF rect;
    std::uint32_t parent = 0; ///< box around it; the root's own is itself
    std::uint32_t open = kClosed;

    bool isOpen() const { return open != kClosed; }
};

/// A line of the picture: all graph edges between two boxes of one scope, or a stub from the scope's frame to a box.
struct SceneEdge {
    static constexpr std::uint32_t kFrame = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t from = 0; ///< box, or kFrame
    std::uint32_t to = 0;
    std::uint32_t firstPoint = 0;
    std::uint32_t pointCount = 0;
    bool curve = false;
    std::uint32_t firstLink = 0; ///< into SceneTree::allEdges()
    std::uint32_t linkCount = 0;
    QRectF bounds;
};

/// The content of one open box. The scopes are the spatial index: a scope has at most SceneTree::kMaxChildren boxes, and
/// nothing of it reaches outside its frame.
struct SceneScope {
    std::uint32_t box = 0;
    std::uint32_t firstBox = 0;
    std::uint32_t boxCount = 0;
    std::uint32_t firstEdge = 0;
    std::uint32_t edgeCount = 0;
};

/// Geometry of one picture: flat arrays, immutable. Box 0 and scope 0 are the root, which has no frame.
class Scene {
public:
    std::vector<SceneBox> boxes;
    std::vector<SceneEdge> edges;
    std::vector<SceneScope> scopes; ///< outer before inner
    std::vector<QPointF> points;
    QRectF bounds;

    const SceneTree& tree() const { return *m_tree; }
    const std::shared_ptr<const SceneTree>& treePtr() const { return m_tree; }
    const TreeNode& node(const SceneBox& box) const { return m_tree->node(box.node); }

    /// Box of a node, if it has one in this picture.
    std::optional<std::uint32_t> boxOf(NodeIndex node) const;
    /// Box of the node or of the closed scope around it; the root's box for a hidden op.
    std::uint32_t visibleBoxOf(NodeIndex node) const;
    std::uint32_t visibleBoxOf(OpId op) const;
    /// Innermost box at a place; nothing outside all of them. Open boxes with a side below `leastSide` count as closed.
    std::optional<std::uint32_t> boxAt(const QPointF& place, double leastSide = 0) const;
    /// Innermost boxes without content of their own (ops, closed scopes) that lie wholly inside.
    std::vector<std::uint32_t> leavesIn(const QRectF& area) const;

private:
    friend class SceneBuilder;
    std::shared_ptr<const SceneTree> m_tree;
    std::vector<std::uint32_t> m_boxOfNode;
};

/// Layouts by content hash: of this run, and through `load` and `save` of earlier ones. Thread-safe.
class LayoutMemo {
public:
    std::function<std::optional<std::string>(const std::string& key)> load;
    std::function<void(const std::string& key, const std::string& value)> save;

    std::shared_ptr<const ScopeLayout> get(const LayoutInput& input);
    std::size_t layoutsMade() const; ///< computed, not found

private:
    mutable std::mutex m_mutex;
    std::map<std::string, std::shared_ptr<const ScopeLayout>> m_layouts;
    std::size_t m_made = 0;
};

/// Which nodes are open.
using OpenSet = std::set<NodeIndex>;

/// Opens level by level while the picture has at most `budget` boxes: whole levels only (an even look), or the largest
/// scopes of a level first.
enum class OpenBy { Level, Size };
OpenSet openUpTo(const SceneTree& tree, std::size_t maxDepth, std::size_t budget, OpenBy by);

/// Lays out what is open (inner scopes first) and puts it together. Stops early, with Busy, when aborted.
Result<std::shared_ptr<const Scene>> buildScene(std::shared_ptr<const SceneTree> tree, const OpenSet& open,
                                                LayoutMemo& memo, const JobContext& context);

} // namespace pw::viz
