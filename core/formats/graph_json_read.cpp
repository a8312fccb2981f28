#include "core/formats/graph_json.h"

#include "core/formats/graph_json_keys.h"
#include "core/formats/importers.h"
#include "core/formats/json_tape.h"
#include "core/graph/graph_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace pw::formats {

namespace {

using namespace graph_json;

constexpr std::int64_t kMaxSlot = 1'000'000;

/// The members of an object by their place in a sorted list of known keys. Null counts as absent; of a key that is
/// there twice, the last one counts.
template<std::size_t Size>
class Members {
public:
    using Keys = std::array<std::string_view, Size>;

    /// Calls `unknown(key, value)` for the others.
    template<class Unknown>
    static Result<Members> read(const Keys& keys, JsonValue object, const JsonPath& path, const Unknown& unknown) {
        if (!object.isObject())
            return fail(ErrorCode::Parse, "expected an object, found " + jsonKind(object), path.toString());
        Members members(keys, path);
        (void)object.forEachMember([&](std::string_view key, JsonValue value) {
            const auto found = std::lower_bound(keys.begin(), keys.end(), key);
            if (found == keys.end() || *found != key)
                unknown(key, value);
            else
                members.m_values[static_cast<std::size_t>(found - keys.begin())] = value.isNull() ? JsonValue() : value;
            return Status();
        });
        return members;
    }

    JsonValue operator[](std::size_t key) const { return m_values[key]; }
    JsonPath pathOf(std::size_t key) const { return m_path->member((*m_keys)[key]); }

    Result<std::string_view> text(std::size_t key, std::string_view fallback = {}) const {
        return m_values[key].isPresent() ? jsonText(m_values[key], pathOf(key)) : Result<std::string_view>(fallback);
    }
    Result<std::int64_t> integer(std::size_t key, std::int64_t fallback) const {
        return m_values[key].isPresent() ? jsonInteger(m_values[key], pathOf(key)) : Result<std::int64_t>(fallback);
    }
    /// A value that is "unknown" (the fallback) where the key is left out, and must not be negative where it is there.
    Result<double> amount(std::size_t key, double fallback) const {
        if (!m_values[key].isPresent())
            return fallback;
        PW_TRY(const double value, jsonNumber(m_values[key], pathOf(key)));
        return value < 0.0 ? negative(key) : Result<double>(value);
    }
    Result<std::int64_t> bytes(std::size_t key, std::int64_t fallback) const {
        if (!m_values[key].isPresent())
            return fallback;
        PW_TRY(const std::int64_t value, jsonInteger(m_values[key], pathOf(key)));
        return value < 0 ? negative(key) : Result<std::int64_t>(value);
    }
    /// Calls `visit(element, its path)` for what an array under `key` holds, if there is one.
    template<class Visit>
    Status forEach(std::size_t key, const Visit& visit) const {
        const JsonValue list = m_values[key];
        if (!list.isPresent())
            return {};
        const JsonPath path = pathOf(key);
        if (!list.isArray())
            return fail(ErrorCode::Parse, "expected an array, found " + jsonKind(list), path.toString());
        std::size_t i = 0;
        return list.forEachElement([&](JsonValue element) { return visit(element, path.element(i++)); });
    }

private:
    Members(const Keys& keys, const JsonPath& path)
        : m_keys(&keys)
        , m_path(&path) {}

    tl::unexpected<Error> negative(std::size_t key) const {
        return fail(ErrorCode::Invalid, "must not be negative", pathOf(key).toString());
    }

    const Keys* m_keys;
    const JsonPath* m_path;
    std::array<JsonValue, Size> m_values;
};

constexpr auto kIgnore = [](std::string_view, JsonValue) {};

std::string asText(JsonValue value) {
    return value.isText() ? std::string(value.text()) : value.toJson();
}

/// Sets an attribute, or replaces the value of one that came after `from` (a key may be there twice).
void setAttribute(Op& op, std::size_t from, std::string_view key, JsonValue value) {
    const auto begin = op.attributes.begin() + static_cast<std::ptrdiff_t>(from);
    constexpr std::size_t kSearched = 64; // why: hostile files have 100,000 keys; honest ones have few
    const auto end = op.attributes.size() - from > kSearched ? begin + kSearched : op.attributes.end();
    const auto found = std::find_if(begin, end, [&](const auto& attribute) { return attribute.first == key; });
    if (found != end)
        found->second = asText(value);
    else
        op.attributes.emplace_back(key, asText(value));
}

/// What a graph may take in memory. A record costs a few hundred bytes but may have three in the file ("{},"): honest
/// files stay far below this, and the free part is for small ones.
class MemoryBudget {
public:
    explicit MemoryBudget(std::size_t textBytes)
        : m_left(kFreeBytes + kTimesText * static_cast<std::int64_t>(textBytes)) {}

