#include "core/base/graphviz_gate.h"
#include "core/base/text.h"
#include "core/formats/dot_guard.h"
#include "core/formats/importers.h"
#include "core/graph/graph_builder.h"

#include <graphviz/cgraph.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <unordered_map>

namespace pw::formats {

namespace {

// What default attributes and edges' `out` numbers may add up to: both let a few bytes stand for many.
constexpr std::size_t kFreeAttributeBytes = 4U << 20;
constexpr std::size_t kAttributeBytesPerByte = 32;
constexpr std::size_t kFreeOutputs = 10'000;
constexpr std::size_t kBytesPerOutput = 4;

constexpr int kMaxClusterDepth = 64; ///< deeper clusters count as their ancestor, as the builder does with scopes

struct GraphCloser {
    void operator()(Agraph_t* graph) const { agclose(graph); }
};
using GraphHandle = std::unique_ptr<Agraph_t, GraphCloser>;

/// What Graphviz says while it parses; its handler is a plain function, hence the variable, which the gate protects.
std::string* messages = nullptr;

int collectMessage(char* text) {
    if (messages != nullptr && messages->size() < 4096)
        *messages += text;
    return 0;
}

class MessageCollector {
public:
    MessageCollector() {
        messages = &m_text;
        m_previous = agseterrf(&collectMessage);
        m_level = agseterr(AGWARN);
    }
    ~MessageCollector() {
        agseterr(m_level);
        agseterrf(m_previous);
        messages = nullptr;
    }
    /// "syntax error near line 3" without the file name it puts before.
    std::string first() const {
        std::string line = m_text.substr(0, m_text.find('\n'));
        for (const std::string_view prefix : {"Error: ", "Warning: ", "<unknown>: "}) {
            if (line.starts_with(prefix))
                line.erase(0, prefix.size());
        }
        return text::toValidUtf8(line);
    }

private:
    std::string m_text;
    agusererrf m_previous = nullptr;
    agerrlevel_t m_level = AGWARN;
};

std::string attributeOf(void* object, const char* name) {
    const char* value = agget(object, const_cast<char*>(name));
    return value == nullptr ? std::string() : text::toValidUtf8(value);
}

/// The number at the start of a text, without its unit.
std::optional<double> leadingNumber(std::string_view text) {
    text = text::trim(text);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

std::int64_t toBytes(double value) {
    return value >= 0.0 && value < 9.0e18 ? std::llround(value) : 0;
}

/// "Conv2d" of "Conv2d(3, 64, ...)": the leading identifier of a label.
std::string leadingIdentifier(std::string_view label) {
    label = text::trim(label);
    const auto isIdentifier = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == ':' || c == '.' || c >= 0x80;
    };
    const auto end = std::find_if_not(label.begin(), label.end(), isIdentifier);
    return std::string(label.begin(), end);
}

/// "key=" in the bracketed line of a PipeDream label. A list "[a, b]" counts as its sum.
std::optional<double> pipeDreamValue(std::string_view label, std::string_view key) {
    const auto at = label.rfind(std::string(key) + "=");
    if (at == std::string_view::npos)
        return std::nullopt;
    std::string_view rest = label.substr(at + key.size() + 1);
    if (!rest.starts_with('['))
        return leadingNumber(rest);
    rest = rest.substr(1, rest.find(']') - 1);
    double sum = 0.0;
    while (!rest.empty()) {
        const auto value = leadingNumber(rest);
        if (!value)
            return std::nullopt;
        sum += *value;
        const auto next = rest.find_first_of(",;");
        rest = next == std::string_view::npos ? std::string_view() : rest.substr(next + 1);
    }
    return sum;
}

class DotReader {
public:
    DotReader(Agraph_t* graph, const std::string& fallbackName, std::size_t fileBytes, std::stop_token stop)
        : m_graph(graph)
        , m_builder(nameOr(agnameof(graph), fallbackName), "dot")
        , m_stop(std::move(stop))
        , m_spareAttributeBytes(kFreeAttributeBytes + kAttributeBytesPerByte * fileBytes)
        , m_spareOutputs(kFreeOutputs + fileBytes / kBytesPerOutput) {}

