#include "core/formats/exporters.h"

#include "core/base/text.h"

namespace pw::formats {

namespace {

constexpr int kMaxNesting = 64;

/// A quoted ID. DOT knows only \" inside quotes; backslashes before a quote must be even in number to leave it alone.
std::string quotedId(std::string_view text) {
    std::string out = "\"";
    std::size_t backslashes = 0;
    const auto even = [&] { out += backslashes % 2 != 0 ? "\\" : ""; };
    for (const char c : text) {
        if (c == '"') {
            even();
            out += '\\';
        }
        out += c;
        backslashes = c == '\\' ? backslashes + 1 : 0;
    }
    even();
    return out + '"';
}

/// Labels are escape strings: a backslash must be doubled to stay one.
std::string label(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\')
            escaped += '\\';
        escaped += c;
    }
    return quotedId(escaped);
}

class DotWriter {
public:
    DotWriter(const OpGraph& graph, const DeviceNames& deviceOf)
        : m_graph(graph)
        , m_deviceOf(deviceOf) {}

    std::string run() {
        m_out = "digraph " + quotedId(m_graph.name()) + " {\n  node [shape=box];\n";
        for (std::size_t i = 0; i < m_graph.opCount(); ++i)
            writeNode(OpId(i));
        for (const Edge& edge : m_graph.edges())
            writeEdge(edge);
        for (const ScopeId child : m_graph.scope(ScopeId(0)).children)
            writeScope(child, 1);
        m_out += "}\n";
        return std::move(m_out);
    }

private:
    void writeNode(OpId id) {
        const Op& op = m_graph.op(id);
        m_out += "  " + quotedId(op.name) + " [label=" + label(op.type.empty() ? op.name : op.type);
        add("type", op.type);
        if (op.phase != Phase::Forward)
            add("phase", phaseName(op.phase));
        for (const auto& cost : op.costs) {
            // why quoted: a bare number of DOT has no exponent
            const std::string key = cost.kind.empty() ? "cost_us" : "cost_us_" + cost.kind;
            m_out += ", " + quotedId(key) + "=" + quotedId(text::number(cost.us));
        }
        if (op.flops >= 0.0)
            m_out += ", flops=" + quotedId(text::number(op.flops));
        const auto outputs = m_graph.outputs(id);
        addBytes("bytes", outputs.empty() ? 0 : m_graph.tensor(outputs.front()).bytes);
        addBytes("param_bytes", op.paramBytes);
        addBytes("state_bytes", op.stateBytes);
        addBytes("workspace_bytes", op.workspaceBytes);
        add("colocation", op.colocation);
        add("device", id.index() < m_deviceOf.size() ? m_deviceOf[id.index()] : op.device);
        m_out += "];\n";
    }

    void add(const char* key, std::string_view value) {
        if (!value.empty())
            m_out += std::string(", ") + key + "=" + quotedId(value);
    }

    void addBytes(const char* key, std::int64_t bytes) {
        if (bytes != 0)
            m_out += std::string(", ") + key + "=" + std::to_string(bytes);
    }

    void writeEdge(const Edge& edge) {
        m_out += "  " + quotedId(m_graph.op(edge.producer).name) + " -> " + quotedId(m_graph.op(edge.consumer).name);
        if (edge.kind == EdgeKind::Control) {
            m_out += " [control=true, style=dashed];\n";
            return;
        }
        const Tensor& tensor = m_graph.tensor(edge.tensor);
        if (tensor.outputIndex != 0)
            m_out += " [out=" + std::to_string(tensor.outputIndex) + ", bytes=" + std::to_string(tensor.bytes) + "]";
        m_out += ";\n";
    }

    /// Nodes stand before the clusters, so that reading back keeps their order; clusters only list them.
    void writeScope(ScopeId id, int depth) {
        const Scope& scope = m_graph.scope(id);
        const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
        m_out += indent + "subgraph cluster_" + std::to_string(id.value()) + " {\n" + indent +
                 "  label=" + label(scope.name) + ";\n";
        for (const OpId op : scope.ops)
            m_out += indent + "  " + quotedId(m_graph.op(op).name) + ";\n";
        for (const ScopeId child : scope.children) {
            if (depth < kMaxNesting)
                writeScope(child, depth + 1);
        }
        m_out += indent + "}\n";
    }

    const OpGraph& m_graph;
    const DeviceNames& m_deviceOf;
    std::string m_out;
};

} // namespace

std::string toDot(const OpGraph& graph, const DeviceNames& deviceOf) {
    return DotWriter(graph, deviceOf).run();
}

Status exportDot(const OpGraph& graph, const Target& target) {
    return writeFileAtomically(target.path, toDot(graph, target.deviceOf));
}

} // namespace pw::formats
