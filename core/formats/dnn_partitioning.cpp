#include "core/base/text.h"
#include "core/formats/published.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

/// Workloads of "Efficient Algorithms for Device Placement of DNN Graph Operators" (msr-fiddle/dnn-partitioning).
namespace pw::formats {

namespace {

constexpr double kUsPerUnit = 1000.0; ///< chosen: the files name no unit of time; see README.md

/// Where no edge says how many bytes its cost stands for: the rate of the published latency workloads, 2 GiB per
/// second, in bytes per unit of time.
constexpr double kUsualRate = 2147483.648;
constexpr double kMaxEdgeBytes = 1.0e15; ///< sums over many tensors must stay within 64 bits
/// The CPU cores share their memory, a transfer between them is as good as free.
constexpr double kCpuSpeedup = 1.0e6;

/// Bytes per unit of time of the link between an accelerator and the CPU. The file gives the times that transfers take
/// and sometimes their sizes: the rate is the one that most edges agree on, so that tensors have their real sizes. It
/// grows only where rounding to whole bytes would be felt: until it is below 1e-7 of the dearest cost.
class LinkRate {
public:
    void add(double cost, double size) {
        if (!(cost > 0.0))
            return;
        m_costs.insert(cost);
        const double rate = size / cost;
        if (!(rate >= 1.0 && rate < 1.0e15))
            return;
        Vote& vote = m_votes[static_cast<float>(rate)];
        vote.rate = rate;
        ++vote.count;
    }

    double perUnit() const {
        double rate = kUsualRate;
        std::size_t most = 0;
        for (const auto& [key, vote] : m_votes) {
            if (vote.count > most) {
                most = vote.count;
                rate = vote.rate;
            }
        }
        const double dearest = m_costs.empty() ? 0.0 : *m_costs.rbegin();
        while (dearest * rate > kMaxEdgeBytes)
            rate /= 10.0;
        while (!isExact(rate, 1.0e-7 * dearest) && dearest * rate * 10.0 <= kMaxEdgeBytes)
            rate *= 10.0;
        return rate;
    }

    /// Always so once the dearest cost stands for 5e6 bytes.
    bool isExact(double rate, double tolerance) const {
        return std::all_of(m_costs.begin(), m_costs.end(), [&](double cost) {
            return std::abs(std::round(cost * rate) / rate - cost) <= tolerance;
        });
    }

private:
    struct Vote {
        double rate = 0.0;
        std::size_t count = 0;
    };

    std::set<double> m_costs;
    std::map<float, Vote> m_votes; ///< by the rate without its last digits
};

Result<LinkRate> linkRateOf(const JsonObject& document) {
    LinkRate rate;
    PW_TRY(const Json* const edges, requiredArray(document, "edges"));
    for (std::size_t i = 0; i < edges->size(); ++i) {
        PW_TRY(const JsonObject edge, entryOf(*edges, i, "edges"));
        PW_TRY(const double cost, requiredAmount(edge, "cost"));
        PW_TRY(const double size, amount(edge, "size", -1.0));
        rate.add(cost, size);
    }
    return rate;
}

/// "MatMul" of "MatMul17_Grad/MatMul_1", "node" of "node12grad": the letters at the start of the last component.
std::string typeFromName(const std::string& name) {
    const std::size_t start = name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1;
    std::size_t end = start;
    while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end])) != 0)
        ++end;
    return end > start ? name.substr(start, end - start) : "Op";
}

class WorkloadReader {
public:
    WorkloadReader(const Source& source, const LoadOptions& options)
        : m_builder(source.baseName, "dnn-partitioning")
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
        PW_TRY(const LinkRate rate, linkRateOf(document));
        PW_CHECK(addEdges(document, rate.perUnit()));
        m_builder.addWarning("unit", "", "the file names no unit of time; its times are taken as milliseconds");
        return std::move(m_builder).build();
    }

private:
    Status addNode(const JsonObject& node) {
        Op op;
        PW_TRY(const std::string id, requiredId(node, "id"));
        PW_TRY(op.name, node.text("name"));
        if (op.name.empty())
            op.name = id;
        op.type = typeFromName(op.name);
        PW_TRY(const bool isSupported, flag(node, "supportedOnFpga", true));
        PW_TRY(const double cpuUnits, requiredAmount(node, "cpuLatency"));
        // A node that no accelerator supports needs no time for one.
        PW_TRY(const double gpuUnits, isSupported ? requiredAmount(node, "fpgaLatency") : Result<double>(0.0));
        if (isSupported)
            op.costs = {{"gpu", gpuUnits * kUsPerUnit}, {"cpu", cpuUnits * kUsPerUnit}};
        else {
            op.costs = {{"cpu", cpuUnits * kUsPerUnit}};
            op.allowedKinds = {"cpu"};
        }
        PW_TRY(const bool isBackward, flag(node, "isBackwardNode", false));
        op.phase = isBackward ? Phase::Backward : Phase::Forward;
        PW_TRY(op.paramBytes, byteAmount(node, "size", 0));
        if (node.find("colorClass") != nullptr) {
            PW_TRY(const std::string color, requiredId(node, "colorClass"));
            op.colocation = "color:" + color;
        }
        op.attributes.emplace_back("id", id);
        if (node.find("layerId") != nullptr) {
            PW_TRY(const std::string layer, requiredId(node, "layerId"));
            op.attributes.emplace_back("layer_id", layer);
        }
        return m_nodes.add(id, m_builder.addOp(std::move(op)), node.pathOf("id"));
    }

    Status addEdges(const JsonObject& document, double rate) {
        PW_TRY(const Json* const edges, requiredArray(document, "edges"));
        for (std::size_t i = 0; i < edges->size(); ++i) {
            PW_TRY(const JsonObject edge, entryOf(*edges, i, "edges"));
            PW_TRY(const OpId from, m_nodes.find(edge, "sourceId"));
            PW_TRY(const OpId to, m_nodes.find(edge, "destId"));
            PW_TRY(const double cost, requiredAmount(edge, "cost"));
            PW_TRY(const double size, amount(edge, "size", -1.0));
            PW_TRY(const std::int64_t bytes, wholeBytes(cost * rate, edge.pathOf("cost")));
            m_builder.addInput(to, m_tensors.tensorOf(from, bytes));
            keepRaw(from, cost, size);
        }
        return {};
    }

    /// The raw numbers as attributes of the source, those of its first edge (the format wants all of them equal).
    void keepRaw(OpId from, double cost, double size) {
        if (from.index() >= m_hasRaw.size())
            m_hasRaw.resize(m_builder.opCount(), false);
        if (m_hasRaw[from.index()])
            return;
        m_hasRaw[from.index()] = true;
        auto& attributes = m_builder.op(from).attributes;
        attributes.emplace_back("edge_cost", text::number(cost));
        if (size >= 0.0)
            attributes.emplace_back("edge_size", text::number(size));
    }

    GraphBuilder m_builder;
    EdgeTensors m_tensors;
    const LoadOptions& m_options;
    NodeTable m_nodes;
    std::vector<bool> m_hasRaw;
};

