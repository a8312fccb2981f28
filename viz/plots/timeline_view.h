#pragma once

#include "core/sim/simulator.h"
#include "viz/theme/theme.h"

#include <QList>
#include <QWidget>

#include <memory>

namespace pw::viz {

/// Lanes per device and per sending device's links over one simulated step. Wheel zooms at the pointer, drag pans, click
/// selects, double click fits. Bars below a pixel are merged, none is lost. GUI thread only.
class TimelineView : public QWidget {
    Q_OBJECT

public:
    explicit TimelineView(QWidget* parent = nullptr);
    ~TimelineView() override;

    /// Either both or nullptr: the view then shows its empty text.
    void setSchedule(ProblemPtr problem, std::shared_ptr<const Schedule> schedule);
    void setTheme(const Theme& theme);
    void setShowLinks(bool on);
    void setShowCriticalPath(bool on);
    /// Compare mode: pale where false; empty = off.
    void setMoved(std::vector<bool> moved);
    /// Right end of the axis for a shared scale of two views (us); 0 = own step time.
    void setAxisEnd(double us);

public Q_SLOTS:
    void setSelection(const QList<quint32>& ops);
    void setHovered(qint64 op);
    void zoomToFit();
    void zoomIn();
    void zoomOut();
    void exportImage(const QString& file); ///< PNG or SVG by ending

Q_SIGNALS:
    void selectionChanged(const QList<quint32>& ops);
    void hoverChanged(qint64 op);
    void rangeChanged(double fromUs, double toUs);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace pw::viz
