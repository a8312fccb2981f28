#include "core/place/metis_placer.h"

#include "core/place/group_times.h"
#include "core/place/placement_search.h"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

namespace pw {

namespace {

/// METIS adds up weights in idx_t (32 bits in Debian): totals are scaled to this.
constexpr double kWeightTotal = 5.0e8;
constexpr float kImbalance = 1.05F;
/// METIS refuses a part that should get nothing (and says so on stdout): the least share that a device is asked to take.
constexpr double kLeastShare = 1.0e-6;

/// METIS draws from one process-wide random generator: concurrent calls would not repeat for a seed.
std::mutex& metisGate() {
    static std::mutex gate;
    return gate;
}

struct MetisGraph {
    std::vector<idx_t> first, neighbours, edgeWeights;
    std::vector<idx_t> vertexWeights; ///< constraintCount per vertex
    idx_t constraintCount = 1;
    std::vector<real_t> shares;     ///< per part and constraint; add up to 1 per constraint
    std::vector<real_t> imbalances; ///< per constraint
};

/// Both directions of an arc as one undirected edge, each listed at both ends.
void addEdges(const Grouping& grouping, MetisGraph& graph) {
    struct Side {
        std::uint32_t at, other;
        double bytes;
    };
    std::vector<Side> sides;
    double total = 0.0;
    for (const Grouping::Arc& arc : grouping.arcs) {
        const auto bytes = static_cast<double>(arc.bytes);
        sides.push_back({arc.from.value(), arc.to.value(), bytes});
        sides.push_back({arc.to.value(), arc.from.value(), bytes});
        total += bytes;
    }
    std::stable_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
        return std::pair(a.at, a.other) < std::pair(b.at, b.other);
    });
    graph.first.assign(grouping.groupCount() + 1, 0);
    for (std::size_t i = 0; i < sides.size();) {
        const Side& side = sides[i];
        double bytes = 0.0;
        for (; i < sides.size() && sides[i].at == side.at && sides[i].other == side.other; ++i)
            bytes += sides[i].bytes;
        graph.neighbours.push_back(static_cast<idx_t>(side.other));
        graph.edgeWeights.push_back(1 + static_cast<idx_t>(total > 0.0 ? bytes / total * kWeightTotal : 0.0));
        ++graph.first[side.at + 1];
    }
    std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
}

/// What a group can occupy at most: parameters, state, workspace of its dearest op, all outputs.
std::vector<double> groupMemory(const PlacementProblem& problem) {
    std::vector<double> bytes(problem.groupCount(), 0.0);
    for (std::size_t group = 0; group < bytes.size(); ++group) {
        std::int64_t workspace = 0;
        for (const OpId id : problem.grouping().members[group]) {
            const Op& op = problem.graph().op(id);
            bytes[group] += static_cast<double>(op.paramBytes) + static_cast<double>(op.stateBytes);
            workspace = std::max(workspace, op.workspaceBytes);
        }
        bytes[group] += static_cast<double>(workspace) + static_cast<double>(problem.groupOutputBytes(GroupId(group)));
    }
    return bytes;
}

std::vector<double> shareOf(std::vector<double> amounts) {
    const double total = std::accumulate(amounts.begin(), amounts.end(), 0.0);
    double sum = 0.0;
    for (double& amount : amounts) {
        amount = total > 0.0 ? std::max(amount / total, kLeastShare) : 1.0;
        sum += amount;
    }
    for (double& amount : amounts)
        amount /= sum;
    return amounts;
}

/// One balance constraint: weights per vertex and the share of the total that each device should get.
struct Constraint {
    std::vector<double> weights;
    std::vector<double> shares;
    float imbalance = kImbalance;
};

/// Devices get work in proportion to their speed: the inverse of the time that everything would take there.
Constraint timeConstraint(const PlacementProblem& problem) {
    const std::size_t devices = problem.deviceCount();
    const std::vector<double> timesUs = groupTimesUs(problem);
    Constraint constraint;
    std::vector<double> totals(devices, 0.0);
    for (std::size_t group = 0; group < problem.groupCount(); ++group) {
        const auto row = timesUs.begin() + static_cast<std::ptrdiff_t>(group * devices);
        constraint.weights.push_back(*std::min_element(row, row + static_cast<std::ptrdiff_t>(devices)));
        for (std::size_t d = 0; d < devices; ++d)
            totals[d] += row[static_cast<std::ptrdiff_t>(d)];
    }
    for (double& total : totals)
        total = total > 0.0 ? 1.0 / total : 1.0;
    constraint.shares = shareOf(std::move(totals));
    return constraint;
}

