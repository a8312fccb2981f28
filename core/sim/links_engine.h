#pragma once

#include "core/sim/compiled.h"
#include "core/sim/event_key.h"
#include "core/sim/min_heap.h"
#include "core/sim/recorder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace pw {

/// The `links` model (core/sim/README.md, rules 1 to 8).
///
/// Arrivals are no events. When an op ends, its transfers are queued on their links at once, which fixes when they start and
/// arrive; the consumers enter the ready queue of their device with that (future) ready time. That is enough because ops end
/// in time order, so every queue of a link is filled in its true order. What is left to select from is one candidate per
/// device: the end of its running op or the start of its next one. Ends go first at equal times, so a start is final when
/// it is selected. Two things do need moments of their own and wait in small heaps: forwarded transfers (the second hop
/// queues when the first has arrived) and changes of memory that lie in the future (a transfer that starts later, the last
/// arrival of a tensor).
///
/// Memory is counted as it changes, in time order. A device's peak looks at the level that holds when time moves on, so
/// everything at one moment is netted: frees come first.
class LinksEngine {
public:
    explicit LinksEngine(const PlacementProblem& problem);

    /// `placement` has a device of the set per op.
    template<class Recorder>
    void run(std::span<const DeviceId> placement, Recorder& recorder);

    /// Larger first among the ops that are ready; one per op, empty for none.
    void setPriorities(std::vector<double> priorities);

    double stepTimeUs() const { return m_stepTimeUs; }
    bool everyPathExists() const { return m_everyPathExists; }
    std::span<const double> startsUs() const { return m_startUs; }
    std::span<const std::int64_t> peakBytes() const { return m_peakBytes; }

private:
    using Links = PlacementProblem::Compiled::Links;
    static constexpr std::uint32_t kNone = PlacementProblem::Compiled::kNone;
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    static constexpr std::size_t kMaskWords = 1024 / 64; ///< DeviceSet allows 1024 devices

    /// Everything about an op that a run touches, on one cache line: ops are visited in no order that memory could guess.
    struct alignas(64) OpState {
        double readyUs = 0.0;      ///< latest arrival so far
        double costUs = 0.0;       ///< on its device
        std::uint32_t missing = 0; ///< bundles not yet there
        std::uint32_t device = 0;
        std::uint32_t firstBundle = 0, endBundle = 0; ///< from here on copied from OpEntry, once
        std::uint32_t firstInput = 0, endInput = 0;
        std::int64_t startBytes = 0;
        std::int64_t endBytes = 0;
    };
    struct Ready {
        double readyUs;
        std::uint32_t op;
        bool operator<(const Ready& other) const {
            return readyUs < other.readyUs || (readyUs == other.readyUs && op < other.op);
        }
    };
    struct Urgent { ///< of the ops that are ready, with priorities
        double priority;
        Ready ready;
        bool operator<(const Urgent& other) const {
            return priority > other.priority || (priority == other.priority && ready < other.ready);
        }
    };
    /// A tensor on a device: the producer's own or a received one.
    struct Copy {
        std::int64_t bytes;
        double holdUntilUs;      ///< last arrival of its outgoing transfers
        std::uint32_t remaining; ///< consumers on this device that have not ended
        std::uint32_t device;
    };
    struct MemoryChange {
        double atUs;
        std::uint32_t device;
        std::int64_t bytes; ///< negative: freed
        bool operator<(const MemoryChange& other) const { return atUs < other.atUs; }
    };
    struct Forward { ///< the first hop of a forwarded transfer arrives
        double atUs;
        std::uint32_t producer;
        std::uint32_t bundle;
        std::uint32_t to;
        std::uint32_t transfer; ///< recorded index of the first hop
        bool operator<(const Forward& other) const {
            if (atUs != other.atUs)
                return atUs < other.atUs;
            return bundle != other.bundle ? bundle < other.bundle : to < other.to; // bundles are numbered by op
        }
    };
    struct DeviceState {
        double freeUs = 0.0;
        MinHeap<Ready> queue;
        MinHeap<Urgent> urgent;
        std::int64_t bytes = 0;
        std::int64_t peak = 0;
        double levelSinceUs = 0.0; ///< `bytes` holds since then
    };
    /// What one device receives of the bundle at hand.
    struct Delivery {
        double arriveUs; ///< never: not known yet, forwarded
        double leftUs;   ///< the sender's copy is not needed for it any more
        std::uint32_t copy;
        std::uint32_t transfer;
    };

