#include "ui/run_curves.h"

#include <cmath>
#include <limits>
#include <set>

namespace pw::ui {

const RunCurves::Curve* RunCurves::find(qint64 run) const {
    const auto found = m_curves.find(run);
    return found == m_curves.end() ? nullptr : &found->second;
}

void RunCurves::add(qint64 run, const QString& name, bool live) {
    Curve& curve = m_curves[run];
    const bool isNew = curve.run == 0;
    curve.run = run;
    curve.name = name;
    curve.live = live;
    if (isNew)
        curve.style = m_nextStyle++;
    Q_EMIT isNew ? curveAdded(run) : curveChanged(run);
}

void RunCurves::append(qint64 run, const std::vector<MetricSample>& samples) {
    const auto found = m_curves.find(run);
    if (found == m_curves.end() || samples.empty())
        return;
    Curve& curve = found->second;
    const std::size_t from = curve.steps.size();
    constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
    for (const auto& sample : samples) {
        for (const auto& [key, value] : sample.values) {
            auto& column = curve.values[key];
            column.resize(curve.steps.size(), kGap);
            column.push_back(value);
        }
        curve.steps.push_back(static_cast<double>(sample.step));
    }
    for (auto& [key, column] : curve.values)
        column.resize(curve.steps.size(), kGap);
    Q_EMIT curveAppended(run, from);
}

void RunCurves::setLive(qint64 run, bool live) {
    const auto found = m_curves.find(run);
    if (found == m_curves.end() || found->second.live == live)
        return;
    found->second.live = live;
    Q_EMIT curveChanged(run);
}

void RunCurves::setShown(qint64 run, bool shown) {
    const auto found = m_curves.find(run);
    if (found == m_curves.end() || found->second.shown == shown)
        return;
    found->second.shown = shown;
    Q_EMIT curveChanged(run);
}

void RunCurves::remove(qint64 run) {
    if (m_curves.erase(run) > 0)
        Q_EMIT curveRemoved(run);
}

void RunCurves::clear() {
    while (!m_curves.empty())
        remove(m_curves.begin()->first);
    m_nextStyle = 0;
}

std::vector<std::string> RunCurves::metricKeys() const {
    std::set<std::string> keys;
    for (const auto& [run, curve] : m_curves)
        for (const auto& [key, column] : curve.values)
            keys.insert(key);
    return {keys.begin(), keys.end()};
}

} // namespace pw::ui
