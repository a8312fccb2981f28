#include "core/learn/torchscript_graph.h"

#include "core/base/text.h"
#include "core/graph/graph_builder.h"
#include "core/learn/torchscript_values.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace pw::learn {

namespace {

namespace jit = torch::jit;

constexpr int kMaxBodyDepth = 64; ///< why: bodies are walked recursively

/// What all blocks of one graph share.
struct Shared {
    TorchWeights weights;
    std::unordered_set<std::string> names; ///< of ops, over all bodies
    std::unordered_map<std::string, std::size_t> nextSuffix;
    std::vector<Warning> warnings;
    std::stop_token stop;
};

/// The ops of one block: the graph itself, or a body of a container op of `outer`.
class BlockEmitter {
public:
    BlockEmitter(Shared& shared, std::string name, BlockEmitter* outer, OpId container, int depth)
        : m_shared(shared)
        , m_builder(std::move(name), "torchscript")
        , m_outer(outer)
        , m_container(container)
        , m_depth(depth) {}

    Result<GraphPtr> run(const jit::Block& block) {
        if (m_depth > kMaxBodyDepth)
            return fail(ErrorCode::TooLarge, "bodies nest more than " + std::to_string(kMaxBodyDepth) + " deep");
        for (const jit::Value* input : block.inputs())
            m_sources[input] = TensorId();
        for (const jit::Node* node : block.nodes()) {
            if (m_shared.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            PW_CHECK(visit(*node));
        }
        for (const jit::Value* output : block.outputs()) {
            for (const jit::Value* leaf : leavesOf(*output))
                static_cast<void>(sourceOf(*leaf)); // why: a body may hand out a value of the outer graph as it is
        }
        if (m_outer == nullptr)
            finish();
        return std::move(m_builder).build();
    }

private:
    void finish() {
        m_builder.addUnattachedParameterBytes(m_shared.weights.unclaimedBytes());
        for (Warning& warning : m_shared.warnings)
            m_builder.addWarning(std::move(warning.kind), std::move(warning.where), std::move(warning.detail));
    }

    Status visit(const jit::Node& node) {
        switch (foldingOf(node)) {
        case Folding::Nothing: return {};
        case Folding::Alias: m_aliases[node.output()] = node.input(0); return {};
        case Folding::Unpack: unpack(node); return {};
        case Folding::Op: return emit(node);
        }
        return {};
    }

    /// The outputs stand for the elements: of the construct that made the tuple, or of the op that did.
    void unpack(const jit::Node& node) {
        const jit::Value& whole = unaliased(*node.input(0));
        const bool isConstruct = isTorchConstruct(*whole.node()) && whole.node()->inputs().size() == node.outputs().size();
        const std::vector<TensorId>* parts = nullptr;
        if (const auto found = m_parts.find(&whole); found != m_parts.end())
            parts = &found->second;
        for (std::size_t i = 0; i < node.outputs().size(); ++i) {
            if (isConstruct)
                m_aliases[node.output(i)] = whole.node()->input(i);
            else if (parts != nullptr && i < parts->size())
                m_sources[node.output(i)] = (*parts)[i];
            else
                m_aliases[node.output(i)] = &whole;
        }
    }

    Status emit(const jit::Node& node) {
        Op op;
        op.type = node.kind().toQualString();
        const std::string scope = scopeOf(node);
        op.name = uniqueName(scope, op.type);
        op.attributes = torchAttributes(node);
        op.tripCount = torchTripCount(node);
        if (isOpaque(node))
            m_shared.warnings.push_back({"opaque_call", op.name, "calls code that cannot be looked into; its cost is unknown"});
        const OpId id = m_builder.addOp(std::move(op));
        m_builder.setScope(id, scope);
        readInputs(node, id);
        PW_CHECK(emitBodies(node, id));
        addOutputs(node, id);
        noteWrites(node, id);
        return {};
    }

    std::string uniqueName(const std::string& scope, std::string_view type) {
        std::string base(type.substr(type.rfind(':') + 1));
        base = scope.empty() ? base : scope + "/" + base;
        std::string name = base;
        std::size_t& suffix = m_shared.nextSuffix.try_emplace(base, 2).first->second;
        while (!m_shared.names.insert(name).second)
            name = base + "#" + std::to_string(suffix++);
        return name;
    }

    /// The module that the op belongs to: the one whose weights it reads, else the one whose forward it stands in.
    std::string scopeOf(const jit::Node& node) const {
        std::string scope = torchScope(node);
        for (const jit::Value* input : node.inputs()) {
            const TorchWeight* weight = m_shared.weights.find(unaliased(*input));
            if (weight == nullptr)
                continue;
            const auto end = weight->path.rfind('/');
            const std::string owner = end == std::string::npos ? std::string() : weight->path.substr(0, end);
            return owner.size() >= scope.size() ? owner : scope;
        }
        return scope;
    }

    const jit::Value& unaliased(const jit::Value& value) const {
        const jit::Value* at = &value;
        for (auto found = m_aliases.find(at); found != m_aliases.end(); found = m_aliases.find(at))
            at = found->second;
        return m_outer != nullptr && at == &value ? m_outer->unaliased(value) : *at;
    }

    /// The values that a list or tuple is made of, as far as the graph says; the value itself otherwise.
    std::vector<const jit::Value*> leavesOf(const jit::Value& value) const {
        std::vector<const jit::Value*> leaves;
        std::vector<const jit::Value*> open = {&value};
        while (!open.empty()) {
            const jit::Value& at = unaliased(*open.back());
            open.pop_back();
            if (isTorchConstruct(*at.node())) {
                for (std::size_t i = at.node()->inputs().size(); i > 0; --i)
                    open.push_back(at.node()->input(i - 1));
            } else {
                leaves.push_back(&at);
            }
        }
        return leaves;
    }

    /// The tensor that stands for a value here; invalid for weights, constants and inputs of the graph. A value of an
    /// outer graph becomes a capture of this body's container.
    TensorId sourceOf(const jit::Value& value) {
        const auto found = m_sources.find(&value);
        if (found != m_sources.end())
            return found->second;
        if (m_outer != nullptr)
            m_outer->capture(value, m_container);
        return {};
    }

    void capture(const jit::Value& value, OpId container) {
        const auto found = m_sources.find(&value);
        if (found == m_sources.end()) {
            if (m_outer != nullptr)
                m_outer->capture(value, m_container);
            return;
        }
        if (found->second.isValid() && m_captured.emplace(container, found->second).second)
            m_builder.addCapture(container, found->second);
        orderAfterWrites(value, container);
    }

    void readInputs(const jit::Node& node, OpId id) {
        std::uint32_t slot = 0;
        std::vector<std::string> shapes;
        for (const jit::Value* argument : torchOperands(node)) {
            for (const jit::Value* leaf : leavesOf(*argument)) {
                readLeaf(*leaf, id, slot++);
                const TorchWeight* weight = m_shared.weights.find(*leaf);
                shapes.push_back(weight != nullptr ? shapeText(weight->dims) : shapeText(*leaf->type()));
            }
        }
        while (!shapes.empty() && shapes.back().empty())
            shapes.pop_back();
        std::string text;
        for (std::size_t i = 0; i < shapes.size(); ++i)
            text += (i > 0 ? ";" : "") + shapes[i];
        if (!text.empty())
            m_builder.op(id).attributes.emplace_back("input_shapes", std::move(text));
    }

    void readLeaf(const jit::Value& leaf, OpId id, std::uint32_t slot) {
        if (const TorchWeight* weight = m_shared.weights.find(leaf)) {
            claim(*weight, id);
            return;
        }
        const TensorId tensor = sourceOf(leaf);
        if (tensor.isValid())
            m_builder.addInput(id, tensor, slot);
        orderAfterWrites(leaf, id);
    }

    /// Weights belong to the first op that reads them; outside bodies, so that the whole model's memory is seen there.
    void claim(const TorchWeight& weight, OpId id) {
        BlockEmitter* owner = this;
        OpId ownerOp = id;
        while (owner->m_outer != nullptr) {
            ownerOp = owner->m_container;
            owner = owner->m_outer;
        }
        Op& op = owner->m_builder.op(ownerOp);
        const std::string first = m_shared.weights.claim(weight, op.name);
        if (first.empty())
            op.paramBytes += weight.bytes;
        else if (first != op.name)
            noteShared(m_builder.op(id), weight.path + " of " + first);
    }

    static void noteShared(Op& op, const std::string& what) {
        const auto known = std::find_if(op.attributes.begin(), op.attributes.end(),
                                        [](const auto& attribute) { return attribute.first == "shared_weights"; });
        if (known == op.attributes.end())
            op.attributes.emplace_back("shared_weights", what);
        else
            known->second += ", " + what;
    }

    Status emitBodies(const jit::Node& node, OpId id) {
        std::vector<std::string> names = {"body"};
        if (node.kind() == c10::prim::If)
            names = {"then_branch", "else_branch"};
        for (std::size_t i = 0; i < node.blocks().size(); ++i)
            PW_CHECK(emitBody(*node.blocks()[i], i < names.size() ? names[i] : "body" + std::to_string(i), id));
        if (node.hasAttribute(c10::attr::Subgraph) && node.kindOf(c10::attr::Subgraph) == jit::AttributeKind::g)
            PW_CHECK(emitBody(*node.g(c10::attr::Subgraph)->block(), "body", id));
        return {};
    }

    Status emitBody(const jit::Block& block, const std::string& name, OpId id) {
        BlockEmitter body(m_shared, name, this, id, m_depth + 1);
        PW_TRY(GraphPtr built, body.run(block));
        m_builder.op(id).bodies.push_back({name, std::move(built)});
        return {};
    }

    /// One tensor per output; a list of tensors that is unpacked at once has one per element.
    void addOutputs(const jit::Node& node, OpId id) {
        for (const jit::Value* output : node.outputs()) {
            const jit::Node* unpacking = onlyUnpackOf(*output);
            if (unpacking == nullptr) {
                m_sources[output] = m_builder.addOutput(id, torchTensor(*output));
                continue;
            }
            std::vector<TensorId>& parts = m_parts[output];
            for (const jit::Value* part : unpacking->outputs())
                parts.push_back(m_builder.addOutput(id, torchTensor(*part)));
            m_sources[output] = parts.empty() ? TensorId() : parts.front();
        }
    }

    /// An op that changes a tensor in place makes that tensor's new value: later readers read it from here. What shares
    /// memory with it (the base of a view) is ordered behind the change.
    void noteWrites(const jit::Node& node, OpId id) {
        const auto* schema = node.maybeSchema();
        if (schema == nullptr)
            return;
        const auto& arguments = schema->arguments();
        for (std::size_t i = 0; i < std::min(arguments.size(), node.inputs().size()); ++i) {
            const auto* alias = arguments[i].alias_info();
            if (alias == nullptr)
                continue;
            const jit::Value& value = unaliased(*node.input(i));
            if (!alias->isWrite()) {
                for (const jit::Value* output : node.outputs())
                    m_viewOf.emplace(output, &value);
                continue;
            }
            if (!node.outputs().empty() && m_sources.count(&value) != 0)
                m_sources[&value] = m_sources[node.output(0)];
            m_lastWriter[&rootOf(value)] = id;
            if (!node.outputs().empty())
                m_viewOf.emplace(node.output(0), &value);
        }
    }

    const jit::Value& rootOf(const jit::Value& value) const {
        const jit::Value* at = &value;
        for (auto found = m_viewOf.find(at); found != m_viewOf.end() && found->second != at; found = m_viewOf.find(at))
            at = found->second;
        return *at;
    }

    void orderAfterWrites(const jit::Value& value, OpId reader) {
        const auto writer = m_lastWriter.find(&rootOf(value));
        if (writer == m_lastWriter.end() || writer->second == reader)
            return;
        const auto source = m_sources.find(&value);
        const bool readsFromWriter = source != m_sources.end() && source->second.isValid() &&
                                     m_builder.tensor(source->second).producer == writer->second;
        if (!readsFromWriter && m_ordered.emplace(writer->second, reader).second)
            m_builder.addControl(writer->second, reader);
    }

    Shared& m_shared;
    GraphBuilder m_builder;
    BlockEmitter* m_outer;
    OpId m_container; ///< the op of m_outer whose body this is
    int m_depth;
    std::unordered_map<const jit::Value*, TensorId> m_sources;             ///< of this block's values
    std::unordered_map<const jit::Value*, std::vector<TensorId>> m_parts; ///< of lists that are unpacked
    std::unordered_map<const jit::Value*, const jit::Value*> m_aliases;   ///< values that are another one
    std::unordered_map<const jit::Value*, const jit::Value*> m_viewOf;    ///< shares memory with
    std::unordered_map<const jit::Value*, OpId> m_lastWriter;             ///< in place, by root
    std::set<std::pair<OpId, TensorId>> m_captured;
    std::set<std::pair<OpId, OpId>> m_ordered;
};

} // namespace

Result<GraphPtr> emitTorchGraph(const TorchModule& module, const std::string& name, std::vector<Warning> warnings,
                                const std::stop_token& stop) {
    Shared shared{TorchWeights(module), {}, {}, std::move(warnings), stop};
    return BlockEmitter(shared, name, nullptr, OpId(), 0).run(*module.graph->block());
}

} // namespace pw::learn
