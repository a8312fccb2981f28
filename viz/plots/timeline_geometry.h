#pragma once

#include "core/sim/simulator.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pw::viz {

/// How a bar is drawn: pale, full, or full at half height.
enum class BarLook : std::uint8_t { Tint, Fill, HalfFill };

/// One row: what a device computes, or what it sends. Bars sorted by start, in flat arrays.
struct TimelineLane {
    enum class Kind { Compute, Sends };

    Kind kind = Kind::Compute;
    DeviceId device;
    std::vector<double> startUs;
    std::vector<double> endUs;
    std::vector<double> maxEndUs;     ///< largest end up to here: what makes the visible range a binary search
    std::vector<std::uint32_t> item;  ///< op, or index into Schedule::transfers
    std::vector<std::uint32_t> group; ///< bars of one group may merge: scope of an op, receiver of a transfer
    std::vector<BarLook> look;

    std::size_t size() const { return startUs.size(); }
};

/// The part of the time axis that is shown, and its width.
struct TimeWindow {
    double fromUs = 0.0;
    double toUs = 1.0;
    double widthPx = 1.0;

    double pxPerUs() const { return widthPx / (toUs - fromUs); }
    double toPx(double us) const { return (us - fromUs) * pxPerUs(); }
    double toUsAt(double px) const { return fromUs + px / pxPerUs(); }
};

/// One rectangle to draw: a bar, or neighbouring bars that cannot be told apart at this scale.
struct PixelBar {
    static constexpr std::uint32_t kMixed = 0xFFFFFFFFU;

    double x0 = 0.0;
    double x1 = 0.0;         ///< at least x0; the painter gives every bar a pixel
    std::uint32_t first = 0; ///< positions in the lane, both included
    std::uint32_t last = 0;
    std::uint32_t group = 0;      ///< kMixed where bars of several groups share a pixel
    BarLook look = BarLook::Tint; ///< of the largest share

    std::uint32_t count() const { return last - first + 1; }
};

/// A box around consecutive steps of the critical path in one lane.
struct PathBox {
    std::size_t lane = 0;
    double startUs = 0.0;
    double endUs = 0.0;
};

/// The bars of one schedule, without any idea of pixels or paint. Immutable once built.
struct TimelineModel {
    std::vector<TimelineLane> lanes;        ///< compute lanes by device, then a lane for every device that sends
    std::vector<std::int32_t> laneOfOp;     ///< -1 for an op without a device
    std::vector<std::int32_t> laneOfSender; ///< per device, -1 if it sends nothing
    double endUs = 0.0;
    std::size_t barCount = 0;

    /// Ops and transfers whose times are missing or not finite are left out.
    /// With `moved` (one flag per op), looks tell moved (full) from unmoved (pale) ops instead of phases.
    static TimelineModel build(const OpGraph& graph, std::size_t deviceCount, const Schedule& schedule,
                               const std::vector<bool>& moved = {});
};

/// First bar of the lane that ends at or after `us` (size() if none).
std::size_t firstEndingAfter(const TimelineLane& lane, double us);

/// The rectangles of one lane within `window`, left to right. Every visible bar is in exactly one of them.
/// Bars merge where they share a pixel, or where both are narrow, of one group and look, and under 0.7 px apart.
void mergeBars(const TimelineLane& lane, const TimeWindow& window, std::vector<PixelBar>& bars);

/// Position in the lane of the bar at `us`; else of the nearest one within `toleranceUs`.
std::optional<std::size_t> barAt(const TimelineLane& lane, double us, double toleranceUs);

/// The critical path as boxes: consecutive steps in one lane less than `gapUs` apart share a box.
std::vector<PathBox> pathBoxes(const TimelineModel& model, const Schedule& schedule, bool withSends, double gapUs);

/// Share of the step that a device computes, in percent.
double busyPercent(const Schedule& schedule, DeviceId device);

} // namespace pw::viz
