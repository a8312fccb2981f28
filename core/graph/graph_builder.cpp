#include "core/graph/graph_builder.h"

#include "core/base/hash.h"
#include "core/base/saturate.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <unordered_set>

namespace pw {

namespace {

constexpr std::size_t kMaxOps = 50'000'000;
constexpr std::size_t kMaxScopeDepth = 64; ///< why: views recurse over scopes; deeper levels stay in the last one

/// Rank of a kind among the in-edges of one op.
int kindRank(EdgeKind kind) {
    return kind == EdgeKind::Data ? 0 : kind == EdgeKind::Capture ? 1 : 2;
}

/// The separator most names of the graph use as a hierarchy.
std::string_view scopeSeparator(std::span<const Op> ops) {
    for (const std::string_view separator : {"/", ".", "::"}) {
        const auto uses = std::count_if(ops.begin(), ops.end(), [&](const Op& op) {
            return op.name.find(separator) != std::string::npos;
        });
        if (uses > 0 && static_cast<std::size_t>(uses) * 10 >= ops.size())
            return separator;
    }
    return {};
}

std::vector<std::string> splitPath(std::string_view path, std::string_view separator) {
    std::vector<std::string> parts;
    while (!separator.empty()) {
        const auto at = path.find(separator);
        if (at == std::string_view::npos)
            break;
        if (at > 0)
            parts.emplace_back(path.substr(0, at));
        path.remove_prefix(at + separator.size());
    }
    if (!path.empty())
        parts.emplace_back(path);
    return parts;
}

void addOpToHash(Hasher& hasher, const Op& op) {
    hasher.add(op.name);
    hasher.add(op.type);
    hasher.add(static_cast<int>(op.phase));
    hasher.add(op.flops);
    hasher.add(op.bytesMoved);
    hasher.add(op.paramBytes);
    hasher.add(op.stateBytes);
    hasher.add(op.workspaceBytes);
    hasher.add(op.colocation);
    hasher.add(op.tripCount);
    for (const auto& kind : op.allowedKinds)
        hasher.add(kind);
    auto costs = op.costs; // their order means nothing
    std::stable_sort(costs.begin(), costs.end(),
                     [](const MeasuredCost& a, const MeasuredCost& b) { return a.kind < b.kind; });
    hasher.add(static_cast<std::uint64_t>(costs.size()));
    for (const auto& cost : costs) {
        hasher.add(cost.kind);
        hasher.add(cost.us);
    }
    hasher.add(static_cast<std::uint64_t>(op.bodies.size()));
    for (const auto& body : op.bodies) {
        hasher.add(body.name);
        hasher.add(body.graph->hash());
    }
}

/// Tensors are named by producer and output, so that the order in which a reader made them does not matter.
std::string contentHash(std::span<const Op> ops, std::span<const Tensor> tensors, const OpGraph& graph,
                        std::span<const Edge> edges) {
    Hasher hasher;
    hasher.add(static_cast<std::uint64_t>(ops.size()));
    for (std::size_t i = 0; i < ops.size(); ++i) {
        addOpToHash(hasher, ops[i]);
        const auto outputs = graph.outputs(OpId(i));
        hasher.add(static_cast<std::uint64_t>(outputs.size()));
        for (const TensorId output : outputs)
            hasher.add(tensors[output.index()].bytes);
    }
    for (const Edge& edge : edges) {
        hasher.add(edge.producer.value());
        hasher.add(edge.tensor.isValid() ? std::int64_t{tensors[edge.tensor.index()].outputIndex} : -1);
        hasher.add(edge.consumer.value());
        hasher.add(edge.slot);
        hasher.add(static_cast<int>(edge.kind));
    }
    return hasher.finishHex();
}

} // namespace

GraphBuilder::GraphBuilder(std::string name, std::string format)
    : m_name(std::move(name)), m_format(std::move(format)) {}

void GraphBuilder::reserve(std::size_t ops) {
    m_ops.reserve(ops);
    m_outputsOf.reserve(ops);
    m_nextSlot.reserve(ops);
    m_scopePathOf.reserve(ops);
}

OpId GraphBuilder::addOp(Op op) {
    const OpId id(m_ops.size());
    m_ops.push_back(std::move(op));
    m_outputsOf.emplace_back();
    m_nextSlot.push_back(0);
    m_scopePathOf.push_back(kNoPath);
    return id;
}

void GraphBuilder::setScope(OpId id, std::string_view path) {
    const auto [known, isNew] =
        m_scopePathIndex.try_emplace(std::string(path), static_cast<std::uint32_t>(m_scopePaths.size()));
    if (isNew)
        m_scopePaths.emplace_back(path);
    m_scopePathOf[id.index()] = known->second;
}

TensorId GraphBuilder::addOutput(OpId producer, Tensor tensor) {
    const TensorId id(m_tensors.size());
    Outputs& outputs = m_outputsOf[producer.index()];
    tensor.producer = producer;
    tensor.outputIndex = outputs.count;
    m_tensors.push_back(std::move(tensor));
    if (outputs.count == 0)
        outputs.first = id;
    if (outputs.first.isValid() && outputs.first.index() + outputs.count != id.index()) {
        std::vector<TensorId>& list = m_scattered[producer];
        for (std::uint32_t i = 0; i < outputs.count; ++i)
            list.emplace_back(outputs.first.index() + i);
        outputs.first = TensorId();
    }
    if (!outputs.first.isValid())
        m_scattered[producer].push_back(id);
    ++outputs.count;
    return id;
}

TensorId GraphBuilder::output(OpId producer, std::size_t index) const {
    const Outputs& outputs = m_outputsOf[producer.index()];
    return outputs.first.isValid() ? TensorId(outputs.first.index() + index) : m_scattered.at(producer)[index];
}

void GraphBuilder::addInput(OpId consumer, TensorId tensor, std::uint32_t slot) {
    m_edges.push_back({m_tensors[tensor.index()].producer, tensor, consumer, slot, EdgeKind::Data});
    m_nextSlot[consumer.index()] = std::max(m_nextSlot[consumer.index()], slot + 1);
}

void GraphBuilder::addInput(OpId consumer, TensorId tensor) {
    addInput(consumer, tensor, m_nextSlot[consumer.index()]);
}

void GraphBuilder::addCapture(OpId consumer, TensorId tensor) {
    m_edges.push_back({m_tensors[tensor.index()].producer, tensor, consumer, 0, EdgeKind::Capture});
}

void GraphBuilder::addControl(OpId before, OpId after) {
    m_edges.push_back({before, TensorId(), after, 0, EdgeKind::Control});
}

void GraphBuilder::addUnattachedParameterBytes(std::int64_t bytes) {
    m_unattachedParameterBytes = addSaturating(m_unattachedParameterBytes, bytes);
}

void GraphBuilder::addWarning(std::string kind, std::string where, std::string detail) {
    if (++m_warningCounts[kind] <= kMaxWarningsPerKind)
        m_warnings.push_back({std::move(kind), std::move(where), std::move(detail)});
}

/// Gives every op a valid name of its own. Returns the ops by name.
std::vector<OpId> GraphBuilder::nameOps() {
    for (std::size_t i = 0; i < m_ops.size(); ++i) {
        Op& op = m_ops[i];
        if (!text::isValidUtf8(op.name))
            op.name = text::toValidUtf8(op.name);
        if (!text::isValidUtf8(op.type))
            op.type = text::toValidUtf8(op.type);
        if (op.name.empty())
            op.name = (op.type.empty() ? "op" : op.type) + "_" + std::to_string(i);
    }
    std::vector<OpId> byName = sortedByName();
    const auto twin = std::adjacent_find(byName.begin(), byName.end(),
                                         [this](OpId a, OpId b) { return op(a).name == op(b).name; });
    if (twin == byName.end())
        return byName;
    renameDuplicates();
    return sortedByName();
}

std::vector<OpId> GraphBuilder::sortedByName() const {
    std::vector<OpId> byName;
    byName.reserve(m_ops.size());
    for (std::size_t i = 0; i < m_ops.size(); ++i)
        byName.emplace_back(i);
    std::sort(byName.begin(), byName.end(),
              [this](OpId a, OpId b) { return m_ops[a.index()].name < m_ops[b.index()].name; });
    return byName;
}

void GraphBuilder::renameDuplicates() {
    std::unordered_set<std::string_view> used; // of names in m_ops that do not change any more
    used.reserve(m_ops.size());
    std::unordered_map<std::string, std::size_t> nextSuffix;
    for (Op& op : m_ops) {
        if (used.insert(op.name).second)
            continue;
        const std::string base = op.name;
        std::size_t& suffix = nextSuffix.try_emplace(base, 2).first->second;
        do {
            op.name = base + "#" + std::to_string(suffix++);
        } while (!used.insert(op.name).second);
        addWarning("duplicate_name", base, "renamed to " + op.name);
    }
}

void GraphBuilder::makeScopes(OpGraph& graph) {
    graph.m_scopes.emplace_back();
    std::map<std::pair<std::size_t, std::string>, ScopeId> known;
    const auto scopeOf = [&](std::vector<std::string> path) {
        if (path.size() > kMaxScopeDepth)
            path.resize(kMaxScopeDepth);
        ScopeId at(0);
        for (const std::string& part : path) {
            const auto [found, isNew] = known.try_emplace({at.index(), part}, ScopeId(graph.m_scopes.size()));
            if (isNew) {
                graph.m_scopes[at.index()].children.push_back(found->second);
                graph.m_scopes.push_back({part, at, {}, {}});
            }
            at = found->second;
        }
        return at;
    };
    const std::string_view separator = scopeSeparator(m_ops);
    std::vector<ScopeId> scopeOfPath(m_scopePaths.size());
    for (std::size_t i = 0; i < m_ops.size(); ++i) {
        ScopeId at;
        if (const std::uint32_t path = m_scopePathOf[i]; path != kNoPath) {
            if (!scopeOfPath[path].isValid())
                scopeOfPath[path] = scopeOf(splitPath(m_scopePaths[path], "/"));
            at = scopeOfPath[path];
        } else {
            std::vector<std::string> parts = splitPath(m_ops[i].name, separator);
            if (!parts.empty())
                parts.pop_back();
            at = scopeOf(std::move(parts));
        }
        m_ops[i].scope = at;
        graph.m_scopes[at.index()].ops.push_back(OpId(i));
    }
}

Status GraphBuilder::check() const {
    if (m_ops.size() > kMaxOps)
        return fail(ErrorCode::TooLarge, "more than " + text::grouped(kMaxOps) + " ops");
    if (m_unattachedParameterBytes < 0)
        return fail(ErrorCode::Invalid, "negative size of weights without an op");
    for (const Op& op : m_ops) {
        const std::string where = "op \"" + op.name + "\"";
        if (op.paramBytes < 0 || op.stateBytes < 0 || op.workspaceBytes < 0)
            return fail(ErrorCode::Invalid, "negative size", where);
        if (!std::isfinite(op.flops))
            return fail(ErrorCode::Invalid, "FLOPs are not a number", where);
        for (const auto& cost : op.costs) {
            if (!std::isfinite(cost.us) || cost.us < 0.0)
                return fail(ErrorCode::Invalid, "cost must be a number of microseconds, 0 or more", where);
        }
    }
    for (const Tensor& tensor : m_tensors) {
        if (tensor.bytes < 0)
            return fail(ErrorCode::Invalid, "negative tensor size",
                        "op \"" + m_ops[tensor.producer.index()].name + "\" output " +
                            std::to_string(tensor.outputIndex));
    }
    return {};
}

/// Sorts the edges, indexes them from both ends and orders the ops.
void GraphBuilder::linkEdges(OpGraph& graph) {
    const std::size_t n = m_ops.size();
    const auto before = [](const Edge& a, const Edge& b) {
        return std::tuple(a.consumer, kindRank(a.kind), a.slot) < std::tuple(b.consumer, kindRank(b.kind), b.slot);
    };
    if (!std::is_sorted(m_edges.begin(), m_edges.end(), before)) // most readers go op by op
        std::stable_sort(m_edges.begin(), m_edges.end(), before);
    graph.m_inStart.assign(n + 1, 0);
    graph.m_outStart.assign(n + 1, 0);
    for (const Edge& edge : m_edges) {
        ++graph.m_inStart[edge.consumer.index() + 1];
        ++graph.m_outStart[edge.producer.index() + 1];
    }
    for (std::size_t i = 0; i < n; ++i) {
        graph.m_inStart[i + 1] += graph.m_inStart[i];
        graph.m_outStart[i + 1] += graph.m_outStart[i];
    }
    graph.m_outEdges.resize(m_edges.size());
    std::vector<std::uint32_t> fill(graph.m_outStart.begin(), graph.m_outStart.end() - 1);
    for (std::size_t e = 0; e < m_edges.size(); ++e)
        graph.m_outEdges[fill[m_edges[e].producer.index()]++] = EdgeId(e);

    std::vector<std::uint32_t> waiting(n);
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
    for (std::size_t i = 0; i < n; ++i) {
        waiting[i] = graph.m_inStart[i + 1] - graph.m_inStart[i];
        if (waiting[i] == 0)
            free.push(static_cast<std::uint32_t>(i));
    }
    graph.m_order.reserve(n);
    while (!free.empty()) {
        const std::uint32_t at = free.top();
        free.pop();
        graph.m_order.emplace_back(at);
        for (std::uint32_t k = graph.m_outStart[at]; k < graph.m_outStart[at + 1]; ++k) {
            const auto consumer = m_edges[graph.m_outEdges[k].index()].consumer.value();
            if (--waiting[consumer] == 0)
                free.push(consumer);
        }
    }
}

void GraphBuilder::listOutputs(OpGraph& graph) const {
    graph.m_outputs.reserve(m_tensors.size());
    graph.m_outputStart.reserve(m_ops.size() + 1);
    graph.m_outputStart.push_back(0);
    for (std::size_t i = 0; i < m_ops.size(); ++i) {
        for (std::size_t k = 0; k < m_outputsOf[i].count; ++k)
            graph.m_outputs.push_back(output(OpId(i), k));
        graph.m_outputStart.push_back(static_cast<std::uint32_t>(graph.m_outputs.size()));
    }
}

Result<GraphPtr> GraphBuilder::build() && {
    std::shared_ptr<OpGraph> graph(new OpGraph);
    graph->m_byName = nameOps();
    PW_CHECK(check());
    makeScopes(*graph);
    linkEdges(*graph);
    listOutputs(*graph);
    graph->m_opCountWithBodies = m_ops.size() + m_unattachedOps;
    for (const Op& op : m_ops) {
        for (const Body& body : op.bodies)
            graph->m_opCountWithBodies += body.graph->opCountWithBodies();
    }
    for (const auto& [kind, count] : m_warningCounts) {
        if (count > kMaxWarningsPerKind)
            m_warnings.push_back({kind, "", "and " + text::grouped(static_cast<std::int64_t>(count - kMaxWarningsPerKind)) + " more"});
    }
    graph->m_hash = contentHash(m_ops, m_tensors, *graph, m_edges);
    graph->m_unattachedParameterBytes = m_unattachedParameterBytes;
    graph->m_name = std::move(m_name);
    graph->m_format = std::move(m_format);
    graph->m_ops = std::move(m_ops);
    graph->m_tensors = std::move(m_tensors);
    graph->m_edges = std::move(m_edges);
    if (graph->isCyclic()) {
        const auto cycle = graph->cycle();
        m_warnings.push_back({"cycle", graph->op(cycle.front()).name,
                              "the graph has a cycle of " + std::to_string(cycle.size()) +
                                  " ops; it can be looked at, not simulated"});
    }
    graph->m_warnings = std::move(m_warnings);
    return GraphPtr(std::move(graph));
}

GraphPtr withCosts(const OpGraph& graph, std::span<const OpCost> costs) {
    std::shared_ptr<OpGraph> copy(new OpGraph(graph));
    for (const OpCost& cost : costs) {
        if (cost.cost.kind.empty())
            copy->m_ops[cost.op.index()].costs.clear();
    }
    for (const OpCost& added : costs) {
        std::vector<MeasuredCost>& known = copy->m_ops[added.op.index()].costs;
        const auto same = std::find_if(known.begin(), known.end(),
                                       [&](const MeasuredCost& other) { return other.kind == added.cost.kind; });
        if (same != known.end())
            same->us = added.cost.us;
        else
            known.push_back(added.cost);
    }
    copy->m_hash = contentHash(copy->m_ops, copy->m_tensors, *copy, copy->m_edges);
    return copy;
}

} // namespace pw
