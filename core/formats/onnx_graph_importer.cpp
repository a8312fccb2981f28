#include "core/formats/onnx_graph_importer.h"

#include "core/base/saturate.h"
#include "core/base/text.h"
#include "core/formats/graph_json.h"
#include "core/graph/graph_builder.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace pw::formats {

namespace {

constexpr std::size_t kMaxExpandedOps = 10'000'000; ///< why: functions that call functions grow exponentially
constexpr int kMaxListedElements = 64;
constexpr std::size_t kMaxAttributeText = 256;

std::string floatText(float value) {
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

template<class List, class ToText>
std::string joined(const List& list, ToText toText) {
    std::string out;
    for (const auto& item : list)
        out += (out.empty() ? "" : ",") + toText(item);
    return out;
}

/// "3,3" for lists; empty for what is no number or text (tensors, graphs) or too long to be a parameter.
std::string attributeText(const onnx::AttributeProto& attribute) {
    const auto toText = [](std::int64_t value) { return std::to_string(value); };
    if (attribute.ints_size() > 0 && attribute.ints_size() <= kMaxListedElements)
        return joined(attribute.ints(), toText);
    if (attribute.floats_size() > 0 && attribute.floats_size() <= kMaxListedElements)
        return joined(attribute.floats(), floatText);
    if (attribute.has_i())
        return std::to_string(attribute.i());
    if (attribute.has_f())
        return floatText(attribute.f());
    if (attribute.has_s() && attribute.s().size() <= kMaxAttributeText)
        return text::toValidUtf8(attribute.s());
    return {};
}

std::string shapeText(const ValueType* type) {
    if (type == nullptr || !type->shapeKnown)
        return {};
    if (type->dims.empty())
        return "1"; // a scalar; an empty text would mean "unknown"
    std::string out;
    for (const std::int64_t dim : type->dims)
        out += (out.empty() ? "" : "x") + (dim < 0 ? std::string("?") : std::to_string(dim));
    return out;
}

/// A tensor for one output. Unknown dimensions of a known rank count as 1.
Tensor tensorOf(const std::string& name, const ValueType* type) {
    Tensor tensor;
    tensor.name = text::toValidUtf8(name);
    if (type == nullptr)
        return tensor;
    tensor.dtype = onnxDtype(type->elemType);
    tensor.shapeKnown = type->shapeKnown;
    tensor.dims = type->dims;
    if (!type->shapeKnown)
        return tensor;
    auto counted = type->dims;
    std::replace_if(
        counted.begin(), counted.end(), [](std::int64_t dim) { return dim < 0; }, 1);
    const std::int64_t count = elementCount(counted).value_or(0);
    tensor.bytes = count * dtypeBytes(tensor.dtype); // elementCount leaves room for the item size
    return tensor;
}

class GraphImporter {
public:
    GraphImporter(OnnxModelContext& context, const onnx::GraphProto& graph, std::string name, GraphImporter* outer,
                  OpId container, int depth)
        : m_context(context)
        , m_graph(graph)
        , m_builder(text::toValidUtf8(name), "onnx")
        , m_outer(outer)
        , m_container(container)
        , m_depth(depth) {}

    Result<GraphPtr> run(std::vector<Warning> warnings) {
        if (m_depth > kMaxBodyDepth)
            return fail(ErrorCode::TooLarge, "bodies nest more than " + std::to_string(kMaxBodyDepth) + " deep");
        for (auto& warning : warnings)
            m_builder.addWarning(std::move(warning.kind), std::move(warning.where), std::move(warning.detail));
        const auto nodes = static_cast<std::size_t>(m_graph.node_size());
        m_builder.reserve(nodes);
        m_values.reserve(nodes + static_cast<std::size_t>(m_graph.input_size() + m_graph.initializer_size()));
        for (const auto& input : m_graph.input())
            m_values.try_emplace(input.name(), Value());
        addInitializers();
        for (const auto& node : m_graph.node())
            addNode(node);
        for (int i = 0; i < m_graph.node_size(); ++i) {
            if (m_context.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            connect(m_graph.node(i), OpId(static_cast<std::size_t>(i)));
            PW_CHECK(addBodies(m_graph.node(i), OpId(static_cast<std::size_t>(i))));
        }
        for (const auto& output : m_graph.output())
            resolveOutput(output.name());
        countUnclaimedWeights();
        return std::move(m_builder).build();
    }

private:
    /// Where a name of this graph gets its value: an output of a node, weights, or (both invalid) an input of the
    /// graph.
    struct Value {
        TensorId tensor;
        std::optional<std::size_t> weights;
    };

    void addInitializers() {
        const auto add = [this](const std::string& name, std::optional<std::int64_t> bytes) {
            if (!bytes)
                m_builder.addWarning("bad_size", text::toValidUtf8(name),
                                     "weights of an impossible shape; counted as 0 bytes");
            m_values[name] = {TensorId(), m_weightBytes.size()};
            m_weightBytes.push_back(bytes.value_or(0));
        };
        for (const auto& tensor : m_graph.initializer())
            add(tensor.name(), onnxTensorBytes(tensor));
        for (const auto& sparse : m_graph.sparse_initializer())
            add(sparse.values().name(), onnxTensorBytes(sparse));
    }

    void addNode(const onnx::NodeProto& node) {
        Op op;
        op.name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
        op.type = onnxTypeName(node.domain(), node.op_type());
        for (const auto& attribute : node.attribute()) {
            if (std::string value = attributeText(attribute); !value.empty())
                op.attributes.emplace_back(text::toValidUtf8(attribute.name()), std::move(value));
        }
        if (std::string shapes = inputShapes(node); !shapes.empty())
            op.attributes.emplace_back("input_shapes", std::move(shapes));
        if (node.op_type() == "Constant" && isDefaultDomain(node))
            op.paramBytes = constantBytes(node);
        op.tripCount = tripCount(node);
        for (const auto& entry : node.metadata_props()) {
            if (entry.key() == kOnnxDeviceKey)
                op.device = text::toValidUtf8(entry.value());
        }
        const OpId id = m_builder.addOp(std::move(op));
        for (const auto& name : node.output()) {
            const TensorId tensor = m_builder.addOutput(id, tensorOf(name, name.empty() ? nullptr : findType(name)));
            if (name.empty())
                continue;
            const auto [known, isNew] = m_values.try_emplace(name, Value());
            if (isNew || !known->second.tensor.isValid())
                known->second.tensor = tensor;
            else
                m_builder.addWarning("duplicate_output", text::toValidUtf8(name),
                                     "made by two nodes; the first one counts");
        }
    }

    std::string inputShapes(const onnx::NodeProto& node) const {
        std::string shapes;
        bool isAnyKnown = false;
        for (int i = 0; i < node.input_size(); ++i) {
            const std::string shape = node.input(i).empty() ? std::string() : shapeText(findType(node.input(i)));
            isAnyKnown = isAnyKnown || !shape.empty();
            shapes += (i > 0 ? ";" : "") + shape;
        }
        return isAnyKnown ? shapes : std::string();
    }

    std::int64_t constantBytes(const onnx::NodeProto& node) {
        for (const auto& attribute : node.attribute()) {
            if (attribute.name() == "value" && attribute.has_t())
                return reportedSize(onnxTensorBytes(attribute.t()), node);
            if (attribute.name() == "sparse_value")
                return reportedSize(onnxTensorBytes(attribute.sparse_tensor()), node);
            if (attribute.name() == "value_float")
                return 4;
            if (attribute.name() == "value_int")
                return 8;
            if (attribute.name() == "value_floats")
                return 4 * std::int64_t{attribute.floats_size()};
            if (attribute.name() == "value_ints")
                return 8 * std::int64_t{attribute.ints_size()};
        }
        return 0;
    }

    std::int64_t reportedSize(std::optional<std::int64_t> bytes, const onnx::NodeProto& node) {
        if (!bytes)
            m_builder.addWarning("bad_size", text::toValidUtf8(node.name()),
                                 "a constant of an impossible shape; counted as 0 bytes");
        return bytes.value_or(0);
    }

    /// A Loop says how often it runs in its first input, if that is a constant; a Scan by the length of what it scans.
    double tripCount(const onnx::NodeProto& node) const {
        if (!isDefaultDomain(node) || node.input_size() == 0)
            return -1.0;
        if (node.op_type() == "Scan") {
            const auto scanned = attributeInt(node, "num_scan_inputs", 0);
            const auto* type =
                scanned > 0 && scanned <= node.input_size() ? findType(node.input(node.input_size() - 1)) : nullptr;
            const auto* axes = findAttribute(node, "scan_input_axes");
            const std::int64_t axis = axes != nullptr && axes->ints_size() > 0 ? axes->ints(axes->ints_size() - 1) : 0;
            const bool isKnown =
                type != nullptr && type->shapeKnown && axis >= 0 && axis < static_cast<std::int64_t>(type->dims.size());
            return isKnown ? static_cast<double>(type->dims[static_cast<std::size_t>(axis)]) : -1.0;
        }
        if (node.op_type() != "Loop")
            return -1.0;
        const auto values = constantNamed(node.input(0));
        return values && values->size() == 1 && values->front() >= 0 && values->front() < (std::int64_t{1} << 53)
                   ? static_cast<double>(values->front())
                   : -1.0;
    }

    std::optional<std::vector<std::int64_t>> constantNamed(const std::string& name) const {
        for (const auto& tensor : m_graph.initializer()) {
            if (tensor.name() == name)
                return onnxIntegers(tensor);
        }
        for (const auto& node : m_graph.node()) {
            if (node.op_type() != "Constant" || node.output_size() == 0 || node.output(0) != name)
                continue;
            if (const auto* value = findAttribute(node, "value"); value != nullptr && value->has_t())
                return onnxIntegers(value->t());
            if (const auto* value = findAttribute(node, "value_int"))
                return std::vector<std::int64_t>{value->i()};
        }
        return std::nullopt;
    }

    const ValueType* findType(const std::string& name) const {
        for (const GraphImporter* at = this; at != nullptr; at = at->m_outer) {
            const auto table = at->m_context.tables.find(&at->m_graph);
            if (table == at->m_context.tables.end())
                continue;
            if (const auto found = table->second.find(name); found != table->second.end())
                return &found->second;
        }
        return nullptr;
    }

    void connect(const onnx::NodeProto& node, OpId id) {
        for (int slot = 0; slot < node.input_size(); ++slot) {
            const std::string& name = node.input(slot);
            if (name.empty())
                continue;
            const auto found = m_values.find(name);
            if (found == m_values.end()) {
                if (m_outer == nullptr || !m_outer->capture(name, m_container))
                    warnMissing(name, m_builder.op(id).name);
            } else if (found->second.tensor.isValid()) {
                m_builder.addInput(id, found->second.tensor, static_cast<std::uint32_t>(slot));
            } else {
                claim(found->second, id);
            }
        }
    }

    /// A body may hand out a value of the outer graph as it is.
    void resolveOutput(const std::string& name) {
        if (name.empty() || m_values.count(name) != 0)
            return;
        if (m_outer == nullptr || !m_outer->capture(name, m_container))
            warnMissing(name, "output");
    }

    void warnMissing(const std::string& name, const std::string& where) {
        m_builder.addWarning("missing_input", where, "reads \"" + text::toValidUtf8(name) + "\", which nothing makes");
    }

    /// A body of `container` reads `name`: looks for it here, then further out. False if nobody has it.
    bool capture(const std::string& name, OpId container) {
        const auto found = m_values.find(name);
        if (found == m_values.end())
            return m_outer != nullptr && m_outer->capture(name, m_container);
        if (!found->second.tensor.isValid())
            claim(found->second, container);
        else if (m_captured.emplace(container, found->second.tensor).second)
            m_builder.addCapture(container, found->second.tensor);
        return true;
    }

    /// Weights belong to the first op that reads them.
    void claim(Value& value, OpId id) {
        if (!value.weights)
            return;
        std::int64_t& bytes = m_weightBytes[*value.weights];
        m_builder.op(id).paramBytes = addSaturating(m_builder.op(id).paramBytes, bytes);
        bytes = 0;
    }

    void countUnclaimedWeights() {
        for (const std::int64_t bytes : m_weightBytes)
            m_builder.addUnattachedParameterBytes(bytes);
    }

    Status addBodies(const onnx::NodeProto& node, OpId id) {
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g())
                PW_CHECK(addBody(attribute.g(), attribute.name(), id));
            for (int i = 0; i < attribute.graphs_size(); ++i)
                PW_CHECK(addBody(attribute.graphs(i), attribute.name() + "[" + std::to_string(i) + "]", id));
        }
        if (m_context.functions.empty())
            return {};
        const std::string key = node.domain() + "::" + node.op_type();
        return m_context.functions.count(key) != 0 ? addFunction(key, id) : Status();
    }

    Status addBody(const onnx::GraphProto& graph, const std::string& name, OpId id) {
        GraphImporter body(m_context, graph, graph.name(), this, id, m_depth + 1);
        PW_TRY(GraphPtr built, body.run({}));
        for (const Warning& warning : built->warnings())
            m_builder.addWarning(warning.kind, m_builder.op(id).name + "/" + warning.where, warning.detail);
        m_builder.op(id).bodies.push_back({text::toValidUtf8(name), std::move(built)});
        return {};
    }

    /// All calls of a function share one graph. A function that calls itself stays without a body there.
    Status addFunction(const std::string& key, OpId id) {
        const auto [cached, isNew] = m_context.functionGraphs.try_emplace(key);
        GraphPtr built = cached->second;
        if (isNew) {
            const onnx::FunctionProto& function = *m_context.functions.at(key);
            onnx::GraphProto& graph = m_context.functionBodies.emplace_back();
            *graph.mutable_node() = function.node();
            for (const auto& input : function.input())
                graph.add_input()->set_name(input);
            for (const auto& output : function.output())
                graph.add_output()->set_name(output);
            GraphImporter body(m_context, graph, function.name(), nullptr, OpId(), m_depth + 1);
            PW_TRY(built, body.run({}));
            m_context.functionGraphs[key] = built;
        }
        if (built == nullptr || m_context.expandedOps + built->opCountWithBodies() > kMaxExpandedOps) {
            m_builder.addWarning("function", m_builder.op(id).name,
                                 built == nullptr ? "the function calls itself"
                                                  : "too many ops in functions; body left out");
            return {};
        }
        m_context.expandedOps += built->opCountWithBodies();
        m_builder.op(id).bodies.push_back({"function", std::move(built)});
        return {};
    }

    OnnxModelContext& m_context;
    const onnx::GraphProto& m_graph;
    GraphBuilder m_builder;
    GraphImporter* m_outer;
    OpId m_container; ///< the op of m_outer whose body this is
    int m_depth;
    std::unordered_map<std::string, Value> m_values;
    std::vector<std::int64_t> m_weightBytes; ///< per initialiser; 0 once an op has claimed it
    std::set<std::pair<OpId, TensorId>> m_captured;
};

} // namespace

Result<GraphPtr> importOnnxGraph(OnnxModelContext& context, const onnx::GraphProto& graph, std::string name,
                                 std::vector<Warning> warnings) {
    return GraphImporter(context, graph, std::move(name), nullptr, OpId(), 0).run(std::move(warnings));
}

} // namespace pw::formats
