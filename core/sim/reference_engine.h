#pragma once

#include "core/sim/compiled.h"
#include "core/sim/event_key.h"
#include "core/sim/recorder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace pw {

/// The `reference` model: the event simulator of Placeto's authors, with its order of
/// simultaneous events.
///
/// Theirs is one heap of (time, kind, key) with an event per dependency. Here a device has four timers, each with at most
/// one event pending: the release of the local children of its running op, the release of the children of the transfer on
/// its bus, the bus, the device. One release stands for all children, in name order; releases of one parent never
/// interleave, because its transfers follow each other on one bus. So the next event is a minimum over devices, the ready
/// queue is a list, and the bus queue is a list.
class ReferenceEngine {
public:
    explicit ReferenceEngine(const PlacementProblem& problem);

    /// `placement` has a device of the set per op.
    template<class Recorder>
    void run(std::span<const DeviceId> placement, Recorder& recorder);

    double stepTimeUs() const { return m_stepTimeUs; }
    std::span<const double> startsUs() const { return m_startUs; }
    std::span<const std::int64_t> peakBytes() const { return m_peakBytes; }
    /// When the output of an op is freed (us); after run().
    double freedUs(std::uint32_t op) const;

private:
    using Reference = PlacementProblem::Compiled::Reference;
    static constexpr std::uint32_t kNone = PlacementProblem::Compiled::kNone;
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    /// Kinds in the order of their names in the authors' code: "remove_dependency" < "run_bus" < "run_dev".
    enum Timer : std::size_t { LocalRelease, BusRelease, Bus, Compute, TimerCount };

    struct DeviceState {
        double atUs[TimerCount] = {kNever, kNever, kNever, kNever};
        std::uint32_t running = 0;   ///< op of the local release
        std::uint32_t broadcast = 0; ///< of the bus release
        std::uint32_t lastTransfer = kNone; ///< recorded index of that broadcast
        std::uint32_t readyHead = kNone, readyTail = kNone; ///< list through OpState::nextReady
        std::uint32_t busHead = kNone, busTail = kNone;     ///< list through QueuedBroadcast::next
        std::uint32_t firstStarted = 0, started = 0;        ///< slice of m_startedUs
    };
    /// What a run touches of an op, together: ops are visited in no order that memory could guess.
    struct alignas(32) OpState {
        std::uint32_t missing = 0;
        std::uint32_t device = 0;
        std::uint32_t nextReady = kNone; ///< list of the device's ready queue
        std::uint32_t nameRank = 0;
        double costUs = 0.0;
        std::uint32_t firstChild = 0, endChild = 0;
    };
    struct QueuedBroadcast {
        double readyUs = 0.0;
        std::uint32_t next = kNone; ///< list of the bus queue
        std::uint32_t sent = 0;     ///< while its op starts: already in the queue
    };

    template<class Recorder> void fire(std::uint32_t device, Timer timer, double now, Recorder& recorder);
    template<class Recorder> void releaseLocal(std::uint32_t device, double now, Recorder& recorder);
    template<class Recorder> void releaseRemote(std::uint32_t device, double now, Recorder& recorder);
    template<class Recorder> void startNext(std::uint32_t device, double now, Recorder& recorder);
    template<class Recorder> void serveBus(std::uint32_t device, double now, Recorder& recorder);
    void reset(std::span<const DeviceId> placement);
    void removeDependency(std::uint32_t child, double now);
    bool queueBroadcasts(std::uint32_t op, std::uint32_t device, double endUs);
    void appendBroadcast(std::uint32_t device, std::uint32_t broadcast, double endUs);
    void schedule(std::uint32_t device, Timer timer, double at);
    void selectTimer(std::uint32_t device);
    void computePeaks();

    const Reference& m_reference;
    std::uint32_t m_opCount;
    std::uint32_t m_deviceCount;
    std::vector<OpState> m_ops;
    std::vector<double> m_startUs;
    std::vector<QueuedBroadcast> m_queued; ///< per broadcast
    std::vector<DeviceState> m_devices;
    std::vector<EventKey> m_next; ///< per device: its earliest timer, ordered by (kind, name)
    std::vector<std::uint8_t> m_nextTimer;
    std::vector<double> m_lastBusyUs;        ///< per op: trunc(start) + trunc(cost) - 1
    std::vector<std::uint32_t> m_startedOps; ///< per device slice, in start order
    std::vector<double> m_startedUs;
    std::vector<std::int64_t> m_freedBefore; ///< per start: bytes freed since the start before it
    double m_stepTimeUs = 0.0;
    std::vector<std::int64_t> m_peakBytes;
};

template<class Recorder>
void ReferenceEngine::run(std::span<const DeviceId> placement, Recorder& recorder) {
    reset(placement);
    while (true) {
        const EventKey next = firstEvent(m_next.data(), m_deviceCount);
        const double now = eventTimeUs(next);
        if (now == kNever)
            break;
        m_stepTimeUs = now; // why: the makespan is the time of the last event of any kind, idle wake-ups included
        const std::uint32_t device = eventDevice(next);
        fire(device, static_cast<Timer>(m_nextTimer[device]), now, recorder);
    }
    computePeaks();
}

