#include "core/formats/onnx_shape_rules.h"

#include "core/formats/onnx_shape_rules_internal.h"

#include <algorithm>

namespace pw::formats {

// Rules follow the operator documentation of ONNX (opsets 1 to 17); one rule covers all versions of an op where the
// difference is only whether something is an input or an attribute. This file: ops that compute.

namespace {

using namespace rules;

void ruleSameAsFirst(RuleContext& c) {
    if (const Dims* shape = c.shape(0))
        c.setOutput(0, c.type(0).elemType, *shape);
    else
        c.setOutputType(0, c.type(0).elemType);
    if (c.node().op_type() == "Identity" && c.constant(0) != nullptr)
        c.setConstant(*c.constant(0));
}

void ruleCast(RuleContext& c) {
    ruleSameAsFirst(c);
    c.outputs[0].elemType = static_cast<std::int32_t>(c.integer("to", 0));
    if (c.constant(0) != nullptr)
        c.setConstant(*c.constant(0));
}

void ruleQuantize(RuleContext& c) {
    ruleSameAsFirst(c);
    c.outputs[0].elemType = c.type(2).elemType != 0 ? c.type(2).elemType : kUint8;
}

void ruleDequantize(RuleContext& c) {
    ruleSameAsFirst(c);
    c.outputs[0].elemType = c.type(1).elemType != 0 ? c.type(1).elemType : kFloat;
}

/// Elementwise arithmetic on small integer tensors, as exporters write it between Shape and Reshape.
void foldArithmetic(RuleContext& c) {
    const auto* a = c.constant(0);
    const auto* b = c.constant(1);
    if (a == nullptr || b == nullptr || a->empty() || b->empty() ||
        (a->size() != b->size() && a->size() != 1 && b->size() != 1))
        return;
    const auto isFlat = [&](int i) { return c.shape(i) != nullptr && c.shape(i)->size() <= 1; };
    if (!isFlat(0) || !isFlat(1))
        return;
    Dims values(std::max(a->size(), b->size()), kUnknownValue);
    const std::string& op = c.node().op_type();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t x = (*a)[a->size() == 1 ? 0 : i];
        const std::int64_t y = (*b)[b->size() == 1 ? 0 : i];
        std::int64_t value = 0;
        if (x == kUnknownValue || y == kUnknownValue)
            continue;
        if ((op == "Add" && !__builtin_add_overflow(x, y, &value)) ||
            (op == "Sub" && !__builtin_sub_overflow(x, y, &value)) ||
            (op == "Mul" && !__builtin_mul_overflow(x, y, &value)))
            values[i] = value;
        else if (op == "Div" && y > 0)
            values[i] = x / y;
    }
    c.setConstant(std::move(values));
}

void ruleBroadcast(RuleContext& c) {
    const std::string& op = c.node().op_type();
    const bool compares = op == "Equal" || op == "Greater" || op == "Less" || op == "GreaterOrEqual" ||
                          op == "LessOrEqual" || op == "And" || op == "Or" || op == "Xor";
    const std::int32_t elemType = compares ? kBool : c.type(op == "Where" ? 1 : 0).elemType;
    std::optional<Dims> dims = Dims();
    for (int i = 0; i < c.inputCount() && dims; ++i) {
        const Dims* shape = c.shape(i);
        dims = shape != nullptr ? broadcast(*dims, *shape) : std::nullopt;
    }
    if (dims)
        c.setOutput(0, elemType, std::move(*dims));
    else
        c.setOutputType(0, elemType);
    if (c.inputCount() == 2)
        foldArithmetic(c);
}

/// `a` and `b` say which inputs are the factors: QLinearMatMul has them at 0 and 3.
void matMul(RuleContext& c, int a, int b, std::int32_t elemType) {
    c.setOutputType(0, elemType);
    if (c.shape(a) == nullptr || c.shape(b) == nullptr || c.shape(a)->empty() || c.shape(b)->empty())
        return;
    Dims left = *c.shape(a);
    Dims right = *c.shape(b);
    const bool leftVector = left.size() == 1;
    const bool rightVector = right.size() == 1;
    if (leftVector)
        left.insert(left.begin(), 1);
    if (rightVector)
        right.push_back(1);
    auto dims = broadcast(Dims(left.begin(), left.end() - 2), Dims(right.begin(), right.end() - 2));
    if (!dims)
        return;
    if (!leftVector)
        dims->push_back(left[left.size() - 2]);
    if (!rightVector)
        dims->push_back(right.back());
    c.setOutput(0, elemType, std::move(*dims));
}

void ruleMatMul(RuleContext& c) {
    matMul(c, 0, 1, c.type(0).elemType);
}
void ruleMatMulInteger(RuleContext& c) {
    matMul(c, 0, 1, kInt32);
}
void ruleQLinearMatMul(RuleContext& c) {
    matMul(c, 0, 3, c.type(7).elemType);
}

void ruleGemm(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* a = c.shape(0);
    const Dims* b = c.shape(1);
    if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2)
        return;
    c.setOutput(0, c.type(0).elemType,
                {(*a)[c.integer("transA", 0) != 0 ? 1 : 0], (*b)[c.integer("transB", 0) != 0 ? 0 : 1]});
}

