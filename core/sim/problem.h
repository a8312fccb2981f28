#pragma once

#include "core/devices/cost_model.h"
#include "core/devices/device_set.h"
#include "core/graph/grouping.h"
#include "core/graph/op_graph.h"

#include <memory>
#include <string>
#include <vector>

namespace pw {

enum class SimModel : std::uint8_t { Links, Reference };
const char* simModelName(SimModel model); ///< "links", "reference"
std::optional<SimModel> simModelFromName(std::string_view name);

struct SimOptions {
    SimModel model = SimModel::Links;
    double memoryHeadroomPct = 0.0; ///< this share of every capacity is kept free

    bool operator==(const SimOptions&) const = default;
};

/// Everything a simulation needs, compiled once into flat arrays. Immutable and shared between threads.
/// Built by compile(); fails (naming the cycle) on a cyclic graph, on a set without devices, in the `reference` model on a
/// device set that is not homogeneous (naming the difference).
class PlacementProblem {
public:
    static Result<std::shared_ptr<const PlacementProblem>> compile(GraphPtr graph, DeviceSet devices,
                                                                   GroupingOptions grouping, SimOptions options);
    static Result<std::shared_ptr<const PlacementProblem>> compile(GraphPtr graph, DeviceSet devices, Grouping grouping,
                                                                   SimOptions options);

    const OpGraph& graph() const { return *m_graph; }
    const GraphPtr& graphPtr() const { return m_graph; }
    const DeviceSet& devices() const { return m_devices; }
    const Grouping& grouping() const { return m_grouping; }
    const GroupingOptions& groupingOptions() const { return m_groupingOptions; } ///< defaults if a Grouping was given
    const CostTable& costs() const { return m_costs; }
    const SimOptions& options() const { return m_options; }
    std::size_t opCount() const { return m_graph->opCount(); }
    std::size_t deviceCount() const { return m_devices.count(); }
    std::size_t groupCount() const { return m_grouping.groupCount(); }

    /// May this group run there (allowed device kinds of its members)?
    bool allowed(GroupId group, DeviceId device) const {
        return m_allowed[group.index() * deviceCount() + device.index()] != 0;
    }
    /// Capacity of a device after headroom; 0 = no limit.
    std::int64_t capacityBytes(DeviceId device) const { return m_capacity[device.index()]; }

    /// Sum over members, without launch.
    double groupCostUs(GroupId group, DeviceId device) const {
        return m_groupCost[group.index() * deviceCount() + device.index()];
    }
    /// Sum of all output bytes of the members.
    std::int64_t groupOutputBytes(GroupId group) const { return m_groupOutputBytes[group.index()]; }

    /// Identifies graph, devices, grouping and options: the key of caches.
    const std::string& hash() const { return m_hash; }

    /// Private to core/sim: the flat arrays of the simulators.
    struct Compiled;
    const Compiled& compiled() const { return *m_compiled; }

private:
    PlacementProblem() = default;
    static Result<std::shared_ptr<PlacementProblem>> assemble(GraphPtr graph, DeviceSet devices, CostTable costs,
                                                              Grouping grouping, SimOptions options);

    GraphPtr m_graph;
    DeviceSet m_devices;
    Grouping m_grouping;
    GroupingOptions m_groupingOptions;
    CostTable m_costs;
    SimOptions m_options;
    std::vector<std::uint8_t> m_allowed;
    std::vector<std::int64_t> m_capacity;
    std::vector<double> m_groupCost;
    std::vector<std::int64_t> m_groupOutputBytes;
    std::string m_hash;
    std::shared_ptr<const Compiled> m_compiled;
};

using ProblemPtr = std::shared_ptr<const PlacementProblem>;

} // namespace pw
