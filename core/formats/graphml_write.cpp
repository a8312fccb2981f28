#include "core/formats/exporters.h"

#include "core/base/saturate.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace pw::formats {

namespace {

struct Key {
    const char* id;
    const char* domain; ///< "node", "edge", "graph"
    const char* type;
};

constexpr std::array kKeys = {
    Key{"name", "node", "string"},      Key{"type", "node", "string"},       Key{"scope", "node", "string"},
    Key{"phase", "node", "string"},     Key{"device", "node", "string"},     Key{"colocation", "node", "string"},
    Key{"flops", "node", "double"},     Key{"bytes_moved", "node", "long"},  Key{"param_bytes", "node", "long"},
    Key{"state_bytes", "node", "long"}, Key{"output_bytes", "node", "long"}, Key{"tensor", "edge", "long"},
    Key{"bytes", "edge", "long"},       Key{"slot", "edge", "long"},         Key{"kind", "edge", "string"},
};

/// Text as XML may hold it. Control characters have no spelling in XML 1.0: each becomes U+FFFD.
std::string escaped(std::string_view raw) {
    std::string out;
    for (const char c : text::toValidUtf8(raw)) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\n':
            out += "&#10;";
            break;
        case '\r':
            out += "&#13;";
            break;
        case '\t':
            out += "&#9;";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20)
                out += "\xef\xbf\xbd";
            else
                out += c;
        }
    }
    // U+FFFE and U+FFFF are no characters of XML either.
    for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
        for (auto at = out.find(none); at != std::string::npos; at = out.find(none, at))
            out.replace(at, none.size(), "\xef\xbf\xbd");
    }
    return out;
}

const char* kindName(EdgeKind kind) {
    return kind == EdgeKind::Data ? "data" : kind == EdgeKind::Control ? "control" : "capture";
}

/// Writes the `<data>` elements of one node or edge.
class DataWriter {
public:
    explicit DataWriter(std::string& out)
        : m_out(out) {}

    void text(const std::string& key, std::string_view value) {
        if (!value.empty())
            add(key, escaped(value));
    }
    void bytes(const std::string& key, std::int64_t value) {
        if (value > 0)
            add(key, std::to_string(value));
    }
    void number(const std::string& key, double value) { add(key, text::number(value)); }
    void add(const std::string& key, const std::string& value) {
        m_out += "<data key=\"" + key + "\">" + value + "</data>";
    }

private:
    std::string& m_out;
};

/// Every kind of device that some op has a cost for: a key each.
std::vector<std::string> costKinds(const OpGraph& graph) {
    std::vector<std::string> kinds;
    for (const Op& op : graph.ops()) {
        for (const MeasuredCost& cost : op.costs) {
            if (std::find(kinds.begin(), kinds.end(), cost.kind) == kinds.end())
                kinds.push_back(cost.kind);
        }
    }
    std::sort(kinds.begin(), kinds.end());
    return kinds;
}

/// "cost_us", "cost_us_gpu". The id of a key must be a name token: a number stands for a kind that is none.
std::string costKey(const std::vector<std::string>& kinds, const std::string& kind) {
    if (kind.empty())
        return "cost_us";
    const bool isToken = std::all_of(kind.begin(), kind.end(), [](unsigned char c) {
        return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
    });
    const auto place = std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
    return "cost_us_" + (isToken ? kind : "kind." + std::to_string(place));
}

void writeKeys(std::string& out, const std::vector<std::string>& kinds) {
    const auto key = [&out](const std::string& id, const std::string& domain, const std::string& name,
                            const std::string& type) {
        out +=
            "  <key id=\"" + id + "\" for=\"" + domain + "\" attr.name=\"" + name + "\" attr.type=\"" + type + "\"/>\n";
    };
    for (const Key& known : kKeys)
        key(known.id, known.domain, known.id, known.type);
    for (const std::string& kind : kinds)
        key(costKey(kinds, kind), "node", kind.empty() ? "cost_us" : "cost_us_" + escaped(kind), "double");
}

void writeNode(std::string& out, const OpGraph& graph, OpId id, const std::string& device,
               const std::vector<std::string>& kinds) {
    const Op& op = graph.op(id);
    out += "    <node id=\"n" + std::to_string(id.value()) + "\">";
    DataWriter data(out);
    data.add("name", escaped(op.name));
    data.text("type", op.type);
    data.text("scope", graph.scopePath(op.scope));
    data.text("phase", phaseName(op.phase));
    data.text("device", device);
    data.text("colocation", op.colocation);
    for (const MeasuredCost& cost : op.costs)
        data.number(costKey(kinds, cost.kind), cost.us);
    if (op.flops >= 0.0)
        data.number("flops", op.flops);
    data.bytes("bytes_moved", op.bytesMoved);
    data.bytes("param_bytes", op.paramBytes);
    data.bytes("state_bytes", op.stateBytes);
    std::int64_t outputBytes = 0;
    for (const TensorId output : graph.outputs(id))
        outputBytes = addSaturating(outputBytes, graph.tensor(output).bytes);
    data.bytes("output_bytes", outputBytes);
    out += "</node>\n";
}

void writeEdge(std::string& out, const OpGraph& graph, const Edge& edge) {
    out += "    <edge source=\"n" + std::to_string(edge.producer.value()) + "\" target=\"n" +
           std::to_string(edge.consumer.value()) + "\">";
    DataWriter data(out);
    data.text("kind", kindName(edge.kind));
    if (edge.tensor.isValid()) {
        data.add("tensor", std::to_string(graph.tensor(edge.tensor).outputIndex));
        data.add("bytes", std::to_string(graph.tensor(edge.tensor).bytes));
    }
    if (edge.kind == EdgeKind::Data)
        data.add("slot", std::to_string(edge.slot));
    out += "</edge>\n";
}

/// The main graph; bodies stay behind.
std::string toGraphml(const OpGraph& graph, const DeviceNames& deviceOf) {
    const std::vector<std::string> kinds = costKinds(graph);
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
    writeKeys(out, kinds);
    out += "  <graph id=\"G\" edgedefault=\"directed\">\n    <desc>" + escaped(graph.name()) + "</desc>\n";
    for (std::size_t i = 0; i < graph.opCount(); ++i)
        writeNode(out, graph, OpId(i), i < deviceOf.size() ? deviceOf[i] : graph.op(OpId(i)).device, kinds);
    for (const Edge& edge : graph.edges())
        writeEdge(out, graph, edge);
    return out + "  </graph>\n</graphml>\n";
}

} // namespace

Status exportGraphml(const OpGraph& graph, const Target& target) {
    return writeFileAtomically(target.path, toGraphml(graph, target.deviceOf));
}

} // namespace pw::formats
