#include "core/formats/graph_json.h"

#include "core/formats/importers.h"
#include "core/formats/json_util.h"
#include "core/graph/graph_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace pw::formats {

namespace {

constexpr std::array kOpKeys = {
    "attributes", "bodies", "bytes_moved", "colocation", "cost_us", "device",
    "devices",    "flops",  "inputs",      "name",       "outputs", "param_bytes",
    "phase",      "scope",  "state_bytes", "trip_count", "type",    "workspace_bytes",
};
constexpr std::array kGraphKeys = {"format", "name", "ops", "unattached_param_bytes", "version"};

template<std::size_t Size>
bool isKnown(const std::array<const char*, Size>& keys, std::string_view key) {
    return std::any_of(keys.begin(), keys.end(), [&](const char* known) { return known == key; });
}

std::string asText(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

Result<GraphPtr> readGraph(const JsonObject& object, int depth);

/// Where an input comes from, before the names are looked up.
struct InputRef {
    std::string op;
    std::size_t output = 0;
    EdgeKind kind = EdgeKind::Data;
    std::optional<std::uint32_t> slot;
};

class GraphReader {
public:
    GraphReader(const JsonObject& object, std::string name, int depth)
        : m_object(object)
        , m_builder(std::move(name), "json")
        , m_depth(depth) {}

    Result<GraphPtr> read() {
        PW_TRY(const Json* const ops, m_object.array("ops"));
        if (m_object.find("ops") == nullptr)
            return fail(ErrorCode::Parse, "missing", m_object.pathOf("ops"));
        for (const auto& [key, value] : m_object.value().items()) {
            if (!isKnown(kGraphKeys, key))
                m_builder.addWarning("unknown_key", m_object.pathOf(key), "ignored");
        }
        PW_TRY(const std::int64_t unattached, m_object.integer("unattached_param_bytes", 0));
        m_builder.addUnattachedParameterBytes(unattached);
        for (std::size_t i = 0; i < ops->size(); ++i)
            PW_CHECK(readOp((*ops)[i], opPath(i)));
        for (std::size_t i = 0; i < ops->size(); ++i)
            PW_CHECK(readInputs(JsonObject((*ops)[i], opPath(i)), OpId(i)));
        return std::move(m_builder).build();
    }

private:
    std::string opPath(std::size_t i) const { return m_object.pathOf("ops") + "[" + std::to_string(i) + "]"; }

    Status readOp(const Json& value, const std::string& path) {
        PW_TRY(const JsonObject object, JsonObject::of(value, path));
        Op op;
        PW_TRY(op.name, object.text("name"));
        PW_TRY(op.type, object.text("type"));
        PW_TRY(const std::string phase, object.text("phase", "forward"));
        const auto known = phaseFromName(phase);
        if (!known)
            return fail(ErrorCode::Parse, "unknown phase \"" + phase + "\" (forward, backward, optimizer, auxiliary)",
                        object.pathOf("phase"));
        op.phase = *known;
        PW_CHECK(readWork(object, op));
        PW_CHECK(readCosts(object, op));
        PW_CHECK(readPlacing(object, op));
        PW_CHECK(readAttributes(object, op));
        PW_CHECK(readBodies(object, op));
        const std::string name = op.name;
        const OpId id = m_builder.addOp(std::move(op));
        if (!name.empty())
            m_byName.try_emplace(name, id);
        if (object.find("scope") != nullptr) {
            PW_TRY(const std::string scope, object.text("scope"));
            m_builder.setScope(id, scope);
        }
        return readOutputs(object, id);
    }

    static Status readWork(const JsonObject& object, Op& op) {
        PW_TRY(op.flops, object.number("flops", -1.0));
        PW_TRY(op.bytesMoved, object.integer("bytes_moved", -1));
        PW_TRY(op.paramBytes, object.integer("param_bytes", 0));
        PW_TRY(op.stateBytes, object.integer("state_bytes", 0));
        PW_TRY(op.workspaceBytes, object.integer("workspace_bytes", 0));
        PW_TRY(op.tripCount, object.number("trip_count", -1.0));
        // Negative stands for "unknown" inside the program; in a file that is said by leaving the key out.
        for (const char* key : {"flops", "bytes_moved", "param_bytes", "state_bytes", "workspace_bytes", "trip_count"}) {
            PW_TRY(const double value, object.number(key, 0.0));
            if (value < 0.0)
                return fail(ErrorCode::Invalid, "must not be negative", object.pathOf(key));
        }
        return {};
    }

    static Status readCosts(const JsonObject& object, Op& op) {
        const Json* costs = object.find("cost_us");
        if (costs == nullptr)
            return {};
        if (!costs->is_object()) {
            PW_TRY(const double us, jsonNumber(*costs, object.pathOf("cost_us")));
            op.costs = {{"", us}};
            return {};
        }
        for (const auto& [kind, value] : costs->items()) {
            PW_TRY(const double us, jsonNumber(value, object.pathOf("cost_us." + kind)));
            op.costs.push_back({kind, us});
        }
        return {};
    }

    static Status readPlacing(const JsonObject& object, Op& op) {
        PW_TRY(op.colocation, object.text("colocation"));
        PW_TRY(op.device, object.text("device"));
        PW_TRY(const Json* const kinds, object.array("devices"));
        for (std::size_t i = 0; i < kinds->size(); ++i) {
            PW_TRY(std::string kind, jsonText((*kinds)[i], object.pathOf("devices") + "[" + std::to_string(i) + "]"));
            op.allowedKinds.push_back(std::move(kind));
        }
        return {};
    }

    Status readAttributes(const JsonObject& object, Op& op) {
        if (const Json* attributes = object.find("attributes")) {
            PW_TRY(const JsonObject map, JsonObject::of(*attributes, object.pathOf("attributes")));
            for (const auto& [key, value] : map.value().items())
                op.attributes.emplace_back(key, asText(value));
        }
        for (const auto& [key, value] : object.value().items()) {
            if (isKnown(kOpKeys, key))
                continue;
            m_builder.addWarning("unknown_key", object.pathOf(key), "kept as an attribute of op \"" + op.name + "\"");
            op.attributes.emplace_back(key, asText(value));
        }
        return {};
    }

    Status readBodies(const JsonObject& object, Op& op) {
        PW_TRY(const Json* const bodies, object.array("bodies"));
        for (std::size_t i = 0; i < bodies->size(); ++i) {
            const std::string path = object.pathOf("bodies") + "[" + std::to_string(i) + "]";
            PW_TRY(const JsonObject body, JsonObject::of((*bodies)[i], path));
            PW_TRY(std::string name, body.text("name"));
            const Json* graph = body.find("graph");
            if (graph == nullptr)
                return fail(ErrorCode::Parse, "missing", body.pathOf("graph"));
            PW_TRY(const JsonObject graphObject, JsonObject::of(*graph, body.pathOf("graph")));
            PW_TRY(GraphPtr built, readGraph(graphObject, m_depth + 1));
            op.bodies.push_back({std::move(name), std::move(built)});
        }
        return {};
    }

    Status readOutputs(const JsonObject& object, OpId id) {
        PW_TRY(const Json* const outputs, object.array("outputs"));
        for (std::size_t i = 0; i < outputs->size(); ++i) {
            PW_TRY(const JsonObject output,
                   JsonObject::of((*outputs)[i], object.pathOf("outputs") + "[" + std::to_string(i) + "]"));
            Tensor tensor;
            PW_TRY(tensor.dtype, output.text("dtype"));
            PW_TRY(tensor.name, output.text("name"));
            PW_CHECK(readShape(output, tensor));
            std::int64_t implied = 0;
            if (const auto count = elementCount(tensor.dims); tensor.shapeKnown && count)
                implied = *count > INT64_MAX / 16 ? INT64_MAX : *count * dtypeBytes(tensor.dtype);
            PW_TRY(tensor.bytes, output.integer("bytes", implied));
            m_builder.addOutput(id, std::move(tensor));
        }
        return {};
    }

    static Status readShape(const JsonObject& output, Tensor& tensor) {
        PW_TRY(const Json* const shape, output.array("shape"));
        tensor.shapeKnown = output.find("shape") != nullptr;
        for (std::size_t d = 0; d < shape->size(); ++d) {
            const Json& dim = (*shape)[d];
            if (dim.is_null() || dim.is_string()) {
                tensor.dims.push_back(-1); // "batch": a symbolic dimension
                continue;
            }
            PW_TRY(const std::int64_t size, jsonInteger(dim, output.pathOf("shape") + "[" + std::to_string(d) + "]"));
            tensor.dims.push_back(size < 0 ? -1 : size);
        }
        return {};
    }

    Status readInputs(const JsonObject& object, OpId consumer) {
        PW_TRY(const Json* const inputs, object.array("inputs"));
        for (std::size_t i = 0; i < inputs->size(); ++i) {
            const std::string path = object.pathOf("inputs") + "[" + std::to_string(i) + "]";
            PW_TRY(const InputRef ref, readInputRef((*inputs)[i], path));
            PW_CHECK(addInput(ref, consumer, path));
        }
        return {};
    }

    /// "op", "op:k", "^op" or an object with "op", "out", "control", "capture", "slot".
    Result<InputRef> readInputRef(const Json& value, const std::string& path) const {
        InputRef ref;
        if (value.is_object()) {
            const JsonObject object(value, path);
            PW_TRY(ref.op, object.requiredText("op"));
            PW_TRY(const std::int64_t out, object.integer("out", 0));
            PW_TRY(const std::int64_t slot, object.integer("slot", -1));
            if (out < 0 || slot < -1 || slot > kMaxSlot)
                return fail(ErrorCode::Parse, "out of range", out < 0 ? object.pathOf("out") : object.pathOf("slot"));
            ref.output = static_cast<std::size_t>(out);
            if (slot >= 0)
                ref.slot = static_cast<std::uint32_t>(slot);
            for (const auto& [key, kind] :
                 {std::pair("control", EdgeKind::Control), std::pair("capture", EdgeKind::Capture)}) {
                const Json* flag = object.find(key);
                if (flag != nullptr && !flag->is_boolean())
                    return fail(ErrorCode::Parse, "expected true or false", object.pathOf(key));
                if (flag != nullptr && flag->get<bool>())
                    ref.kind = kind;
            }
            return ref;
        }
        PW_TRY(const std::string text, jsonText(value, path));
        std::string_view name = text;
        if (!name.empty() && name.front() == '^') {
            ref.kind = EdgeKind::Control;
            name.remove_prefix(1);
        } else if (const auto colon = name.rfind(':'); colon != std::string_view::npos && colon + 1 < name.size()) {
            const char* const end = name.data() + name.size();
            std::size_t output = 0;
            const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, output);
            if (error == std::errc() && stop == end && m_byName.count(std::string(name.substr(0, colon))) != 0) {
                ref.output = output;
                name = name.substr(0, colon);
            }
        }
        ref.op = std::string(name);
        return ref;
    }

    Status addInput(const InputRef& ref, OpId consumer, const std::string& path) {
        const auto found = m_byName.find(ref.op);
        const auto complaint = [&](const std::string& reason) {
            return fail(ErrorCode::Invalid, "op \"" + m_builder.op(consumer).name + "\": " + reason, path);
        };
        if (found == m_byName.end())
            return complaint("there is no op \"" + ref.op + "\" to read from");
        const OpId producer = found->second;
        if (ref.kind == EdgeKind::Control) {
            m_builder.addControl(producer, consumer);
            return {};
        }
        if (ref.output == 0 && m_builder.outputCount(producer) == 0)
            m_builder.addOutput(producer); // its "outputs" were left out: one of unknown size
        if (ref.output >= m_builder.outputCount(producer)) {
            return complaint("op \"" + ref.op + "\" has no output " + std::to_string(ref.output) + " (it has " +
                             std::to_string(m_builder.outputCount(producer)) + ")");
        }
        const TensorId tensor = m_builder.output(producer, ref.output);
        if (ref.kind == EdgeKind::Capture)
            m_builder.addCapture(consumer, tensor);
        else if (ref.slot)
            m_builder.addInput(consumer, tensor, *ref.slot);
        else
            m_builder.addInput(consumer, tensor);
        return {};
    }

    static constexpr std::int64_t kMaxSlot = 1'000'000;

    const JsonObject& m_object;
    GraphBuilder m_builder;
    int m_depth;
    std::unordered_map<std::string, OpId> m_byName;
};

Result<GraphPtr> readGraph(const JsonObject& object, int depth) {
    if (depth > kMaxBodyDepth)
        return fail(ErrorCode::TooLarge, "bodies nest more than " + std::to_string(kMaxBodyDepth) + " deep",
                    object.path());
    PW_TRY(std::string name, object.text("name"));
    return GraphReader(object, std::move(name), depth).read();
}

} // namespace

Result<GraphPtr> importGraphJson(const Source& source, const LoadOptions&) {
    PW_TRY(const std::string content, source.text());
    return fromGraphJson(content, source.path);
}

Result<GraphPtr> fromGraphJson(std::string_view json, const std::string& file) {
    PW_TRY(const Json document, parseDocument(json, "placewright-graph", file));
    auto graph = readGraph(JsonObject(document, {}), 0);
    if (!graph)
        graph.error().file = file;
    return graph;
}

} // namespace pw::formats
