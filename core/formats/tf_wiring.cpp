#include "core/formats/tf_wiring.h"

#include "core/base/text.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace pw::formats::tf {

namespace {

constexpr std::size_t kMaxNamedMissing = 5;
constexpr std::int64_t kMaxDeclaredOutputs = 4096;
/// An input "a:1000000" asks for a million outputs of a. Graphs get this many more outputs than inputs.
constexpr std::uint64_t kSpareOutputs = 20'000;

/// Names of the outputs of ops with several, as functions refer to them ("node:values:0"). Lists come last.
const std::vector<std::string_view>* namedOutputs(std::string_view type) {
    static const std::unordered_map<std::string_view, std::vector<std::string_view>> kTable = {
        {"Switch", {"output_false", "output_true"}},
        {"RefSwitch", {"output_false", "output_true"}},
        {"Merge", {"output", "value_index"}},
        {"TopK", {"values", "indices"}},
        {"TopKV2", {"values", "indices"}},
        {"Unique", {"y", "idx"}},
        {"UniqueWithCounts", {"y", "idx", "count"}},
        {"ListDiff", {"out", "idx"}},
        {"FusedBatchNorm", {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}},
        {"FusedBatchNormV2", {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}},
        {"FusedBatchNormV3",
         {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"}},
        {"SoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
        {"SparseSoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
        {"SampleDistortedBoundingBoxV2", {"begin", "size", "bboxes"}},
        {"TensorListPopBack", {"output_handle", "tensor"}},
        {"TensorArrayV3", {"handle", "flow"}},
        {"MultiDeviceIteratorInit", {"incarnation_id"}},
        {"BroadcastGradientArgs", {"r0", "r1"}},
    };
    const auto found = kTable.find(type);
    return found == kTable.end() ? nullptr : &found->second;
}

bool hasNoOutput(std::string_view type) {
    static const std::unordered_set<std::string_view> kTypes = {
        "NoOp", "Assert", "ControlTrigger", "Print", "PrintV2", "Save", "SaveV2", "SaveSlices", "MergeV2Checkpoints",
        "Abort", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "DestroyResourceOp", "MakeIterator",
        "InitializeTableV2", "LookupTableImportV2", "LookupTableInsertV2", "QueueEnqueueV2", "QueueEnqueueManyV2",
        "QueueCloseV2", "Stage", "WriteScalarSummary", "FlushSummaryWriter", "_Retval", "_Send", "_HostSend", "Send"};
    for (const std::string_view prefix : {"ResourceApply", "ResourceSparseApply", "ResourceScatter"}) {
        if (type.starts_with(prefix))
            return true;
    }
    return kTypes.count(type) != 0;
}

std::int64_t sizedBy(const tensorflow::NodeDef& node, std::string_view key) {
    const auto* value = findAttr(node, key);
    if (value == nullptr || value->i() < 0 || value->i() > kMaxDeclaredOutputs)
        return 1;
    return value->i();
}

/// Outputs that a node has by its own account.
std::int64_t declaredOutputs(const tensorflow::NodeDef& node) {
    if (const auto* shapes = findAttr(node, "_output_shapes"); shapes != nullptr && shapes->has_list())
        return shapes->list().shape_size();
    const std::string& type = node.op();
    if (hasNoOutput(type))
        return 0;
    for (const char* key : {"Tout", "output_types", "component_types", "out_types"}) {
        const auto* types = findAttr(node, key);
        const bool isData = types != nullptr && types->has_list() && !type.ends_with("Dataset") &&
                            type.find("DatasetV") == std::string::npos && !type.ends_with("Iterator") &&
                            !type.starts_with("Iterator") && type.find("Queue") == std::string::npos;
        if (isData || (types != nullptr && types->has_list() && type == "IteratorGetNext"))
            return std::min<std::int64_t>(types->list().type_size(), kMaxDeclaredOutputs);
    }
    if (type == "Split" || type == "SplitV")
        return sizedBy(node, "num_split");
    if (type == "Unpack")
        return sizedBy(node, "num");
    if (type == "ShapeN" || type == "RefMergeN" || type == "ConcatOffset")
        return sizedBy(node, "N");
    if (type == "IdentityN") {
        const auto* types = findAttr(node, "T");
        return types != nullptr && types->has_list() ? types->list().type_size() : 1;
    }
    const auto* named = namedOutputs(type);
    return named == nullptr ? 1 : static_cast<std::int64_t>(named->size());
}

/// Outputs that functions name, where the op is not in the table: numbered by appearance.
class OutputNames {
public:
    std::uint32_t indexOf(std::int32_t node, std::string_view type, const InputName& name) {
        const auto index = static_cast<std::uint32_t>(name.index);
        if (name.output.empty())
            return index;
        if (const auto* named = namedOutputs(type)) {
            const auto at = std::find(named->begin(), named->end(), name.output);
            return at == named->end() ? index : static_cast<std::uint32_t>(at - named->begin()) + index;
        }
        auto& known = m_names[node];
        return known.try_emplace(name.output, static_cast<std::uint32_t>(known.size())).first->second + index;
    }

private:
    std::unordered_map<std::int32_t, std::unordered_map<std::string_view, std::uint32_t>> m_names;
};

} // namespace

Wiring::Wiring(const Nodes& nodes, const tensorflow::OpDef* signature) {
    countOutputs(nodes);
    connect(nodes, signature);
}

void Wiring::countOutputs(const Nodes& nodes) {
    m_outputCount.reserve(static_cast<std::size_t>(nodes.size()));
    for (const auto& node : nodes) {
        m_outputCount.push_back(static_cast<std::uint32_t>(declaredOutputs(node)));
        m_closesLoop.push_back(node.op() == "NextIteration" || node.op() == "RefNextIteration");
    }
}

void Wiring::noteMissing(const std::string& input) {
    ++m_missingCount;
    if (m_missingNames.size() < kMaxNamedMissing &&
        std::find(m_missingNames.begin(), m_missingNames.end(), input) == m_missingNames.end())
        m_missingNames.push_back(input);
}

void Wiring::connect(const Nodes& nodes, const tensorflow::OpDef* signature) {
    std::unordered_map<std::string_view, Wire> known;
    known.reserve(static_cast<std::size_t>(nodes.size()));
    std::uint64_t spare = kSpareOutputs;
    for (int i = 0; i < nodes.size(); ++i) {
        spare += static_cast<std::uint64_t>(nodes[i].input_size());
        known.try_emplace(nodes[i].name(), Wire{i, -1, 0, 0, false}); // why: of two with one name the first counts
    }
    for (int i = 0; signature != nullptr && i < signature->input_arg_size(); ++i)
        known.try_emplace(signature->input_arg(i).name(), Wire{-1, i, 0, 0, false});
    OutputNames names;
    m_start.reserve(static_cast<std::size_t>(nodes.size()) + 1);
    for (const auto& node : nodes) {
        m_start.push_back(m_wires.size());
        std::uint32_t slot = 0;
        for (const std::string& input : node.input()) {
            const InputName name = splitInput(input);
            const auto found = known.find(name.node);
            Wire wire = found == known.end() ? Wire() : found->second;
            wire.isControl = name.isControl;
            wire.slot = name.isControl ? 0 : slot++;
            if (wire.node >= 0 && !wire.isControl) {
                wire.output = names.indexOf(wire.node, nodes[wire.node].op(), name);
                auto& count = m_outputCount[static_cast<std::size_t>(wire.node)];
                const std::uint64_t more = wire.output < count ? 0 : wire.output + std::uint64_t{1} - count;
                if (more > spare) {
                    wire.node = -1;
                } else {
                    spare -= more;
                    count += static_cast<std::uint32_t>(more);
                }
            }
            if (wire.node < 0 && wire.arg < 0)
                noteMissing(input);
            m_wires.push_back(wire);
        }
    }
    m_start.push_back(m_wires.size());
}

std::vector<std::int32_t> Wiring::evaluationOrder() const {
    const std::size_t n = m_outputCount.size();
    std::vector<std::uint32_t> waiting(n, 0);
    std::vector<std::uint32_t> outStart(n + 1, 0);
    const auto counts = [this](const Wire& wire) {
        return wire.node >= 0 && !m_closesLoop[static_cast<std::size_t>(wire.node)];
    };
    for (const Wire& wire : m_wires) {
        if (counts(wire))
            ++outStart[static_cast<std::size_t>(wire.node) + 1];
    }
    for (std::size_t i = 0; i < n; ++i)
        outStart[i + 1] += outStart[i];
    std::vector<std::int32_t> consumers(outStart[n]);
    auto fill = outStart;
    for (std::size_t i = 0; i < n; ++i) {
        for (const Wire& wire : inputs(static_cast<int>(i))) {
            if (!counts(wire))
                continue;
            consumers[fill[static_cast<std::size_t>(wire.node)]++] = static_cast<std::int32_t>(i);
            ++waiting[i];
        }
    }
    std::vector<std::int32_t> order;
    order.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (waiting[i] == 0)
            order.push_back(static_cast<std::int32_t>(i));
    }
    for (std::size_t at = 0; at < order.size(); ++at) {
        const auto node = static_cast<std::size_t>(order[at]);
        for (std::uint32_t k = outStart[node]; k < outStart[node + 1]; ++k) {
            if (--waiting[static_cast<std::size_t>(consumers[k])] == 0)
                order.push_back(consumers[k]);
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (waiting[i] > 0)
            order.push_back(static_cast<std::int32_t>(i));
    }
    return order;
}

} // namespace pw::formats::tf
