#include "core/sim/links_engine.h"

namespace pw {

LinksEngine::LinksEngine(const PlacementProblem& problem)
    : m_links(problem.compiled().links), m_costUs(problem.costs().costUs.data()),
      m_opCount(static_cast<std::uint32_t>(problem.opCount())),
      m_deviceCount(static_cast<std::uint32_t>(problem.deviceCount())), m_ops(m_opCount), m_startUs(m_opCount, 0.0),
      m_readySlots(m_opCount), m_devices(m_deviceCount), m_next(m_deviceCount, 0),
      m_copyOfInput(m_links.inputCount), m_queueFreeUs(m_links.queueCount, 0.0), m_deliveries(m_deviceCount),
      m_peakBytes(m_deviceCount, 0) {
    for (std::uint32_t op = 0; op < m_opCount; ++op) {
        const Links::OpEntry& entry = m_links.ops[op];
        const Links::OpEntry& following = m_links.ops[op + 1];
        OpState& state = m_ops[op];
        state.firstBundle = entry.firstBundle;
        state.endBundle = following.firstBundle;
        state.firstInput = entry.firstInput;
        state.endInput = following.firstInput;
        state.startBytes = entry.startBytes;
        state.endBytes = entry.endBytes;
    }
    // A copy per tensor with readers, and at most one per (tensor, reader); each may wait for its allocation and for its
    // release. A forwarding host allocates and releases once per transfer.
    m_copies.resize(m_links.bundles.size() + m_links.edges.size());
    m_changeSlots.resize(2 * m_copies.size() + (m_links.hasRelays ? 2 * m_links.edges.size() : 0));
    m_forwardSlots.resize(m_links.hasRelays ? m_links.edges.size() : 0);
}

void LinksEngine::reset(std::span<const DeviceId> placement) {
    m_stepTimeUs = 0.0;
    m_everyPathExists = true;
    m_copyCount = 0;
    m_changes = {m_changeSlots.data(), 0};
    m_forwards = {m_forwardSlots.data(), 0};
    std::fill(m_queueFreeUs.begin(), m_queueFreeUs.end(), 0.0);
    std::fill(m_devices.begin(), m_devices.end(), DeviceState());
    for (std::uint32_t op = 0; op < m_opCount; ++op) {
        const std::uint32_t device = placement[op].value();
        OpState& state = m_ops[op];
        state.readyUs = 0.0;
        state.costUs = m_costUs[static_cast<std::size_t>(op) * m_deviceCount + device];
        state.missing = m_links.waits[op];
        state.device = device;
        m_devices[device].bytes += m_links.residentBytes[op];
        ++m_devices[device].queue.size; // why: counts the ops for the slices below
    }
    std::uint32_t slot = 0;
    for (std::uint32_t d = 0; d < m_deviceCount; ++d) {
        DeviceState& device = m_devices[d];
        const std::uint32_t count = device.queue.size;
        device.queue = {m_readySlots.data() + slot, 0};
        if (!m_priorities.empty())
            device.urgent = {m_urgentSlots.data() + slot, 0};
        slot += count;
        m_next[d] = eventKey(kNever, m_opCount, d);
    }
    for (const std::uint32_t op : m_links.sources) {
        const std::uint32_t device = m_ops[op].device;
        m_devices[device].queue.push({0.0, op});
        refreshStart(device);
    }
}

void LinksEngine::setPriorities(std::vector<double> priorities) {
    m_priorities = std::move(priorities);
    m_urgentSlots.resize(m_priorities.size());
}

} // namespace pw