    void reset(std::span<const DeviceId> placement);
    template<class Recorder> void begin(std::uint32_t device, double now, Recorder& recorder);
    template<class Recorder> 
    void finish(std::uint32_t device, std::uint32_t op, double now, Recorder& recorder);
    template<class Recorder> void sendBundle(std::uint32_t op, std::uint32_t bundle, double now, Recorder& recorder);
    template<class Recorder>
    void deliver(std::uint32_t consumer, double arriveUs, FullRecorder::Cause cause, Recorder& recorder);
    template<class Recorder>
    Delivery send(std::uint32_t op, std::uint32_t bundle, std::uint32_t to, double now, Recorder& recorder);
    template<class Recorder> void forward(const Forward& hop, Recorder& recorder);
    template<class Recorder>
    double occupy(const Transfer& what, std::uint32_t link, FullRecorder::Cause cause, std::uint32_t& index, Recorder& recorder);
    template<class Recorder> void changeMemory(std::uint32_t device, double now, std::int64_t bytes, Recorder& recorder);
    template<class Recorder> void changeMemoryAt(std::uint32_t device, double now, double at, std::int64_t bytes, Recorder& recorder);
    template<class Recorder> void release(std::uint32_t copy, double now, Recorder& recorder);
    template<class Recorder> void applyChanges(double untilUs, Recorder& recorder);
    template<class Recorder> void finishMemory(Recorder& recorder);
    std::uint32_t popNext(DeviceState& device, double now);
    void refreshStart(std::uint32_t device);

    const Links& m_links;
    const double* m_costUs;
    std::uint32_t m_opCount;
    std::uint32_t m_deviceCount;
    std::vector<double> m_priorities;

    std::vector<OpState> m_ops;
    std::vector<double> m_startUs;
    std::vector<Ready> m_readySlots;   ///< one slice per device
    std::vector<Urgent> m_urgentSlots;
    std::vector<DeviceState> m_devices;
    std::vector<EventKey> m_next;     ///< per device: the end of an op (order = op), or a start (order = opCount)
    std::vector<Copy> m_copies;
    std::uint32_t m_copyCount = 0;
    std::vector<std::uint32_t> m_copyOfInput;
    std::vector<MemoryChange> m_changeSlots;
    MinHeap<MemoryChange> m_changes;
    std::vector<Forward> m_forwardSlots;
    MinHeap<Forward> m_forwards;
    std::vector<double> m_queueFreeUs;
    std::vector<Delivery> m_deliveries; ///< per device, for the bundle at hand
    double m_stepTimeUs = 0.0;
    bool m_everyPathExists = true;
    std::vector<std::int64_t> m_peakBytes;
};

template<class Recorder>
void LinksEngine::run(std::span<const DeviceId> placement, Recorder& recorder) {
    reset(placement);
    while (true) {
        const EventKey next = firstEvent(m_next.data(), m_deviceCount);
        const double now = eventTimeUs(next);
        const bool isStart = eventOrder(next) >= m_opCount;
        if (!m_forwards.empty()) {
            const double hopUs = m_forwards.top().atUs;
            if (hopUs < now || (hopUs == now && isStart)) {
                applyChanges(hopUs, recorder);
                forward(m_forwards.pop(), recorder);
                continue;
            }
        }
        if (now == kNever)
            break;
        applyChanges(now, recorder);
        if (isStart)
            begin(eventDevice(next), now, recorder);
        else
            finish(eventDevice(next), eventOrder(next), now, recorder);
    }
    finishMemory(recorder);
}

