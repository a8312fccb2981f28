#pragma once

#include "viz/graph/graph_view.h"
#include "viz/graph/overlay.h"
#include "viz/graph/scene_job.h"
#include "viz/graph/scene_painter.h"

#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>

#include <unordered_set>

namespace pw::viz {

/// State of a GraphView. Its functions live in graph_view.cpp (jobs, public calls), graph_view_paint.cpp and
/// graph_view_input.cpp.
struct GraphView::Private {
    explicit Private(GraphView* owner);

    // --- what is shown -----------------------------------------------------------------------------------------------
    /// One step into a container op.
    struct BodyLevel {
        quint32 container = 0; ///< op of the level above
        std::size_t body = 0;
        GraphPtr graph;
    };
    /// What the top level looked like before a body was entered.
    struct SavedView {
        OpenSet open;
        QPointF origin;
        double zoom = 1;
    };

    GraphView* const q;
    GraphPtr graph; ///< the main graph
    std::vector<BodyLevel> bodies;
    std::vector<SavedView> savedViews;
    QString emptyText;
    QStringList deviceNames;
    bool showVariables = false;
    bool showCross = true;
    bool showCritical = false;
    VisualInput input;
    std::shared_ptr<LayoutMemo> memo = std::make_shared<LayoutMemo>();
    LayoutCache cache;

    GraphPtr shownGraph() const { return bodies.empty() ? graph : bodies.back().graph; }
    bool inBody() const { return !bodies.empty(); }

    // --- picture -----------------------------------------------------------------------------------------------------
    std::shared_ptr<const Scene> scene;
    std::unique_ptr<Visuals> visuals; ///< of the picture before while `visualsStale`
    bool visualsStale = true;
    std::unique_ptr<ScenePainter> painter;
    Minimap minimap;
    OpenSet open; ///< wanted; the scene may still show less
    Viewport view;
    Lod lod = Lod::Near;
    bool fitWhenReady = true; ///< the next scene is the first of its graph
    bool fitted = false;      ///< the user has not moved the view since it was fitted
    SceneJob job;
    std::vector<std::function<void()>> whenReady; ///< calls that need the tree, made before there was one

    void showGraph(bool keepView);
    void request(bool rebuildTree);
    void receive(Result<SceneResult> result);
    void refreshVisuals();
    void ensureVisuals();
    const SceneTree* tree() const { return scene ? &scene->tree() : nullptr; }
    void runWhenReady(std::function<void()> call);

    // --- view --------------------------------------------------------------------------------------------------------
    void setView(const QPointF& origin, double zoom, bool byUser = true);
    void zoomAt(const QPointF& place, double factor);
    void fit(double mostZoom);
    void bringIntoView(std::uint32_t box);
    double fitZoom() const;

    /// After the next scene this node's box stays where it is on screen (or comes under `pointer`).
    struct Anchor {
        NodeIndex node = kNoNode;
        QPointF topLeft;
        std::optional<QPointF> pointer;
    };
    std::optional<Anchor> anchor;
    void applyAnchor();
    void setOpen(NodeIndex node, bool isOpen, std::optional<QPointF> pointer);
    void toggle(std::uint32_t box, std::optional<QPointF> pointer);
    void revealAfterLayout(quint32 op);
    std::optional<quint32> reveal;

    // --- selection ---------------------------------------------------------------------------------------------------
    QList<quint32> selected; ///< of the shown graph
    qint64 hovered = -1;     ///< op
    NodeIndex hoveredNode = kNoNode;
    NodeIndex current = kNoNode; ///< where the keyboard is
    void select(QList<quint32> ops, bool emitSignal);
    void selectNode(NodeIndex node, bool add);
    QList<quint32> opsOf(NodeIndex node) const;
    void hover(std::optional<std::uint32_t> box);
    /// The box that is drawn for a node: outermost of those that are too small to show their content.
    std::uint32_t drawnBox(NodeIndex node) const;
    std::optional<std::uint32_t> boxAt(const QPointF& place) const;
    bool onChevron(std::uint32_t box, const QPointF& place) const;

    // --- bodies ------------------------------------------------------------------------------------------------------
    void enterBody(quint32 op, std::size_t body);
    void leaveBodies(std::size_t keep);
    struct Crumb {
        QRectF rect;
        QString text;
        std::size_t level = 0;   ///< bodies kept when clicked
        std::size_t sibling = 0; ///< or this body of the last container
        bool isSibling = false;
        bool isCurrent = false;
    };
    std::vector<Crumb> crumbs() const;

    // --- input -------------------------------------------------------------------------------------------------------
    enum class Drag { None, Pressed, Pan, Band, Map };
    Drag drag = Drag::None;
    QPointF pressAt;
    QPointF pressOrigin;
    QPointF bandEnd;
    Qt::KeyboardModifiers pressModifiers;
    QTimer tipTimer;
    QPoint tipAt;
    void release(const QPointF& place);
    bool clickOverlay(const QPointF& place);
    void finishBand();
    void walk(int key);
    bool handleKey(int key, Qt::KeyboardModifiers modifiers);
    void activate(std::uint32_t box, std::optional<QPointF> pointer);
    QString tipText() const;

    // --- painting ----------------------------------------------------------------------------------------------------
    struct OverlayPlaces {
        QRectF zoomOut, zoomText, zoomIn, map;
        bool hasMap = false;
    };
    OverlayPlaces overlay() const;
    void paintEmpty(QPainter& p) const;
    void paintMarks(QPainter& p);
    void paintSelection(QPainter& p);
    void paintHover(QPainter& p);
    void paintFar(QPainter& p, const SceneBox& box, OpId op);
    QRegion betweenBoxes() const;
    void paintOverlay(QPainter& p);
    void paintCrumbs(QPainter& p) const;
    void paintMessage(QPainter& p) const;

    // --- linked views ------------------------------------------------------------------------------------------------
    std::vector<QPointer<GraphView>> peers;
    bool following = false;
    void tellPeers(const std::function<void(Private&)>& call);
};

} // namespace pw::viz
