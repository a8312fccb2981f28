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

    void setSchedule(ProblemPtr problem, std::shared_ptr<const Schedule> schedule);
    void setTheme(const Theme& theme);
    void setShowCapacity(bool on);

public Q_SLOTS:
    void setHovered(qint64 op); ///< marks the time the op runs
    void setRange(double fromUs, double toUs); ///< follows the timeline; 0, 0 = whole step
    void exportImage(const QString& file);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace pw::viz