inline std::uint32_t LinksEngine::popNext(DeviceState& device, double now) {
    if (m_priorities.empty())
        return device.queue.pop().op;
    while (!device.queue.empty() && device.queue.top().readyUs <= now) {
        const Ready ready = device.queue.pop();
        device.urgent.push({m_priorities[ready.op], ready});
    }
    return device.urgent.pop().ready.op;
}

/// The device is idle: when can it start something?
inline void LinksEngine::refreshStart(std::uint32_t d) {
    const DeviceState& device = m_devices[d];
    double atUs = kNever;
    if (!device.urgent.empty())
        atUs = device.freeUs;
    else if (!device.queue.empty())
        atUs = std::max(device.freeUs, device.queue.top().readyUs);
    m_next[d] = eventKey(atUs, m_opCount, d);
}

template<class Recorder>
void LinksEngine::begin(std::uint32_t d, double now, Recorder& recorder) {
    const std::uint32_t op = popNext(m_devices[d], now);
    const OpState& state = m_ops[op];
    const double endUs = state.costUs > 0.0 ? (now + m_links.launchUs[d]) + state.costUs : now;
    m_startUs[op] = now;
    m_next[d] = eventKey(endUs, op, d);
    changeMemory(d, now, state.startBytes, recorder);
    if constexpr (Recorder::kEnabled)
        recorder.starts(op, d, endUs);
}

template<class Recorder>
void LinksEngine::finish(std::uint32_t d, std::uint32_t op, double now, Recorder& recorder) {
    const OpState& state = m_ops[op];
    m_stepTimeUs = now;
    m_devices[d].freeUs = now;
    changeMemory(d, now, -state.endBytes, recorder);
    for (std::uint32_t i = state.firstInput; i < state.endInput; ++i) {
        const std::uint32_t copy = m_copyOfInput[i];
        if (--m_copies[copy].remaining == 0)
            release(copy, now, recorder);
    }
    for (std::uint32_t b = state.firstBundle; b < state.endBundle; ++b)
        sendBundle(op, b, now, recorder);
    refreshStart(d);
}

/// Delivers one bundle of an op that ends now: to its own device at once, to every other one by a transfer.
template<class Recorder>
void LinksEngine::sendBundle(std::uint32_t op, std::uint32_t b, double now, Recorder& recorder) {
    const Links::Bundle& bundle = m_links.bundles[b];
    const std::uint32_t endEdge = m_links.bundles[b + 1].firstEdge;
    const std::uint32_t home = m_ops[op].device;
    std::array<std::uint64_t, kMaskWords> receivers;
    const std::uint32_t words = (m_deviceCount + 63) / 64;
    std::fill_n(receivers.begin(), words, 0);
    bool anyRemote = false;
    const std::uint32_t ownCopy = m_copyCount;
    std::uint32_t localConsumers = 0;
    for (std::uint32_t e = bundle.firstEdge; e < endEdge; ++e) {
        const Links::Edge& edge = m_links.edges[e];
        const std::uint32_t device = m_ops[edge.consumer].device;
        if (device != home) {
            receivers[device / 64] |= std::uint64_t{1} << (device % 64);
            anyRemote = true;
            continue;
        }
        ++localConsumers;
        if (edge.input != kNone)
            m_copyOfInput[edge.input] = ownCopy;
        deliver(edge.consumer, now, {op, kNone}, recorder);
    }
    if (bundle.bytes > 0)
        m_copies[m_copyCount++] = {bundle.homeBytes, now, localConsumers, home};
    if (!anyRemote)
        return;
    double lastArrivalUs = now;
    for (std::uint32_t w = 0; w < words; ++w) {
        for (std::uint64_t bits = receivers[w]; bits != 0; bits &= bits - 1) {
            const std::uint32_t to = w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
            m_deliveries[to] = send(op, b, to, now, recorder);
            lastArrivalUs = std::max(lastArrivalUs, m_deliveries[to].leftUs);
        }
    }
    for (std::uint32_t e = bundle.firstEdge; e < endEdge; ++e) {
        const Links::Edge& edge = m_links.edges[e];
        const std::uint32_t device = m_ops[edge.consumer].device;
        if (device == home)
            continue;
        const Delivery& delivery = m_deliveries[device];
        if (edge.input != kNone) {
            m_copyOfInput[edge.input] = delivery.copy;
            ++m_copies[delivery.copy].remaining;
        }
        if (delivery.arriveUs != kNever) // why: a forwarded bundle is delivered when its second hop is queued
            deliver(edge.consumer, delivery.arriveUs, {kNone, delivery.transfer}, recorder);
    }
    if (bundle.bytes > 0) {
        m_copies[ownCopy].holdUntilUs = lastArrivalUs;
        if (localConsumers == 0)
            release(ownCopy, now, recorder);
    }
}

