#pragma once

#include "core/sim/simulator.h"
#include "viz/theme/theme.h"

#include <QList>
#include <QWidget>

#include <memory>

namespace pw::viz {

/// Lanes per device and per sending device's links over one simulated step. Wheel zooms at the pointer, drag pans,
/// click selects (Ctrl adds), Shift+drag measures a span and selects its ops, double click fits. Keys: + and - zoom,
/// arrows pan, Home fits, comma and dot walk the bars of a lane, Escape clears. Bars below a pixel are merged, none is
/// lost. GUI thread only.
class TimelineView : public QWidget {
    Q_OBJECT

public:
    explicit TimelineView(QWidget* parent = nullptr);
    ~TimelineView() override;

    /// Either both or nullptr: the view then shows its empty text.
    void setSchedule(ProblemPtr problem, std::shared_ptr<const Schedule> schedule);
    /// The same without a compiled problem.
    void setSchedule(GraphPtr graph, DeviceSet devices, std::shared_ptr<const Schedule> schedule);
    void setEmptyText(const QString& text);
    void setTheme(const Theme& theme);
    void setShowLinks(bool on);
    void setShowCriticalPath(bool on);
    /// Compare mode: pale where false; empty = off.
    void setMoved(std::vector<bool> moved);
    /// Right end of the axis for a shared scale of two views (us); 0 = own step time.
    void setAxisEnd(double us);
    double fromUs() const; ///< left end of what is shown
    double toUs() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

public Q_SLOTS:
    void setSelection(const QList<quint32>& ops);
    void setHovered(qint64 op);
    void zoomToFit();
    void zoomIn();
    void zoomOut();
    void setRange(double fromUs, double toUs); ///< emits rangeChanged only if it differs; 0, 0 = whole step
    /// All lanes in the range shown, PNG or SVG by ending. Empty string on success, else the reason.
    QString exportImage(const QString& file);

Q_SIGNALS:
    void selectionChanged(const QList<quint32>& ops);
    void hoverChanged(qint64 op);
    void rangeChanged(double fromUs, double toUs);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace pw::viz