    Status take(std::size_t bytes, const JsonPath& path) {
        m_left -= static_cast<std::int64_t>(bytes);
        if (m_left >= 0)
            return {};
        return fail(ErrorCode::TooLarge,
                    "holds so many tiny records that they would take more than " + std::to_string(kTimesText) +
                        " times its size in memory",
                    path.toString());
    }

    static constexpr std::size_t kOp = sizeof(Op) + 64;
    static constexpr std::size_t kOutput = sizeof(Tensor) + 16;
    static constexpr std::size_t kInput = sizeof(Edge) + 16;
    static constexpr std::size_t kAttribute = 2 * sizeof(std::string) + 32;
    static constexpr std::size_t kBody = sizeof(OpGraph) + 512;

private:
    static constexpr std::int64_t kFreeBytes = 32 << 20;
    static constexpr std::int64_t kTimesText = 8;

    std::int64_t m_left;
};

Result<GraphBuilder> readGraph(JsonValue value, const JsonPath& path, int depth, MemoryBudget& budget);

/// Where an input comes from, before the names are looked up.
struct InputRef {
    std::string_view op;
    std::size_t output = 0;
    EdgeKind kind = EdgeKind::Data;
    std::optional<std::uint32_t> slot;
};

/// Reads one graph into a builder. Ops first, then what they read: an op may stand before those that feed it.
class GraphReader {
public:
    using GraphMembers = Members<kGraphKeys.size()>;
    using OpMembers = Members<kOpKeys.size()>;

    GraphReader(std::string name, int depth, MemoryBudget& budget)
        : m_builder(std::move(name), "json")
        , m_depth(depth)
        , m_budget(budget) {}

    GraphBuilder& builder() { return m_builder; }

    Status read(const GraphMembers& graph) {
        PW_TRY(const std::int64_t unattached, graph.integer(GraphKey::UnattachedParamBytes, 0));
        m_builder.addUnattachedParameterBytes(unattached);
        if (!graph[GraphKey::Ops].isPresent())
            return fail(ErrorCode::Parse, "missing", graph.pathOf(GraphKey::Ops).toString());
        std::size_t count = 0;
        PW_CHECK(graph.forEach(GraphKey::Ops, [&](JsonValue, const JsonPath& path) {
            ++count;
            return m_budget.take(MemoryBudget::kOp, path);
        }));
        m_builder.reserve(count);
        m_byName.reserve(count);
        m_inputs.reserve(count);
        PW_CHECK(graph.forEach(GraphKey::Ops, [&](JsonValue op, const JsonPath& path) { return readOp(op, path); }));
        std::size_t i = 0;
        return graph.forEach(GraphKey::Ops, [&](JsonValue, const JsonPath& path) {
            const OpId consumer(i++);
            return readInputs(m_inputs[consumer.index()], path, consumer);
        });
    }

private:
    Status readOp(JsonValue value, const JsonPath& path) {
        Op op;
        std::vector<std::pair<std::string_view, JsonValue>> unknown;
        PW_TRY(const OpMembers members,
               OpMembers::read(kOpKeys, value, path,
                               [&](std::string_view key, JsonValue member) { unknown.emplace_back(key, member); }));
        PW_TRY(const std::string_view name, members.text(OpKey::Name));
        PW_TRY(const std::string_view type, members.text(OpKey::Type));
        PW_TRY(const std::string_view phase, members.text(OpKey::Phase, "forward"));
        const auto known = phaseFromName(phase);
        if (!known) {
            return fail(ErrorCode::Parse,
                        "unknown phase \"" + std::string(phase) + "\" (forward, backward, optimizer, auxiliary)",
                        members.pathOf(OpKey::Phase).toString());
        }
        op.name = name;
        op.type = type;
        op.phase = *known;
        PW_CHECK(readWork(members, op));
        PW_CHECK(readCosts(members, op));
        PW_CHECK(readPlacing(members, op));
        PW_CHECK(readAttributes(members, op));
        for (const auto& [key, member] : unknown) {
            m_builder.addWarning("unknown_key", path.member(key).toString(),
                                 "kept as an attribute of op \"" + op.name + "\"");
        }
        const std::size_t own = op.attributes.size();
        for (const auto& [key, member] : unknown)
            setAttribute(op, own, key, member);
        PW_CHECK(m_budget.take(op.attributes.size() * MemoryBudget::kAttribute, path));
        PW_CHECK(readBodies(members, op));
        const OpId id = m_builder.addOp(std::move(op));
        if (!name.empty())
            m_byName.try_emplace(name, id);
        m_inputs.push_back(members[OpKey::Inputs]);
        if (members[OpKey::Scope].isPresent()) {
            PW_TRY(const std::string_view scope, members.text(OpKey::Scope));
            m_builder.setScope(id, scope);
        }
        return members.forEach(OpKey::Outputs, [&](JsonValue output, const JsonPath& outputPath) {
            return readOutput(output, outputPath, id);
        });
    }

