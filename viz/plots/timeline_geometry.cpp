#include "viz/plots/timeline_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace pw::viz {

namespace {

constexpr double kMergeGapPx = 0.7;
constexpr double kNarrowPx = 6.0;

BarLook lookOf(Phase phase) {
    switch (phase) {
    case Phase::Backward:
        return BarLook::Fill;
    case Phase::Optimizer:
        return BarLook::HalfFill;
    case Phase::Forward:
    case Phase::Auxiliary:
        break;
    }
    return BarLook::Tint;
}

void append(TimelineLane& lane, double startUs, double endUs, std::size_t item, std::uint32_t group, BarLook look) {
    lane.startUs.push_back(startUs);
    lane.endUs.push_back(std::max(startUs, endUs));
    lane.item.push_back(static_cast<std::uint32_t>(item));
    lane.group.push_back(group);
    lane.look.push_back(look);
}

template<class T>
void permute(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
    std::vector<T> sorted(values.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        sorted[i] = values[order[i]];
    values = std::move(sorted);
}

void finish(TimelineLane& lane) {
    if (!std::is_sorted(lane.startUs.begin(), lane.startUs.end())) {
        std::vector<std::uint32_t> order(lane.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return lane.startUs[a] < lane.startUs[b]; });
        permute(lane.startUs, order);
        permute(lane.endUs, order);
        permute(lane.item, order);
        permute(lane.group, order);
        permute(lane.look, order);
    }
    lane.maxEndUs.resize(lane.size());
    double maxEnd = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < lane.size(); ++i) {
        maxEnd = std::max(maxEnd, lane.endUs[i]);
        lane.maxEndUs[i] = maxEnd;
    }
}

void addOps(TimelineModel& model, const OpGraph& graph, std::size_t deviceCount, const Schedule& schedule,
            const std::vector<bool>& moved) {
    const std::size_t count =
        std::min({graph.opCount(), schedule.placement.size(), schedule.startUs.size(), schedule.endUs.size()});
    model.laneOfOp.assign(graph.opCount(), -1);
    for (std::size_t i = 0; i < count; ++i) {
        const DeviceId device = schedule.placement[i];
        if (!device.isValid() || device.index() >= deviceCount || !std::isfinite(schedule.startUs[i]) ||
            !std::isfinite(schedule.endUs[i]))
            continue;
        const Op& op = graph.op(OpId(i));
        const BarLook look = moved.empty()                  ? lookOf(op.phase)
                             : i < moved.size() && moved[i] ? BarLook::Fill
                                                            : BarLook::Tint;
        append(model.lanes[device.index()], schedule.startUs[i], schedule.endUs[i], i, op.scope.value(), look);
        model.laneOfOp[i] = static_cast<std::int32_t>(device.index());
    }
}

void addTransfers(TimelineModel& model, std::size_t deviceCount, const Schedule& schedule) {
    std::vector<TimelineLane> sends(deviceCount);
    for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
        const Transfer& transfer = schedule.transfers[i];
        if (!transfer.from.isValid() || transfer.from.index() >= deviceCount || !std::isfinite(transfer.startUs))
            continue;
        // The link is free at `end`; a transfer over a link of unlimited rate is still a mark of some width.
        const double end = transfer.endUs > transfer.startUs ? transfer.endUs : transfer.arriveUs;
        append(sends[transfer.from.index()], transfer.startUs, std::isfinite(end) ? end : transfer.startUs, i,
               transfer.to.value(), BarLook::Fill);
    }
    model.laneOfSender.assign(deviceCount, -1);
    for (std::size_t d = 0; d < deviceCount; ++d) {
        if (sends[d].size() == 0)
            continue;
        sends[d].kind = TimelineLane::Kind::Sends;
        sends[d].device = DeviceId(d);
        model.laneOfSender[d] = static_cast<std::int32_t>(model.lanes.size());
        model.lanes.push_back(std::move(sends[d]));
    }
}

/// Time of each look within one rectangle, so that the largest share gives the colour.
class LookShares {
public:
    void reset(BarLook look, double width) {
        m_width = {};
        m_first = look;
        m_mixed = false;
        add(look, width);
    }
    /// Says whether there is more than one look, so that the largest has to be asked for.
    bool add(BarLook look, double width) {
        m_width[static_cast<std::size_t>(look)] += width + 1e-9;
        m_mixed = m_mixed || look != m_first;
        return m_mixed;
    }
    BarLook largest() const {
        return static_cast<BarLook>(std::max_element(m_width.begin(), m_width.end()) - m_width.begin());
    }

private:
    std::array<double, 3> m_width = {};
    BarLook m_first = BarLook::Tint;
    bool m_mixed = false;
};

} // namespace

