#include "core/formats/graph_json.h"

#include "core/base/text.h"
#include "core/formats/json_util.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace pw::formats {

namespace {

/// Writes `"key": value` pairs of one object, with the commas where they belong.
class ObjectWriter {
public:
    explicit ObjectWriter(std::string& out)
        : m_out(out) {
        m_out += '{';
    }
    std::string& key(const char* name) {
        if (!m_first)
            m_out += ", ";
        m_first = false;
        m_out += '"';
        m_out += name;
        m_out += "\": ";
        return m_out;
    }
    void text(const char* name, std::string_view value) { key(name) += jsonString(value); }
    void number(const char* name, double value) { key(name) += text::number(value); }
    void integer(const char* name, std::int64_t value) { key(name) += std::to_string(value); }
    void close() { m_out += '}'; }

private:
    std::string& m_out;
    bool m_first = true;
};

/// True if "name" in an inputs list could be read as "op:k" or "^op".
bool needsObject(std::string_view name) {
    if (name.empty() || name.front() == '^')
        return true;
    const auto colon = name.rfind(':');
    if (colon == std::string_view::npos)
        return false;
    const std::string_view tail = name.substr(colon + 1);
    return !tail.empty() && std::all_of(tail.begin(), tail.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

void writeInput(std::string& out, const OpGraph& graph, const Edge& edge, std::uint32_t expectedSlot) {
    const std::string& name = graph.op(edge.producer).name;
    const bool isData = edge.kind == EdgeKind::Data;
    const std::uint32_t index = edge.tensor.isValid() ? graph.tensor(edge.tensor).outputIndex : 0;
    if (!needsObject(name) && edge.kind != EdgeKind::Capture && (!isData || edge.slot == expectedSlot)) {
        out += jsonString(isData ? (index == 0 ? name : name + ":" + std::to_string(index)) : "^" + name);
        return;
    }
    ObjectWriter object(out);
    object.text("op", name);
    if (index != 0)
        object.integer("out", index);
    if (edge.kind == EdgeKind::Control)
        object.key("control") += "true";
    if (edge.kind == EdgeKind::Capture)
        object.key("capture") += "true";
    if (isData && edge.slot != expectedSlot)
        object.integer("slot", edge.slot);
    object.close();
}

void writeInputs(ObjectWriter& object, const OpGraph& graph, OpId id) {
    const auto edges = graph.inEdges(id);
    if (edges.empty())
        return;
    std::string& out = object.key("inputs");
    out += '[';
    std::uint32_t expectedSlot = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (i > 0)
            out += ", ";
        writeInput(out, graph, edges[i], expectedSlot);
        if (edges[i].kind == EdgeKind::Data)
            expectedSlot = edges[i].slot + 1;
    }
    out += ']';
}

void writeOutputs(ObjectWriter& object, const OpGraph& graph, OpId id) {
    const auto outputs = graph.outputs(id);
    if (outputs.empty())
        return;
    std::string& out = object.key("outputs");
    out += '[';
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Tensor& tensor = graph.tensor(outputs[i]);
        if (i > 0)
            out += ", ";
        ObjectWriter output(out);
        output.integer("bytes", tensor.bytes);
        if (!tensor.dtype.empty())
            output.text("dtype", tensor.dtype);
        if (tensor.shapeKnown) {
            std::string& shape = output.key("shape");
            shape += '[';
            for (std::size_t d = 0; d < tensor.dims.size(); ++d)
                shape += (d > 0 ? ", " : "") + (tensor.dims[d] < 0 ? "null" : std::to_string(tensor.dims[d]));
            shape += ']';
        }
        if (!tensor.name.empty())
            output.text("name", tensor.name);
        output.close();
    }
    out += ']';
}

void writeCosts(ObjectWriter& object, const Op& op) {
    if (op.costs.empty())
        return;
    if (op.costs.size() == 1 && op.costs.front().kind.empty())
        return object.number("cost_us", op.costs.front().us);
    std::string& out = object.key("cost_us");
    ObjectWriter costs(out);
    for (const auto& cost : op.costs) {
        const std::string kind = jsonString(cost.kind);
        costs.number(kind.substr(1, kind.size() - 2).c_str(), cost.us);
    }
    costs.close();
}

void writeWork(ObjectWriter& object, const Op& op) {
    writeCosts(object, op);
    if (op.flops != -1.0)
        object.number("flops", op.flops);
    if (op.bytesMoved != -1)
        object.integer("bytes_moved", op.bytesMoved);
    for (const auto& [key, value] : {std::pair("param_bytes", op.paramBytes), std::pair("state_bytes", op.stateBytes),
                                     std::pair("workspace_bytes", op.workspaceBytes)}) {
        if (value != 0)
            object.integer(key, value);
    }
    if (op.tripCount != -1.0 && std::isfinite(op.tripCount))
        object.number("trip_count", op.tripCount);
}

void writePlacing(ObjectWriter& object, const Op& op, const std::string& device) {
    if (!op.colocation.empty())
        object.text("colocation", op.colocation);
    if (!op.allowedKinds.empty()) {
        std::string& out = object.key("devices");
        out += '[';
        for (std::size_t i = 0; i < op.allowedKinds.size(); ++i)
            out += (i > 0 ? ", " : "") + jsonString(op.allowedKinds[i]);
        out += ']';
    }
    if (!device.empty())
        object.text("device", device);
}

void writeAttributes(ObjectWriter& object, const Op& op) {
    if (op.attributes.empty())
        return;
    std::string& out = object.key("attributes");
    out += '{';
    for (std::size_t i = 0; i < op.attributes.size(); ++i)
        out += (i > 0 ? ", " : "") + jsonString(op.attributes[i].first) + ": " + jsonString(op.attributes[i].second);
    out += '}';
}

void writeGraph(std::string& out, const OpGraph& graph, const DeviceNames& deviceOf, const std::string& indent);

void writeOp(std::string& out, const OpGraph& graph, OpId id, const std::string& device, const std::string& indent) {
    const Op& op = graph.op(id);
    ObjectWriter object(out);
    object.text("name", op.name);
    if (!op.type.empty())
        object.text("type", op.type);
    if (op.phase != Phase::Forward)
        object.text("phase", phaseName(op.phase));
    // A scope is written even where the name implies it: which separator the names imply depends on all of them.
    if (const std::string scope = graph.scopePath(op.scope);
        !scope.empty() || op.name.find_first_of("/.:") != std::string::npos)
        object.text("scope", scope);
    writeInputs(object, graph, id);
    writeOutputs(object, graph, id);
    writeWork(object, op);
    writePlacing(object, op, device);
    writeAttributes(object, op);
    if (!op.bodies.empty()) {
        std::string& bodies = object.key("bodies");
        bodies += '[';
        for (std::size_t i = 0; i < op.bodies.size(); ++i) {
            bodies += i > 0 ? ", " : "";
            ObjectWriter body(bodies);
            body.text("name", op.bodies[i].name);
            writeGraph(body.key("graph"), *op.bodies[i].graph, {}, indent + "    ");
            body.close();
        }
        bodies += ']';
    }
    object.close();
}

void writeGraph(std::string& out, const OpGraph& graph, const DeviceNames& deviceOf, const std::string& indent) {
    out += "{ \"format\": \"placewright-graph\", \"version\": 1, \"name\": " + jsonString(graph.name()) + ",\n";
    if (graph.unattachedParameterBytes() != 0)
        out += indent + "  \"unattached_param_bytes\": " + std::to_string(graph.unattachedParameterBytes()) + ",\n";
    out += indent + "  \"ops\": [";
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        out += (i > 0 ? ",\n" : "\n") + indent + "    ";
        const OpId id(i);
        writeOp(out, graph, id, i < deviceOf.size() ? deviceOf[i] : graph.op(id).device, indent);
    }
    out += " ] }";
}

} // namespace

std::string toGraphJson(const OpGraph& graph, const DeviceNames& deviceOf) {
    std::string out;
    writeGraph(out, graph, deviceOf, {});
    out += '\n';
    return out;
}

std::string toGraphJson(const OpGraph& graph) {
    return toGraphJson(graph, {});
}

Status exportGraphJson(const OpGraph& graph, const Target& target) {
    return writeFileAtomically(target.path, toGraphJson(graph, target.deviceOf));
}

} // namespace pw::formats