template<class Recorder>
void LinksEngine::deliver(std::uint32_t consumer, double arriveUs, FullRecorder::Cause cause, Recorder& recorder) {
    OpState& state = m_ops[consumer];
    if constexpr (Recorder::kEnabled)
        recorder.arrives(consumer, arriveUs, cause);
    else
        static_cast<void>(cause);
    state.readyUs = std::max(state.readyUs, arriveUs);
    if (--state.missing != 0)
        return;
    DeviceState& device = m_devices[state.device];
    device.queue.push({state.readyUs, consumer});
    if (eventOrder(m_next[state.device]) >= m_opCount)
        refreshStart(state.device);
}

/// Puts a transfer on a link, returns when it arrives. `what` says who, what, where, and when it can start.
template<class Recorder>
double LinksEngine::occupy(const Transfer& what, std::uint32_t link, FullRecorder::Cause cause, std::uint32_t& index,
                           Recorder& recorder) {
    const Links::LinkEntry& entry = m_links.links[link];
    const double durationUs = static_cast<double>(what.bytes) / entry.bytesPerUs;
    const double startUs = std::max(what.readyUs, m_queueFreeUs[entry.queue]);
    const double arriveUs = (startUs + entry.latencyUs) + durationUs;
    m_queueFreeUs[entry.queue] = startUs + durationUs;
    if (what.bytes > 0)
        changeMemoryAt(what.to.value(), what.readyUs, startUs, what.bytes, recorder);
    if constexpr (Recorder::kEnabled) {
        Transfer full = what;
        full.startUs = startUs;
        full.endUs = startUs + durationUs;
        full.arriveUs = arriveUs;
        index = recorder.sends(full, cause, entry.queue);
    } else {
        static_cast<void>(cause);
        static_cast<void>(index);
    }
    return arriveUs;
}

template<class Recorder>
LinksEngine::Delivery LinksEngine::send(std::uint32_t op, std::uint32_t b, std::uint32_t to, double now,
                                        Recorder& recorder) {
    const Links::Bundle& bundle = m_links.bundles[b];
    const std::uint32_t from = m_ops[op].device;
    const Links::Route* routes = m_links.routes.data() + static_cast<std::size_t>(from) * m_deviceCount;
    Transfer transfer{OpId(op), bundle.tensor, DeviceId(from), DeviceId(to), bundle.bytes, now, now, now, now};
    Delivery delivery{now, now, kNone, kNone};
    if (bundle.bytes > 0) {
        delivery.copy = m_copyCount;
        m_copies[m_copyCount++] = {bundle.bytes, 0.0, 0, to};
    }
    if (routes[to].link != kNone) {
        delivery.arriveUs = occupy(transfer, routes[to].link, {op, kNone}, delivery.transfer, recorder);
        delivery.leftUs = delivery.arriveUs;
    } else if (routes[to].host != kNone) {
        transfer.to = DeviceId(routes[to].host);
        delivery.leftUs = occupy(transfer, routes[routes[to].host].link, {op, kNone}, delivery.transfer, recorder);
        delivery.arriveUs = kNever;
        m_forwards.push({delivery.leftUs, op, b, to, delivery.transfer});
    } else {
        m_everyPathExists = false;
        changeMemory(to, now, bundle.bytes, recorder);
        if constexpr (Recorder::kEnabled) {
            delivery.transfer = recorder.sends(transfer, {op, kNone}, kNone);
            if (recorder.noPath.kind == Fault::Kind::None)
                recorder.noPath = {Fault::Kind::NoPath, DeviceId(from), DeviceId(to), OpId(op), now, 0};
        }
    }
    return delivery;
}

