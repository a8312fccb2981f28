#include "core/base/text.h"
#include "core/formats/published.h"

#include <algorithm>
#include <cmath>
#include <set>

/// Task graphs of DAGBench and SAGA: tasks with costs, dependencies with sizes, and a network of devices with speeds.
namespace pw::formats {

namespace {

/// DAGBench's measured workflows give milliseconds and bytes; the synthetic ones name no units.
constexpr double kUsPerUnit = 1000.0;
constexpr std::size_t kMaxCosts = 1'000'000; ///< tasks times speeds, some 50 bytes each

/// Sizes of synthetic workflows may be fractions of a byte: sizes and link speeds both grow by this power of ten, so
/// that every time stays what the file says.
Result<double> sizeScale(const Json& dependencies) {
    std::set<double> sizes;
    for (std::size_t i = 0; i < dependencies.size(); ++i) {
        PW_TRY(const JsonObject dependency, entryOf(dependencies, i, "task_graph.dependencies"));
        PW_TRY(const double size, amount(dependency, "size", 0.0));
        sizes.insert(size);
    }
    double scale = 1.0;
    const auto isWhole = [&](double size) {
        return std::abs(std::round(size * scale) - size * scale) <= 1.0e-7 * size * scale;
    };
    while (scale < 1.0e9 && !std::all_of(sizes.begin(), sizes.end(), isWhole))
        scale *= 10.0;
    return scale;
}

/// What devices of one speed are called; costs are kept per speed.
std::string kindOfSpeed(double speed) {
    return "speed:" + text::number(speed);
}

Result<double> speedOf(const JsonObject& node) {
    PW_TRY(const double speed, requiredAmount(node, "speed"));
    if (!(speed > 0.0))
        return fail(ErrorCode::Invalid, "must be above 0", node.pathOf("speed"));
    return speed;
}

/// The distinct speeds of the file's devices; none if there is no network.
Result<std::set<double>> speedsOf(const JsonObject& document) {
    std::set<double> speeds;
    if (document.find("network") == nullptr)
        return speeds;
    PW_TRY(const JsonObject network, JsonObject::of(*document.find("network"), "network"));
    PW_TRY(const Json* const nodes, network.array("nodes"));
    for (std::size_t i = 0; i < nodes->size(); ++i) {
        PW_TRY(const JsonObject node, entryOf(*nodes, i, "network.nodes"));
        PW_TRY(const double speed, speedOf(node));
        speeds.insert(speed);
    }
    return speeds;
}

/// "attn_shard" of "attn_shard_00_3": what precedes the first number.
std::string typeFromName(const std::string& name) {
    const std::size_t digit = std::min(name.find_first_of("0123456789"), name.size());
    std::string type = name.substr(0, digit);
    if (const auto cut = type.rfind('_'); digit < name.size() && cut != std::string::npos)
        type.resize(cut);
    return type.empty() ? "Task" : type;
}

class TaskGraphReader {
public:
    TaskGraphReader(std::string name, const LoadOptions& options)
        : m_builder(std::move(name), "dagbench")
        , m_options(options) {}

    Result<GraphPtr> read(const JsonObject& document) {
        PW_TRY(const JsonObject graph, JsonObject::of(*document.find("task_graph"), "task_graph"));
        PW_TRY(const std::set<double> speeds, speedsOf(document));
        PW_TRY(const Json* const tasks, requiredArray(graph, "tasks"));
        if (!speeds.empty() && tasks->size() > kMaxCosts / speeds.size())
            return fail(ErrorCode::TooLarge, "more than 1,000,000 costs (tasks times speeds)", "task_graph.tasks");
        for (std::size_t i = 0; i < tasks->size(); ++i) {
            if (m_options.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            PW_TRY(const JsonObject task, entryOf(*tasks, i, "task_graph.tasks"));
            PW_CHECK(addTask(task, speeds));
        }
        PW_CHECK(addDependencies(graph));
        m_builder.addWarning("unit", "",
                             "the file names no units; its times are taken as milliseconds, its sizes as bytes");
        return std::move(m_builder).build();
    }

private:
    Status addTask(const JsonObject& task, const std::set<double>& speeds) {
        Op op;
        PW_TRY(op.name, requiredId(task, "name"));
        PW_TRY(const double cost, requiredAmount(task, "cost"));
        op.type = typeFromName(op.name);
        op.costs.push_back({"", cost * kUsPerUnit}); // on a device of speed 1
        for (const double speed : speeds)
            op.costs.push_back({kindOfSpeed(speed), cost / speed * kUsPerUnit});
        const std::string name = op.name;
        return m_tasks.add(name, m_builder.addOp(std::move(op)), task.pathOf("name"));
    }

    /// Every dependency is a message of its own, hence an output of its own.
    Status addDependencies(const JsonObject& graph) {
        PW_TRY(const Json* const dependencies, requiredArray(graph, "dependencies"));
        PW_TRY(const double scale, sizeScale(*dependencies));
        for (std::size_t i = 0; i < dependencies->size(); ++i) {
            PW_TRY(const JsonObject dependency, entryOf(*dependencies, i, "task_graph.dependencies"));
            PW_TRY(const OpId from, m_tasks.find(dependency, "source"));
            PW_TRY(const OpId to, m_tasks.find(dependency, "target"));
            PW_TRY(const double size, amount(dependency, "size", 0.0));
            Tensor tensor;
            PW_TRY(tensor.bytes, wholeBytes(size * scale, dependency.pathOf("size")));
            m_builder.addInput(to, m_builder.addOutput(from, std::move(tensor)));
        }
        if (scale > 1.0)
            m_builder.addWarning("unit", "",
                                 "sizes are fractions of a byte; they and the network's speeds are taken " +
                                     text::number(scale) + " times as large");
        return {};
    }

    GraphBuilder m_builder;
    const LoadOptions& m_options;
    NodeTable m_tasks;
};

struct NetworkReader {
    const JsonObject& network;
    double scale; ///< of sizes and link speeds
    std::vector<Device> devices;
    std::unordered_map<std::string, DeviceId> byName;
    std::vector<Link> links;

