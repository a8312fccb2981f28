#include "core/formats/onnx_shapes.h"

#include "core/formats/onnx_shape_rules.h"

namespace pw::formats {

namespace {

void addDeclared(const onnx::GraphProto& graph, ShapeTables& tables) {
    TypeTable& table = tables[&graph];
    table.reserve(static_cast<std::size_t>(graph.node_size() + graph.initializer_size()));
    for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()}) {
        for (const auto& info : *list) {
            if (info.has_type())
                table[info.name()] = typeOf(info.type());
        }
    }
    for (const auto& tensor : graph.initializer())
        table[tensor.name()] = typeOf(tensor);
    for (const auto& node : graph.node()) {
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g())
                addDeclared(attribute.g(), tables);
            for (const auto& body : attribute.graphs())
                addDeclared(body, tables);
        }
    }
}

/// Nodes in an order in which producers come first; those on a cycle come last. Files need not be sorted.
std::vector<int> dependencyOrder(const onnx::GraphProto& graph) {
    std::unordered_map<std::string_view, int> producers;
    for (int i = 0; i < graph.node_size(); ++i) {
        for (const auto& output : graph.node(i).output())
            producers.try_emplace(output, i);
    }
    std::vector<int> waiting(static_cast<std::size_t>(graph.node_size()));
    std::vector<std::vector<int>> consumers(waiting.size());
    for (int i = 0; i < graph.node_size(); ++i) {
        for (const auto& input : graph.node(i).input()) {
            const auto found = producers.find(input);
            if (input.empty() || found == producers.end())
                continue;
            consumers[static_cast<std::size_t>(found->second)].push_back(i);
            ++waiting[static_cast<std::size_t>(i)];
        }
    }
    std::vector<int> order;
    order.reserve(waiting.size());
    for (int i = 0; i < graph.node_size(); ++i) {
        if (waiting[static_cast<std::size_t>(i)] == 0)
            order.push_back(i);
    }
    for (std::size_t at = 0; at < order.size(); ++at) {
        for (const int consumer : consumers[static_cast<std::size_t>(order[at])]) {
            if (--waiting[static_cast<std::size_t>(consumer)] == 0)
                order.push_back(consumer);
        }
    }
    return order;
}

class Inference {
public:
    Inference(ShapeTables& tables, std::stop_token stop)
        : m_tables(tables)
        , m_stop(std::move(stop)) {}

    void run(const onnx::GraphProto& graph, const Inference* outer) {
        m_outer = outer;
        m_table = &m_tables[&graph];
        for (const auto& tensor : graph.initializer()) {
            if (auto values = onnxIntegers(tensor))
                m_constants[tensor.name()] = std::move(*values);
        }
        for (const int i : dependencyOrder(graph)) {
            if (m_stop.stop_requested())
                return;
            visit(graph.node(i));
        }
    }

private:
    const ValueType* findType(const std::string& name) const {
        for (const Inference* at = this; at != nullptr; at = at->m_outer) {
            if (const auto found = at->m_table->find(name); found != at->m_table->end())
                return &found->second;
        }
        return nullptr;
    }

    const std::vector<std::int64_t>* findConstant(const std::string& name) const {
        for (const Inference* at = this; at != nullptr; at = at->m_outer) {
            if (const auto found = at->m_constants.find(name); found != at->m_constants.end())
                return &found->second;
        }
        return nullptr;
    }

    void visit(const onnx::NodeProto& node) {
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g()) {
                Inference body(m_tables, m_stop);
                body.run(attribute.g(), this);
            }
        }
        RuleContext context(
            node, [this](const std::string& name) { return findType(name); },
            [this](const std::string& name) { return findConstant(name); });
        if (node.op_type() == "If")
            takeBranchTypes(node, context);
        else
            applyShapeRule(context);
        for (int i = 0; i < node.output_size() && static_cast<std::size_t>(i) < context.outputs.size(); ++i)
            merge(node.output(i), context.outputs[static_cast<std::size_t>(i)]);
        if (context.constantOutput && node.output_size() > 0)
            m_constants[node.output(0)] = std::move(*context.constantOutput);
    }

    /// An If makes what its branches make, where they agree.
    void takeBranchTypes(const onnx::NodeProto& node, RuleContext& context) const {
        const auto* thenBranch = findAttribute(node, "then_branch");
        const auto* elseBranch = findAttribute(node, "else_branch");
        if (thenBranch == nullptr || elseBranch == nullptr)
            return;
        for (int i = 0;
             i < node.output_size() && i < thenBranch->g().output_size() && i < elseBranch->g().output_size(); ++i) {
            const auto& left = m_tables[&thenBranch->g()][thenBranch->g().output(i).name()];
            const auto& right = m_tables[&elseBranch->g()][elseBranch->g().output(i).name()];
            if (left.elemType != right.elemType)
                continue;
            if (!left.shapeKnown || !right.shapeKnown || left.dims.size() != right.dims.size()) {
                context.setOutputType(i, left.elemType);
                continue;
            }
            auto dims = left.dims;
            for (std::size_t d = 0; d < dims.size(); ++d)
                dims[d] = dims[d] == right.dims[d] ? dims[d] : -1;
            context.setOutput(i, left.elemType, std::move(dims));
        }
    }

    void merge(const std::string& name, const ValueType& inferred) {
        if (name.empty() || (inferred.elemType == 0 && !inferred.shapeKnown))
            return;
        ValueType& known = (*m_table)[name];
        if (known.elemType == 0)
            known.elemType = inferred.elemType;
        if (!inferred.shapeKnown)
            return;
        if (!known.shapeKnown) {
            known.shapeKnown = true;
            known.dims = inferred.dims;
        } else if (known.dims.size() == inferred.dims.size()) {
            for (std::size_t d = 0; d < known.dims.size(); ++d)
                known.dims[d] = known.dims[d] < 0 ? inferred.dims[d] : known.dims[d];
        }
    }

    ShapeTables& m_tables;
    std::stop_token m_stop;
    const Inference* m_outer = nullptr;
    TypeTable* m_table = nullptr;
    Constants m_constants;
};

} // namespace

ShapeTables declaredTypes(const onnx::GraphProto& graph) {
    ShapeTables tables;
    addDeclared(graph, tables);
    return tables;
}

void inferByOwnRules(const onnx::GraphProto& graph, ShapeTables& tables, std::stop_token stop) {
    Inference(tables, std::move(stop)).run(graph, nullptr);
}

} // namespace pw::formats