/// The first hop has arrived: queues the second one and delivers. The host's copy lives until the second hop arrives.
template<class Recorder>
void LinksEngine::forward(const Forward& hop, Recorder& recorder) {
    const Links::Bundle& bundle = m_links.bundles[hop.bundle];
    const std::uint32_t from = m_ops[hop.producer].device;
    const std::uint32_t host = m_links.routes[static_cast<std::size_t>(from) * m_deviceCount + hop.to].host;
    const std::uint32_t link = m_links.routes[static_cast<std::size_t>(host) * m_deviceCount + hop.to].link;
    const Transfer transfer{OpId(hop.producer), bundle.tensor, DeviceId(host), DeviceId(hop.to), bundle.bytes,
                            hop.atUs, hop.atUs, hop.atUs, hop.atUs};
    std::uint32_t index = kNone;
    const double arriveUs = occupy(transfer, link, {kNone, hop.transfer}, index, recorder);
    changeMemoryAt(host, hop.atUs, arriveUs, -bundle.bytes, recorder);
    const std::uint32_t endEdge = m_links.bundles[hop.bundle + 1].firstEdge;
    for (std::uint32_t e = bundle.firstEdge; e < endEdge; ++e) {
        const std::uint32_t consumer = m_links.edges[e].consumer;
        if (m_ops[consumer].device == hop.to)
            deliver(consumer, arriveUs, {kNone, index}, recorder);
    }
}

template<class Recorder>
void LinksEngine::changeMemory(std::uint32_t d, double now, std::int64_t bytes, Recorder& recorder) {
    DeviceState& device = m_devices[d];
    if (now > device.levelSinceUs) {
        device.peak = std::max(device.peak, device.bytes);
        if constexpr (Recorder::kEnabled)
            recorder.level(d, device.levelSinceUs, device.bytes);
        else
            static_cast<void>(recorder);
        device.levelSinceUs = now;
    }
    device.bytes += bytes;
}

template<class Recorder>
void LinksEngine::changeMemoryAt(std::uint32_t d, double now, double at, std::int64_t bytes, Recorder& recorder) {
    if (at <= now)
        changeMemory(d, now, bytes, recorder);
    else
        m_changes.push({at, d, bytes});
}

/// The last consumer on the copy's device has ended; outgoing transfers may still need it.
template<class Recorder>
void LinksEngine::release(std::uint32_t index, double now, Recorder& recorder) {
    const Copy& copy = m_copies[index];
    changeMemoryAt(copy.device, now, copy.holdUntilUs, -copy.bytes, recorder);
}

template<class Recorder>
void LinksEngine::applyChanges(double untilUs, Recorder& recorder) {
    while (!m_changes.empty() && m_changes.top().atUs <= untilUs) {
        const MemoryChange change = m_changes.pop();
        changeMemory(change.device, change.atUs, change.bytes, recorder);
    }
}

template<class Recorder>
void LinksEngine::finishMemory(Recorder& recorder) {
    applyChanges(kNever, recorder);
    for (std::uint32_t d = 0; d < m_deviceCount; ++d) {
        changeMemory(d, kNever, 0, recorder);
        m_peakBytes[d] = m_devices[d].peak;
    }
}

} // namespace pw