    Status readNodes() {
        PW_TRY(const Json* const nodes, requiredArray(network, "nodes"));
        for (std::size_t i = 0; i < nodes->size(); ++i) {
            PW_TRY(const JsonObject node, entryOf(*nodes, i, "network.nodes"));
            Device device;
            PW_TRY(device.name, requiredId(node, "name"));
            PW_TRY(const double speed, speedOf(node));
            device.kind = kindOfSpeed(speed);
            if (!byName.emplace(device.name, DeviceId(i)).second)
                return fail(ErrorCode::Invalid, "a second device \"" + device.name + "\"", node.pathOf("name"));
            devices.push_back(std::move(device));
        }
        return {};
    }

    Result<DeviceId> end(const JsonObject& edge, const char* key) const {
        PW_TRY(const std::string name, requiredId(edge, key));
        const auto found = byName.find(name);
        if (found == byName.end())
            return fail(ErrorCode::Invalid, "there is no device \"" + name + "\"", edge.pathOf(key));
        return found->second;
    }

    /// An edge that is listed in one direction only holds for both. Speed 0 = no connection; an edge from a device to
    /// itself says that staying costs nothing.
    Status readEdges() {
        PW_TRY(const Json* const edges, requiredArray(network, "edges"));
        std::set<std::pair<DeviceId, DeviceId>> listed;
        for (std::size_t i = 0; i < edges->size(); ++i) {
            PW_TRY(const JsonObject edge, entryOf(*edges, i, "network.edges"));
            PW_TRY(const DeviceId from, end(edge, "source"));
            PW_TRY(const DeviceId to, end(edge, "target"));
            PW_TRY(const double speed, requiredAmount(edge, "speed"));
            if (from == to)
                continue;
            if (!listed.emplace(from, to).second)
                return fail(ErrorCode::Invalid, "a second edge in this direction", edge.path());
            if (speed > 0.0)
                links.push_back({from, to, speed * scale / kUsPerUnit, 0.0, ""});
        }
        for (std::size_t i = 0, count = links.size(); i < count; ++i) {
            const Link link = links[i];
            if (listed.count({link.to, link.from}) == 0)
                links.push_back({link.to, link.from, link.bytesPerUs, 0.0, ""});
        }
        return {};
    }
};

} // namespace

Result<GraphPtr> importDagBench(const Source& source, const LoadOptions& options) {
    PW_TRY(const Json document, parseSource(source));
    PW_TRY(const JsonObject object, JsonObject::of(document, {}));
    if (object.find("task_graph") == nullptr)
        return fail(ErrorCode::Parse, "missing", "task_graph");
    PW_TRY(std::string name, object.text("name", source.baseName));
    return TaskGraphReader(std::move(name), options).read(object);
}

Result<DeviceSet> dagBenchDevices(const Json& document, const std::string& name) {
    PW_TRY(const JsonObject object, JsonObject::of(document, {}));
    if (object.find("network") == nullptr)
        return fail(ErrorCode::NotFound, "this task graph comes without a network of devices", "network");
    PW_TRY(const JsonObject network, JsonObject::of(*object.find("network"), "network"));
    double scale = 1.0;
    if (const Json* const tasks = object.find("task_graph")) {
        PW_TRY(const JsonObject graph, JsonObject::of(*tasks, "task_graph"));
        PW_TRY(const Json* const dependencies, graph.array("dependencies"));
        PW_TRY(scale, sizeScale(*dependencies));
    }
    NetworkReader reader{network, scale, {}, {}, {}};
    PW_CHECK(reader.readNodes());
    PW_CHECK(reader.readEdges());
    return DeviceSet::create(name, std::move(reader.devices), std::move(reader.links));
}

} // namespace pw::formats