    static Status readWork(const OpMembers& members, Op& op) {
        PW_TRY(op.flops, members.amount(OpKey::Flops, -1.0));
        PW_TRY(op.bytesMoved, members.bytes(OpKey::BytesMoved, -1));
        PW_TRY(op.paramBytes, members.bytes(OpKey::ParamBytes, 0));
        PW_TRY(op.stateBytes, members.bytes(OpKey::StateBytes, 0));
        PW_TRY(op.workspaceBytes, members.bytes(OpKey::WorkspaceBytes, 0));
        PW_TRY(op.tripCount, members.amount(OpKey::TripCount, -1.0));
        return {};
    }

    static Status readCosts(const OpMembers& members, Op& op) {
        const JsonValue costs = members[OpKey::CostUs];
        if (!costs.isPresent())
            return {};
        const JsonPath path = members.pathOf(OpKey::CostUs);
        if (!costs.isObject()) {
            PW_TRY(const double us, jsonNumber(costs, path));
            op.costs = {{"", us}};
            return {};
        }
        return costs.forEachMember([&](std::string_view kind, JsonValue value) -> Status {
            PW_TRY(const double us, jsonNumber(value, path.member(kind)));
            const auto same = std::find_if(op.costs.begin(), op.costs.end(),
                                           [&](const MeasuredCost& cost) { return cost.kind == kind; });
            if (same != op.costs.end())
                same->us = us;
            else if (op.costs.size() >= kMaxKinds)
                return fail(ErrorCode::TooLarge, "more than " + std::to_string(kMaxKinds) + " kinds of devices",
                            path.toString());
            else
                op.costs.push_back({std::string(kind), us});
            return {};
        });
    }

    static Status readPlacing(const OpMembers& members, Op& op) {
        PW_TRY(op.colocation, members.text(OpKey::Colocation));
        PW_TRY(op.device, members.text(OpKey::Device));
        return members.forEach(OpKey::Devices, [&](JsonValue kind, const JsonPath& path) -> Status {
            PW_TRY(const std::string_view text, jsonText(kind, path));
            op.allowedKinds.emplace_back(text);
            return {};
        });
    }

    static Status readAttributes(const OpMembers& members, Op& op) {
        const JsonValue attributes = members[OpKey::Attributes];
        if (!attributes.isPresent())
            return {};
        if (!attributes.isObject()) {
            return fail(ErrorCode::Parse, "expected an object, found " + jsonKind(attributes),
                        members.pathOf(OpKey::Attributes).toString());
        }
        return attributes.forEachMember([&](std::string_view key, JsonValue value) {
            setAttribute(op, 0, key, value);
            return Status();
        });
    }

    Status readBodies(const OpMembers& members, Op& op) {
        return members.forEach(OpKey::Bodies, [&](JsonValue value, const JsonPath& path) -> Status {
            using BodyMembers = Members<kBodyKeys.size()>;
            PW_TRY(const BodyMembers body, BodyMembers::read(kBodyKeys, value, path, kIgnore));
            PW_TRY(const std::string_view name, body.text(BodyKey::Name));
            const JsonPath graphPath = body.pathOf(BodyKey::Graph);
            if (!body[BodyKey::Graph].isPresent())
                return fail(ErrorCode::Parse, "missing", graphPath.toString());
            PW_CHECK(m_budget.take(MemoryBudget::kBody, graphPath));
            PW_TRY(GraphBuilder builder, readGraph(body[BodyKey::Graph], graphPath, m_depth + 1, m_budget));
            PW_TRY(GraphPtr graph, std::move(builder).build());
            op.bodies.push_back({std::string(name), std::move(graph)});
            return {};
        });
    }

