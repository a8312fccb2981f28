#include "core/formats/tf_shape_rules_internal.h"

#include <algorithm>
#include <unordered_map>

namespace pw::formats::tf {

namespace {

using rules::broadcast;

/// Up to this version a placeholder's scalar shape meant "any shape" [C].
constexpr int kScalarMeansAnyShape = 21;

void setShapeAttr(RuleContext& c, int dtype) {
    const auto* shape = findAttr(c.node(), "shape");
    const auto dims = shape != nullptr ? dimsOf(shape->shape()) : std::nullopt;
    if (dims)
        c.setOutput(0, dtype, *dims);
    else
        c.setType(0, dtype);
}

void constant(RuleContext& c) {
    const auto* value = findAttr(c.node(), "value");
    if (value == nullptr || !value->has_tensor())
        return;
    const auto dims = dimsOf(value->tensor().tensor_shape());
    if (!dims)
        return;
    c.setOutput(0, value->tensor().dtype(), *dims);
    if (auto values = tensorIntegers(value->tensor()); values && values->size() <= kMaxConstant)
        c.setConstant(std::move(*values));
}

void placeholder(RuleContext& c) {
    const auto* shape = findAttr(c.node(), "shape");
    const bool isAny = shape == nullptr || (shape->shape().dim_size() == 0 && c.producerVersion() <= kScalarMeansAnyShape);
    if (isAny)
        c.setType(0, c.type("dtype"));
    else
        setShapeAttr(c, c.type("dtype"));
}

void variable(RuleContext& c) {
    setShapeAttr(c, c.type("dtype"));
}

void variableHandle(RuleContext& c) {
    c.setOutput(0, tensorflow::DT_RESOURCE, {});
    TensorType behind{c.type("dtype"), false, {}};
    const auto* shape = findAttr(c.node(), "shape");
    if (const auto dims = shape != nullptr ? dimsOf(shape->shape()) : std::nullopt) {
        behind.shapeKnown = true;
        behind.dims = *dims;
    }
    c.outputs().front().handle = std::move(behind);
}

void readVariable(RuleContext& c) {
    const auto& handle = c.input(0).handle;
    if (handle && handle->shapeKnown)
        c.setOutput(0, c.type("dtype", handle->dtype), handle->dims);
    else
        c.setType(0, c.type("dtype"));
}

/// Element-wise with one input that counts; constants and variable handles pass.
void passOn(RuleContext& c) {
    sameShapeAs(c, 0, 0, c.dtype(0));
    if (c.outputs().empty())
        return;
    c.outputs().front().constant = c.input(0).constant;
    c.outputs().front().handle = c.input(0).handle;
}

void unary(RuleContext& c) {
    sameShapeAs(c, 0, 0, c.dtype(0));
}

void booleanUnary(RuleContext& c) {
    sameShapeAs(c, 0, 0, tensorflow::DT_BOOL);
}

void cast(RuleContext& c) {
    const int type = c.type("DstT");
    sameShapeAs(c, 0, 0, type);
    if (const Dims* values = c.constant(0);
        values != nullptr && (type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64))
        c.setConstant(*values);
}

void passAll(RuleContext& c) {
    for (std::size_t i = 0; i < c.inputCount(); ++i)
        sameShapeAs(c, i, i, c.dtype(i));
}

/// Both ways have the data's shape.
void switchOp(RuleContext& c) {
    sameShapeAs(c, 0, 0, c.dtype(0));
    sameShapeAs(c, 1, 0, c.dtype(0));
}

/// A loop's Merge has one input from outside, the other from the end of its body: the first known shape is the shape.
void merge(RuleContext& c) {
    for (std::size_t i = 0; i < c.inputCount(); ++i) {
        if (c.shape(i) != nullptr) {
            sameShapeAs(c, 0, i, c.dtype(i));
            break;
        }
    }
    c.setOutput(1, tensorflow::DT_INT32, {});
}

void assign(RuleContext& c) {
    sameShapeAs(c, 0, c.shape(1) != nullptr ? 1 : 0, c.dtype(0));
}

void broadcastInto(RuleContext& c, int dtype) {
    const Dims* a = c.shape(0);
    const Dims* b = c.shape(1);
    auto dims = a != nullptr && b != nullptr ? broadcast(*a, *b) : std::nullopt;
    if (!dims) {
        c.setType(0, dtype);
        return;
    }
    c.setOutput(0, dtype, std::move(*dims));
}

void binary(RuleContext& c) {
    broadcastInto(c, c.dtype(0) != 0 ? c.dtype(0) : c.dtype(1));
    const Dims* a = c.constant(0);
    const Dims* b = c.constant(1);
    if (a == nullptr || b == nullptr)
        return;
    if (auto folded = foldedIntegers(c.node().op(), *a, *b))
        c.setConstant(std::move(*folded));
}

void comparison(RuleContext& c) {
    broadcastInto(c, tensorflow::DT_BOOL);
}

void addAll(RuleContext& c) {
    for (std::size_t i = 0; i < c.inputCount(); ++i) {
        if (c.shape(i) != nullptr) {
            sameShapeAs(c, 0, i, c.dtype(i));
            return;
        }
    }
}

void select(RuleContext& c) {
    sameShapeAs(c, 0, c.shape(1) != nullptr ? 1 : 2, c.dtype(1));
}

void selectWithBroadcast(RuleContext& c) {
    const Dims* condition = c.shape(0);
    const Dims* a = c.shape(1);
    const Dims* b = c.shape(2);
    auto dims = a != nullptr && b != nullptr ? broadcast(*a, *b) : std::nullopt;
    dims = dims && condition != nullptr ? broadcast(*dims, *condition) : std::nullopt;
    if (dims)
        c.setOutput(0, c.dtype(1), std::move(*dims));
}

/// Axes from the constant in input 1; all where there are none to know the result is a scalar without keep_dims.
void reduce(RuleContext& c, int dtype) {
    const Dims* data = c.shape(0);
    const bool keep = c.flag("keep_dims") || c.flag("keepdims");
    c.setType(0, dtype);
    if (data == nullptr)
        return;
    const Dims* axes = c.constant(1);
    if (axes == nullptr) {
        const Dims* shape = c.shape(1);
        const bool isOneAxis = shape != nullptr && (shape->empty() || (shape->size() == 1 && shape->front() == 1));
        if (keep)
            c.setOutput(0, dtype, Dims(data->size(), -1));
        else if (isOneAxis && !data->empty())
            c.setOutput(0, dtype, Dims(data->size() - 1, -1));
        return;
    }
    std::vector<bool> isReduced(data->size(), false);
    for (const std::int64_t value : *axes) {
        const auto axis = rules::axisOf(value, data->size());
        if (!axis)
            return;
        isReduced[*axis] = true;
    }
    Dims dims;
    for (std::size_t d = 0; d < data->size(); ++d) {
        if (!isReduced[d])
            dims.push_back((*data)[d]);
        else if (keep)
            dims.push_back(1);
    }
    c.setOutput(0, dtype, std::move(dims));
    if (const Dims* values = c.constant(0); values != nullptr && c.node().op() == "Prod" && data->size() == 1) {
        std::int64_t product = 1;
        for (const std::int64_t value : *values)
            product = rules::mulDim(product, value);
        c.setConstant({product < 0 ? kUnknownValue : product});
    }
}

void reduceNumbers(RuleContext& c) {
    reduce(c, c.dtype(0));
}

void reduceBooleans(RuleContext& c) {
    reduce(c, tensorflow::DT_BOOL);
}

void argReduce(RuleContext& c) {
    reduce(c, c.type("output_type", tensorflow::DT_INT64));
}

void scalarLike(RuleContext& c) {
    c.setOutput(0, c.dtype(0), {});
}

void scalarBool(RuleContext& c) {
    c.setOutput(0, tensorflow::DT_BOOL, {});
}

void scalarString(RuleContext& c) {
    c.setOutput(0, tensorflow::DT_STRING, {});
}

/// Gradient vectors of unknown length.
void gradientAxes(RuleContext& c) {
    c.setOutput(0, c.dtype(0), {-1});
    c.setOutput(1, c.dtype(0), {-1});
}

const std::unordered_map<std::string_view, Rule>& generalRules() {
    static const std::unordered_map<std::string_view, Rule> kTable = [] {
        std::unordered_map<std::string_view, Rule> table;
        const auto add = [&table](Rule rule, std::initializer_list<std::string_view> types) {
            for (const std::string_view type : types)
                table.emplace(type, rule);
        };
        add(constant, {"Const", "HostConst"});
        add(placeholder, {"Placeholder", "PlaceholderV2"});
        add(variable, {"Variable", "VariableV2", "TemporaryVariable"});
        add(variableHandle, {"VarHandleOp"});
        add(readVariable, {"ReadVariableOp"});
        add(passOn, {"Identity", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "EnsureShape", "Enter",
                     "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "PlaceholderWithDefault",
                     "RefIdentity", "LoopCond", "DebugIdentity", "_Retval"});
        add(unary, {"Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Exp", "Expm1",
                    "Log", "Log1p", "Neg", "Abs", "Sign", "Square", "Sqrt", "Rsqrt", "Inv", "Reciprocal", "Floor", "Ceil",
                    "Round", "Rint", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Erf", "Erfc", "ZerosLike",
                    "OnesLike", "Softmax", "LogSoftmax", "BiasAdd", "LRN", "ClipByValue", "Cumsum", "ReverseV2", "Reverse",
                    "ReluGrad", "Relu6Grad", "EluGrad", "SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "SoftplusGrad",
                    "InvGrad", "ReciprocalGrad", "ReverseSequence", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs",
                    "ApplyAdam", "ApplyGradientDescent", "ApplyMomentum", "ApplyRMSProp", "ApplyFtrl", "ApplyAdagrad",
                    "ScatterAdd", "ScatterUpdate", "ScatterSub", "MatrixInverse", "Cholesky", "LogicalNot", "Lgamma"});
        add(booleanUnary, {"IsNan", "IsInf", "IsFinite"});
        add(cast, {"Cast"});
        add(passAll, {"IdentityN"});
        add(switchOp, {"Switch", "RefSwitch"});
        add(merge, {"Merge", "RefMerge"});
        add(assign, {"Assign", "AssignAdd", "AssignSub"});
        add(binary, {"Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "MulNoNan", "FloorDiv", "TruncateDiv",
                     "FloorMod", "Mod", "TruncateMod", "Pow", "Maximum", "Minimum", "SquaredDifference", "Atan2", "Xdivy",
                     "Xlogy", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"});
        add(comparison, {"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr",
                         "ApproximateEqual"});
        add(addAll, {"AddN", "AccumulateNV2"});
        add(select, {"Select"});
        add(selectWithBroadcast, {"SelectV2"});
        add(reduceNumbers, {"Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"});
        add(reduceBooleans, {"All", "Any"});
        add(argReduce, {"ArgMax", "ArgMin"});
        add(scalarLike, {"L2Loss"});
        add(scalarBool, {"VarIsInitializedOp", "IsVariableInitialized"});
        add(scalarString, {"ScalarSummary", "HistogramSummary", "ImageSummary", "MergeSummary", "ShardedFilename",
                           "ShardedFilespec"});
        add(gradientAxes, {"BroadcastGradientArgs"});
        return table;
    }();
    return kTable;
}

} // namespace

const Value& RuleContext::input(std::size_t i) const {
    static const Value kUnknown;
    return i < m_inputs.size() && m_inputs[i] != nullptr ? *m_inputs[i] : kUnknown;
}

const Dims* RuleContext::shape(std::size_t i) const {
    return input(i).type.shapeKnown ? &input(i).type.dims : nullptr;
}

const Dims* RuleContext::constant(std::size_t i) const {
    return input(i).constant ? &*input(i).constant : nullptr;
}

std::optional<std::int64_t> RuleContext::scalar(std::size_t i) const {
    const Dims* values = constant(i);
    return values != nullptr && values->size() == 1 && values->front() != kUnknownValue ? std::optional(values->front())
                                                                                       : std::nullopt;
}

std::int64_t RuleContext::integer(std::string_view key, std::int64_t fallback) const {
    const auto* value = findAttr(m_node, key);
    return value != nullptr && value->value_case() == tensorflow::AttrValue::kI ? value->i() : fallback;
}

Dims RuleContext::integers(std::string_view key) const {
    const auto* value = findAttr(m_node, key);
    if (value == nullptr || value->list().i_size() > static_cast<int>(rules::kMaxRank) * 2)
        return {};
    return Dims(value->list().i().begin(), value->list().i().end());
}

std::string_view RuleContext::text(std::string_view key) const {
    const auto* value = findAttr(m_node, key);
    return value != nullptr ? std::string_view(value->s()) : std::string_view();
}

bool RuleContext::flag(std::string_view key) const {
    const auto* value = findAttr(m_node, key);
    return value != nullptr && value->b();
}

int RuleContext::type(std::string_view key, int fallback) const {
    const auto* value = findAttr(m_node, key);
    return value != nullptr && value->type() != 0 ? withoutRef(value->type()) : fallback;
}

Value& RuleContext::output(std::size_t i) {
    if (m_outputs.size() <= i)
        m_outputs.resize(i + 1);
    return m_outputs[i];
}

void RuleContext::setOutput(std::size_t i, int dtype, Dims dims) {
    if (dims.size() > rules::kMaxRank) {
        setType(i, dtype);
        return;
    }
    for (std::int64_t& dim : dims)
        dim = std::max<std::int64_t>(dim, -1);
    output(i).type = {withoutRef(dtype), true, std::move(dims)};
}

void RuleContext::setType(std::size_t i, int dtype) {
    output(i).type = {withoutRef(dtype), false, {}};
}

void RuleContext::setConstant(Dims values) {
    if (!m_outputs.empty() && values.size() <= kMaxConstant)
        m_outputs.front().constant = std::move(values);
}

void sameShapeAs(RuleContext& c, std::size_t output, std::size_t input, int dtype) {
    if (const Dims* dims = c.shape(input))
        c.setOutput(output, dtype, *dims);
    else
        c.setType(output, dtype);
}

void shapeFromInput(RuleContext& c, std::size_t input, int dtype) {
    c.setType(0, dtype);
    if (const Dims* values = c.constant(input)) {
        c.setOutput(0, dtype, *values);
        return;
    }
    const Dims* shape = c.shape(input);
    if (shape != nullptr && shape->size() == 1 && shape->front() >= 0 &&
        shape->front() <= static_cast<std::int64_t>(rules::kMaxRank))
        c.setOutput(0, dtype, Dims(static_cast<std::size_t>(shape->front()), -1));
}

std::optional<Dims> foldedIntegers(std::string_view opType, const Dims& a, const Dims& b) {
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
        return std::nullopt;
    const auto apply = [opType](std::int64_t x, std::int64_t y) -> std::optional<std::int64_t> {
        std::int64_t out = 0;
        if (x == kUnknownValue || y == kUnknownValue)
            return kUnknownValue;
        if (opType == "Add" || opType == "AddV2")
            return __builtin_add_overflow(x, y, &out) ? kUnknownValue : out;
        if (opType == "Sub")
            return __builtin_sub_overflow(x, y, &out) ? kUnknownValue : out;
        if (opType == "Mul")
            return __builtin_mul_overflow(x, y, &out) ? kUnknownValue : out;
        if (opType == "Maximum")
            return std::max(x, y);
        if (opType == "Minimum")
            return std::min(x, y);
        if ((opType == "FloorDiv" || opType == "Div" || opType == "RealDiv") && x >= 0 && y > 0)
            return x / y;
        if ((opType == "FloorMod" || opType == "Mod") && x >= 0 && y > 0)
            return x % y;
        return std::nullopt;
    };
    Dims values(a.empty() || b.empty() ? 0 : std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = apply(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
        if (!value)
            return std::nullopt;
        values[i] = *value;
    }
    return values;
}

void applyShapeRule(RuleContext& context) {
    const std::string_view type = context.node().op();
    const auto general = generalRules().find(type);
    Rule rule = general != generalRules().end() ? general->second : dataRule(type);
    if (rule == nullptr)
        rule = networkRule(type);
    if (rule != nullptr)
        rule(context);
}

} // namespace pw::formats::tf