/// Nothing if everything fits on each device, or nowhere is a limit.
std::optional<Constraint> memoryConstraint(const PlacementProblem& problem) {
    Constraint constraint;
    constraint.weights = groupMemory(problem);
    const double needed = std::accumulate(constraint.weights.begin(), constraint.weights.end(), 0.0);
    bool binds = false;
    std::vector<double> capacities;
    for (std::size_t d = 0; d < problem.deviceCount(); ++d) {
        const auto capacity = static_cast<double>(problem.capacityBytes(DeviceId(d)));
        binds = binds || (capacity > 0.0 && capacity < needed);
        capacities.push_back(capacity > 0.0 ? std::min(capacity, needed) : needed);
    }
    if (!binds)
        return std::nullopt;
    const double available = std::accumulate(capacities.begin(), capacities.end(), 0.0);
    // A part may hold imbalance x needed x share = its capacity.
    constraint.imbalance = std::max(kImbalance, static_cast<float>(available / needed));
    constraint.shares = shareOf(std::move(capacities));
    return constraint;
}

void addConstraints(std::span<const Constraint> constraints, std::size_t vertices, std::size_t parts, MetisGraph& graph) {
    graph.constraintCount = static_cast<idx_t>(constraints.size());
    std::vector<double> scale;
    for (const Constraint& constraint : constraints) {
        const double total = std::accumulate(constraint.weights.begin(), constraint.weights.end(), 0.0);
        scale.push_back(total > 0.0 ? kWeightTotal / total : 0.0);
        graph.imbalances.push_back(constraint.imbalance);
    }
    for (std::size_t v = 0; v < vertices; ++v) {
        for (std::size_t c = 0; c < constraints.size(); ++c)
            graph.vertexWeights.push_back(1 + static_cast<idx_t>(constraints[c].weights[v] * scale[c]));
    }
    for (std::size_t part = 0; part < parts; ++part) {
        for (const Constraint& constraint : constraints)
            graph.shares.push_back(static_cast<real_t>(constraint.shares[part]));
    }
}

Result<std::vector<idx_t>> partition(MetisGraph& graph, std::size_t parts, std::uint64_t seed) {
    auto vertices = static_cast<idx_t>(graph.first.size() - 1);
    auto partCount = static_cast<idx_t>(parts);
    std::vector<idx_t> part(graph.first.size() - 1, 0);
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7fffffff);
    idx_t cut = 0;
    const std::lock_guard lock(metisGate());
    const int status = METIS_PartGraphKway(&vertices, &graph.constraintCount, graph.first.data(), graph.neighbours.data(),
                                           graph.vertexWeights.data(), nullptr, graph.edgeWeights.data(), &partCount,
                                           graph.shares.data(), graph.imbalances.data(), options, &cut, part.data());
    if (status != METIS_OK)
        return fail(ErrorCode::External, "METIS failed with status " + std::to_string(status));
    return part;
}

} // namespace

Result<PlaceResult> MetisPlacer::place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                                       const SampleSink& sink) const {
    PW_TRY(PlacementSearch search, PlacementSearch::create(problem, options, context, sink, 0));
    const std::size_t groups = problem->groupCount();
    const std::size_t devices = problem->deviceCount();
    std::vector<idx_t> part(groups);
    std::iota(part.begin(), part.end(), 0); // why: METIS does not take fewer vertices than parts; one group per device then
    if (groups > devices && devices > 1) {
        MetisGraph graph;
        addEdges(problem->grouping(), graph);
        std::vector<Constraint> constraints = {timeConstraint(*problem)};
        if (auto memory = memoryConstraint(*problem))
            constraints.push_back(std::move(*memory));
        addConstraints(constraints, groups, devices, graph);
        if (context.abortRequested())
            return search.result();
        PW_TRY(part, partition(graph, devices, options.seed));
    }
    GroupPlacement placement(groups);
    for (std::size_t group = 0; group < groups; ++group)
        placement[group] = search.choose(group, DeviceId(static_cast<std::size_t>(part[group]) % devices));
    if (!search.finished())
        search.evaluate(placement);
    return search.result();
}

} // namespace pw
