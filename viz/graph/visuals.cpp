#include "viz/graph/visuals.h"

#include <algorithm>
#include <cmath>

namespace pw::viz {

Visuals::Visuals(const Scene& scene, const VisualInput& input) : m_input(input), m_tree(&scene.tree()) {
    const OpGraph& graph = m_tree->graph();
    // A placement of another graph, or one that came before the graph did, is not shown.
    m_isPlaced = m_input.placement && m_input.placement->size() == graph.opCount() && graph.opCount() > 0;
    if (m_input.costUs.size() != graph.opCount())
        m_input.costUs.clear();
    if (m_input.moved.size() != graph.opCount())
        m_input.moved.clear();
    if (m_input.schedule && (m_input.schedule->startUs.size() != graph.opCount() ||
                             m_input.schedule->endUs.size() != graph.opCount()))
        m_input.schedule.reset();
    if (m_isPlaced) {
        for (const DeviceId device : *m_input.placement) {
            if (device.isValid())
                m_deviceCount = std::max(m_deviceCount, device.index() + 1);
        }
    }
    m_opsPerDevice.assign(m_deviceCount + 1, 0);
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const DeviceId at = device(OpId(i));
        ++m_opsPerDevice[at.isValid() ? at.index() : m_deviceCount];
        ++m_opsPerPhase[static_cast<std::size_t>(graph.op(OpId(i)).phase)];
    }
    sumMixes(scene);
    markPaths(scene);
    lookAtEdges(scene);
    findScale(graph);
}

double Visuals::opTimeUs(OpId op) const {
    if (m_input.schedule)
        return m_input.schedule->endUs[op.index()] - m_input.schedule->startUs[op.index()];
    return m_input.costUs.empty() ? -1.0 : m_input.costUs[op.index()];
}

void Visuals::sumMixes(const Scene&) {
    const std::size_t count = m_tree->nodeCount();
    const std::size_t width = m_deviceCount + 1;
    m_row.assign(count, 0);
    m_time.assign(count, 0);
    m_moved.assign(count, 0);
    std::uint32_t rows = 0;
    for (NodeIndex i = 0; i < count; ++i) {
        if (!m_tree->node(i).isOp())
            m_row[i] = rows++;
    }
    m_mix.assign(rows * width, 0);
    for (auto i = static_cast<NodeIndex>(count); i-- > 0;) { // children before parents
        const TreeNode& node = m_tree->node(i);
        if (node.isOp()) {
            const DeviceId at = device(node.op);
            const double time = opTimeUs(node.op);
            m_time[i] = time;
            m_moved[i] = isMoved(node.op) ? 1 : 0;
            if (node.parent != kNoNode) {
                // why the small weight: a box whose ops all cost nothing still shows where they are
                m_mix[m_row[node.parent] * width + (at.isValid() ? at.index() : m_deviceCount)] +=
                    static_cast<float>(time < 0 ? 1.0 : time + 1e-6);
            }
        } else if (node.parent != kNoNode) {
            for (std::size_t d = 0; d < width; ++d)
                m_mix[m_row[node.parent] * width + d] += m_mix[m_row[i] * width + d];
        }
        if (node.parent != kNoNode) {
            m_time[node.parent] += m_time[i];
            m_moved[node.parent] = m_moved[node.parent] | m_moved[i];
        }
    }
    for (std::uint32_t row = 0; row < rows; ++row) {
        float sum = 0;
        for (std::size_t d = 0; d < width; ++d)
            sum += m_mix[row * width + d];
        for (std::size_t d = 0; d < width && sum > 0; ++d)
            m_mix[row * width + d] /= sum;
    }
}

std::span<const float> Visuals::mix(NodeIndex container) const {
    return std::span(m_mix).subspan(m_row[container] * (m_deviceCount + 1), m_deviceCount + 1);
}

double Visuals::timeUs(NodeIndex node) const {
    return m_input.schedule || !m_input.costUs.empty() ? m_time[node] : -1.0;
}

void Visuals::markPaths(const Scene&) {
    m_critical.assign(m_tree->nodeCount(), 0);
    if (!m_input.schedule)
        return;
    for (const PathStep& step : m_input.schedule->criticalPath) {
        if (!step.op.isValid() || step.op.index() >= m_tree->graph().opCount())
            continue;
        for (NodeIndex at = m_tree->nodeOf(step.op); at != kNoNode && m_critical[at] == 0; at = m_tree->node(at).parent)
            m_critical[at] = 1;
    }
}

void Visuals::lookAtEdges(const Scene& scene) {
    const OpGraph& graph = m_tree->graph();
    const auto links = m_tree->allEdges();
    std::vector<double> sent(m_deviceCount, 0.0);
    m_edges.assign(scene.edges.size(), {});
    for (std::size_t i = 0; i < scene.edges.size(); ++i) {
        EdgeLook& look = m_edges[i];
        std::fill(sent.begin(), sent.end(), 0.0);
        TensorId last;
        for (std::uint32_t k = 0; k < scene.edges[i].linkCount; ++k) {
            const Edge& edge = graph.edge(links[scene.edges[i].firstLink + k].edge);
            const bool counted = edge.tensor.isValid() && edge.tensor != last; // one op reading a tensor twice
            last = edge.tensor;
            const double bytes = counted ? static_cast<double>(graph.tensor(edge.tensor).bytes) : 0.0;
            look.bytes += bytes;
            const NodeIndex a = m_tree->nodeOf(edge.producer);
            const NodeIndex b = m_tree->nodeOf(edge.consumer);
            look.critical = look.critical || (isCritical(a) && isCritical(b));
            const DeviceId from = device(edge.producer);
            const DeviceId to = device(edge.consumer);
            if (!from.isValid() || !to.isValid() || from == to) {
                look.hasSame = true;
                continue;
            }
            look.crossBytes += bytes;
            sent[from.index()] += bytes + 1; // why 1: control edges cross too
            if (!look.crossFrom.isValid() || sent[from.index()] > sent[look.crossFrom.index()])
                look.crossFrom = from;
        }
        if (scene.edges[i].linkCount == 0)
            look.hasSame = true;
    }
}

double Visuals::value(const OpGraph& graph, OpId op) const {
    if (m_input.colorBy == ColorBy::Cost)
        return opTimeUs(op);
    if (m_input.colorBy != ColorBy::Memory)
        return -1;
    const Op& data = graph.op(op);
    double bytes = static_cast<double>(data.paramBytes + data.stateBytes + data.workspaceBytes);
    for (const TensorId output : graph.outputs(op))
        bytes += static_cast<double>(graph.tensor(output).bytes);
    return bytes;
}

void Visuals::findScale(const OpGraph& graph) {
    if (m_input.colorBy != ColorBy::Cost && m_input.colorBy != ColorBy::Memory)
        return;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const double v = value(graph, OpId(i));
        if (v <= 0)
            continue;
        m_least = m_least == 0 ? v : std::min(m_least, v);
        m_most = std::max(m_most, v);
    }
    m_least = std::max(m_least, m_most / 1e4); // four decades are as much as an eye tells apart
}

double Visuals::scale(OpId op) const {
    const double v = value(m_tree->graph(), op);
    if (v < 0)
        return -1;
    if (v <= m_least || m_most <= m_least)
        return 0;
    return std::min(1.0, std::log(v / m_least) / std::log(m_most / m_least));
}

} // namespace pw::viz
