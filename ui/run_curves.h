#pragma once

#include "core/experiment/run_repository.h"

#include <QObject>
#include <QString>

#include <map>
#include <vector>

namespace pw::ui {

/// The samples of the runs that are drawn: live ones as they come, stored ones once they were read. Every sample is kept.
class RunCurves : public QObject {
    Q_OBJECT

public:
    struct Curve {
        qint64 run = 0; ///< row in the project; negative for a run that is not stored
        QString name;
        int style = 0; ///< kept for the life of the run
        bool live = false;
        bool shown = true;
        std::vector<double> steps;
        std::map<std::string, std::vector<double>> values; ///< NaN where a sample has none
    };

    using QObject::QObject;

    const std::map<qint64, Curve>& curves() const { return m_curves; }
    const Curve* find(qint64 run) const;
    bool isEmpty() const { return m_curves.empty(); }
    void add(qint64 run, const QString& name, bool live);
    void append(qint64 run, const std::vector<MetricSample>& samples);
    void setLive(qint64 run, bool live);
    void setShown(qint64 run, bool shown);
    void remove(qint64 run);
    void clear();
    /// All metric keys seen, sorted.
    std::vector<std::string> metricKeys() const;

Q_SIGNALS:
    void curveAdded(qint64 run);
    void curveAppended(qint64 run, std::size_t from); ///< samples from this index on are new
    void curveChanged(qint64 run);                    ///< live or shown
    void curveRemoved(qint64 run);

private:
    std::map<qint64, Curve> m_curves;
    int m_nextStyle = 0;
};

} // namespace pw::ui
