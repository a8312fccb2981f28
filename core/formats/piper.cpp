#include "core/base/text.h"
#include "core/formats/published.h"

#include <charconv>

/// Workloads of "Piper: Multidimensional Planner for DNN Parallelization" (msr-fiddle/piper).
namespace pw::formats {

namespace {

constexpr double kUsPerUnit = 1000.0; ///< chosen: the files name no unit of time; see README.md
constexpr double kUsPerSecond = 1.0e6;

/// One way to run a layer: with a degree of tensor parallelism, keeping or recomputing activations.
struct Variant {
    std::int64_t degree = 0;
    JsonObject object;
    std::string name; ///< "vanilla", "activation recomp"
};

Result<std::int64_t> degreeFrom(const std::string& key, const std::string& path) {
    std::int64_t degree = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), degree);
    if (error != std::errc() || end != key.data() + key.size() || degree < 1)
        return fail(ErrorCode::Parse, "expected a degree of tensor parallelism, 1 or more, found \"" + key + "\"",
                    path);
    return degree;
}

Result<std::vector<Variant>> variantsOf(const JsonObject& node) {
    const Json* const listed = node.find("TMPCs");
    if (listed == nullptr)
        return fail(ErrorCode::Parse, "missing", node.pathOf("TMPCs"));
    PW_TRY(const JsonObject degrees, JsonObject::of(*listed, node.pathOf("TMPCs")));
    std::vector<Variant> variants;
    for (const auto& [key, list] : degrees.value().items()) {
        PW_TRY(const std::int64_t degree, degreeFrom(key, degrees.path()));
        PW_TRY(const Json* const entries, degrees.array(key.c_str()));
        for (std::size_t i = 0; i < entries->size(); ++i) {
            PW_TRY(const JsonObject object, entryOf(*entries, i, degrees.pathOf(key)));
            PW_TRY(std::string name, object.text("id"));
            variants.push_back({degree, object, std::move(name)});
        }
    }
    if (variants.empty())
        return fail(ErrorCode::Invalid, "has no way to run the layer", degrees.path());
    return variants;
}

/// The plain variant of the smallest degree, or the first one of that degree.
std::size_t plainVariant(const std::vector<Variant>& variants) {
    std::size_t best = 0;
    const auto rank = [&](std::size_t i) { return std::pair(variants[i].degree, variants[i].name != "vanilla"); };
    for (std::size_t i = 1; i < variants.size(); ++i) {
        if (rank(i) < rank(best))
            best = i;
    }
    return best;
}

class PiperReader {
public:
    PiperReader(const Source& source, const LoadOptions& options)
        : m_builder(source.baseName, "piper")
        , m_tensors(m_builder)
        , m_options(options) {}

    Result<GraphPtr> read(const JsonObject& document) {
        PW_TRY(const Json* const nodes, requiredArray(document, "nodes"));
        for (std::size_t i = 0; i < nodes->size(); ++i) {
            if (m_options.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            PW_TRY(const JsonObject node, entryOf(*nodes, i, "nodes"));
            PW_CHECK(addNode(node));
        }
        PW_TRY(const Json* const edges, requiredArray(document, "edges"));
        for (std::size_t i = 0; i < edges->size(); ++i) {
            PW_TRY(const JsonObject edge, entryOf(*edges, i, "edges"));
            PW_TRY(const OpId from, m_nodes.find(edge, "sourceId"));
            PW_TRY(const OpId to, m_nodes.find(edge, "destId"));
            PW_TRY(const double cost, requiredAmount(edge, "communicationCost"));
            PW_TRY(const std::int64_t bytes, wholeBytes(cost, edge.pathOf("communicationCost")));
            m_builder.addInput(to, m_tensors.tensorOf(from, bytes));
        }
        m_builder.addWarning("unit", "",
                             "the file names no unit of time; its times per sample are taken as milliseconds, its "
                             "bandwidth as bytes per second");
        return std::move(m_builder).build();
    }

private:
    Status addNode(const JsonObject& node) {
        Op op;
        op.type = "Layer";
        PW_TRY(const std::string id, requiredId(node, "id"));
        PW_TRY(op.name, node.text("name"));
        if (op.name.empty())
            op.name = "layer" + id;
        op.attributes.emplace_back("id", id);
        PW_TRY(const std::vector<Variant> variants, variantsOf(node));
        const std::size_t plain = plainVariant(variants);
        const JsonObject& chosen = variants[plain].object;
        PW_TRY(const double time, requiredAmount(chosen, "timePerSample"));
        op.costs = {{"", time * kUsPerUnit}};
        PW_TRY(op.paramBytes, byteAmount(chosen, "parameterSize", 0));
        for (std::size_t i = 0; i < variants.size(); ++i) {
            const std::string title = std::to_string(variants[i].degree) + " " + variants[i].name;
            op.attributes.emplace_back(i == plain ? "variant" : "variant " + title,
                                       i == plain ? title : asText(variants[i].object));
        }
        for (const char* key : {"memoryUsageA", "memoryUsageB"}) {
            PW_TRY(const double bytes, amount(chosen, key, -1.0));
            if (bytes >= 0.0)
                op.attributes.emplace_back(key, text::number(bytes));
        }
        for (const char* key : {"syncTimeFw", "syncTimeBw"}) {
            if (const Json* const times = chosen.find(key); times != nullptr && !times->empty())
                op.attributes.emplace_back(key, dumped(*times));
        }
        return m_nodes.add(id, m_builder.addOp(std::move(op)), node.pathOf("id"));
    }

    static std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

    static std::string asText(const JsonObject& variant) {
        Json copy = variant.value();
        copy.erase("id");
        return dumped(copy);
    }

    GraphBuilder m_builder;
    EdgeTensors m_tensors;
    const LoadOptions& m_options;
    NodeTable m_nodes;
};

} // namespace

Result<GraphPtr> importPiper(const Source& source, const LoadOptions& options) {
    PW_TRY(const Json document, parseSource(source));
    PW_TRY(const JsonObject object, JsonObject::of(document, {}));
    return PiperReader(source, options).read(object);
}

Result<DeviceSet> piperDevices(const Json& document, const std::string& name) {
    PW_TRY(const JsonObject object, JsonObject::of(document, {}));
    if (object.find("maxDevices") == nullptr)
        return fail(ErrorCode::Parse, "missing", "maxDevices");
    PW_TRY(const std::int64_t count, object.integer("maxDevices", 0));
    if (count < 1 || count > 1024)
        return fail(ErrorCode::Invalid, "must be between 1 and 1024, found " + std::to_string(count), "maxDevices");
    PW_TRY(const std::int64_t memory, byteAmount(object, "maxMemoryPerDevice", 0));
    PW_TRY(const double bandwidth, requiredAmount(object, "bandwidth"));
    std::vector<Device> devices;
    for (std::int64_t i = 0; i < count; ++i) {
        Device device;
        device.name = "acc:" + std::to_string(i);
        device.kind = "gpu";
        device.memoryBytes = memory;
        devices.push_back(std::move(device));
    }
    std::vector<Link> links;
    for (std::size_t a = 0; a < devices.size(); ++a) {
        for (std::size_t b = 0; b < devices.size(); ++b) {
            if (a != b)
                links.push_back({DeviceId(a), DeviceId(b), bandwidth / kUsPerSecond, 0.0, ""});
        }
    }
    return DeviceSet::create(name, std::move(devices), std::move(links));
}

} // namespace pw::formats
