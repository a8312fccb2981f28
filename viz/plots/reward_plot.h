#pragma once

#include "viz/theme/theme.h"

#include <QList>
#include <QString>
#include <QWidget>

#include <memory>
#include <vector>

namespace pw::viz {

/// Curves of one metric over steps for several runs: raw band, smoothed line, live run on top, cursor that reads all
/// runs, reference lines. QCustomPlot inside, behind a pimpl. GUI thread only; appends are cheap and drawn at most 10
/// times a second.
class RewardPlot : public QWidget {
    Q_OBJECT

public:
    explicit RewardPlot(QWidget* parent = nullptr);
    ~RewardPlot() override;

    /// Which value is drawn; `unit` for the axis ("ms"); values are multiplied by `scale`.
    void setMetric(const QString& key, const QString& label, const QString& unit, double scale);
    void setXLabel(const QString& label); ///< "episode"
    void addRun(qint64 run, const QString& name, int styleIndex, bool live);
    void removeRun(qint64 run);
    void setLive(qint64 run, bool live);
    /// x ascending within a run. Not-a-number values are gaps.
    void append(qint64 run, const std::vector<double>& x, const std::vector<double>& y);
    void setData(qint64 run, std::vector<double> x, std::vector<double> y);
    void setReference(
        const QString& name,
        double value); ///< horizontal line with its name, in the metric's own unit before scale; NaN removes it
    void setSmoothing(double weight); ///< exponential moving average, 0 = off, below 1
    void setLogY(bool on);
    void setTheme(const Theme& theme);
    void setEmptyText(const QString& text);
    /// Which way is better: for the "best" column and the note below the legend. Default: lowest.
    void setLowestIsBest(bool on);
    /// Axes follow the data until the user pans or zooms.
    void setFollow(bool on);
    /// Drawings so far: live data are drawn at most 10 times a second.
    int replotCount() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// By ending: .png, .svg, .pdf, .csv. Empty string on success, else the reason.
    QString exportTo(const QString& file);

public Q_SLOTS:
    void zoomToFit();
    /// Reads all runs at this step; not a number hides the cursor.
    void setCursorAt(double x);

Q_SIGNALS:
    void cursorChanged(double x); ///< not a number = none

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace pw::viz
