#pragma once

#include "core/sim/simulator.h"
#include "viz/theme/theme.h"

#include <QWidget>

#include <memory>

namespace pw::viz {

/// Memory of each device over one simulated step, a row each, with the capacity line and the peak marked. Minimum and
/// maximum per pixel column, so no peak is lost. GUI thread only.
class MemoryView : public QWidget {
    Q_OBJECT

public:
    explicit MemoryView(QWidget* parent = nullptr);
    ~MemoryView() override;

    /// Either both or nullptr: the view then shows its empty text.
    void setSchedule(ProblemPtr problem, std::shared_ptr<const Schedule> schedule);
    /// The same without a compiled problem; capacity per device, 0 = no limit.
    void setSchedule(DeviceSet devices, std::vector<std::int64_t> capacityBytes,
                     std::shared_ptr<const Schedule> schedule);
    void setEmptyText(const QString& text);
    void setTheme(const Theme& theme);
    void setShowCapacity(bool on);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

public Q_SLOTS:
    void setHovered(qint64 op);                ///< marks the time the op runs
    void setRange(double fromUs, double toUs); ///< follows the timeline; 0, 0 = whole step
    /// PNG or SVG by ending. Empty string on success, else the reason.
    QString exportImage(const QString& file);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace pw::viz
