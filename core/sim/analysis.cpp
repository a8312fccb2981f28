#include "core/base/text.h"
#include "core/sim/compiled.h"
#include "core/sim/simulator.h"

#include <algorithm>
#include <cmath>

namespace pw {

namespace {

/// Time of an op on the best device it may run on; with the launch if it costs anything.
double fastestUs(const PlacementProblem& problem, OpId op, bool withLaunch) {
    const std::vector<std::uint8_t>& allowed = problem.compiled().opAllowed;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < problem.deviceCount(); ++d) {
        if (!allowed.empty() && allowed[op.index() * problem.deviceCount() + d] == 0)
            continue;
        const double costUs = problem.costs().at(op, DeviceId(d));
        const double launchUs = withLaunch && costUs > 0.0 ? problem.devices().device(DeviceId(d)).launchUs : 0.0;
        best = std::min(best, costUs + launchUs);
    }
    return best == std::numeric_limits<double>::infinity() ? 0.0 : best; // why: nowhere allowed, no valid placement to bound
}

/// When the output `tensor` of an op is freed on the device it was made on, or a received copy on `device` (links).
double lastUseUs(const PlacementProblem& problem, const Schedule& schedule, TensorId tensor, DeviceId device) {
    const OpGraph& graph = problem.graph();
    double lastUs = -1.0;
    for (const EdgeId id : graph.outEdges(graph.tensor(tensor).producer)) {
        const Edge& edge = graph.edge(id);
        if (edge.tensor == tensor && schedule.placement[edge.consumer.index()] == device)
            lastUs = std::max(lastUs, schedule.endUs[edge.consumer.index()]);
    }
    return lastUs;
}

void addOutputs(const PlacementProblem& problem, const Schedule& schedule, DeviceId device, double atUs,
                std::vector<LiveBuffer>& live) {
    const OpGraph& graph = problem.graph();
    const std::size_t tensors = graph.tensorCount();
    std::vector<double> leftUs(tensors, -1.0); // last arrival of the transfers that leave the producer
    for (const Transfer& transfer : schedule.transfers) {
        if (transfer.tensor.isValid() && transfer.from == schedule.placement[transfer.producer.index()])
            leftUs[transfer.tensor.index()] = std::max(leftUs[transfer.tensor.index()], transfer.arriveUs);
    }
    for (std::size_t t = 0; t < tensors; ++t) {
        const Tensor& tensor = graph.tensor(TensorId(t));
        const std::size_t op = tensor.producer.index();
        const Op& owner = graph.op(tensor.producer);
        const std::int64_t bytes = tensor.bytes - (isParameterHolder(owner) ? owner.paramBytes : 0);
        if (bytes <= 0 || schedule.placement[op] != device || schedule.startUs[op] > atUs)
            continue;
        double untilUs = std::max(lastUseUs(problem, schedule, TensorId(t), device), leftUs[t]);
        if (untilUs < 0.0)
            untilUs = schedule.endUs[op];
        if (atUs < untilUs)
            live.push_back({LiveBuffer::Kind::Output, tensor.producer, TensorId(t), bytes});
    }
}

/// When the copy that `transfer` brings to `device` is freed: after its last consumer there, or, on a host that only
/// forwards, when the second hop (ready at this one's arrival) has arrived.
double copyFreedUs(const PlacementProblem& problem, const Schedule& schedule, const Transfer& transfer) {
    for (const Transfer& next : schedule.transfers) {
        if (next.producer == transfer.producer && next.tensor == transfer.tensor && next.from == transfer.to &&
            next.readyUs == transfer.arriveUs && next.from != schedule.placement[next.producer.index()])
            return next.arriveUs;
    }
    return lastUseUs(problem, schedule, transfer.tensor, transfer.to);
}

void addCopies(const PlacementProblem& problem, const Schedule& schedule, DeviceId device, double atUs,
               std::vector<LiveBuffer>& live) {
    for (const Transfer& transfer : schedule.transfers) {
        if (transfer.to == device && transfer.bytes > 0 && transfer.startUs <= atUs &&
            atUs < copyFreedUs(problem, schedule, transfer))
            live.push_back({LiveBuffer::Kind::Received, transfer.producer, transfer.tensor, transfer.bytes});
    }
}

std::vector<LiveBuffer> liveInLinks(const PlacementProblem& problem, const Schedule& schedule, DeviceId device, double atUs) {
    std::vector<LiveBuffer> live;
    for (std::size_t i = 0; i < problem.opCount(); ++i) {
        const Op& op = problem.graph().op(OpId(i));
        if (schedule.placement[i] != device)
            continue;
        if (op.paramBytes + op.stateBytes > 0)
            live.push_back({LiveBuffer::Kind::Resident, OpId(i), TensorId(), op.paramBytes + op.stateBytes});
        if (op.workspaceBytes > 0 && schedule.startUs[i] <= atUs && atUs < schedule.endUs[i])
            live.push_back({LiveBuffer::Kind::Workspace, OpId(i), TensorId(), op.workspaceBytes});
    }
    addOutputs(problem, schedule, device, atUs, live);
    addCopies(problem, schedule, device, atUs, live);
    return live;
}

/// Placeto's released code: outputs only, on their own device, until 1 us before the last consumer anywhere ends.
std::vector<LiveBuffer> liveInReference(const PlacementProblem& problem, const Schedule& schedule, DeviceId device, double atUs) {
    const auto& compiled = problem.compiled().reference;
    std::vector<LiveBuffer> live;
    for (std::size_t i = 0; i < problem.opCount(); ++i) {
        if (schedule.placement[i] != device || compiled.outputBytes[i] == 0)
            continue;
        double freedUs = schedule.startUs[i];
        for (std::uint32_t k = compiled.firstChild[i]; k < compiled.firstChild[i + 1]; ++k) {
            const std::uint32_t child = compiled.childrenByIndex[k].op;
            freedUs = std::max(freedUs, std::trunc(schedule.startUs[child]) + std::trunc(compiled.costUs[child]) - 1.0);
        }
        if (schedule.startUs[i] <= atUs && atUs <= freedUs)
            live.push_back({LiveBuffer::Kind::Output, OpId(i), TensorId(), compiled.outputBytes[i]});
    }
    return live;
}

} // namespace

