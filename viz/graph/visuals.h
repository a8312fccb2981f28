#pragma once

#include "core/sim/simulator.h"
#include "viz/graph/graph_view.h"
#include "viz/graph/scene.h"

#include <array>
#include <optional>
#include <span>

namespace pw::viz {

/// What the picture shows besides geometry. Everything may be missing.
struct VisualInput {
    std::shared_ptr<const OpPlacement> placement;
    std::shared_ptr<const Schedule> schedule;
    std::vector<double> costUs;
    std::vector<bool> moved;
    ColorBy colorBy = ColorBy::Device;
    std::vector<CostSource> costSources;
    QString costDevice; ///< title of the device that costUs is for
};

/// How one line looks: how much goes over it, and who sends what crosses devices.
struct EdgeLook {
    double bytes = 0;
    double crossBytes = 0;
    DeviceId crossFrom; ///< the device that sends most of what crosses; invalid = nothing crosses
    bool hasSame = false;
    bool critical = false;
};

/// Sums over the ops of every box and line: device mixes, times, crossing edges. A linear pass over ops and edges, redone
/// when a placement or a scene arrives; immutable afterwards.
class Visuals {
public:
    Visuals(const Scene& scene, const VisualInput& input);

    std::size_t deviceCount() const { return m_deviceCount; }
    bool isPlaced() const { return m_deviceCount > 0; }
    /// Share per device in [0, 1], by time (by count where times are unknown); the last entry is "not placed".
    std::span<const float> mix(NodeIndex container) const;
    /// Sum of op times, negative if unknown.
    double timeUs(NodeIndex node) const;
    const EdgeLook& edge(std::size_t sceneEdge) const { return m_edges[sceneEdge]; }
    DeviceId device(OpId op) const { return m_isPlaced ? (*m_input.placement)[op.index()] : DeviceId(); }
    bool isMovedMode() const { return !m_input.moved.empty(); }
    bool isMoved(OpId op) const { return op.index() < m_input.moved.size() && m_input.moved[op.index()]; }
    bool hasMoved(NodeIndex node) const { return node < m_moved.size() && m_moved[node] != 0; }
    bool isCritical(NodeIndex node) const { return node < m_critical.size() && m_critical[node] != 0; }
    ColorBy colorBy() const { return m_input.colorBy; }
    /// Coloured by a quantity: cost, memory or time.
    bool isHeat() const;
    /// Position in [0, 1] on the scale of that quantity; negative = no value.
    double scale(OpId op) const;
    /// Range of that scale in us or bytes, and whether it is logarithmic: for the legend.
    std::pair<double, double> scaleRange() const { return {m_least, m_most}; }
    bool isScaleLog() const { return m_isLog; }
    /// ColorBy::Time without a schedule: costs are shown.
    bool isTimeMissing() const { return m_input.colorBy == ColorBy::Time && !m_input.schedule; }
    const QString& costDevice() const { return m_input.costDevice; }
    /// The cost of this op is a guess from its bytes, and cost or time is what the colours say.
    bool isUnknown(OpId op) const;
    std::size_t unknownCount() const { return m_unknownCount; }
    /// Where the cost of an op comes from, if that is known.
    std::optional<CostSource> costSource(OpId op) const;
    /// Sum of the quantity over a box, in us or bytes; negative if there is none.
    double total(NodeIndex node) const;
    /// Shares of a scope by shade: steps of the scale weighed by the quantity, then what is unknown; or phases, weighed by
    /// time. Empty when coloured by device.
    static constexpr std::size_t kHeatSteps = 6;
    std::span<const float> shades(NodeIndex container) const;
    /// Ops per device of the whole graph, variables included; last entry "not placed".
    const std::vector<std::size_t>& opsPerDevice() const { return m_opsPerDevice; }
    const std::array<std::size_t, 4>& opsPerPhase() const { return m_opsPerPhase; }
    const Schedule* schedule() const { return m_input.schedule.get(); }

private:
    void sumMixes(const Scene& scene);
    void lookAtEdges(const Scene& scene);
    void markPaths(const Scene& scene);
    void findScale(const OpGraph& graph);
    void sumShades();
    std::size_t shadeOf(OpId op) const;
    double costOf(OpId op) const;
    double value(const OpGraph& graph, OpId op) const;
    double opTimeUs(OpId op) const;

    VisualInput m_input;
    const SceneTree* m_tree = nullptr;
    bool m_isPlaced = false;
    std::size_t m_deviceCount = 0;
    std::vector<std::uint32_t> m_row; ///< per node: row of m_mix for containers
    std::vector<float> m_mix;
    std::vector<double> m_time; ///< per node
    std::vector<EdgeLook> m_edges;
    std::vector<std::uint8_t> m_moved;
    std::vector<std::uint8_t> m_critical;
    std::vector<std::size_t> m_opsPerDevice;
    std::array<std::size_t, 4> m_opsPerPhase{};
    std::size_t m_shadeCount = 0; ///< per row of m_shades
    std::vector<float> m_shades;
    std::vector<double> m_total; ///< per node, of the quantity that colours
    std::size_t m_unknownCount = 0;
    double m_least = 0;
    double m_most = 0;
    bool m_isLog = true;
};

} // namespace pw::viz
