#pragma once

#include "core/devices/cost_model.h"
#include "core/graph/op_graph.h"
#include "core/sim/simulator.h"
#include "viz/theme/theme.h"

#include <QList>
#include <QStringList>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pw::viz {

/// What ops are coloured by.
enum class ColorBy { Device, Cost, Memory, Time, Phase };

/// The picture of a graph: scopes laid out with Graphviz one at a time in the background, painted by level of detail,
/// coloured by device. Pan with drag or scroll, zoom at the pointer, click selects, double click or Enter opens a scope.
/// GUI thread only; never blocks: layout runs on a job of its own, the old picture stays until the new one is there.
class GraphView : public QWidget {
    Q_OBJECT

public:
    explicit GraphView(QWidget* parent = nullptr);
    ~GraphView() override;

    /// Layouts are looked up and stored by content hash through these (may be empty). Called on worker threads.
    struct LayoutCache {
        std::function<std::optional<std::string>(const std::string& key)> load;
        std::function<void(const std::string& key, const std::string& value)> save;
    };
    void setLayoutCache(LayoutCache cache);
    /// nullptr clears the view; `emptyText` is then shown.
    void setGraph(GraphPtr graph);
    void setEmptyText(const QString& text);
    /// Device per op, or null: nothing placed yet.
    void setPlacement(std::shared_ptr<const OpPlacement> placement);
    /// For times in boxes, critical path and tooltips; or null.
    void setSchedule(std::shared_ptr<const Schedule> schedule);
    /// Per-op costs for mix bars (us); empty = by count.
    void setOpCosts(std::vector<double> costUs);
    /// Where each of those costs comes from (empty = not known), and the device that they are for, by its title.
    void setCostSources(std::vector<CostSource> sources, const QString& device);
    /// Compare mode: marked ops in full colour with a heavy edge, all others pale; empty = off.
    void setMoved(std::vector<bool> moved);
    void setTheme(const Theme& theme);
    void setColorBy(ColorBy colorBy);
    void setShowCriticalPath(bool on);
    void setShowCrossDeviceEdges(bool on);
    void setShowVariables(bool on); ///< boxes for variables and constants too; off at first, they are counted instead
    void setDeviceNames(const QStringList& names); ///< titles for legend and tooltips; letters where there is none
    ColorBy colorBy() const;
    /// Ops that stand for no box of their own at first (variables, constants): how many the picture leaves out.
    std::size_t hiddenOps() const;

    GraphPtr graph() const; ///< the main graph, also while a body is shown
    bool isLayoutRunning() const;
    double zoom() const;
    QList<quint32> selection() const;
    /// Where an op's box, or the closed scope around it, is in this widget; null while there is no picture of it.
    QRectF rectOfOp(quint32 op) const;
    QRectF rectOfScope(quint32 scope) const;
    bool isScopeOpen(quint32 scope) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// View of another GraphView follows this one and back (same graph): compare panes.
    void linkTo(GraphView* other);

public Q_SLOTS:
    void setSelection(const QList<quint32>& ops); ///< op indices; does not emit
    void setHovered(qint64 op);                   ///< -1 = none; does not emit
    void revealOp(quint32 op);                    ///< opens its scopes and brings it into view
    void openScope(quint32 scope);
    void openBodies(quint32 containerOp); ///< shows the bodies of an If, Loop or Scan op; emits bodyOpened
    void expandAll(); ///< as far as a picture of some thousand boxes allows
    void collapseAll();
    void zoomIn();
    void zoomOut();
    void zoomToFit();
    void resetZoom(); ///< 100 %

Q_SIGNALS:
    void selectionChanged(const QList<quint32>& ops);
    void hoverChanged(qint64 op); ///< -1 = none
    void scopeActivated(quint32 scope);
    void zoomChanged(double factor); ///< 1 = 100 %
    void layoutStarted();
    void layoutFinished();
    void layoutFailed(const QString& reason);
    /// The view shows a body of a container op now. Selection and hover are not reported from inside bodies, whose ops
    /// have numbers of their own; bodySelectionChanged() says what is chosen there.
    void bodyOpened(quint32 containerOp);
    /// Ops of a body were chosen, by their number in `body`; null = the main graph is shown again.
    void bodySelectionChanged(pw::GraphPtr body, const QList<quint32>& ops);
    void contextMenuRequested(const QPoint& globalPos, qint64 op);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

/// A whole picture without a window: `render` and `demo` of the command line, README pictures.
struct RenderOptions {
    QSize size = QSize(1600, 1000);
    int depth = 1; ///< scope levels opened, as far as the size allows
    ColorBy colorBy = ColorBy::Device;
    Theme theme = Theme::light();
    QString title; ///< written above the legend
    std::vector<QString> deviceNames; ///< for the legend
};
/// Writes PNG or SVG by the ending of `file`. Lays out on the calling thread. Needs a QGuiApplication (offscreen is fine).
Status renderGraph(GraphPtr graph, const OpPlacement* placement, const std::vector<double>& opCostUs,
                   const RenderOptions& options, const QString& file);

} // namespace pw::viz