/// Sliding windows over the spatial dimensions (from index 2 on).
struct Window {
    Dims kernel, strides, dilations, pads;
    std::string autoPad;
    bool ceil = false;

    Window(const RuleContext& c, Dims kernelShape)
        : kernel(std::move(kernelShape))
        , strides(c.integers("strides").value_or(Dims(kernel.size(), 1)))
        , dilations(c.integers("dilations").value_or(Dims(kernel.size(), 1)))
        , pads(c.integers("pads").value_or(Dims(2 * kernel.size(), 0)))
        , autoPad(c.text("auto_pad", "NOTSET"))
        , ceil(c.integer("ceil_mode", 0) != 0) {}

    bool isValid(std::size_t rank) const {
        const auto positive = [](const Dims& values) {
            return std::all_of(values.begin(), values.end(), [](std::int64_t v) { return v > 0 && v < (1 << 30); });
        };
        const auto small = [](std::int64_t v) { return v > -(1 << 30) && v < (1 << 30); };
        return rank == kernel.size() + 2 && strides.size() == kernel.size() && dilations.size() == kernel.size() &&
               pads.size() == 2 * kernel.size() && positive(strides) && positive(dilations) &&
               std::all_of(pads.begin(), pads.end(), small) &&
               std::all_of(kernel.begin(), kernel.end(), [](std::int64_t v) { return v < (1 << 30); });
    }

    std::int64_t outputSize(std::int64_t input, std::size_t i) const {
        if (input < 0 || kernel[i] < 0 || input > (std::int64_t{1} << 40))
            return -1;
        if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER")
            return (input + strides[i] - 1) / strides[i];
        const std::int64_t padding = autoPad == "VALID" ? 0 : pads[i] + pads[i + kernel.size()];
        const std::int64_t span = input + padding - (dilations[i] * (kernel[i] - 1) + 1);
        if (span < 0)
            return 0;
        return (span + (ceil ? strides[i] - 1 : 0)) / strides[i] + 1;
    }
};

void convolve(RuleContext& c, int data, int weights, std::int32_t elemType) {
    c.setOutputType(0, elemType);
    const Dims* input = c.shape(data);
    const Dims* weight = c.shape(weights);
    if (input == nullptr || weight == nullptr || weight->size() != input->size() || input->size() < 3)
        return;
    const Window window(c, c.integers("kernel_shape").value_or(Dims(weight->begin() + 2, weight->end())));
    if (!window.isValid(input->size()))
        return;
    Dims dims = {(*input)[0], (*weight)[0]};
    for (std::size_t i = 0; i + 2 < input->size(); ++i)
        dims.push_back(window.outputSize((*input)[i + 2], i));
    c.setOutput(0, elemType, std::move(dims));
}

void ruleConv(RuleContext& c) {
    convolve(c, 0, 1, c.type(0).elemType);
}
void ruleConvInteger(RuleContext& c) {
    convolve(c, 0, 1, kInt32);
}
void ruleQLinearConv(RuleContext& c) {
    convolve(c, 0, 3, c.type(7).elemType);
}

