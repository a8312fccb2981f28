#include "core/formats/importers.h"

#include "core/base/text.h"
#include "core/formats/tf_devices.h"
#include "core/formats/tf_model.h"
#include "core/formats/tf_text.h"
#include "core/graph/graph_builder.h"

#include <unordered_map>

namespace pw::formats {

namespace {

constexpr std::int64_t kSparePerInput = 4;
constexpr std::int64_t kMaxBinary = 512LL << 20;

/// A cost graph has costs and sizes but no op types.
class CostGraphImporter {
public:
    CostGraphImporter(const tensorflow::CostGraphDef& graph, const std::string& name)
        : m_graph(graph)
        , m_builder(text::toValidUtf8(name), "costgraph") {}

    Result<GraphPtr> run() {
        if (m_graph.node_size() == 0)
            return fail(ErrorCode::Parse, "is a CostGraphDef without nodes");
        TfDeviceNames devices;
        for (const auto& node : m_graph.node()) {
            devices.add(node.device());
            m_spareOutputs += kSparePerInput * node.input_info_size();
        }
        for (const auto& node : m_graph.node()) {
            const OpId id = addNode(node, devices);
            if (!m_byId.try_emplace(node.id(), id).second)
                return fail(ErrorCode::Parse, "two nodes have the id " + std::to_string(node.id()),
                            "node \"" + text::toValidUtf8(node.name()) + "\"");
        }
        for (int i = 0; i < m_graph.node_size(); ++i)
            PW_CHECK(connect(m_graph.node(i), OpId(static_cast<std::size_t>(i))));
        if (m_missing > 0)
            m_builder.addWarning("missing_input", "", std::to_string(m_missing) + " inputs name nodes that are not there");
        return std::move(m_builder).build();
    }

private:
    OpId addNode(const tensorflow::CostGraphDef::Node& node, const TfDeviceNames& devices) {
        Op op;
        op.name = node.name();
        op.type = "CostNode";
        op.device = devices.nameOf(node.device());
        // TensorFlow documents compute_cost as an estimate in microseconds.
        op.costs.push_back({"", static_cast<double>(std::max<std::int64_t>(0, node.compute_cost()))});
        op.paramBytes = std::max<std::int64_t>(0, node.persistent_memory_size());
        op.workspaceBytes = std::max({std::int64_t{0}, node.temporary_memory_size(), node.device_temp_memory_size(),
                                      node.host_temp_memory_size()});
        const OpId id = m_builder.addOp(std::move(op));
        for (const auto& output : node.output_info()) {
            Tensor tensor;
            tensor.dtype = tf::dtypeName(output.dtype());
            tensor.bytes = std::max<std::int64_t>(0, output.size());
            if (const auto dims = output.has_shape() ? tf::dimsOf(output.shape()) : std::nullopt) {
                tensor.shapeKnown = true;
                tensor.dims = *dims;
            }
            m_builder.addOutput(id, std::move(tensor));
        }
        return id;
    }

    Status connect(const tensorflow::CostGraphDef::Node& node, OpId id) {
        std::uint32_t slot = 0;
        for (const auto& input : node.input_info()) {
            const std::uint32_t at = slot++;
            const auto found = m_byId.find(input.preceding_node());
            if (found == m_byId.end()) {
                ++m_missing;
                continue;
            }
            const std::int64_t port = input.preceding_port();
            const auto known = static_cast<std::int64_t>(m_builder.outputCount(found->second));
            m_spareOutputs -= std::max<std::int64_t>(0, port + 1 - known);
            if (port < 0 || m_spareOutputs < 0)
                return fail(ErrorCode::Parse, "reads output " + std::to_string(port) + ", which cannot be",
                            "node \"" + text::toValidUtf8(node.name()) + "\"");
            while (m_builder.outputCount(found->second) <= static_cast<std::size_t>(port))
                m_builder.addOutput(found->second);
            m_builder.addInput(id, m_builder.output(found->second, static_cast<std::size_t>(port)), at);
        }
        for (const std::int32_t before : node.control_input()) {
            const auto found = m_byId.find(before);
            if (found == m_byId.end())
                ++m_missing;
            else
                m_builder.addControl(found->second, id);
        }
        return {};
    }

    const tensorflow::CostGraphDef& m_graph;
    GraphBuilder m_builder;
    std::unordered_map<std::int32_t, OpId> m_byId;
    std::size_t m_missing = 0;
    std::int64_t m_spareOutputs = 0; ///< outputs that the file uses but does not describe: that many are made up
};

} // namespace

Result<GraphPtr> importTfCostGraphText(const Source& source, const LoadOptions&) {
    PW_TRY(const std::string content, source.text());
    tensorflow::CostGraphDef graph;
    PW_CHECK(tf::parseText(content, "CostGraphDef", graph));
    return CostGraphImporter(graph, source.baseName).run();
}

Result<GraphPtr> importTfCostGraph(const Source& source, const LoadOptions&) {
    PW_TRY(const std::string content, readFile(source.path, kMaxBinary));
    tensorflow::CostGraphDef graph;
    if (!graph.ParseFromString(content))
        return fail(ErrorCode::Parse, "not a readable CostGraphDef: it is cut off or its records are of other types");
    return CostGraphImporter(graph, source.baseName).run();
}

} // namespace pw::formats
