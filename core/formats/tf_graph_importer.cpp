#include "core/formats/tf_graph_importer.h"

#include "core/base/text.h"
#include "core/formats/graph_json.h"
#include "core/formats/tf_attributes.h"
#include "core/formats/tf_shapes.h"
#include "core/graph/graph_builder.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

namespace pw::formats {

namespace {

using tf::Nodes;
using tf::TensorType;

constexpr std::size_t kMaxExpandedOps = 1'000'000; ///< why: functions that call functions grow exponentially
constexpr std::size_t kMaxListedDims = 8;
constexpr std::string_view kColocation = "loc:@";

/// What the graph and the bodies of its functions share.
struct Context {
    struct Function {
        const tensorflow::FunctionDef* definition = nullptr;
        GraphPtr graph;
        int height = 0; ///< of the bodies inside it
        bool isOpen = false; ///< being built right now
    };
    const LoadOptions& options;
    TfDeviceNames devices;
    int producerVersion = 0;
    std::unordered_map<std::string_view, Function> functions;
    std::size_t expandedOps = 0;
};

/// Ops that must share a device, by `_class` "loc:@name".
class Colocation {
public:
    explicit Colocation(const Nodes& nodes) {
        for (int i = 0; i < nodes.size(); ++i)
            m_known.try_emplace(nodes[i].name(), i);
        m_parent.resize(static_cast<std::size_t>(nodes.size()));
        std::iota(m_parent.begin(), m_parent.end(), 0);
        for (int i = 0; i < nodes.size(); ++i) {
            const auto* classes = tf::findAttr(nodes[i], "_class");
            for (int k = 0; classes != nullptr && k < classes->list().s_size(); ++k)
                join(i, classes->list().s(k));
        }
        for (std::size_t i = 0; i < m_parent.size(); ++i)
            ++m_members[root(static_cast<int>(i))];
    }

    /// Name of the group's first op; empty for an op that is alone.
    std::string keyOf(const Nodes& nodes, int node) {
        const int first = root(node);
        return m_members[first] < 2 ? std::string() : text::toValidUtf8(nodes[first].name());
    }

private:
    void join(int node, std::string_view target) {
        if (!target.starts_with(kColocation))
            return;
        // why the first that names it stands in: an optimiser may have removed the op, its companions stay together.
        const auto [found, isNew] = m_known.try_emplace(target.substr(kColocation.size()), node);
        const int a = root(node);
        const int b = root(found->second);
        m_parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }

    int root(int node) {
        while (m_parent[static_cast<std::size_t>(node)] != node) {
            int& parent = m_parent[static_cast<std::size_t>(node)];
            parent = m_parent[static_cast<std::size_t>(parent)];
            node = parent;
        }
        return node;
    }