void ruleConvTranspose(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    const Dims* weight = c.shape(1);
    if (input == nullptr || weight == nullptr || weight->size() != input->size() || input->size() < 3)
        return;
    const Window window(c, c.integers("kernel_shape").value_or(Dims(weight->begin() + 2, weight->end())));
    const Dims extra = c.integers("output_padding").value_or(Dims(window.kernel.size(), 0));
    const auto fixed = c.integers("output_shape");
    if (!window.isValid(input->size()) || extra.size() != window.kernel.size() || window.autoPad != "NOTSET" ||
        (fixed && fixed->size() < window.kernel.size()))
        return;
    Dims dims = {(*input)[0], mulDim((*weight)[1], std::max<std::int64_t>(c.integer("group", 1), 1))};
    for (std::size_t i = 0; i < window.kernel.size(); ++i) {
        const std::int64_t size = (*input)[i + 2];
        const std::int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1 + (extra[i] & 0xffff) -
                                   window.pads[i] - window.pads[i + window.kernel.size()];
        const bool isKnown = size > 0 && size < (std::int64_t{1} << 30) && window.kernel[i] > 0;
        dims.push_back(fixed     ? (*fixed)[fixed->size() - window.kernel.size() + i]
                       : isKnown ? std::max<std::int64_t>((size - 1) * window.strides[i] + reach, 0)
                                 : -1);
    }
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

void rulePool(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    const auto kernel = c.integers("kernel_shape");
    if (input == nullptr || !kernel)
        return;
    const Window window(c, *kernel);
    if (!window.isValid(input->size()))
        return;
    Dims dims = {(*input)[0], (*input)[1]};
    for (std::size_t i = 0; i < kernel->size(); ++i)
        dims.push_back(window.outputSize((*input)[i + 2], i));
    if (c.node().op_type() == "MaxPool" && c.node().output_size() > 1)
        c.setOutput(1, kInt64, dims);
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

void ruleGlobalPool(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    if (c.shape(0) == nullptr || c.shape(0)->size() < 2)
        return;
    Dims dims(c.shape(0)->size(), 1);
    dims[0] = (*c.shape(0))[0];
    dims[1] = (*c.shape(0))[1];
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

void ruleReduce(RuleContext& c) {
    const bool isArg = c.node().op_type().starts_with("Arg");
    const std::int32_t elemType = isArg ? kInt64 : c.type(0).elemType;
    c.setOutputType(0, elemType);
    const Dims* input = c.shape(0);
    if (input == nullptr)
        return;
    bool isGiven = true;
    const auto axes = isArg ? std::optional<Dims>(Dims{c.integer("axis", 0)}) : axesOf(c, isGiven);
    const bool keep = c.integer("keepdims", 1) != 0;
    if (!axes)
        return;
    if (!isGiven && c.integer("noop_with_empty_axes", 0) != 0)
        return c.setOutput(0, elemType, *input);
    std::vector<bool> reduced(input->size(), axes->empty());
    for (const std::int64_t given : *axes) {
        const auto axis = axisOf(given, input->size());
        if (!axis)
            return;
        reduced[*axis] = true;
    }
    Dims dims;
    for (std::size_t d = 0; d < input->size(); ++d) {
        if (!reduced[d])
            dims.push_back((*input)[d]);
        else if (keep)
            dims.push_back(1);
    }
    c.setOutput(0, elemType, std::move(dims));
}

/// LSTM, GRU, RNN in the default layout: X is [steps, batch, input].
void ruleRecurrent(RuleContext& c) {
    const std::int64_t directions = c.text("direction", "forward") == "bidirectional" ? 2 : 1;
    const std::int64_t hidden = c.integer("hidden_size", -1);
    const Dims* input = c.shape(0);
    const bool isKnown = input != nullptr && input->size() == 3 && c.integer("layout", 0) == 0;
    const std::int64_t steps = isKnown ? (*input)[0] : -1;
    const std::int64_t batch = isKnown ? (*input)[1] : -1;
    for (int i = 0; i < std::min(c.node().output_size(), 3); ++i) {
        if (c.integer("layout", 0) != 0)
            c.setOutputType(i, c.type(0).elemType);
        else if (i == 0)
            c.setOutput(0, c.type(0).elemType, {steps, directions, batch, hidden});
        else
            c.setOutput(i, c.type(0).elemType, {directions, batch, hidden});
    }
}

const std::unordered_map<std::string_view, Rule>& computeRules() {
    static const std::unordered_map<std::string_view, Rule> kRules = [] {
        std::unordered_map<std::string_view, Rule> table;
        for (const char* name : {"Abs",
                                 "Acos",
                                 "Acosh",
                                 "Asin",
                                 "Asinh",
                                 "Atan",
                                 "Atanh",
                                 "BatchNormalization",
                                 "BitwiseNot",
                                 "Ceil",
                                 "Celu",
                                 "Clip",
                                 "Cos",
                                 "Cosh",
                                 "CumSum",
                                 "Dropout",
                                 "Elu",
                                 "Erf",
                                 "Exp",
                                 "FastGelu",
                                 "Floor",
                                 "Gelu",
                                 "GroupNormalization",
                                 "HardSigmoid",
                                 "HardSwish",
                                 "Hardmax",
                                 "Identity",
                                 "InstanceNormalization",
                                 "LRN",
                                 "LayerNormalization",
                                 "LeakyRelu",
                                 "Log",
                                 "LogSoftmax",
                                 "LpNormalization",
                                 "MeanVarianceNormalization",
                                 "Mish",
                                 "Neg",
                                 "Not",
                                 "PRelu",
                                 "QuickGelu",
                                 "Reciprocal",
                                 "Relu",
                                 "Round",
                                 "ScatterElements",
                                 "ScatterND",
                                 "Selu",
                                 "Shrink",
                                 "Sigmoid",
                                 "Sign",
                                 "Sin",
                                 "Sinh",
                                 "SkipLayerNormalization",
                                 "Softmax",
                                 "Softplus",
                                 "Softsign",
                                 "Sqrt",
                                 "Tan",
                                 "Tanh",
                                 "ThresholdedRelu",
                                 "Trilu"})
            table.emplace(name, ruleSameAsFirst);
        for (const char* name : {"Add",  "And",         "BitShift", "Div",  "Equal", "Greater", "GreaterOrEqual",
                                 "Less", "LessOrEqual", "Max",      "Mean", "Min",   "Mod",     "Mul",
                                 "Or",   "Pow",         "Sub",      "Sum",  "Where", "Xor"})
            table.emplace(name, ruleBroadcast);
        for (const char* name : {"ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
                                 "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"})
            table.emplace(name, ruleReduce);
        for (const char* name : {"AveragePool", "LpPool", "MaxPool"})
            table.emplace(name, rulePool);
        for (const char* name : {"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"})
            table.emplace(name, ruleGlobalPool);
        for (const char* name : {"GRU", "LSTM", "RNN"})
            table.emplace(name, ruleRecurrent);
        const std::pair<const char*, Rule> single[] = {
            {"Cast", ruleCast},
            {"Conv", ruleConv},
            {"ConvInteger", ruleConvInteger},
            {"ConvTranspose", ruleConvTranspose},
            {"DequantizeLinear", ruleDequantize},
            {"Gemm", ruleGemm},
            {"MatMul", ruleMatMul},
            {"MatMulInteger", ruleMatMulInteger},
            {"QLinearConv", ruleQLinearConv},
            {"QLinearMatMul", ruleQLinearMatMul},
            {"QuantizeLinear", ruleQuantize},
        };
        for (const auto& [name, rule] : single)
            table.emplace(name, rule);
        return table;
    }();
    return kRules;
}

} // namespace

using rules::Dims;
using rules::kMaxConstant;
using rules::kMaxRank;

RuleContext::RuleContext(const onnx::NodeProto& node, const FindType& findType, const FindConstant& findConstant)
    : m_node(node) {
    for (const auto& input : node.input()) {
        m_types.push_back(input.empty() ? nullptr : findType(input));
        m_constants.push_back(input.empty() ? nullptr : findConstant(input));
    }
}

const ValueType& RuleContext::type(int i) const {
    static const ValueType kUnknown;
    const auto index = static_cast<std::size_t>(i);
    return index < m_types.size() && m_types[index] != nullptr ? *m_types[index] : kUnknown;
}

const Dims* RuleContext::shape(int i) const {
    const ValueType& value = type(i);
    return value.shapeKnown && value.dims.size() <= kMaxRank ? &value.dims : nullptr;
}

const Dims* RuleContext::constant(int i) const {
    const auto index = static_cast<std::size_t>(i);
    return index < m_constants.size() ? m_constants[index] : nullptr;
}

std::string RuleContext::text(std::string_view name, std::string_view fallback) const {
    const auto* attribute = findAttribute(m_node, name);
    return attribute != nullptr && attribute->has_s() ? attribute->s() : std::string(fallback);
}

std::optional<Dims> RuleContext::integers(std::string_view name) const {
    const auto* attribute = findAttribute(m_node, name);
    if (attribute == nullptr || (attribute->ints_size() == 0 && attribute->type() != onnx::AttributeProto::INTS))
        return std::nullopt;
    return Dims(attribute->ints().begin(), attribute->ints().end());
}

void RuleContext::setOutput(int i, std::int32_t elemType, Dims dims) {
    setOutputType(i, elemType);
    if (dims.size() > kMaxRank)
        return;
    outputs[static_cast<std::size_t>(i)].shapeKnown = true;
    outputs[static_cast<std::size_t>(i)].dims = std::move(dims);
}

void RuleContext::setOutputType(int i, std::int32_t elemType) {
    if (outputs.size() <= static_cast<std::size_t>(i))
        outputs.resize(static_cast<std::size_t>(i) + 1);
    outputs[static_cast<std::size_t>(i)].elemType = elemType;
}

void RuleContext::setConstant(Dims values) {
    if (values.size() <= kMaxConstant)
        constantOutput = std::move(values);
}

void applyShapeRule(RuleContext& context) {
    const auto found = computeRules().find(context.node().op_type());
    if (found != computeRules().end())
        found->second(context);
    else if (const rules::Rule rule = rules::dataRule(context.node().op_type()))
        rule(context);
}

} // namespace pw::formats