    Result<GraphPtr> read() {
        for (Agnode_t* node = agfstnode(m_graph); node != nullptr; node = agnxtnode(m_graph, node)) {
            if (m_stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            PW_CHECK(addNode(node));
        }
        if (!agisdirected(m_graph) && agnedges(m_graph) > 0)
            m_builder.addWarning("undirected", "",
                                 "the graph is undirected; each edge is read in the direction it is written");
        PW_CHECK(addEdges());
        addClusters();
        return std::move(m_builder).build();
    }

private:
    static std::string nameOr(const char* name, const std::string& fallback) {
        const bool isAnonymous = name == nullptr || *name == '\0' || *name == '%';
        return isAnonymous ? fallback : text::toValidUtf8(name);
    }

    Status addNode(Agnode_t* node) {
        Op op;
        op.name = text::toValidUtf8(agnameof(node));
        std::string label = attributeOf(node, "label");
        if (label == "\\N")
            label.clear();
        op.type = leadingIdentifier(label);
        double outputBytes = 0.0;
        if (label.find("forward_compute_time=") != std::string::npos) {
            addPipeDream(label, op, outputBytes);
        } else if (!label.empty()) {
            op.attributes.emplace_back("label", label);
        }
        PW_CHECK(addAttributes(node, op, outputBytes));
        if (op.type.empty())
            op.type = "Op";
        const OpId id = m_builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = toBytes(outputBytes);
        m_builder.addOutput(id, std::move(tensor));
        m_ids.emplace(node, id);
        return {};
    }

    /// A profile of PipeDream: times in ms of the forward and the backward pass. Its op is one layer, so the cost is
    /// that of one training step through it: forward + backward.
    static void addPipeDream(const std::string& label, Op& op, double& outputBytes) {
        const double forward = pipeDreamValue(label, "forward_compute_time").value_or(0.0);
        const double backward = pipeDreamValue(label, "backward_compute_time").value_or(0.0);
        op.costs = {{"", std::max(0.0, (forward + backward) * 1000.0)}};
        outputBytes = pipeDreamValue(label, "activation_size").value_or(0.0);
        op.paramBytes = toBytes(pipeDreamValue(label, "parameter_size").value_or(0.0));
        op.attributes.emplace_back("module", label.substr(0, label.rfind("\n[")));
        op.attributes.emplace_back("forward_ms", text::number(forward));
        op.attributes.emplace_back("backward_ms", text::number(backward));
    }

    /// The attributes that mean something here, see README.md; the rest is drawing.
    Status addAttributes(Agnode_t* node, Op& op, double& outputBytes) {
        for (Agsym_t* symbol = agnxtattr(m_graph, AGNODE, nullptr); symbol != nullptr;
             symbol = agnxtattr(m_graph, AGNODE, symbol)) {
            const std::string key = symbol->name;
            const std::string value = text::toValidUtf8(agxget(node, symbol));
            if (value.empty() || key == "label")
                continue;
            PW_CHECK(addAttribute(key, value, op, outputBytes));
        }
        return {};
    }

    Status addAttribute(const std::string& key, const std::string& value, Op& op, double& outputBytes) {
        const auto number = [&]() -> Result<double> {
            const auto read = leadingNumber(value);
            if (!read || *read < 0.0)
                return fail(ErrorCode::Parse, "expected a number, 0 or more, found \"" + value + "\"",
                            "node \"" + op.name + "\", attribute " + key);
            return *read;
        };
        if (key == "type" || key == "op_type") {
            op.type = value;
        } else if (key == "device") {
            op.device = value;
        } else if (key == "colocation") {
            op.colocation = value;
        } else if (key == "phase") {
            op.phase = phaseFromName(value).value_or(Phase::Forward);
        } else if (key == "cost" || key == "cost_us") {
            PW_TRY(const double us, number());
            op.costs = {{"", us}};
        } else if (key.starts_with("cost_us_")) {
            PW_TRY(const double us, number());
            op.costs.push_back({key.substr(8), us});
        } else if (key == "flops") {
            PW_TRY(op.flops, number());
        } else if (key == "bytes" || key == "output_bytes" || key == "size_bytes") {
            PW_TRY(outputBytes, number());
        } else if (key == "memory" || key == "param_bytes") {
            PW_TRY(const double bytes, number());
            op.paramBytes = toBytes(bytes);
        } else if (key == "state_bytes" || key == "workspace_bytes") {
            PW_TRY(const double bytes, number());
            (key == "state_bytes" ? op.stateBytes : op.workspaceBytes) = toBytes(bytes);
        } else if (!isDrawing(key)) {
            const std::size_t bytes = sizeof(op.attributes.front()) + key.size() + value.size();
            if (bytes > m_spareAttributeBytes)
                return fail(ErrorCode::TooLarge, "the attributes that all nodes get are too many",
                            "node \"" + op.name + "\"");
            m_spareAttributeBytes -= bytes;
            op.attributes.emplace_back(text::toValidUtf8(key), value);
        }
        return {};
    }

    static bool isDrawing(std::string_view key) {
        static constexpr std::array kDrawing = {"shape",    "color",  "fillcolor", "fontcolor", "fontname",
                                                "fontsize", "height", "pos",       "style",     "width",
                                                "penwidth", "margin", "rects",     "_draw_",    "_ldraw_"};
        return std::any_of(kDrawing.begin(), kDrawing.end(), [&](const char* known) { return known == key; });
    }

    /// Edges in the order of the file, which is the order of a node's input slots.
    Status addEdges() {
        std::vector<Agedge_t*> edges;
        for (Agnode_t* node = agfstnode(m_graph); node != nullptr; node = agnxtnode(m_graph, node)) {
            for (Agedge_t* edge = agfstout(m_graph, node); edge != nullptr; edge = agnxtout(m_graph, edge))
                edges.push_back(edge);
        }
        std::sort(edges.begin(), edges.end(), [](Agedge_t* a, Agedge_t* b) { return AGSEQ(a) < AGSEQ(b); });
        for (Agedge_t* edge : edges) {
            const OpId from = m_ids.at(agtail(edge));
            const OpId to = m_ids.at(aghead(edge));
            if (attributeOf(edge, "control") == "true") {
                m_builder.addControl(from, to);
                continue;
            }
            const auto output = leadingNumber(attributeOf(edge, "out")).value_or(0.0);
            if (output < 0.0 || output > 65535.0)
                return fail(ErrorCode::Parse, "output number out of range",
                            "edge to \"" + m_builder.op(to).name + "\"");
            const auto index = static_cast<std::size_t>(output);
            for (; m_builder.outputCount(from) <= index; --m_spareOutputs) {
                if (m_spareOutputs == 0)
                    return fail(ErrorCode::TooLarge, "the edges' output numbers are too large for the number of edges",
                                "edge to \"" + m_builder.op(to).name + "\"");
                m_builder.addOutput(from);
            }
            const TensorId tensor = m_builder.output(from, index);
            if (const auto bytes = leadingNumber(attributeOf(edge, "bytes")); bytes && *bytes >= 0.0) {
                std::int64_t& size = m_builder.tensor(tensor).bytes;
                size = std::max(size, toBytes(*bytes));
            }
            m_builder.addInput(to, tensor);
        }
        return {};
    }

    /// Subgraphs named cluster* are scopes; a node belongs to the innermost one that lists it. Explicit stack: the
    /// nesting comes from the file.
    void addClusters() {
        struct Open {
            Agraph_t* graph;
            std::string path;
            int depth;
        };
        std::vector<Open> open = {{m_graph, "", 0}};
        std::vector<int> depthOf(m_builder.opCount(), 0);
        while (!open.empty()) {
            const Open at = std::move(open.back());
            open.pop_back();
            for (Agraph_t* sub = agfstsubg(at.graph); sub != nullptr; sub = agnxtsubg(sub)) {
                const std::string name = text::toValidUtf8(agnameof(sub));
                const bool isCluster = name.starts_with("cluster") && at.depth < kMaxClusterDepth;
                open.push_back({sub,
                                isCluster ? at.path + (at.path.empty() ? "" : "/") + scopeName(sub, name) : at.path,
                                at.depth + (isCluster ? 1 : 0)});
            }
            if (at.path.empty())
                continue;
            for (Agnode_t* node = agfstnode(at.graph); node != nullptr; node = agnxtnode(at.graph, node)) {
                const OpId id = m_ids.at(agidnode(m_graph, AGID(node), 0));
                if (depthOf[id.index()] < at.depth) {
                    depthOf[id.index()] = at.depth;
                    m_builder.setScope(id, at.path);
                }
            }
        }
    }

    /// The label if the cluster has one of its own (it inherits that of the graph around it), else what follows
    /// "cluster" and "_" in its name. A name that is only a number means nothing.
    static std::string scopeName(Agraph_t* cluster, const std::string& name) {
        const std::string label = attributeOf(cluster, "label");
        std::string title = name.substr(std::string_view("cluster").size());
        title.erase(0, std::min(title.find_first_not_of('_'), title.size()));
        const bool isNumber = title.find_first_not_of("0123456789") == std::string::npos;
        if (!label.empty() && (isNumber || label != attributeOf(agparent(cluster), "label")))
            title = label;
        std::replace(title.begin(), title.end(), '/', '|');
        return title.empty() ? name : title;
    }

    Agraph_t* m_graph;
    GraphBuilder m_builder;
    std::stop_token m_stop;
    std::unordered_map<Agnode_t*, OpId> m_ids;
    std::size_t m_spareAttributeBytes;
    std::size_t m_spareOutputs;
};

/// cgraph's parser works on a text that ends with a zero byte.
Status checkText(const std::string& content, const std::string& path) {
    if (const auto zero = content.find('\0'); zero != std::string::npos)
        return fail(ErrorCode::Parse, "is binary, not DOT", "byte " + std::to_string(zero), path);
    return checkDotSize(content, path);
}

} // namespace

Result<GraphPtr> importDot(const Source& source, const LoadOptions& options) {
    PW_TRY(const std::string content, source.text());
    PW_CHECK(checkText(content, source.path));
    const auto gate = graphvizGate();
    MessageCollector collector;
    const GraphHandle graph(agmemread(content.c_str()));
    if (graph == nullptr) {
        const std::string reason = collector.first();
        return fail(ErrorCode::Parse, "not valid DOT: " + (reason.empty() ? "there is no graph in it" : reason));
    }
    return DotReader(graph.get(), source.baseName, content.size(), options.stop).read();
}

} // namespace pw::formats
