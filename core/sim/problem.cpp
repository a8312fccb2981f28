#include "core/sim/problem.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/sim/compiled.h"

#include <algorithm>
#include <cmath>

namespace pw {

namespace {

/// Sums of sizes stay below this, so that no counter of the simulators can overflow.
constexpr double kMaxTotalBytes = 4.0e18;

Status checkOptions(const SimOptions& options) {
    if (!(options.memoryHeadroomPct >= 0.0) || options.memoryHeadroomPct >= 100.0)
        return fail(ErrorCode::Invalid, "memory headroom must be at least 0 and below 100 percent");
    return {};
}

Status checkAcyclic(const OpGraph& graph) {
    if (!graph.isCyclic())
        return {};
    constexpr std::size_t kShown = 8;
    const std::vector<OpId> cycle = graph.cycle();
    std::string names;
    for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i)
        names += graph.op(cycle[i]).name + " -> ";
    if (cycle.size() > kShown) {
        names += std::to_string(cycle.size() - kShown);
        names += " more -> ";
    }
    names += graph.op(cycle.front()).name;
    return fail(ErrorCode::Invalid, "the graph has a cycle and cannot be simulated: " + names);
}

/// Every size may be held once per device (received and forwarded copies).
Status checkSizes(const OpGraph& graph, std::size_t deviceCount) {
    double total = 0.0;
    for (const Op& op : graph.ops()) {
        total += static_cast<double>(op.paramBytes) + static_cast<double>(op.stateBytes) +
                 static_cast<double>(op.workspaceBytes);
    }
    for (const Tensor& tensor : graph.tensors())
        total += static_cast<double>(tensor.bytes);
    if (total * static_cast<double>(deviceCount + 1) > kMaxTotalBytes)
        return fail(ErrorCode::TooLarge, "the sizes of the graph add up to " + text::bytes(total) + ", too many to count");
    return {};
}

std::string pairName(const DeviceSet& devices, DeviceId from, DeviceId to) {
    return devices.device(from).name + " -> " + devices.device(to).name;
}

/// The reference model has one speed, one latency and one kind of device; capacities and `shared` do not matter to it.
Status checkHomogeneous(const DeviceSet& devices) {
    const auto differs = [](const std::string& what, double a, double b, const std::string& where) {
        return fail(ErrorCode::Invalid, "the reference model needs equal devices and links, but " + what + " is " +
                                            text::number(b) + " instead of " + text::number(a), where);
    };
    const Device& first = devices.device(DeviceId(0));
    for (const Device& device : devices.devices()) {
        if (device.kind != first.kind)
            return fail(ErrorCode::Invalid, "the reference model needs equal devices and links, but the kind is " +
                                                device.kind + " instead of " + first.kind, device.name);
        if (device.launchUs != first.launchUs)
            return differs("launch_us", first.launchUs, device.launchUs, device.name);
        if (device.flopsPerUs != first.flopsPerUs)
            return differs("flops_per_us", first.flopsPerUs, device.flopsPerUs, device.name);
        if (device.bytesPerUs != first.bytesPerUs)
            return differs("bytes_per_us", first.bytesPerUs, device.bytesPerUs, device.name);
    }
    for (std::size_t from = 0; from < devices.count(); ++from) {
        for (std::size_t to = 0; to < devices.count(); ++to) {
            if (from == to)
                continue;
            const LinkId id = devices.linkBetween(DeviceId(from), DeviceId(to));
            const std::string where = "link " + pairName(devices, DeviceId(from), DeviceId(to));
            if (!id.isValid())
                return fail(ErrorCode::Invalid, "the reference model needs a link between all devices, this one is missing", where);
            const Link& link = devices.link(id);
            const Link& model = devices.links()[0];
            if (link.bytesPerUs != model.bytesPerUs)
                return differs("bytes_per_us", model.bytesPerUs, link.bytesPerUs, where);
            if (link.latencyUs != model.latencyUs)
                return differs("latency_us", model.latencyUs, link.latencyUs, where);
        }
    }
    return {};
}

Status checkProblem(const GraphPtr& graph, const DeviceSet& devices, const SimOptions& options) {
    if (!graph)
        return fail(ErrorCode::Invalid, "no graph");
    if (devices.count() == 0)
        return fail(ErrorCode::Invalid, "the device set has no devices");
    PW_CHECK(checkOptions(options));
    PW_CHECK(checkAcyclic(*graph));
    PW_CHECK(checkSizes(*graph, devices.count()));
    if (options.model == SimModel::Reference)
        PW_CHECK(checkHomogeneous(devices));
    return {};
}

Status checkGrouping(const OpGraph& graph, const Grouping& grouping) {
    std::size_t members = 0;
    for (const auto& group : grouping.members)
        members += group.size();
    const bool consistent = grouping.groupOf.size() == graph.opCount() && members == graph.opCount() &&
                            grouping.order.size() == grouping.groupCount();
    const bool inRange = std::all_of(grouping.groupOf.begin(), grouping.groupOf.end(), [&](GroupId group) {
        return group.isValid() && group.index() < grouping.groupCount();
    });
    if (!consistent || !inRange)
        return fail(ErrorCode::Invalid, "the grouping does not belong to graph \"" + graph.name() + "\"");
    return {};
}

/// Per op and device, empty if no op is restricted.
std::vector<std::uint8_t> allowedDevices(const OpGraph& graph, const DeviceSet& devices) {
    std::vector<std::uint8_t> allowed;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const auto& kinds = graph.op(OpId(i)).allowedKinds;
        if (kinds.empty())
            continue;
        if (allowed.empty())
            allowed.assign(graph.opCount() * devices.count(), 1);
        for (std::size_t d = 0; d < devices.count(); ++d) {
            const bool may = std::find(kinds.begin(), kinds.end(), devices.device(DeviceId(d)).kind) != kinds.end();
            allowed[i * devices.count() + d] = may ? 1 : 0;
        }
    }
    return allowed;
}

