#pragma once

#include "core/graph/op_graph.h"

#include <unordered_map>

namespace pw {

/// Collects ops, tensors and edges in any order and checks them once at the end. Single-threaded.
///
/// Names: an op without a name gets `Type_index`; duplicates get "#2", "#3". Bytes that are not UTF-8 are replaced.
/// Scopes: unless setScope was called, an op's scope is derived from its name by the separator the graph uses
/// ('/', else '.', else "::"), without the last component.
class GraphBuilder {
public:
    GraphBuilder(std::string name, std::string format);
    void setFormat(std::string format) { m_format = std::move(format); }

    /// Makes room for this many ops; worth it where the number is known beforehand.
    void reserve(std::size_t ops);

    /// Adds an op; `op.scope` is ignored, use setScope or leave it to the name.
    OpId addOp(Op op);
    Op& op(OpId id) { return m_ops[id.index()]; } ///< until build()
    std::size_t opCount() const { return m_ops.size(); }
    void setScope(OpId id, std::string_view path); ///< components separated by '/'

    /// Adds the next output of `producer`; its producer and output index are filled in here.
    TensorId addOutput(OpId producer, Tensor tensor = {});
    Tensor& tensor(TensorId id) { return m_tensors[id.index()]; }
    std::size_t outputCount(OpId producer) const { return m_outputsOf[producer.index()].count; }
    TensorId output(OpId producer, std::size_t index) const;

    void addInput(OpId consumer, TensorId tensor, std::uint32_t slot);
    void addInput(OpId consumer, TensorId tensor); ///< next slot
    void addCapture(OpId consumer, TensorId tensor);
    void addControl(OpId before, OpId after);
    /// Weights of the file that belong to no op; counted in the statistics only.
    void addUnattachedParameterBytes(std::int64_t bytes);
    /// Ops of functions that the file holds and no op calls; counted in opCountWithBodies() only.
    void addUnattachedOps(std::size_t count) { m_unattachedOps += count; }
    void addWarning(std::string kind, std::string where, std::string detail);
    /// At most this many warnings of one kind are kept; the rest is counted in one more.
    static constexpr std::size_t kMaxWarningsPerKind = 100;

    /// Checks and freezes. Fails (naming the op) on negative sizes, on costs that are not finite, on too many ops.
    /// Cycles are legal and become a warning of kind "cycle".
    Result<GraphPtr> build() &&;

private:
    /// The outputs of one op: consecutive tensors as a rule, else (first invalid) a list in m_scattered.
    struct Outputs {
        TensorId first;
        std::uint32_t count = 0;
    };
    static constexpr std::uint32_t kNoPath = UINT32_MAX;

    std::vector<OpId> nameOps();
    std::vector<OpId> sortedByName() const;
    void renameDuplicates();
    void makeScopes(OpGraph& graph);
    void linkEdges(OpGraph& graph);
    void listOutputs(OpGraph& graph) const;
    Status check() const;

    std::string m_name;
    std::string m_format;
    std::vector<Op> m_ops;
    std::vector<Tensor> m_tensors;
    std::vector<Outputs> m_outputsOf;
    std::unordered_map<OpId, std::vector<TensorId>> m_scattered;
    std::vector<Edge> m_edges;
    std::vector<std::uint32_t> m_nextSlot;
    std::vector<std::uint32_t> m_scopePathOf; ///< place in m_scopePaths, kNoPath = by name
    std::vector<std::string> m_scopePaths;    ///< distinct ones
    std::unordered_map<std::string, std::uint32_t> m_scopePathIndex;
    std::int64_t m_unattachedParameterBytes = 0;
    std::size_t m_unattachedOps = 0;
    std::vector<Warning> m_warnings;
    std::unordered_map<std::string, std::size_t> m_warningCounts;
};

} // namespace pw