LowerBounds lowerBounds(const PlacementProblem& problem) {
    const OpGraph& graph = problem.graph();
    const bool links = problem.options().model == SimModel::Links;
    LowerBounds bounds;
    std::vector<double> chainUs(graph.opCount(), 0.0);
    double workUs = 0.0;
    for (const OpId id : graph.topologicalOrder()) {
        const double occupiedUs = fastestUs(problem, id, true);
        // In the reference model the gap after an op delays its own device only, so a chain is made of costs; but the gap
        // after the last op counts.
        const double stepUs = links ? occupiedUs : fastestUs(problem, id, false);
        double& chain = chainUs[id.index()];
        for (const Edge& edge : graph.inEdges(id))
            chain = std::max(chain, chainUs[edge.producer.index()]);
        bounds.criticalPathUs = std::max(bounds.criticalPathUs, chain + occupiedUs);
        chain += stepUs;
        workUs += occupiedUs;
    }
    bounds.workUs = workUs / static_cast<double>(problem.deviceCount());
    return bounds;
}

std::vector<LiveBuffer> liveBuffers(const PlacementProblem& problem, const Schedule& schedule, DeviceId device, double atUs) {
    if (schedule.placement.size() != problem.opCount() || schedule.startUs.size() != problem.opCount())
        return {};
    std::vector<LiveBuffer> live = problem.options().model == SimModel::Links
                                       ? liveInLinks(problem, schedule, device, atUs)
                                       : liveInReference(problem, schedule, device, atUs);
    std::stable_sort(live.begin(), live.end(), [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; });
    return live;
}

std::string describeFault(const PlacementProblem& problem, const Fault& fault) {
    const auto deviceName = [&](DeviceId id) { return problem.devices().device(id).name; };
    switch (fault.kind) {
    case Fault::Kind::None: return {};
    case Fault::Kind::OverCapacity: {
        const auto capacity = static_cast<double>(problem.capacityBytes(fault.device));
        return deviceName(fault.device) + " needs " + text::bytes(capacity + static_cast<double>(fault.excessBytes)) +
               " of " + text::bytes(capacity) + " at " + text::duration(fault.atUs);
    }
    case Fault::Kind::NoPath:
        return "no path from " + deviceName(fault.device) + " to " + deviceName(fault.otherDevice) + " for op \"" +
               problem.graph().op(fault.op).name + "\"";
    case Fault::Kind::ForbiddenKind:
        return "op \"" + problem.graph().op(fault.op).name + "\" may not run on " + deviceName(fault.device) + " (" +
               problem.devices().device(fault.device).kind + ")";
    }
    return {};
}

} // namespace pw