    Status readOutput(JsonValue value, const JsonPath& path, OpId id) {
        using OutputMembers = Members<kOutputKeys.size()>;
        PW_CHECK(m_budget.take(MemoryBudget::kOutput, path));
        PW_TRY(const OutputMembers output, OutputMembers::read(kOutputKeys, value, path, kIgnore));
        Tensor tensor;
        PW_TRY(tensor.dtype, output.text(OutputKey::Dtype));
        PW_TRY(tensor.name, output.text(OutputKey::Name));
        tensor.shapeKnown = output[OutputKey::Shape].isPresent();
        PW_CHECK(output.forEach(OutputKey::Shape, [&](JsonValue dim, const JsonPath& dimPath) -> Status {
            if (dim.isNull() || dim.isText()) {
                tensor.dims.push_back(-1); // "batch": a symbolic dimension
                return {};
            }
            PW_TRY(const std::int64_t size, jsonInteger(dim, dimPath));
            tensor.dims.push_back(size < 0 ? -1 : size);
            return {};
        }));
        std::int64_t implied = 0;
        if (const auto count = elementCount(tensor.dims); tensor.shapeKnown && count)
            implied = *count > INT64_MAX / 16 ? INT64_MAX : *count * dtypeBytes(tensor.dtype);
        PW_TRY(tensor.bytes, output.integer(OutputKey::Bytes, implied));
        m_builder.addOutput(id, std::move(tensor));
        return {};
    }

    Status readInputs(JsonValue inputs, const JsonPath& opPath, OpId consumer) {
        if (!inputs.isPresent())
            return {};
        const JsonPath path = opPath.member("inputs");
        if (!inputs.isArray())
            return fail(ErrorCode::Parse, "expected an array, found " + jsonKind(inputs), path.toString());
        std::size_t i = 0;
        return inputs.forEachElement([&](JsonValue input) -> Status {
            const JsonPath inputPath = path.element(i++);
            PW_CHECK(m_budget.take(MemoryBudget::kInput, inputPath));
            PW_TRY(const InputRef ref, readInputRef(input, inputPath));
            return addInput(ref, consumer, inputPath);
        });
    }

    /// "op", "op:k", "^op" or an object.
    Result<InputRef> readInputRef(JsonValue value, const JsonPath& path) const {
        if (value.isObject())
            return readInputObject(value, path);
        InputRef ref;
        PW_TRY(ref.op, jsonText(value, path));
        if (ref.op.starts_with('^')) {
            ref.kind = EdgeKind::Control;
            ref.op.remove_prefix(1);
        } else if (const auto colon = ref.op.rfind(':'); colon != std::string_view::npos && colon + 1 < ref.op.size()) {
            const char* const end = ref.op.data() + ref.op.size();
            std::size_t output = 0;
            const auto [stop, error] = std::from_chars(ref.op.data() + colon + 1, end, output);
            if (error == std::errc() && stop == end && m_byName.count(ref.op.substr(0, colon)) != 0) {
                ref.output = output;
                ref.op = ref.op.substr(0, colon);
            }
        }
        return ref;
    }

    static Result<InputRef> readInputObject(JsonValue value, const JsonPath& path) {
        using InputMembers = Members<kInputKeys.size()>;
        InputRef ref;
        PW_TRY(const InputMembers input, InputMembers::read(kInputKeys, value, path, kIgnore));
        if (!input[InputKey::Op].isPresent())
            return fail(ErrorCode::Parse, "missing", input.pathOf(InputKey::Op).toString());
        PW_TRY(ref.op, input.text(InputKey::Op));
        PW_TRY(const std::int64_t out, input.integer(InputKey::Out, 0));
        PW_TRY(const std::int64_t slot, input.integer(InputKey::Slot, -1));
        if (out < 0 || slot < -1 || slot > kMaxSlot) {
            return fail(ErrorCode::Parse, "out of range",
                        input.pathOf(out < 0 ? InputKey::Out : InputKey::Slot).toString());
        }
        ref.output = static_cast<std::size_t>(out);
        if (slot >= 0)
            ref.slot = static_cast<std::uint32_t>(slot);
        for (const auto& [key, kind] :
             {std::pair(InputKey::Control, EdgeKind::Control), std::pair(InputKey::Capture, EdgeKind::Capture)}) {
            if (!input[key].isPresent())
                continue;
            if (!input[key].isBool())
                return fail(ErrorCode::Parse, "expected true or false", input.pathOf(key).toString());
            if (input[key].kind() == JsonValue::Kind::True)
                ref.kind = kind;
        }
        return ref;
    }

