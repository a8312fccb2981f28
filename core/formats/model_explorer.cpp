#include "core/base/text.h"
#include "core/formats/published.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>

/// Graphs of Model Explorer: nodes with namespaces, incoming edges and attributes.
namespace pw::formats {

namespace {

constexpr std::uint32_t kMaxSlot = 65535;

/// A small whole number written as a number or a text.
std::optional<std::uint32_t> smallNumber(const std::string& text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isNumber = error == std::errc() && end == text.data() + text.size() && value <= kMaxSlot;
    return isNumber ? std::optional<std::uint32_t>(value) : std::nullopt;
}

Result<std::string> optionalId(const JsonObject& object, const char* key, const std::string& fallback) {
    return object.find(key) != nullptr ? requiredId(object, key) : Result<std::string>(fallback);
}

class ExplorerReader {
public:
    ExplorerReader(std::string name, const LoadOptions& options)
        : m_builder(std::move(name), "model-explorer")
        , m_options(options) {}

    Result<GraphPtr> read(const JsonObject& graph, std::size_t others) {
        PW_TRY(const Json* const nodes, requiredArray(graph, "nodes"));
        for (std::size_t i = 0; i < nodes->size(); ++i) {
            if (m_options.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            PW_TRY(const JsonObject node, entryOf(*nodes, i, graph.pathOf("nodes")));
            PW_CHECK(addNode(node));
        }
        for (std::size_t i = 0; i < nodes->size(); ++i) {
            PW_TRY(const JsonObject node, entryOf(*nodes, i, graph.pathOf("nodes")));
            PW_CHECK(addEdges(OpId(i), node));
        }
        if (others > 0)
            m_builder.addWarning("graphs", "",
                                 "the file holds " + std::to_string(others) + " more graphs; the first one is opened");
        return std::move(m_builder).build();
    }

private:
    Status addNode(const JsonObject& node) {
        Op op;
        PW_TRY(const std::string id, requiredId(node, "id"));
        op.name = id;
        PW_TRY(op.type, node.text("label"));
        if (op.type.empty())
            op.type = "Op";
        PW_TRY(const Json* const attributes, node.array("attrs"));
        for (std::size_t i = 0; i < attributes->size(); ++i) {
            PW_TRY(const JsonObject attribute, entryOf(*attributes, i, node.pathOf("attrs")));
            PW_TRY(std::string key, attribute.requiredText("key"));
            if (const Json* const value = attribute.find("value"))
                op.attributes.emplace_back(std::move(key), asText(*value));
        }
        PW_TRY(const std::string scope, node.text("namespace"));
        const OpId added = m_builder.addOp(std::move(op));
        m_builder.setScope(added, scope);
        return m_nodes.add(id, added, node.pathOf("id"));
    }

    static std::string asText(const Json& value) {
        return value.is_string() ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    Status addEdges(OpId to, const JsonObject& node) {
        PW_TRY(const Json* const edges, node.array("incomingEdges"));
        std::unordered_set<std::uint32_t> taken;
        for (std::size_t i = 0; i < edges->size(); ++i) {
            PW_TRY(const JsonObject edge, entryOf(*edges, i, node.pathOf("incomingEdges")));
            PW_TRY(const OpId from, m_nodes.find(edge, "sourceNodeId"));
            PW_TRY(const std::string output, optionalId(edge, "sourceNodeOutputId", "0"));
            PW_TRY(const std::string input, optionalId(edge, "targetNodeInputId", ""));
            const TensorId tensor = tensorOf(from, output);
            const auto slot = smallNumber(input);
            if (slot && taken.insert(*slot).second)
                m_builder.addInput(to, tensor, *slot);
            else
                m_builder.addInput(to, tensor);
        }
        return {};
    }

    /// Outputs are numbered in the order they are first read; the file's own id is the tensor's name.
    TensorId tensorOf(OpId producer, const std::string& output) {
        const auto [entry, isNew] = m_outputs[producer].try_emplace(output);
        if (isNew) {
            Tensor tensor;
            tensor.name = output;
            entry->second = m_builder.addOutput(producer, std::move(tensor));
        }
        return entry->second;
    }

    GraphBuilder m_builder;
    const LoadOptions& m_options;
    NodeTable m_nodes;
    std::unordered_map<OpId, std::unordered_map<std::string, TensorId>> m_outputs;
};

/// The graphs of a file: {"graphs": [...]}, a list of such collections, {"graphCollections": [...]}, or one graph.
Status collectGraphs(const Json& value, const std::string& path, std::vector<JsonObject>& graphs, int depth = 0) {
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i)
            PW_CHECK(collectGraphs(value[i], path + "[" + std::to_string(i) + "]", graphs, depth + 1));
        return {};
    }
    PW_TRY(const JsonObject object, JsonObject::of(value, path));
    if (object.find("nodes") != nullptr) {
        graphs.push_back(object);
        return {};
    }
    constexpr int kMaxDepth = 6;
    for (const char* key : {"graphs", "graphCollections"}) {
        if (const Json* const list = object.find(key); list != nullptr && depth < kMaxDepth)
            PW_CHECK(collectGraphs(*list, object.pathOf(key), graphs, depth + 1));
    }
    return {};
}

} // namespace

Result<GraphPtr> importModelExplorer(const Source& source, const LoadOptions& options) {
    PW_TRY(const Json document, parseSource(source));
    std::vector<JsonObject> graphs;
    PW_CHECK(collectGraphs(document, {}, graphs));
    if (graphs.empty())
        return fail(ErrorCode::Parse, "holds no graph: there is no list of nodes");
    PW_TRY(const std::string name, optionalId(graphs.front(), "id", source.baseName));
    return ExplorerReader(name, options).read(graphs.front(), graphs.size() - 1);
}

} // namespace pw::formats
