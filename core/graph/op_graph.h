#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pw {

class GraphBuilder;
class OpGraph;
using GraphPtr = std::shared_ptr<const OpGraph>;

enum class Phase : std::uint8_t { Forward, Backward, Optimizer, Auxiliary };
const char* phaseName(Phase phase); ///< "forward", "backward", "optimizer", "auxiliary"
std::optional<Phase> phaseFromName(std::string_view name);

enum class EdgeKind : std::uint8_t {
    Data,
    Control, ///< order only, carries no bytes
    Capture, ///< a body of the consumer (If, Loop) reads the tensor
};

/// One input slot of an op that is fed by another op of the same graph. Listed once per slot: an op that reads one
/// tensor twice has two edges.
struct Edge {
    OpId producer;
    TensorId tensor; ///< invalid for Control
    OpId consumer;
    std::uint32_t slot = 0; ///< input slot for Data, running number otherwise
    EdgeKind kind = EdgeKind::Data;
};

/// An output of an op. `bytes` is 0 where unknown or empty; `dims` holds -1 for unknown or symbolic dimensions.
struct Tensor {
    OpId producer;
    std::uint32_t outputIndex = 0;
    std::int64_t bytes = 0;
    bool shapeKnown = false; ///< rank is known (dims may still hold -1)
    std::string name;        ///< the framework's own name, may be empty
    std::string dtype;       ///< "f32", "i64", "" if unknown
    std::vector<std::int64_t> dims;
};

/// A measured or given cost of one op on one kind of device ("gpu", "cpu"; "" = every kind).
struct MeasuredCost {
    std::string kind;
    double us = 0.0;
};

/// A measured cost on its way to an op of a graph.
struct OpCost {
    OpId op;
    MeasuredCost cost;
};

/// Where a body of a container op hangs: If has two, Loop and Scan one.
struct Body {
    std::string name; ///< "then_branch", "body"
    GraphPtr graph;
};

/// Everything about one op that is not structure. Sizes in bytes, costs in microseconds.
struct Op {
    std::string name;
    std::string type; ///< framework's op type, "MatMul", with its domain if not the default one ("com.microsoft::Gelu")
    ScopeId scope;
    Phase phase = Phase::Forward;
    double flops = -1.0;              ///< negative = unknown
    std::int64_t bytesMoved = -1;     ///< read + written, negative = unknown
    std::int64_t paramBytes = 0;      ///< weights this op owns
    std::int64_t stateBytes = 0;      ///< optimiser slots this op owns
    std::int64_t workspaceBytes = 0;  ///< scratch while it runs
    std::string colocation;           ///< ops with the same non-empty key share a device
    std::vector<std::string> allowedKinds; ///< device kinds it may run on; empty = all
    std::vector<MeasuredCost> costs;
    double tripCount = -1.0; ///< iterations of a Loop or Scan body, negative = unknown
    std::string device;      ///< the file's own assignment, as written there; "" = none
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<Body> bodies;
};

/// A node of the scope tree. Scope 0 is the root with an empty name.
struct Scope {
    std::string name;   ///< last component
    ScopeId parent;     ///< invalid for the root
    std::vector<ScopeId> children;
    std::vector<OpId> ops; ///< direct members only
};

/// The computation graph: ops, the tensors they make, edges. Immutable after GraphBuilder::build(), so it is shared
/// between threads freely. Ids are dense and follow the order of the file. May be cyclic: see cycle().
class OpGraph {
public:
    const std::string& name() const { return m_name; }
    const std::string& format() const { return m_format; } ///< "onnx", "dot", "json", "zoo"
    /// Content hash over structure, costs and names; 32 hex digits. Two files with the same graph have the same hash.
    const std::string& hash() const { return m_hash; }
    const std::vector<Warning>& warnings() const { return m_warnings; }

    std::size_t opCount() const { return m_ops.size(); }
    std::size_t opCountWithBodies() const { return m_opCountWithBodies; }
    std::size_t tensorCount() const { return m_tensors.size(); }
    std::size_t scopeCount() const { return m_scopes.size(); }

    const Op& op(OpId id) const { return m_ops[id.index()]; }
    const Tensor& tensor(TensorId id) const { return m_tensors[id.index()]; }
    const Scope& scope(ScopeId id) const { return m_scopes[id.index()]; }
    std::span<const Op> ops() const { return m_ops; }
    std::span<const Tensor> tensors() const { return m_tensors; }
    std::span<const Scope> scopes() const { return m_scopes; }
    std::string scopePath(ScopeId id) const; ///< "a/b/c", "" for the root
    /// Weights that the file holds and no op of it reads.
    std::int64_t unattachedParameterBytes() const { return m_unattachedParameterBytes; }

    /// All edges, sorted by consumer, then data slots, captures, controls.
    std::span<const Edge> edges() const { return m_edges; }
    std::span<const Edge> inEdges(OpId id) const {
        return std::span(m_edges).subspan(m_inStart[id.index()], m_inStart[id.index() + 1] - m_inStart[id.index()]);
    }
    /// Indices into edges(), by consumer in graph order.
    std::span<const EdgeId> outEdges(OpId id) const {
        return std::span(m_outEdges).subspan(m_outStart[id.index()], m_outStart[id.index() + 1] - m_outStart[id.index()]);
    }
    const Edge& edge(EdgeId id) const { return m_edges[id.index()]; }
    /// Tensors of an op, by output index.
    std::span<const TensorId> outputs(OpId id) const {
        return std::span(m_outputs).subspan(m_outputStart[id.index()],
                                            m_outputStart[id.index() + 1] - m_outputStart[id.index()]);
    }

    /// Kahn's algorithm, smallest id first among the free ones; ops on or behind a cycle are missing from it.
    std::span<const OpId> topologicalOrder() const { return m_order; }
    bool isCyclic() const { return m_order.size() != m_ops.size(); }
    /// The ops of one cycle in order, empty if there is none.
    std::vector<OpId> cycle() const;

    std::optional<OpId> findOp(std::string_view name) const;

private:
    friend class GraphBuilder;
    friend GraphPtr withCosts(const OpGraph& graph, std::span<const OpCost> costs);
    OpGraph() = default;

    std::string m_name;
    std::string m_format;
    std::string m_hash;
    std::vector<Warning> m_warnings;
    std::vector<Op> m_ops;
    std::vector<Tensor> m_tensors;
    std::vector<Scope> m_scopes;
    std::vector<Edge> m_edges;
    std::vector<std::uint32_t> m_inStart;
    std::vector<EdgeId> m_outEdges;
    std::vector<std::uint32_t> m_outStart;
    std::vector<TensorId> m_outputs;
    std::vector<std::uint32_t> m_outputStart;
    std::vector<OpId> m_order;
    std::vector<OpId> m_byName; ///< sorted by name, for findOp
    std::size_t m_opCountWithBodies = 0;
    std::int64_t m_unattachedParameterBytes = 0;
};

/// The same graph with other measured costs, which must be finite and not negative. A cost replaces the op's cost of its
/// kind, one for every kind ("") all that the op had before; the last of two for one op and kind counts.
GraphPtr withCosts(const OpGraph& graph, std::span<const OpCost> costs);

/// Item size of a dtype name ("f32" -> 4); 0 if unknown; strings count 0; 4-bit types round up.
std::int64_t dtypeBytes(std::string_view dtype);

/// Elements of a fully known shape, saturating; nothing if a dim is unknown or negative.
std::optional<std::int64_t> elementCount(std::span<const std::int64_t> dims);

} // namespace pw