    Status addInput(const InputRef& ref, OpId consumer, const JsonPath& path) {
        const auto found = m_byName.find(ref.op);
        const auto complaint = [&](const std::string& reason) {
            return fail(ErrorCode::Invalid, "op \"" + m_builder.op(consumer).name + "\": " + reason, path.toString());
        };
        if (found == m_byName.end())
            return complaint("there is no op \"" + std::string(ref.op) + "\" to read from");
        const OpId producer = found->second;
        if (ref.kind == EdgeKind::Control) {
            m_builder.addControl(producer, consumer);
            return {};
        }
        if (ref.output == 0 && m_builder.outputCount(producer) == 0)
            m_builder.addOutput(producer); // its "outputs" were left out: one of unknown size
        if (ref.output >= m_builder.outputCount(producer)) {
            return complaint("op \"" + std::string(ref.op) + "\" has no output " + std::to_string(ref.output) +
                             " (it has " + std::to_string(m_builder.outputCount(producer)) + ")");
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

    static constexpr std::size_t kMaxKinds = 256;

    GraphBuilder m_builder;
    int m_depth;
    MemoryBudget& m_budget;
    std::unordered_map<std::string_view, OpId> m_byName; ///< the file's own names
    std::vector<JsonValue> m_inputs;                     ///< per op
};

Result<GraphBuilder> readGraph(JsonValue value, const JsonPath& path, int depth, MemoryBudget& budget) {
    if (depth > kMaxBodyDepth)
        return fail(ErrorCode::TooLarge, "bodies nest more than " + std::to_string(kMaxBodyDepth) + " deep",
                    path.toString());
    std::vector<std::string_view> unknown;
    PW_TRY(const GraphReader::GraphMembers graph,
           GraphReader::GraphMembers::read(kGraphKeys, value, path,
                                           [&](std::string_view key, JsonValue) { unknown.push_back(key); }));
    PW_TRY(const std::string_view name, graph.text(GraphKey::Name));
    GraphReader reader(std::string(name), depth, budget);
    for (const std::string_view key : unknown)
        reader.builder().addWarning("unknown_key", path.member(key).toString(), "ignored");
    PW_CHECK(reader.read(graph));
    return std::move(reader.builder());
}

/// That the document says it is a graph, in a version that is read here.
Status checkHeader(JsonValue root) {
    const std::string wanted = "expected \"format\": \"placewright-graph\", found ";
    if (!root.isObject())
        return fail(ErrorCode::Parse, wanted + jsonKind(root));
    const JsonPath path;
    JsonValue format;
    JsonValue version;
    (void)root.forEachMember([&](std::string_view key, JsonValue value) {
        if (key == "format")
            format = value;
        else if (key == "version" && !value.isNull())
            version = value;
        return Status();
    });
    if (!format.isPresent())
        return fail(ErrorCode::Parse, wanted + "no such key", "format");
    if (!format.isText() || format.text() != "placewright-graph")
        return fail(ErrorCode::Parse, wanted + format.toJson(), "format");
    PW_TRY(const std::int64_t number,
           version.isPresent() ? jsonInteger(version, path.member("version")) : Result<std::int64_t>(1));
    if (number != 1) {
        return fail(ErrorCode::Unsupported,
                    "version " + std::to_string(number) + " is newer than this program reads (1)", "version");
    }
    return {};
}

/// Fills in the file of an error.
Result<GraphPtr> withFile(Result<GraphPtr> graph, const std::string& file) {
    if (!graph && graph.error().file.empty())
        graph.error().file = file;
    return graph;
}

} // namespace

Result<GraphBuilder> readGraphJson(std::string_view json, const std::string& file) {
    PW_TRY(const JsonTape tape, JsonTape::parse(json, file));
    PW_CHECK(checkHeader(tape.root()));
    MemoryBudget budget(json.size());
    return readGraph(tape.root(), JsonPath(), 0, budget);
}

Result<GraphPtr> importGraphJson(const Source& source, const LoadOptions&) {
    const auto read = [&]() -> Result<GraphBuilder> {
        PW_TRY(const std::string content, source.text());
        return readGraphJson(content, source.path);
    };
    auto builder = read(); // the text is gone when the graph is put together
    if (!builder)
        return withFile(fail(std::move(builder).error()), source.path);
    return withFile(std::move(*builder).build(), source.path);
}

Result<GraphPtr> fromGraphJson(std::string_view json, const std::string& file) {
    auto builder = readGraphJson(json, file);
    if (!builder)
        return withFile(fail(std::move(builder).error()), file);
    return withFile(std::move(*builder).build(), file);
}

} // namespace pw::formats
