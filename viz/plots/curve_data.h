#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace pw::viz {

/// Least and most within a range of a series, and its last finite value. `count` is the number of finite values.
struct Extremes {
    double min = 0.0;
    double max = 0.0;
    double last = 0.0;
    std::size_t count = 0;
};

/// A growing series with the extremes of every block of points, so that a pixel column over thousands of points is
/// answered from a few blocks, exactly. Values that are not finite are gaps.
class Series {
public:
    void clear();
    void append(double value);
    std::size_t size() const { return m_values.size(); }
    double operator[](std::size_t i) const { return m_values[i]; }
    /// Over [first, last).
    Extremes extremes(std::size_t first, std::size_t last) const;

private:
    static constexpr std::size_t kBlock = 256;
    std::vector<double> m_values;
    std::vector<Extremes> m_blocks;
};

/// Exponential moving average with the start-up bias taken out (as Adam does): the first value is the first value, not
/// a share of it. Gaps are passed on and change nothing.
class BiasCorrectedEma {
public:
    explicit BiasCorrectedEma(double weight = 0.0);
    double next(double value);
    double weight() const { return m_weight; }

private:
    double m_weight;
    double m_sum = 0.0;
    double m_norm = 0.0;
};

/// One run: steps ascending, values, the smoothed values, and what is known about them as a whole.
class Curve {
public:
    void setData(const std::vector<double>& x, const std::vector<double>& y);
    /// Points that do not ascend in x or are longer than the other list are dropped and counted.
    void append(const std::vector<double>& x, const std::vector<double>& y);
    void setSmoothing(double weight);

    std::size_t size() const { return m_x.size(); }
    double x(std::size_t i) const { return m_x[i]; }
    const Series& raw() const { return m_raw; }
    const Series& smoothed() const { return m_smoothed; }
    std::size_t droppedCount() const { return m_dropped; }
    std::size_t nonPositiveCount() const { return m_nonPositive; }
    /// Of all finite raw values.
    Extremes extremes() const { return m_raw.extremes(0, m_raw.size()); }
    /// Index of the point nearest in x; size() when there is none.
    std::size_t nearest(double x) const;
    /// First index with x not below the given one.
    std::size_t firstAt(double x) const;

private:
    std::vector<double> m_x;
    Series m_raw;
    Series m_smoothed;
    BiasCorrectedEma m_ema;
    std::size_t m_dropped = 0;
    std::size_t m_nonPositive = 0;
};

/// Points to draw for one series over [from, to] on `columns` pixel columns: where a column holds several points its
/// least and most are both kept, so that no extreme is lost; a gap becomes a point that is not a number.
struct DrawnLine {
    std::vector<double> x;
    std::vector<double> y;
};
DrawnLine drawnLine(const Curve& curve, const Series& series, double from, double to, std::size_t columns);

/// Lowest and highest raw value per window of equal width, as steps. Empty where windows hold fewer than two points on
/// average: the raw points themselves say more then.
struct DrawnBand {
    std::vector<double> x;
    std::vector<double> low;
    std::vector<double> high;
};
DrawnBand drawnBand(const Curve& curve, double from, double to, std::size_t windows);

} // namespace pw::viz