Result<std::size_t> deviceCount(const JsonObject& document, const char* key) {
    if (document.find(key) == nullptr)
        return fail(ErrorCode::Parse, "missing", key);
    PW_TRY(const std::int64_t count, document.integer(key, 0));
    if (count < 0 || count > 1024)
        return fail(ErrorCode::Invalid, "must be between 0 and 1024, found " + std::to_string(count), key);
    return static_cast<std::size_t>(count);
}

Status addSplitDevices(const JsonObject& document, const char* key, const std::string& prefix, PlacementFile& file) {
    PW_TRY(const Json* const devices, document.array(key));
    for (std::size_t d = 0; d < devices->size(); ++d) {
        PW_TRY(const JsonObject device, entryOf(*devices, d, key));
        PW_TRY(const Json* const nodes, requiredArray(device, "nodes"));
        const std::string name = prefix + std::to_string(d);
        file.devices.push_back(name);
        for (std::size_t i = 0; i < nodes->size(); ++i) {
            const std::string where = device.pathOf("nodes") + "[" + std::to_string(i) + "]";
            PW_TRY(const std::int64_t id, jsonInteger((*nodes)[i], where));
            if (!file.assignment.emplace(std::to_string(id), name).second)
                return fail(ErrorCode::Invalid, "node " + std::to_string(id) + " has a device already", where);
        }
    }
    return {};
}

} // namespace

Result<GraphPtr> importDnnPartitioning(const Source& source, const LoadOptions& options) {
    PW_TRY(const Json document, parseSource(source));
    PW_TRY(const JsonObject object, JsonObject::of(document, {}));
    return WorkloadReader(source, options).read(object);
}

Result<DeviceSet> dnnPartitioningDevices(const Json& document, const std::string& name) {
    PW_TRY(const JsonObject object, JsonObject::of(document, {}));
    PW_TRY(const std::size_t accelerators, deviceCount(object, "maxFPGAs"));
    PW_TRY(const std::size_t cpus, deviceCount(object, "maxCPUs"));
    PW_TRY(const std::int64_t memory, byteAmount(object, "maxSizePerFPGA", 0));
    PW_TRY(const LinkRate linkRate, linkRateOf(object));
    const double rate = linkRate.perUnit() / kUsPerUnit;
    std::vector<Device> devices;
    for (std::size_t i = 0; i < accelerators + cpus; ++i) {
        Device device;
        const bool isCpu = i >= accelerators;
        device.kind = isCpu ? "cpu" : "gpu";
        device.name = isCpu ? "cpu:" + std::to_string(i - accelerators) : "acc:" + std::to_string(i);
        device.memoryBytes = isCpu ? 0 : memory;
        devices.push_back(std::move(device));
    }
    std::vector<Link> links;
    for (std::size_t a = 0; a < devices.size(); ++a) {
        for (std::size_t b = 0; b < devices.size(); ++b) {
            const bool fromCpu = a >= accelerators;
            const bool toCpu = b >= accelerators;
            if (a == b || (!fromCpu && !toCpu && cpus > 0))
                continue; // one accelerator reaches another through the CPU's memory
            // Without a CPU both hops are one link.
            const double factor = fromCpu && toCpu ? kCpuSpeedup : fromCpu || toCpu ? 1.0 : 0.5;
            links.push_back({DeviceId(a), DeviceId(b), rate * factor, 0.0, ""});
        }
    }
    return DeviceSet::create(name, std::move(devices), std::move(links));
}

Result<PlacementFile> readDnnPartitioningSplit(const JsonObject& document) {
    PlacementFile file;
    file.nameAttribute = "id";
    PW_CHECK(addSplitDevices(document, "fpgas", "acc:", file));
    PW_CHECK(addSplitDevices(document, "cpus", "cpu:", file));
    if (file.assignment.empty())
        return fail(ErrorCode::Parse, "holds no assignment");
    return file;
}

} // namespace pw::formats
