#include "core/sim/schedule_builder.h"

#include <algorithm>
#include <numeric>

namespace pw {

namespace {

constexpr std::uint32_t kNone = FullRecorder::kNone;

/// Indices of the recorded transfers by start time; the order of recording decides ties.
std::vector<std::uint32_t> transferOrder(const FullRecorder& recorder) {
    std::vector<std::uint32_t> order(recorder.transfers.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return recorder.transfers[a].transfer.startUs < recorder.transfers[b].transfer.startUs;
    });
    return order;
}

/// Walks back from the op that ends last along whatever made each step start when it did: a busy device (the op before
/// it), a busy link (the transfer before it), else the input that arrived last. Transfer steps carry recorded indices.
std::vector<PathStep> walkBack(const FullRecorder& recorder, std::span<const double> startsUs) {
    std::vector<PathStep> steps;
    if (startsUs.empty())
        return steps;
    const auto last = std::max_element(recorder.endUs.begin(), recorder.endUs.end());
    FullRecorder::Cause at{static_cast<std::uint32_t>(last - recorder.endUs.begin()), kNone};
    bool delayedOnly = false; // why: a transfer that only kept the link busy matters until it frees the link
    while (at.op != kNone || at.transfer != kNone) {
        if (at.op != kNone) {
            const std::uint32_t op = at.op;
            steps.push_back({OpId(op), 0, startsUs[op], recorder.endUs[op]});
            const bool waited = startsUs[op] > recorder.readyUs[op] && recorder.previousOnDevice[op] != kNone;
            at = waited ? FullRecorder::Cause{recorder.previousOnDevice[op], kNone} : recorder.cause[op];
            delayedOnly = false;
            continue;
        }
        const FullRecorder::SentTransfer& sent = recorder.transfers[at.transfer];
        const Transfer& transfer = sent.transfer;
        steps.push_back({OpId(), at.transfer, transfer.startUs, delayedOnly ? transfer.endUs : transfer.arriveUs});
        delayedOnly = transfer.startUs > transfer.readyUs && sent.previous != kNone;
        at = delayedOnly ? FullRecorder::Cause{kNone, sent.previous} : sent.cause;
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

} // namespace

Schedule buildSchedule(const PlacementProblem& problem, std::span<const DeviceId> placement, FullRecorder recorder,
                       std::span<const double> startsUs) {
    Schedule schedule;
    schedule.placement.assign(placement.begin(), placement.end());
    schedule.startUs.assign(startsUs.begin(), startsUs.end());

    const std::vector<std::uint32_t> order = transferOrder(recorder);
    std::vector<std::uint32_t> position(order.size());
    schedule.transfers.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        position[order[i]] = static_cast<std::uint32_t>(i);
        schedule.transfers.push_back(recorder.transfers[order[i]].transfer);
        schedule.transferBytes += schedule.transfers.back().bytes;
    }
    schedule.criticalPath = walkBack(recorder, startsUs);
    for (PathStep& step : schedule.criticalPath) {
        if (!step.op.isValid())
            step.transfer = position[step.transfer];
    }

    schedule.busyUs.assign(problem.deviceCount(), 0.0);
    for (std::size_t i = 0; i < placement.size(); ++i)
        schedule.busyUs[placement[i].index()] += recorder.endUs[i] - startsUs[i];
    for (const auto& points : recorder.memory) {
        const auto highest = std::max_element(points.begin(), points.end(), [](const MemoryPoint& a, const MemoryPoint& b) {
            return a.bytes < b.bytes;
        });
        schedule.peakBytes.push_back(points.empty() ? 0 : highest->bytes);
        schedule.peakAtUs.push_back(points.empty() ? 0.0 : highest->atUs);
    }
    schedule.endUs = std::move(recorder.endUs);
    schedule.readyUs = std::move(recorder.readyUs);
    schedule.memory = std::move(recorder.memory);
    return schedule;
}

} // namespace pw
