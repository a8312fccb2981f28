#pragma once

#include "core/sim/compiled.h"
#include "core/sim/recorder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace pw {

/// The `reference` model: the event simulator of Placeto's authors (specs/placeto.md 5.2 to 5.4 [C]), with its order of
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
        std::uint32_t readyHead = kNone, readyTail = kNone; ///< list through m_nextReady
        std::uint32_t busHead = kNone, busTail = kNone;     ///< list through m_nextBroadcast
        std::uint32_t firstStarted = 0, started = 0;        ///< slice of m_startedUs
    };
    struct OpState {
        std::uint32_t missing = 0;
        std::uint32_t device = 0;
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
    std::vector<std::uint32_t> m_nextReady;     ///< per op
    std::vector<std::uint32_t> m_nextBroadcast; ///< per broadcast
    std::vector<std::uint8_t> m_broadcastSent;  ///< per broadcast, of the op that starts
    std::vector<DeviceState> m_devices;
    std::vector<double> m_nextUs;            ///< per device: its earliest timer
    std::vector<std::uint32_t> m_nextOrder;  ///< (kind, key) of it as one number
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
    const double* nextUs = m_nextUs.data();
    const std::uint32_t* nextOrder = m_nextOrder.data();
    while (true) {
        std::uint32_t at = 0;
        double now = nextUs[0];
        std::uint32_t order = nextOrder[0];
        for (std::uint32_t d = 1; d < m_deviceCount; ++d) {
            // why: bitwise, so that the compiler selects instead of branching on data it cannot predict
            const bool earlier = (nextUs[d] < now) | ((nextUs[d] == now) & (nextOrder[d] < order));
            now = earlier ? nextUs[d] : now;
            order = earlier ? nextOrder[d] : order;
            at = earlier ? d : at;
        }
        if (now == kNever)
            break;
        m_stepTimeUs = now; // why: the makespan is the time of the last event of any kind, idle wake-ups included [C]
        fire(at, static_cast<Timer>(m_nextTimer[at]), now, recorder);
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
    m_nextReady[child] = kNone;
    if (device.readyTail == kNone)
        device.readyHead = child;
    else
        m_nextReady[device.readyTail] = child;
    device.readyTail = child;
    if (device.atUs[Compute] == kNever)
        schedule(state.device, Compute, now);
}

template<class Recorder>
void ReferenceEngine::releaseLocal(std::uint32_t d, double now, Recorder& recorder) {
    const std::uint32_t op = m_devices[d].running;
    m_devices[d].atUs[LocalRelease] = kNever;
    for (std::uint32_t i = m_reference.firstChild[op]; i < m_reference.firstChild[op + 1]; ++i) {
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
    for (std::uint32_t i = m_reference.firstChild[op]; i < m_reference.firstChild[op + 1]; ++i) {
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
    device.readyHead = m_nextReady[op];
    if (device.readyHead == kNone)
        device.readyTail = kNone;
    const double costUs = m_reference.costUs[op];
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
    const double readyUs = m_startUs[broadcast.parent] + m_reference.costUs[broadcast.parent];
    if (readyUs > now) {
        device.atUs[Bus] = readyUs;
        return;
    }
    device.busHead = m_nextBroadcast[head];
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