    std::unordered_map<std::string_view, int> m_known;
    std::vector<int> m_parent;
    std::unordered_map<int, int> m_members;
};

bool isVariable(const std::string& type) {
    return type == "VariableV2" || type == "Variable" || type == "VarHandleOp";
}

Phase phaseOf(const tensorflow::NodeDef& node) {
    const std::string_view type = node.op();
    for (const std::string_view prefix : {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"}) {
        if (type.starts_with(prefix))
            return Phase::Optimizer;
    }
    if (type.starts_with("Save") || type.starts_with("Restore"))
        return Phase::Auxiliary;
    const std::string& name = node.name();
    return name.starts_with("gradients/") || name.find("/gradients/") != std::string::npos ? Phase::Backward
                                                                                            : Phase::Forward;
}

/// TensorFlow keeps attributes in a map: their order in a file means nothing.
std::vector<const tensorflow::AttrEntry*> attributesByKey(const tensorflow::NodeDef& node) {
    std::vector<const tensorflow::AttrEntry*> entries;
    entries.reserve(static_cast<std::size_t>(node.attr_size()));
    for (const auto& entry : node.attr())
        entries.push_back(&entry);
    std::stable_sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
    return entries;
}

/// Unknown dimensions of a known rank count as 1.
Tensor tensorOf(const TensorType& type) {
    Tensor tensor;
    tensor.dtype = tf::dtypeName(type.dtype);
    tensor.shapeKnown = type.shapeKnown;
    tensor.dims = type.dims;
    if (!type.shapeKnown)
        return tensor;
    auto counted = type.dims;
    std::replace_if(
        counted.begin(), counted.end(), [](std::int64_t dim) { return dim < 0; }, 1);
    tensor.bytes = tf::tensorBytes(type.dtype, counted).value_or(0);
    return tensor;
}

class GraphImporter {
public:
    GraphImporter(Context& context, const Nodes& nodes, const tensorflow::FunctionDef* function, std::string name,
                  std::string format, int depth)
        : m_context(context)
        , m_nodes(nodes)
        , m_function(function)
        , m_builder(text::toValidUtf8(name), std::move(format))
        , m_wiring(nodes, function == nullptr ? nullptr : &function->signature())
        , m_depth(depth) {}

    Result<GraphPtr> run(std::vector<Warning> warnings) {
        for (auto& warning : warnings)
            m_builder.addWarning(std::move(warning.kind), std::move(warning.where), std::move(warning.detail));
        findTypes();
        Colocation colocation(m_nodes);
        for (int i = 0; i < m_nodes.size(); ++i)
            addNode(i, colocation.keyOf(m_nodes, i));
        for (int i = 0; i < m_nodes.size(); ++i) {
            if (m_context.options.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            connect(i);
            PW_CHECK(addBodies(i));
        }
        warnAboutInputs();
        if (m_function == nullptr) {
            warnAboutSizes();
            warnAboutUnusedDims();
            warnAboutDevices();
            countUncalledFunctions();
        }
        return std::move(m_builder).build();
    }

    int height() const { return m_height; }

private:
    static OpId idOf(int node) { return OpId(static_cast<std::size_t>(node)); }

    void findTypes() {
        tf::TypeQuestion question{m_nodes,
                                  m_wiring,
                                  argumentTypes(),
                                  m_context.producerVersion,
                                  m_context.options.inferShapes,
                                  {},
                                  m_context.options.stop};
        if (m_function == nullptr)
            question.dims = m_context.options.dims;
        m_types = tf::findTypes(question);
    }

    std::vector<TensorType> argumentTypes() const {
        std::vector<TensorType> types;
        if (m_function == nullptr)
            return types;
        for (const auto& arg : m_function->signature().input_arg())
            types.push_back({tf::withoutRef(arg.type()), false, {}});
        for (const auto& entry : m_function->attr()) {
            if (entry.key() != "_input_shapes")
                continue;
            const auto& shapes = entry.value().list().shape();
            for (int i = 0; i < std::min<int>(shapes.size(), static_cast<int>(types.size())); ++i) {
                const auto dims = tf::dimsOf(shapes[i]);
                auto& type = types[static_cast<std::size_t>(i)];
                type.shapeKnown = dims.has_value();
                type.dims = dims.value_or(tf::Dims());
            }
        }
        return types;
    }

    void addNode(int index, std::string colocation) {
        const tensorflow::NodeDef& node = m_nodes[index];
        Op op;
        op.name = node.name();
        op.type = node.op();
        op.phase = phaseOf(node);
        op.device = m_context.devices.nameOf(node.device());
        op.colocation = std::move(colocation);
        if (const auto device = TfDevice::parse(node.device()); device && !device->wantedKind().empty())
            op.allowedKinds = {device->wantedKind()};
        for (const auto* entry : attributesByKey(node)) {
            if (std::string value = tf::attributeText(*entry); !value.empty())
                op.attributes.emplace_back(text::toValidUtf8(entry->key()), std::move(value));
        }
        // why not in functions: one function serves many calls; its constants are not the model's weights.
        if (m_function == nullptr)
            op.paramBytes = parameterBytes(node);
        const OpId id = m_builder.addOp(std::move(op));
        for (const TensorType& type : m_types[static_cast<std::size_t>(index)])
            m_builder.addOutput(id, tensorOf(type));
    }

    std::int64_t parameterBytes(const tensorflow::NodeDef& node) {
        std::optional<std::int64_t> bytes = 0;
        if (node.op() == "Const") {
            const auto* value = tf::findAttr(node, "value");
            bytes = value != nullptr ? tf::tensorBytes(value->tensor()) : std::optional<std::int64_t>(0);
        } else if (isVariable(node.op())) {
            const auto* shape = tf::findAttr(node, "shape");
            const auto* type = tf::findAttr(node, "dtype");
            const auto dims = shape != nullptr ? tf::dimsOf(shape->shape()) : std::nullopt;
            bytes = dims && type != nullptr ? tf::tensorBytes(type->type(), *dims) : std::nullopt;
        }
        if (!bytes)
            m_builder.addWarning("bad_size", text::toValidUtf8(node.name()),
                                 "weights of an unknown or impossible shape; counted as 0 bytes");
        return bytes.value_or(0);
    }

    void connect(int index) {
        for (const tf::Wire& wire : m_wiring.inputs(index)) {
            if (wire.node < 0)
                continue;
            if (!wire.isControl)
                m_builder.addInput(idOf(index), m_builder.output(idOf(wire.node), wire.output), wire.slot);
            else
                m_builder.addControl(idOf(wire.node), idOf(index));
        }
    }

    Status addBodies(int index) {
        const tensorflow::NodeDef& node = m_nodes[index];
        if (m_context.functions.count(node.op()) != 0)
            PW_CHECK(addBody(index, node.op(), "function"));
        for (const auto* entry : attributesByKey(node)) {
            if (entry->value().has_func())
                PW_CHECK(addBody(index, entry->value().func().name(), entry->key()));
            const auto& list = entry->value().list().func();
            for (int k = 0; k < list.size(); ++k)
                PW_CHECK(addBody(index, list[k].name(), entry->key() + "[" + std::to_string(k) + "]"));
        }
        return {};
    }

    /// All calls of a function share one graph. A function that calls itself stays without a body there.
    Status addBody(int index, std::string_view name, const std::string& role) {
        const auto where = [&] { return text::toValidUtf8(m_nodes[index].name()); };
        const auto found = m_context.functions.find(name);
        if (found == m_context.functions.end()) {
            m_builder.addWarning("function", where(),
                                 "calls \"" + text::toValidUtf8(name) + "\", which is not in the file's library");
            return {};
        }
        Context::Function& function = found->second;
        if (function.isOpen) {
            m_builder.addWarning("function", where(), "calls \"" + text::toValidUtf8(name) + "\", inside which it is");
            return {};
        }
        if (function.graph == nullptr && m_depth < kMaxBodyDepth)
            PW_CHECK(buildFunction(function, std::string(name)));
        const bool isTooDeep = function.graph == nullptr || function.height + 1 + m_depth > kMaxBodyDepth;
        if (isTooDeep || m_context.expandedOps + function.graph->opCountWithBodies() > kMaxExpandedOps) {
            m_builder.addWarning("function", where(),
                                 isTooDeep ? "functions nest more than " + std::to_string(kMaxBodyDepth) +
                                                 " deep; body left out"
                                           : "too many ops in functions; body left out");
            return {};
        }
        m_context.expandedOps += function.graph->opCountWithBodies();
        m_height = std::max(m_height, function.height + 1);
        m_builder.op(idOf(index)).bodies.push_back({text::toValidUtf8(role), function.graph});
        return {};
    }

    Status buildFunction(Context::Function& function, std::string name) {
        function.isOpen = true;
        GraphImporter body(m_context, function.definition->node_def(), function.definition, std::move(name),
                           "tensorflow function", m_depth + 1);
        PW_TRY(function.graph, body.run({}));
        function.isOpen = false;
        function.height = body.height();
        for (const Warning& warning : function.graph->warnings())
            m_builder.addWarning(warning.kind, function.graph->name() + (warning.where.empty() ? "" : "/") + warning.where,
                                 warning.detail);
        return {};
    }

    void countUncalledFunctions() {
        std::size_t functions = 0;
        std::size_t ops = 0;
        for (const auto& [name, function] : m_context.functions) {
            if (function.graph != nullptr)
                continue;
            ++functions;
            ops += static_cast<std::size_t>(function.definition->node_def_size());
        }
        m_builder.addUnattachedOps(ops);
        if (functions > 0)
            m_builder.addWarning("unused_function", "",
                                 std::to_string(functions) + " functions of the library (" + std::to_string(ops) +
                                     " ops) are called by no op; they are counted only");
    }

    void warnAboutInputs() {
        if (m_wiring.missingCount() == 0)
            return;
        std::string names;
        for (const std::string& name : m_wiring.missingNames())
            names += (names.empty() ? "\"" : ", \"") + text::toValidUtf8(name) + "\"";
        m_builder.addWarning("missing_input", "",
                             std::to_string(m_wiring.missingCount()) + " inputs name what no node makes: " + names +
                                 (m_wiring.missingCount() > m_wiring.missingNames().size() ? ", ..." : ""));
    }

    void warnAboutSizes() {
        std::size_t dynamic = 0;
        std::size_t unknown = 0;
        std::string names;
        std::size_t named = 0;
        for (int i = 0; i < m_nodes.size(); ++i) {
            for (const TensorType& type : m_types[static_cast<std::size_t>(i)]) {
                const auto open = std::find_if(type.dims.begin(), type.dims.end(), [](std::int64_t dim) { return dim < 0; });
                unknown += type.shapeKnown ? 0 : 1;
                if (open == type.dims.end())
                    continue;
                ++dynamic;
                if (m_nodes[i].op().starts_with("Placeholder") && named++ < kMaxListedDims)
                    names += (names.empty() ? "" : ", ") + text::toValidUtf8(m_nodes[i].name()) + "[" +
                             std::to_string(open - type.dims.begin()) + "]";
            }
        }
        if (dynamic > 0)
            m_builder.addWarning("dynamic_dims", "",
                                 std::to_string(dynamic) +
                                     " outputs have dimensions that are not fixed; they count as 1" +
                                     (names.empty() ? std::string() : ". Set them: --dim NAME=N (there are: " + names + ")"));
        if (unknown > 0)
            m_builder.addWarning("unknown_shape", "",
                                 "the shapes of " + std::to_string(unknown) +
                                     " outputs are not known; they count as 0 bytes");
    }

    void warnAboutUnusedDims() {
        for (const auto& [key, value] : m_context.options.dims) {
            const auto bracket = key.rfind('[');
            const std::string name = key.substr(0, bracket);
            const bool isKnown = bracket != std::string::npos &&
                                 std::any_of(m_nodes.begin(), m_nodes.end(),
                                             [&name](const auto& node) { return node.name() == name; });
            if (!isKnown)
                m_builder.addWarning("unknown_dim", key, "the graph has no op of this name; write op[axis]");
        }
    }

    void warnAboutDevices() {
        std::set<std::string> devices;
        for (const auto& node : m_nodes)
            devices.insert(m_context.devices.nameOf(node.device()));
        if (devices.size() == 1 && !devices.begin()->empty())
            m_builder.addWarning("one_device", "", "every op carries the same device: " + *devices.begin());
        const std::vector<std::string> aliases = m_context.devices.aliases();
        std::string lines;
        for (const std::string& line : aliases)
            lines += (lines.empty() ? "" : "; ") + line;
        if (!aliases.empty())
            m_builder.addWarning("device_spelling", "",
                                 std::to_string(aliases.size()) + " devices are spelled in several ways: " + lines);
    }

    Context& m_context;
    const Nodes& m_nodes;
    const tensorflow::FunctionDef* m_function; ///< nullptr for the main graph
    GraphBuilder m_builder;
    tf::Wiring m_wiring;
    int m_depth;
    int m_height = 0;
    tf::TypeTable m_types;
};

Status checkNodes(const Nodes& nodes, const std::string& place) {
    for (int i = 0; i < nodes.size(); ++i) {
        if (nodes[i].name().empty() || nodes[i].op().empty())
            return fail(ErrorCode::Parse, nodes[i].op().empty() ? "the node has no op" : "the node has no name",
                        text::toValidUtf8(place + "node " + std::to_string(i) +
                                          (nodes[i].name().empty() ? "" : " \"" + nodes[i].name() + "\"")));
    }
    return {};
}

} // namespace

TfDeviceNames deviceNamesOf(const tensorflow::GraphDef& graph) {
    TfDeviceNames names;
    for (const auto& node : graph.node())
        names.add(node.device());
    for (const auto& function : graph.library().function()) {
        for (const auto& node : function.node_def())
            names.add(node.device());
    }
    return names;
}

Result<GraphPtr> importTfGraph(const tensorflow::GraphDef& graph, TfGraphSource source, const LoadOptions& options) {
    if (graph.node_size() == 0)
        return fail(ErrorCode::Parse, "is a TensorFlow graph without nodes");
    PW_CHECK(checkNodes(graph.node(), ""));
    for (const auto& function : graph.library().function())
        PW_CHECK(checkNodes(function.node_def(), "function \"" + function.signature().name() + "\", "));
    Context context{options, deviceNamesOf(graph), graph.versions().producer(), {}, 0};
    for (const auto& function : graph.library().function())
        context.functions.try_emplace(function.signature().name(), Context::Function{&function, nullptr, 0, false});
    return GraphImporter(context, graph.node(), nullptr, std::move(source.name), std::move(source.format), 0)
        .run(std::move(source.warnings));
}

} // namespace pw::formats
