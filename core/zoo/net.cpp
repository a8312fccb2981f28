#include "core/zoo/net.h"

#include <algorithm>

namespace pw::zoo {

Net::Net(std::string name, NetOptions options) : m_builder(std::move(name), "zoo"), m_options(options) {}

Net::Scope::Scope(Net& net, std::string_view path) : m_net(net), m_length(net.m_prefix.size()) {
    net.m_prefix += path;
    net.m_prefix += '/';
}

std::string Net::uniqueName(std::string name) {
    const int uses = m_names[name]++;
    if (uses == 0)
        return name;
    std::string numbered = name;
    numbered += '_';
    numbered += std::to_string(uses);
    return uniqueName(std::move(numbered)); // why: somebody may have chosen "x_1"
}

double Net::elements(TensorId tensor) {
    return static_cast<double>(elementCount(dims(tensor)).value_or(0));
}

OpId Net::emit(OpSpec spec) {
    double moved = 0.0;
    for (const TensorId input : spec.inputs)
        moved += input.isValid() ? bytes(input) : 0.0;
    Op op;
    op.name = uniqueName(m_prefix + (spec.name.empty() ? spec.type : spec.name));
    op.type = spec.type;
    op.phase = m_phase;
    op.colocation = spec.colocation.empty() ? m_defaultColocation : std::move(spec.colocation);
    op.flops = spec.flops;
    if (m_expert.layer >= 0)
        op.attributes.emplace_back("expert_layer", std::to_string(m_expert.layer));
    if (m_expert.branch >= 0)
        op.attributes.emplace_back("expert_branch", std::to_string(m_expert.branch));
    const OpId id = m_builder.addOp(std::move(op));
    bool needsGradient = false;
    for (const TensorId input : spec.inputs) {
        if (!input.isValid()) // a constant that this level leaves out
            continue;
        m_builder.addInput(id, input);
        needsGradient = needsGradient || this->needsGradient(input);
    }
    for (const OpId before : spec.controls)
        m_builder.addControl(before, id);
    for (OutputSpec& output : spec.outputs) {
        Tensor tensor;
        tensor.dtype = output.dtype;
        tensor.bytes = elementCount(output.dims).value_or(0) * dtypeBytes(output.dtype);
        tensor.dims = std::move(output.dims);
        tensor.shapeKnown = true;
        moved += static_cast<double>(tensor.bytes);
        const TensorId made = m_builder.addOutput(id, std::move(tensor));
        if (needsGradient && !spec.stopsGradient && m_phase == Phase::Forward)
            markNeedsGradient(made);
    }
    if (spec.isFree)
        moved = 0.0;
    m_builder.op(id).bytesMoved = static_cast<std::int64_t>(spec.bytesMoved >= 0.0 ? spec.bytesMoved : moved);
    return id;
}

TensorId Net::placeholder(std::string name, Dims dims, const char* dtype) {
    OpSpec spec{.type = "Placeholder", .name = std::move(name), .isFree = true};
    spec.outputs.push_back({std::move(dims), dtype});
    return emitValue(std::move(spec));
}

TensorId Net::constant(std::string name, const Dims& dims, const char* dtype) {
    if (!atLeast(Level::Full))
        return TensorId();
    OpSpec spec{.type = "Const", .name = std::move(name), .isFree = true};
    spec.outputs.push_back({dims, dtype});
    return emitValue(std::move(spec));
}

TensorId Net::variable(std::string name, Dims dims, bool isTrainable) {
    OpSpec spec{.type = "Variable", .name = std::move(name), .isFree = true};
    spec.outputs.push_back({std::move(dims), "f32"});
    const OpId id = emit(std::move(spec));
    const TensorId value = output(id, 0);
    Op& op = m_builder.op(id);
    op.paramBytes = m_builder.tensor(value).bytes;
    op.colocation = op.name;
    m_variableOf.emplace(value.value(), m_variables.size());
    m_variables.push_back({value, op.name, isTrainable, m_expert});
    if (isTrainable)
        markNeedsGradient(value);
    return value;
}

std::string Net::variableKey(TensorId variable) const {
    return m_variables[m_variableOf.at(variable.value())].key;
}

std::vector<TensorId> Net::sparseUses(TensorId table) const {
    const auto found = m_sparseUses.find(table.value());
    return found == m_sparseUses.end() ? std::vector<TensorId>() : found->second;
}

void Net::markNeedsGradient(TensorId tensor) {
    if (m_needsGradient.size() <= tensor.index())
        m_needsGradient.resize(tensor.index() + 1, false);
    m_needsGradient[tensor.index()] = m_options.training;
}

bool Net::needsGradient(TensorId tensor) const {
    return tensor.isValid() && tensor.index() < m_needsGradient.size() && m_needsGradient[tensor.index()];
}

void Net::setGradient(OpId op, GradientRule rule, bool isTuple) {
    if (m_options.training)
        m_records.push_back({op, m_prefix, std::move(rule), isTuple, m_expert});
}

void Net::addGradient(TensorId input, TensorId gradient) {
    m_pending.emplace_back(input, gradient);
}

/// With colocated gradients, a forward op and its gradients share a key: its own, or its name.
std::string Net::gradientKey(OpId forward) {
    if (!m_options.colocateGradients)
        return {};
    Op& op = m_builder.op(forward);
    if (op.colocation.empty())
        op.colocation = op.name;
    return op.colocation;
}

void Net::runRule(const Record& record, std::span<const TensorId> gradients) {
    m_prefix = "gradients/" + record.prefix;
    const Expert expert(*this, record.expert);
    m_defaultColocation = gradientKey(record.op);
    m_pending.clear();
    record.rule(gradients);
    std::vector<std::pair<TensorId, TensorId>> made = std::move(m_pending);
    m_pending.clear();
    if (record.isTuple && atLeast(Level::Full) && made.size() > 1) {
        OpSpec group{.type = "NoOp", .name = "tuple/group_deps", .isFree = true};
        for (const auto& [input, gradient] : made)
            group.controls.push_back(producer(gradient));
        std::sort(group.controls.begin(), group.controls.end());
        group.controls.erase(std::unique(group.controls.begin(), group.controls.end()), group.controls.end());
        const OpId groupId = emit(std::move(group));
        for (auto& [input, gradient] : made) {
            OpSpec identity{.type = "Identity", .name = "tuple/control_dependency", .inputs = {gradient},
                            .isFree = true, .controls = {groupId}};
            identity.outputs.push_back({dims(gradient)});
            gradient = emitValue(std::move(identity));
        }
    }
    for (const auto& [input, gradient] : made) {
        if (needsGradient(input))
            m_gradients[input.value()].push_back(gradient);
    }
    m_defaultColocation.clear();
}

TensorId Net::sumOf(TensorId value) {
    const auto found = m_gradients.find(value.value());
    if (found == m_gradients.end())
        return TensorId();
    const std::vector<TensorId> parts = found->second;
    if (parts.size() == 1)
        return parts.front();
    OpSpec sum{.type = "AddN", .inputs = parts, .flops = static_cast<double>(parts.size() - 1) * elements(value)};
    sum.outputs.push_back({dims(value)});
    sum.colocation = gradientKey(producer(value));
    return emitValue(std::move(sum));
}

void Net::backward(TensorId loss) {
    m_phase = Phase::Backward;
    const std::string outside = m_prefix;
    m_prefix = "gradients/";
    OpSpec seed{.type = "Fill", .name = "grad_ys", .isFree = true, .controls = {producer(loss)}};
    seed.outputs.push_back({{}});
    const Expert lossExpert(*this, m_records.empty() ? m_expert : m_records.back().expert);
    m_gradients[loss.value()].push_back(emitValue(std::move(seed)));
    for (auto record = m_records.rbegin(); record != m_records.rend(); ++record) {
        m_prefix = "gradients/" + record->prefix;
        const Expert expert(*this, record->expert);
        std::vector<TensorId> gradients;
        bool any = false;
        for (std::size_t i = 0; i < m_builder.outputCount(record->op); ++i) {
            gradients.push_back(sumOf(output(record->op, i)));
            any = any || gradients.back().isValid();
        }
        if (any)
            runRule(*record, gradients);
    }
    m_prefix = outside;
}

std::span<const TensorId> Net::gradientsOf(TensorId variable) const {
    const auto found = m_gradients.find(variable.value());
    return found == m_gradients.end() ? std::span<const TensorId>() : found->second;
}

} // namespace pw::zoo
