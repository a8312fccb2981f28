#include "core/zoo/layers.h"

namespace pw::zoo {

namespace {

/// FLOPs and slots per parameter.
struct UpdateRule {
    const char* type;
    /// Of a gradient that has the rows of a table alone. TensorFlow 1 has no such kernel for Adam: it subtracts the
    /// step.
    const char* sparseType;
    double flops;
    int slots;
};

UpdateRule ruleOf(Optimizer optimizer) {
    switch (optimizer) {
    case Optimizer::Sgd:
        return {"ApplyGradientDescent", "ScatterSub", 2.0, 0};
    case Optimizer::Momentum:
        return {"ApplyMomentum", "SparseApplyMomentum", 4.0, 1};
    case Optimizer::RmsProp:
        return {"ApplyRMSProp", "SparseApplyRMSProp", 10.0, 2};
    case Optimizer::Adam:
        return {"ApplyAdam", "ScatterSub", 12.0, 2};
    }
    return {"ApplyGradientDescent", "ScatterSub", 2.0, 0};
}

/// A variable on its way to its update: a dense gradient, or the rows that Gather ops read.
struct Target {
    Variable variable;
    TensorId gradient;
    TensorId indices; ///< valid for a sparse gradient
};

TensorId joined(Net& net, const std::vector<TensorId>& parts, const char* name, const char* dtype,
                const std::string& key) {
    if (parts.size() == 1)
        return parts.front();
    Dims dims = net.dims(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i)
        dims[0] += net.dims(parts[i])[0];
    OpSpec spec{.type = "ConcatV2", .name = name, .inputs = parts, .colocation = key};
    spec.outputs.push_back({dims, dtype});
    return net.emitValue(std::move(spec));
}

Target targetOf(Net& net, const Variable& variable) {
    const Net::Scope scope(net, "gradients/" + variable.key);
    const Net::Expert expert(net, variable.expert);
    const std::vector<TensorId> indices = net.sparseUses(variable.value);
    if (indices.empty())
        return {variable, net.sumOf(variable.value), TensorId()};
    const auto found = net.gradientsOf(variable.value);
    const std::vector<TensorId> values(found.rbegin(), found.rend()); // in the order of the uses
    const TensorId rows = joined(net, values, "values", "f32", variable.key);
    return {variable, rows, joined(net, indices, "indices", "i32", variable.key)};
}

/// One factor for all gradients: clip / max(norm, clip).
TensorId clipFactor(Net& net, const std::vector<Target>& targets) {
    std::vector<TensorId> norms;
    for (const Target& target : targets) {
        const Net::Scope scope(net, target.variable.key);
        const Net::Expert expert(net, target.variable.expert);
        OpSpec norm{.type = "L2Loss",
                    .inputs = {target.gradient},
                    .flops = 2.0 * net.elements(target.gradient),
                    .colocation = target.variable.key};
        norm.outputs.push_back({{}});
        norms.push_back(net.emitValue(std::move(norm)));
    }
    const Net::Scope scope(net, "clip_by_global_norm");
    OpSpec sum{.type = "AddN", .inputs = norms, .flops = static_cast<double>(norms.size() - 1)};
    sum.outputs.push_back({{}});
    TensorId value = net.emitValue(std::move(sum));
    for (const char* type : {"Mul", "Sqrt", "Maximum", "RealDiv"}) {
        OpSpec step{.type = type, .inputs = {value}, .flops = 1.0};
        step.outputs.push_back({{}});
        value = net.emitValue(std::move(step));
    }
    return value;
}

void update(Net& net, const Target& target, TensorId factor, const UpdateRule& rule) {
    const Net::Scope scope(net, target.variable.key);
    const Net::Expert expert(net, target.variable.expert);
    const std::string& key = target.variable.key;
    TensorId gradient = target.gradient;
    if (factor.isValid()) {
        OpSpec scaled{.type = "Mul",
                      .name = "clip",
                      .inputs = {gradient, factor},
                      .flops = net.elements(gradient),
                      .colocation = key};
        scaled.outputs.push_back({net.dims(gradient)});
        gradient = net.emitValue(std::move(scaled));
    }
    // In place: reads variable, gradient and slots, writes variable and slots. A sparse update touches its rows alone.
    OpSpec apply{.type = rule.type, .inputs = {target.variable.value, gradient}, .colocation = key};
    apply.flops = rule.flops * net.elements(gradient);
    apply.bytesMoved = net.bytes(gradient) * (3.0 + 2.0 * rule.slots);
    if (target.indices.isValid()) {
        apply.type = rule.sparseType;
        apply.inputs.push_back(target.indices);
    }
    net.emit(std::move(apply));
    net.op(net.producer(target.variable.value)).stateBytes =
        rule.slots * static_cast<std::int64_t>(net.bytes(target.variable.value));
}

} // namespace

void trainOn(Net& net, TensorId loss, const TrainOptions& options) {
    net.backward(loss);
    std::vector<Target> targets;
    for (const Variable& variable : net.variables()) {
        if (!variable.isTrainable)
            continue;
        const Target target = targetOf(net, variable);
        if (target.gradient.isValid())
            targets.push_back(target);
    }
    net.setPhase(Phase::Optimizer);
    const Net::Scope scope(net, "train");
    const TensorId factor = options.clipGlobalNorm ? clipFactor(net, targets) : TensorId();
    for (const Target& target : targets)
        update(net, target, factor, ruleOf(options.optimizer));
    net.setPhase(Phase::Forward);
}

} // namespace pw::zoo
