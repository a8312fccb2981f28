#include "viz/plots/curve_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pw::viz {

namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

void include(Extremes& extremes, double value) {
    if (!std::isfinite(value))
        return;
    extremes.min = extremes.count == 0 ? value : std::min(extremes.min, value);
    extremes.max = extremes.count == 0 ? value : std::max(extremes.max, value);
    extremes.last = value;
    ++extremes.count;
}

void include(Extremes& extremes, const Extremes& other) {
    if (other.count == 0)
        return;
    extremes.min = extremes.count == 0 ? other.min : std::min(extremes.min, other.min);
    extremes.max = extremes.count == 0 ? other.max : std::max(extremes.max, other.max);
    extremes.last = other.last;
    extremes.count += other.count;
}

} // namespace

void Series::clear() {
    m_values.clear();
    m_blocks.clear();
}

void Series::append(double value) {
    if (m_values.size() % kBlock == 0)
        m_blocks.emplace_back();
    m_values.push_back(value);
    include(m_blocks.back(), value);
}

Extremes Series::extremes(std::size_t first, std::size_t last) const {
    Extremes result;
    last = std::min(last, m_values.size());
    while (first < last) {
        if (first % kBlock == 0 && first + kBlock <= last) {
            include(result, m_blocks[first / kBlock]);
            first += kBlock;
        } else {
            include(result, m_values[first]);
            ++first;
        }
    }
    return result;
}

BiasCorrectedEma::BiasCorrectedEma(double weight)
    : m_weight(std::isfinite(weight) ? std::clamp(weight, 0.0, 0.9999) : 0.0) {}

double BiasCorrectedEma::next(double value) {
    if (!std::isfinite(value))
        return kGap;
    m_sum = m_weight * m_sum + (1.0 - m_weight) * value;
    m_norm = m_weight * m_norm + (1.0 - m_weight);
    return m_sum / m_norm;
}

void Curve::setData(const std::vector<double>& x, const std::vector<double>& y) {
    m_x.clear();
    m_raw.clear();
    m_smoothed.clear();
    m_ema = BiasCorrectedEma(m_ema.weight());
    m_dropped = 0;
    m_nonPositive = 0;
    append(x, y);
}

void Curve::append(const std::vector<double>& x, const std::vector<double>& y) {
    const std::size_t count = std::min(x.size(), y.size());
    m_dropped += std::max(x.size(), y.size()) - count;
    for (std::size_t i = 0; i < count; ++i) {
        if (!std::isfinite(x[i]) || (!m_x.empty() && x[i] < m_x.back())) {
            ++m_dropped;
            continue;
        }
        m_x.push_back(x[i]);
        m_raw.append(y[i]);
        m_smoothed.append(m_ema.next(y[i]));
        if (y[i] <= 0.0)
            ++m_nonPositive;
    }
}

void Curve::setSmoothing(double weight) {
    m_ema = BiasCorrectedEma(weight);
    m_smoothed.clear();
    for (std::size_t i = 0; i < m_raw.size(); ++i)
        m_smoothed.append(m_ema.next(m_raw[i]));
}

std::size_t Curve::firstAt(double x) const {
    return static_cast<std::size_t>(std::lower_bound(m_x.begin(), m_x.end(), x) - m_x.begin());
}

std::size_t Curve::nearest(double x) const {
    const std::size_t i = firstAt(x);
    if (i == 0 || m_x.empty())
        return m_x.empty() ? 0 : i;
    if (i == m_x.size())
        return i - 1;
    return x - m_x[i - 1] <= m_x[i] - x ? i - 1 : i;
}

DrawnLine drawnLine(const Curve& curve, const Series& series, double from, double to, std::size_t columns) {
    DrawnLine line;
    if (curve.size() == 0 || columns == 0 || !(to > from))
        return line;
    // One point beyond each side, so that the line enters and leaves the picture.
    std::size_t first = curve.firstAt(from);
    first -= first > 0 ? 1 : 0;
    const std::size_t end = std::min(curve.firstAt(to) + 1, curve.size());
    const double width = (to - from) / static_cast<double>(columns);
    while (first < end) {
        const double column = std::floor((curve.x(first) - from) / width);
        const std::size_t next = std::clamp(curve.firstAt(from + (column + 1.0) * width), first + 1, end);
        const Extremes extremes = series.extremes(first, next);
        // A column with a gap in it is drawn point by point unless it is crowded.
        if (next - first <= 4) {
            for (std::size_t i = first; i < next; ++i) {
                line.x.push_back(curve.x(i));
                line.y.push_back(std::isfinite(series[i]) ? series[i] : kGap);
            }
        } else if (extremes.count == 0) {
            line.x.push_back(curve.x(first));
            line.y.push_back(kGap);
        } else {
            const double at = curve.x(first);
            for (const double y : {extremes.min, extremes.max, extremes.last}) {
                line.x.push_back(at);
                line.y.push_back(y);
            }
        }
        first = next;
    }
    return line;
}

DrawnBand drawnBand(const Curve& curve, double from, double to, std::size_t windows) {
    DrawnBand band;
    if (curve.size() < 2 || windows == 0 || !(to > from))
        return band;
    const std::size_t begin = curve.firstAt(from);
    const std::size_t end = curve.firstAt(to);
    const double shown = std::min(to, curve.x(curve.size() - 1)) - std::max(from, curve.x(0));
    const double width = (to - from) / static_cast<double>(windows);
    if (!(shown > 0.0) || static_cast<double>(end - begin) < 2.0 * shown / width)
        return band;
    // Windows are counted from 0, not from the left edge: the band stays as it is while the view is panned.
    std::size_t first = begin;
    while (first < end) {
        const double window = std::floor(curve.x(first) / width);
        const std::size_t next = std::max(first + 1, std::min(end, curve.firstAt((window + 1.0) * width)));
        const Extremes extremes = curve.raw().extremes(first, next);
        const double left = std::max(window * width, curve.x(0));
        const double right = std::min((window + 1.0) * width, curve.x(curve.size() - 1));
        for (const double x : {left, right}) {
            band.x.push_back(x);
            band.low.push_back(extremes.count > 0 ? extremes.min : kGap);
            band.high.push_back(extremes.count > 0 ? extremes.max : kGap);
        }
        first = next;
    }
    return band;
}

} // namespace pw::viz
