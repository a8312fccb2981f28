#include "core/sim/compiled.h"

#include <algorithm>
#include <map>

namespace pw {

namespace {

using Links = PlacementProblem::Compiled::Links;
constexpr std::uint32_t kNone = PlacementProblem::Compiled::kNone;

/// Consumers of one tensor (or of the control output, tensor invalid) in op order, each once.
struct Readers {
    TensorId tensor;
    std::vector<std::uint32_t> consumers;
};

/// What `op` sends, outputs in order, control last. outEdges are by consumer, so consumers come out sorted.
void collectReaders(const OpGraph& graph, OpId op, std::vector<Readers>& readers) {
    readers.clear();
    for (const TensorId tensor : graph.outputs(op))
        readers.push_back({tensor, {}});
    readers.push_back({TensorId(), {}});
    for (const EdgeId id : graph.outEdges(op)) {
        const Edge& edge = graph.edge(id);
        const bool control = edge.kind == EdgeKind::Control || !edge.tensor.isValid();
        auto& consumers = (control ? readers.back() : readers[graph.tensor(edge.tensor).outputIndex]).consumers;
        if (consumers.empty() || consumers.back() != edge.consumer.value())
            consumers.push_back(edge.consumer.value());
    }
}

void compileOps(const OpGraph& graph, Links& out) {
    const std::size_t n = graph.opCount();
    out.ops.resize(n + 1);
    out.waits.assign(n, 0);
    out.residentBytes.resize(n);
    std::vector<std::uint32_t> inputs(n, 0);
    std::vector<Readers> readers;
    for (std::size_t i = 0; i < n; ++i) {
        const Op& op = graph.op(OpId(i));
        Links::OpEntry& entry = out.ops[i];
        entry.firstBundle = static_cast<std::uint32_t>(out.bundles.size());
        entry.startBytes = op.workspaceBytes;
        entry.endBytes = op.workspaceBytes;
        out.residentBytes[i] = op.paramBytes + op.stateBytes;
        const std::int64_t ownedBytes = isParameterHolder(op) ? op.paramBytes : 0;
        collectReaders(graph, OpId(i), readers);
        for (const Readers& reader : readers) {
            const std::int64_t bytes = reader.tensor.isValid() ? graph.tensor(reader.tensor).bytes : 0;
            const std::int64_t homeBytes = std::max<std::int64_t>(0, bytes - ownedBytes);
            entry.startBytes += homeBytes;
            if (reader.consumers.empty()) {
                entry.endBytes += homeBytes;
                continue;
            }
            out.bundles.push_back({bytes, homeBytes, reader.tensor, static_cast<std::uint32_t>(out.edges.size())});
            for (const std::uint32_t consumer : reader.consumers) {
                ++out.waits[consumer];
                out.edges.push_back({consumer, bytes > 0 ? inputs[consumer]++ : kNone});
            }
        }
    }
    out.ops[n].firstBundle = static_cast<std::uint32_t>(out.bundles.size());
    out.bundles.push_back({0, 0, TensorId(), static_cast<std::uint32_t>(out.edges.size())});
    for (std::size_t i = 0; i < n; ++i) {
        out.ops[i].firstInput = out.inputCount;
        out.inputCount += inputs[i];
        if (out.waits[i] == 0)
            out.sources.push_back(static_cast<std::uint32_t>(i));
    }
    out.ops[n].firstInput = out.inputCount;
    for (Links::Edge& edge : out.edges) {
        if (edge.input != kNone)
            edge.input += out.ops[edge.consumer].firstInput;
    }
}

std::uint32_t relayHost(const DeviceSet& devices, DeviceId from, DeviceId to) {
    for (std::size_t h = 0; h < devices.count(); ++h) {
        const DeviceId host(h);
        if (devices.device(host).kind == "cpu" && host != from && host != to &&
            devices.linkBetween(from, host).isValid() && devices.linkBetween(host, to).isValid())
            return host.value();
    }
    return kNone;
}

void compileRoutes(const DeviceSet& devices, Links& out) {
    const std::size_t count = devices.count();
    std::map<std::string, std::uint32_t> sharedQueues;
    for (const Link& link : devices.links()) {
        std::uint32_t queue = out.queueCount;
        if (!link.shared.empty())
            queue = sharedQueues.try_emplace(link.shared, queue).first->second;
        out.queueCount = std::max(out.queueCount, queue + 1);
        out.links.push_back({link.bytesPerUs, link.latencyUs, queue});
    }
    out.routes.resize(count * count);
    for (std::size_t from = 0; from < count; ++from) {
        out.launchUs.push_back(devices.device(DeviceId(from)).launchUs);
        for (std::size_t to = 0; to < count; ++to) {
            Links::Route& route = out.routes[from * count + to];
            const LinkId link = from == to ? LinkId() : devices.linkBetween(DeviceId(from), DeviceId(to));
            if (link.isValid())
                route.link = link.value();
            else if (from != to)
                route.host = relayHost(devices, DeviceId(from), DeviceId(to));
            out.hasRelays = out.hasRelays || route.host != kNone;
        }
    }
}

} // namespace

void compileLinks(const OpGraph& graph, const DeviceSet& devices, Links& out) {
    compileOps(graph, out);
    compileRoutes(devices, out);
}

} // namespace pw
