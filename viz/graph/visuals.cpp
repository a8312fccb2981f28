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
    if (m_input.costSources.size() != graph.opCount())
        m_input.costSources.clear();
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
    sumShades();
}

double Visuals::costOf(OpId op) const {
    return m_input.costUs.empty() ? -1.0 : m_input.costUs[op.index()];
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

bool Visuals::isHeat() const {
    return m_input.colorBy == ColorBy::Cost || m_input.colorBy == ColorBy::Memory || m_input.colorBy == ColorBy::Time;
}

double Visuals::value(const OpGraph& graph, OpId op) const {
    switch (m_input.colorBy) {
    case ColorBy::Cost: return costOf(op);
    case ColorBy::Time: return opTimeUs(op);
    case ColorBy::Device:
    case ColorBy::Phase: return -1;
    case ColorBy::Memory: break;
    }
    const Op& data = graph.op(op);
    double bytes = static_cast<double>(data.paramBytes + data.stateBytes + data.workspaceBytes);
    for (const TensorId output : graph.outputs(op))
        bytes += static_cast<double>(graph.tensor(output).bytes);
    return bytes;
}

void Visuals::findScale(const OpGraph& graph) {
    constexpr double kMostDecades = 1e4; // as much as an eye tells apart
    constexpr double kLogFrom = 50;      // below, equal steps of colour are better read as equal steps of the quantity
    if (!isHeat())
        return;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        m_unknownCount += isUnknown(OpId(i)) ? 1 : 0;
        const double v = value(graph, OpId(i));
        if (v <= 0)
            continue;
        m_least = m_least == 0 ? v : std::min(m_least, v);
        m_most = std::max(m_most, v);
    }
    m_isLog = m_most > m_least * kLogFrom;
    if (m_isLog)
        m_least = std::max(m_least, m_most / kMostDecades);
}

double Visuals::scale(OpId op) const {
    const double v = value(m_tree->graph(), op);
    if (v < 0)
        return -1;
    if (m_most <= m_least) // all alike
        return v > 0 ? 0.5 : 0.0;
    if (v <= m_least)
        return 0;
    const double place = m_isLog ? std::log(v / m_least) / std::log(m_most / m_least) : (v - m_least) / (m_most - m_least);
    return std::min(1.0, place);
}

bool Visuals::isUnknown(OpId op) const {
    const bool aboutCost = m_input.colorBy == ColorBy::Cost || m_input.colorBy == ColorBy::Time;
    return aboutCost && !m_input.costSources.empty() && m_input.costSources[op.index()] == CostSource::Default;
}

std::optional<CostSource> Visuals::costSource(OpId op) const {
    return m_input.costSources.empty() ? std::nullopt : std::optional(m_input.costSources[op.index()]);
}

std::size_t Visuals::shadeOf(OpId op) const {
    if (m_input.colorBy == ColorBy::Phase)
        return static_cast<std::size_t>(m_tree->graph().op(op).phase);
    const double place = scale(op);
    if (isUnknown(op) || place < 0)
        return kHeatSteps;
    return std::min(static_cast<std::size_t>(place * kHeatSteps), kHeatSteps - 1);
}

void Visuals::sumShades() {
    m_shadeCount = isHeat() ? kHeatSteps + 1 : m_input.colorBy == ColorBy::Phase ? m_opsPerPhase.size() : 0;
    if (m_shadeCount == 0)
        return;
    const std::size_t count = m_tree->nodeCount();
    const std::size_t width = m_shadeCount;
    m_total.assign(count, isHeat() ? 0.0 : -1.0);
    m_shades.assign(m_mix.size() / (m_deviceCount + 1) * width, 0);
    for (auto i = static_cast<NodeIndex>(count); i-- > 0;) { // children before parents
        const TreeNode& node = m_tree->node(i);
        const bool hasParent = node.parent != kNoNode;
        if (node.isOp()) {
            const double amount = isHeat() ? value(m_tree->graph(), node.op) : opTimeUs(node.op);
            if (isHeat())
                m_total[i] = amount;
            if (hasParent) // why the small weight: ops that cost nothing still show what they are
                m_shades[m_row[node.parent] * width + shadeOf(node.op)] += static_cast<float>(amount < 0 ? 1.0 : amount + 1e-6);
        } else if (hasParent) {
            for (std::size_t s = 0; s < width; ++s)
                m_shades[m_row[node.parent] * width + s] += m_shades[m_row[i] * width + s];
        }
        if (hasParent && isHeat())
            m_total[node.parent] += std::max(0.0, m_total[i]);
    }
    for (std::size_t row = 0; row * width < m_shades.size(); ++row) {
        float sum = 0;
        for (std::size_t s = 0; s < width; ++s)
            sum += m_shades[row * width + s];
        for (std::size_t s = 0; s < width && sum > 0; ++s)
            m_shades[row * width + s] /= sum;
    }
}

std::span<const float> Visuals::shades(NodeIndex container) const {
    return m_shadeCount == 0 ? std::span<const float>()
                             : std::span(m_shades).subspan(m_row[container] * m_shadeCount, m_shadeCount);
}

double Visuals::total(NodeIndex node) const {
    return node < m_total.size() && m_most > 0 ? m_total[node] : -1.0;
}

} // namespace pw::viz