template<class Recorder>
void ReferenceEngine::fire(std::uint32_t d, Timer timer, double now, Recorder& recorder) {
    switch (timer) {
    case LocalRelease: releaseLocal(d, now, recorder); break;
    case BusRelease: releaseRemote(d, now, recorder); break;
    case Bus: serveBus(d, now, recorder); break;
    default: startNext(d, now, recorder); break;
    }
    selectTimer(d);
}

/// Readies op `child` when this was its last dependency.
inline void ReferenceEngine::removeDependency(std::uint32_t child, double now) {
    OpState& state = m_ops[child];
    if (--state.missing != 0)
        return;
    DeviceState& device = m_devices[state.device];
    state.nextReady = kNone;
    if (device.readyTail == kNone)
        device.readyHead = child;
    else
        m_ops[device.readyTail].nextReady = child;
    device.readyTail = child;
    if (device.atUs[Compute] == kNever)
        schedule(state.device, Compute, now);
}

template<class Recorder>
void ReferenceEngine::releaseLocal(std::uint32_t d, double now, Recorder& recorder) {
    const std::uint32_t op = m_devices[d].running;
    m_devices[d].atUs[LocalRelease] = kNever;
    for (std::uint32_t i = m_ops[op].firstChild; i < m_ops[op].endChild; ++i) {
        const std::uint32_t child = m_reference.childrenByName[i].op;
        if (m_ops[child].device != d)
            continue;
        if constexpr (Recorder::kEnabled)
            recorder.arrives(child, now, {op, kNone});
        else
            static_cast<void>(recorder);
        removeDependency(child, now);
    }
}

template<class Recorder>
void ReferenceEngine::releaseRemote(std::uint32_t d, double now, Recorder& recorder) {
    const std::uint32_t broadcast = m_devices[d].broadcast;
    const std::uint32_t op = m_reference.broadcasts[broadcast].parent;
    m_devices[d].atUs[BusRelease] = kNever;
    for (std::uint32_t i = m_ops[op].firstChild; i < m_ops[op].endChild; ++i) {
        const Reference::Child& child = m_reference.childrenByName[i];
        if (child.broadcast != broadcast || m_ops[child.op].device == d)
            continue;
        if constexpr (Recorder::kEnabled)
            recorder.arrives(child.op, now, {kNone, m_devices[d].lastTransfer});
        else
            static_cast<void>(recorder);
        removeDependency(child.op, now);
    }
}

template<class Recorder>
void ReferenceEngine::startNext(std::uint32_t d, double now, Recorder& recorder) {
    DeviceState& device = m_devices[d];
    device.atUs[Compute] = kNever;
    const std::uint32_t op = device.readyHead;
    if (op == kNone)
        return;
    const OpState& state = m_ops[op];
    device.readyHead = state.nextReady;
    if (device.readyHead == kNone)
        device.readyTail = kNone;
    const double costUs = state.costUs;
    const double endUs = now + costUs;
    m_startUs[op] = now;
    m_lastBusyUs[op] = std::trunc(now) + std::trunc(costUs) - 1.0;
    m_startedOps[device.firstStarted + device.started] = op;
    m_startedUs[device.firstStarted + device.started] = now;
    ++device.started;
    device.atUs[Compute] = costUs > 0.0 ? endUs + m_reference.gapUs : endUs;
    device.running = op;
    if (queueBroadcasts(op, d, endUs))
        device.atUs[LocalRelease] = endUs;
    if constexpr (Recorder::kEnabled)
        recorder.starts(op, d, endUs);
    else
        static_cast<void>(recorder);
}

template<class Recorder>
void ReferenceEngine::serveBus(std::uint32_t d, double now, Recorder& recorder) {
    DeviceState& device = m_devices[d];
    device.atUs[Bus] = kNever;
    const std::uint32_t head = device.busHead;
    if (head == kNone)
        return;
    const Reference::Broadcast& broadcast = m_reference.broadcasts[head];
    const double readyUs = m_queued[head].readyUs;
    if (readyUs > now) {
        device.atUs[Bus] = readyUs;
        return;
    }
    device.busHead = m_queued[head].next;
    if (device.busHead == kNone)
        device.busTail = kNone;
    device.broadcast = head;
    device.atUs[BusRelease] = now + broadcast.durationUs;
    device.atUs[Bus] = (now + broadcast.durationUs) + m_reference.busGapUs;
    if constexpr (Recorder::kEnabled) {
        std::uint32_t to = d;
        for (std::uint32_t i = m_reference.firstChild[broadcast.parent]; to == d; ++i) {
            const Reference::Child& child = m_reference.childrenByIndex[i];
            if (child.broadcast == head)
                to = m_ops[child.op].device;
        }
        const Transfer transfer{OpId(broadcast.parent), broadcast.tensor, DeviceId(d), DeviceId(to), broadcast.bytes,
                                readyUs, now, device.atUs[Bus], device.atUs[BusRelease]};
        device.lastTransfer = recorder.sends(transfer, {broadcast.parent, kNone}, d);
    } else {
        static_cast<void>(recorder);
    }
}

} // namespace pw