std::int64_t capacityAfterHeadroom(std::int64_t memoryBytes, double headroomPct) {
    if (memoryBytes <= 0)
        return 0;
    const auto kept = static_cast<std::int64_t>(static_cast<long double>(memoryBytes) * (100.0L - headroomPct) / 100.0L);
    return std::max<std::int64_t>(kept, 1); // why: 0 would mean "no limit"
}

std::string problemHash(const OpGraph& graph, const DeviceSet& devices, const Grouping& grouping,
                        const SimOptions& options) {
    Hasher hasher;
    hasher.add(graph.hash());
    hasher.add(devices.hash());
    hasher.add(grouping.groupCount());
    for (const GroupId group : grouping.groupOf)
        hasher.add(group.value());
    hasher.add(static_cast<int>(options.model));
    hasher.add(options.memoryHeadroomPct);
    return hasher.finishHex();
}

} // namespace

const char* simModelName(SimModel model) {
    return model == SimModel::Reference ? "reference" : "links";
}

std::optional<SimModel> simModelFromName(std::string_view name) {
    for (const SimModel model : {SimModel::Links, SimModel::Reference}) {
        if (name == simModelName(model))
            return model;
    }
    return std::nullopt;
}

Result<ProblemPtr> PlacementProblem::compile(GraphPtr graph, DeviceSet devices, GroupingOptions grouping,
                                             SimOptions options) {
    PW_CHECK(checkProblem(graph, devices, options));
    CostTable costs = computeCosts(*graph, devices);
    PW_TRY(Grouping made, makeGrouping(*graph, costs.fastestUs(), grouping));
    PW_TRY(const auto problem,
           assemble(std::move(graph), std::move(devices), std::move(costs), std::move(made), options));
    problem->m_groupingOptions = std::move(grouping);
    return ProblemPtr(problem);
}

Result<ProblemPtr> PlacementProblem::compile(GraphPtr graph, DeviceSet devices, Grouping grouping, SimOptions options) {
    PW_CHECK(checkProblem(graph, devices, options));
    PW_CHECK(checkGrouping(*graph, grouping));
    CostTable costs = computeCosts(*graph, devices);
    PW_TRY(const auto problem,
           assemble(std::move(graph), std::move(devices), std::move(costs), std::move(grouping), options));
    return ProblemPtr(problem);
}

Result<std::shared_ptr<PlacementProblem>> PlacementProblem::assemble(GraphPtr graph, DeviceSet devices, CostTable costs,
                                                                     Grouping grouping, SimOptions options) {
    std::shared_ptr<PlacementProblem> problem(new PlacementProblem);
    problem->m_costs = std::move(costs);
    const std::size_t deviceCount = devices.count();

    auto compiled = std::make_shared<Compiled>();
    compiled->opAllowed = allowedDevices(*graph, devices);
    if (options.model == SimModel::Links)
        compileLinks(*graph, devices, compiled->links);
    else
        compileReference(*graph, devices, problem->m_costs, compiled->reference);

    for (const Device& device : devices.devices()) {
        const bool limited = options.model == SimModel::Links;
        problem->m_capacity.push_back(limited ? capacityAfterHeadroom(device.memoryBytes, options.memoryHeadroomPct) : 0);
    }
    problem->m_allowed.assign(grouping.groupCount() * deviceCount, 1);
    problem->m_groupCost.assign(grouping.groupCount() * deviceCount, 0.0);
    problem->m_groupOutputBytes.assign(grouping.groupCount(), 0);
    for (std::size_t i = 0; i < graph->opCount(); ++i) {
        const std::size_t group = grouping.groupOf[i].index();
        for (std::size_t d = 0; d < deviceCount; ++d) {
            problem->m_groupCost[group * deviceCount + d] += problem->m_costs.at(OpId(i), DeviceId(d));
            if (!compiled->opAllowed.empty() && compiled->opAllowed[i * deviceCount + d] == 0)
                problem->m_allowed[group * deviceCount + d] = 0;
        }
        for (const TensorId tensor : graph->outputs(OpId(i)))
            problem->m_groupOutputBytes[group] += graph->tensor(tensor).bytes;
    }
    problem->m_hash = problemHash(*graph, devices, grouping, options);
    problem->m_compiled = std::move(compiled);
    problem->m_graph = std::move(graph);
    problem->m_devices = std::move(devices);
    problem->m_grouping = std::move(grouping);
    problem->m_options = options;
    return problem;
}

} // namespace pw
