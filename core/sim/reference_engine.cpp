#include "core/sim/reference_engine.h"

#include <utility>

namespace pw {

ReferenceEngine::ReferenceEngine(const PlacementProblem& problem)
    : m_reference(problem.compiled().reference), m_opCount(static_cast<std::uint32_t>(problem.opCount())),
      m_deviceCount(static_cast<std::uint32_t>(problem.deviceCount())), m_ops(m_opCount), m_startUs(m_opCount, 0.0),
      m_queued(m_reference.broadcasts.size()), m_devices(m_deviceCount), m_next(m_deviceCount, 0),
      m_nextTimer(m_deviceCount, 0), m_lastBusyUs(m_opCount, 0.0), m_startedOps(m_opCount, 0),
      m_startedUs(m_opCount, 0.0), m_freedBefore(m_opCount + 1, 0), m_peakBytes(m_deviceCount, 0) {
    for (std::uint32_t op = 0; op < m_opCount; ++op) {
        OpState& state = m_ops[op];
        state.nameRank = m_reference.nameRank[op];
        state.costUs = m_reference.costUs[op];
        state.firstChild = m_reference.firstChild[op];
        state.endChild = m_reference.firstChild[op + 1];
    }
}

void ReferenceEngine::reset(std::span<const DeviceId> placement) {
    m_stepTimeUs = 0.0;
    std::fill(m_devices.begin(), m_devices.end(), DeviceState());
    std::fill(m_next.begin(), m_next.end(), eventKey(kNever, 0, 0));
    for (std::uint32_t op = 0; op < m_opCount; ++op) {
        m_ops[op].missing = m_reference.waits[op];
        m_ops[op].device = placement[op].value();
        ++m_devices[placement[op].index()].firstStarted; // why: counts the ops for the slices below
    }
    std::uint32_t slot = 0;
    for (DeviceState& device : m_devices)
        slot += std::exchange(device.firstStarted, slot);
    for (const std::uint32_t op : m_reference.sources) {
        ++m_ops[op].missing;
        removeDependency(op, 0.0);
    }
}

void ReferenceEngine::schedule(std::uint32_t d, Timer timer, double at) {
    m_devices[d].atUs[timer] = at;
    selectTimer(d);
}

/// The earliest timer of a device; of equal ones the first kind.
void ReferenceEngine::selectTimer(std::uint32_t d) {
    const DeviceState& device = m_devices[d];
    std::size_t first = LocalRelease;
    for (std::size_t timer = BusRelease; timer < TimerCount; ++timer)
        first = device.atUs[timer] < device.atUs[first] ? timer : first;
    m_nextTimer[d] = static_cast<std::uint8_t>(first);
    // Releases are ordered by the parent's name, the rest by kind and the device's name.
    std::uint32_t order = 0;
    if (first == LocalRelease)
        order = m_ops[device.running].nameRank;
    else if (first == BusRelease)
        order = m_ops[m_reference.broadcasts[device.broadcast].parent].nameRank;
    else
        order = m_opCount + (first == Bus ? 0 : m_deviceCount) + m_reference.deviceRank[d];
    m_next[d] = eventKey(device.atUs[first], order, d);
}

void ReferenceEngine::appendBroadcast(std::uint32_t d, std::uint32_t broadcast, double endUs) {
    DeviceState& device = m_devices[d];
    m_queued[broadcast].readyUs = endUs;
    m_queued[broadcast].next = kNone;
    if (device.busTail == kNone)
        device.busHead = broadcast;
    else
        m_queued[device.busTail].next = broadcast;
    device.busTail = broadcast;
    if (device.atUs[Bus] == kNever)
        device.atUs[Bus] = endUs;
}

/// Appends one transfer per output index with children elsewhere, by first appearance. True if there are children here.
bool ReferenceEngine::queueBroadcasts(std::uint32_t op, std::uint32_t d, double endUs) {
    const std::uint32_t begin = m_ops[op].firstChild;
    const std::uint32_t end = m_ops[op].endChild;
    const bool several = m_reference.broadcastCount[op] > 1;
    bool anyLocal = false;
    bool anyRemote = false;
    for (std::uint32_t i = begin; several && i < end; ++i)
        m_queued[m_reference.childrenByIndex[i].broadcast].sent = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
        const Reference::Child& child = m_reference.childrenByIndex[i];
        if (m_ops[child.op].device == d) {
            anyLocal = true;
            continue;
        }
        anyRemote = true;
        if (several && m_queued[child.broadcast].sent == 0) {
            m_queued[child.broadcast].sent = 1;
            appendBroadcast(d, child.broadcast, endUs);
        }
    }
    if (anyRemote && !several)
        appendBroadcast(d, m_reference.childrenByIndex[begin].broadcast, endUs);
    return anyLocal;
}

double ReferenceEngine::freedUs(std::uint32_t op) const {
    double freed = m_startUs[op];
    for (std::uint32_t i = m_reference.firstChild[op]; i < m_reference.firstChild[op + 1]; ++i)
        freed = std::max(freed, m_lastBusyUs[m_reference.childrenByName[i].op]);
    return freed;
}

namespace {

/// First index in [from, end) whose value is above `limit`, searched outwards from `hint`: O(log distance).
std::uint32_t firstAbove(const double* values, std::uint32_t from, std::uint32_t end, std::uint32_t hint, double limit) {
    std::uint32_t low = from;
    std::uint32_t high = end;
    hint = std::clamp(hint, from, end);
    if (hint < end && values[hint] <= limit) {
        low = hint + 1;
        for (std::uint32_t step = 1; low + step < end; step *= 2) {
            if (values[low + step] > limit) {
                high = low + step;
                break;
            }
            low += step;
        }
    } else {
        high = hint;
        for (std::uint32_t step = 1; high >= from + step; step *= 2) {
            if (values[high - step] <= limit) {
                low = high - step + 1;
                break;
            }
            high -= step;
        }
    }
    return static_cast<std::uint32_t>(std::upper_bound(values + low, values + high, limit) - values);
}

} // namespace

/// Allocations happen in start order; a release takes effect before the first start that is later than it (allocations
/// come first at equal times).
void ReferenceEngine::computePeaks() {
    std::fill(m_freedBefore.begin(), m_freedBefore.end(), 0);
    for (std::uint32_t d = 0; d < m_deviceCount; ++d) {
        const DeviceState& device = m_devices[d];
        const std::uint32_t end = device.firstStarted + device.started;
        std::uint32_t hint = device.firstStarted;
        std::int64_t bytes = 0;
        std::int64_t peak = 0;
        for (std::uint32_t i = device.firstStarted; i < end; ++i) {
            const std::uint32_t op = m_startedOps[i];
            bytes += m_reference.outputBytes[op] - m_freedBefore[i];
            peak = std::max(peak, bytes);
            hint = firstAbove(m_startedUs.data(), i + 1, end, hint, freedUs(op));
            if (hint < end)
                m_freedBefore[hint] += m_reference.outputBytes[op];
        }
        m_peakBytes[d] = peak;
    }
}

} // namespace pw