TimelineModel TimelineModel::build(const OpGraph& graph, std::size_t deviceCount, const Schedule& schedule,
                                   const std::vector<bool>& moved) {
    TimelineModel model;
    model.lanes.resize(deviceCount);
    for (std::size_t d = 0; d < deviceCount; ++d)
        model.lanes[d].device = DeviceId(d);
    addOps(model, graph, deviceCount, schedule, moved);
    addTransfers(model, deviceCount, schedule);
    model.endUs = std::isfinite(schedule.stepTimeUs) ? schedule.stepTimeUs : 0.0;
    for (TimelineLane& lane : model.lanes) {
        finish(lane);
        model.barCount += lane.size();
        if (lane.size() > 0)
            model.endUs = std::max(model.endUs, lane.maxEndUs.back());
    }
    return model;
}

std::size_t firstEndingAfter(const TimelineLane& lane, double us) {
    return static_cast<std::size_t>(std::lower_bound(lane.maxEndUs.begin(), lane.maxEndUs.end(), us) -
                                    lane.maxEndUs.begin());
}

void mergeBars(const TimelineLane& lane, const TimeWindow& window, std::vector<PixelBar>& bars) {
    bars.clear();
    const double scale = window.pxPerUs();
    LookShares shares;
    double lastWidth = 0.0; // of the bar that was merged last: a wide bar keeps its edges
    double pixelEnd = 0.0;  // right edge of the pixel, or of the rectangle, that a bar has to stay in to share it
    for (std::size_t i = firstEndingAfter(lane, window.fromUs); i < lane.size() && lane.startUs[i] <= window.toUs;
         ++i) {
        if (lane.endUs[i] < window.fromUs)
            continue; // hidden behind a longer one that started earlier
        const double x0 = (lane.startUs[i] - window.fromUs) * scale;
        const double x1 = (lane.endUs[i] - window.fromUs) * scale;
        const double width = x1 - x0;
        if (!bars.empty()) {
            PixelBar& back = bars.back();
            const bool samePixel = x1 < pixelEnd && width < 1.0 && lastWidth < kNarrowPx;
            const bool alike = back.group == lane.group[i] && back.look == lane.look[i] && width < kNarrowPx &&
                               lastWidth < kNarrowPx && x0 - back.x1 < kMergeGapPx;
            if (samePixel || alike) {
                back.x1 = std::max(back.x1, x1);
                back.last = static_cast<std::uint32_t>(i);
                if (back.group != lane.group[i])
                    back.group = PixelBar::kMixed;
                if (shares.add(lane.look[i], width))
                    back.look = shares.largest();
                lastWidth = width;
                pixelEnd = std::max(pixelEnd, back.x1);
                continue;
            }
        }
        const auto position = static_cast<std::uint32_t>(i);
        bars.push_back({x0, x1, position, position, lane.group[i], lane.look[i]});
        shares.reset(lane.look[i], width);
        lastWidth = width;
        pixelEnd = std::max(std::floor(x0) + 1.0, x1);
    }
}

std::optional<std::size_t> barAt(const TimelineLane& lane, double us, double toleranceUs) {
    const auto after = std::upper_bound(lane.startUs.begin(), lane.startUs.end(), us + toleranceUs);
    std::optional<std::size_t> nearest;
    double nearestUs = toleranceUs;
    for (auto i = static_cast<std::size_t>(after - lane.startUs.begin()); i-- > 0;) {
        if (lane.maxEndUs[i] < us - toleranceUs)
            break;
        const double distance = std::max({lane.startUs[i] - us, us - lane.endUs[i], 0.0});
        if (distance == 0.0)
            return i; // the one that started last lies on top
        if (distance <= nearestUs) {
            nearest = i;
            nearestUs = distance;
        }
    }
    return nearest;
}

std::vector<PathBox> pathBoxes(const TimelineModel& model, const Schedule& schedule, bool withSends, double gapUs) {
    std::vector<PathBox> boxes;
    for (const PathStep& step : schedule.criticalPath) {
        std::int32_t lane = -1;
        if (step.op.isValid()) {
            if (step.op.index() < model.laneOfOp.size())
                lane = model.laneOfOp[step.op.index()];
        } else if (withSends && step.transfer < schedule.transfers.size()) {
            const DeviceId from = schedule.transfers[step.transfer].from;
            if (from.isValid() && from.index() < model.laneOfSender.size())
                lane = model.laneOfSender[from.index()];
        }
        if (lane < 0)
            continue;
        const auto laneIndex = static_cast<std::size_t>(lane);
        if (!boxes.empty() && boxes.back().lane == laneIndex && step.startUs - boxes.back().endUs <= gapUs)
            boxes.back().endUs = std::max(boxes.back().endUs, step.endUs);
        else
            boxes.push_back({laneIndex, step.startUs, step.endUs});
    }
    return boxes;
}

double busyPercent(const Schedule& schedule, DeviceId device) {
    if (device.index() >= schedule.busyUs.size() || !(schedule.stepTimeUs > 0.0))
        return 0.0;
    return 100.0 * schedule.busyUs[device.index()] / schedule.stepTimeUs;
}

} // namespace pw::viz
