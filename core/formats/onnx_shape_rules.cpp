#include "core/formats/onnx_shape_rules.h"

#include <algorithm>
#include <numeric>

namespace pw::formats {

// Rules follow the operator documentation of ONNX (opsets 1 to 17); one rule covers all versions of an op where the
// difference is only whether something is an input or an attribute.

namespace {

using Dims = std::vector<std::int64_t>;
constexpr std::size_t kMaxRank = 64;
constexpr std::size_t kMaxConstant = 8192;
constexpr std::int32_t kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kBool = 9;

std::int64_t mulDim(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

std::int64_t addDim(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

std::int64_t product(const Dims& dims, std::size_t from, std::size_t to) {
    std::int64_t count = 1;
    for (std::size_t d = from; d < to; ++d)
        count = mulDim(count, dims[d]);
    return count;
}

std::optional<std::size_t> axisOf(std::int64_t axis, std::size_t rank) {
    if (axis < 0)
        axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
        return std::nullopt;
    return static_cast<std::size_t>(axis);
}

/// Broadcast of two shapes; nothing where they cannot be.
std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
    Dims dims(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
        std::int64_t& out = dims[dims.size() - 1 - i];
        if (left == 1)
            out = right;
        else if (right == 1 || left == right)
            out = left;
        else if (left < 0 || right < 0)
            out = std::max(left, right); // the known one, if the unknown is not 1
        else
            return std::nullopt;
    }
    return dims;
}

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
    if (a == nullptr || b == nullptr || a->empty() || b->empty() || (a->size() != b->size() && a->size() != 1 && b->size() != 1))
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
        if ((op == "Add" && !__builtin_add_overflow(x, y, &value)) || (op == "Sub" && !__builtin_sub_overflow(x, y, &value)) ||
            (op == "Mul" && !__builtin_mul_overflow(x, y, &value)))
            values[i] = value;
        else if (op == "Div" && y > 0)
            values[i] = x / y;
    }
    c.setConstant(std::move(values));
}

void ruleBroadcast(RuleContext& c) {
    const std::string& op = c.node().op_type();
    const bool compares = op == "Equal" || op == "Greater" || op == "Less" || op == "GreaterOrEqual" || op == "LessOrEqual" ||
                          op == "And" || op == "Or" || op == "Xor";
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

void ruleMatMul(RuleContext& c) { matMul(c, 0, 1, c.type(0).elemType); }
void ruleMatMulInteger(RuleContext& c) { matMul(c, 0, 1, kInt32); }
void ruleQLinearMatMul(RuleContext& c) { matMul(c, 0, 3, c.type(7).elemType); }

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
        : kernel(std::move(kernelShape)), strides(c.integers("strides").value_or(Dims(kernel.size(), 1))),
          dilations(c.integers("dilations").value_or(Dims(kernel.size(), 1))),
          pads(c.integers("pads").value_or(Dims(2 * kernel.size(), 0))), autoPad(c.text("auto_pad", "NOTSET")),
          ceil(c.integer("ceil_mode", 0) != 0) {}

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

void ruleConv(RuleContext& c) { convolve(c, 0, 1, c.type(0).elemType); }
void ruleConvInteger(RuleContext& c) { convolve(c, 0, 1, kInt32); }
void ruleQLinearConv(RuleContext& c) { convolve(c, 0, 3, c.type(7).elemType); }

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
        const std::int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1 + (extra[i] & 0xffff) - window.pads[i] -
                                   window.pads[i + window.kernel.size()];
        const bool isKnown = size > 0 && size < (std::int64_t{1} << 30) && window.kernel[i] > 0;
        dims.push_back(fixed ? (*fixed)[fixed->size() - window.kernel.size() + i]
                       : isKnown ? std::max<std::int64_t>((size - 1) * window.strides[i] + reach, 0) : -1);
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

void ruleReshape(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    std::optional<Dims> target = c.integers("shape");
    if (!target && c.constant(1) != nullptr)
        target = *c.constant(1);
    if (!target) {
        // The number of elements of the shape input is the rank.
        if (c.shape(1) != nullptr && c.shape(1)->size() == 1 && (*c.shape(1))[0] >= 0 && (*c.shape(1))[0] <= 8)
            c.setOutput(0, c.type(0).elemType, Dims(static_cast<std::size_t>((*c.shape(1))[0]), -1));
        return;
    }
    const Dims* input = c.shape(0);
    std::int64_t known = 1;
    std::optional<std::size_t> inferred;
    std::size_t unknowns = 0;
    for (std::size_t d = 0; d < target->size(); ++d) {
        std::int64_t& dim = (*target)[d];
        if (dim == 0 && c.integer("allowzero", 0) == 0)
            dim = input != nullptr && d < input->size() && (*input)[d] >= 0 ? (*input)[d] : kUnknownValue;
        if (dim == -1)
            inferred = d;
        unknowns += dim < 0 ? 1 : 0;
        known = dim < 0 ? known : mulDim(known, dim);
        dim = std::max<std::int64_t>(dim, -1);
    }
    const std::int64_t total = input != nullptr ? product(*input, 0, input->size()) : -1;
    if (unknowns == 1 && inferred && total >= 0 && known > 0 && total % known == 0)
        (*target)[*inferred] = total / known;
    c.setOutput(0, c.type(0).elemType, std::move(*target));
    if (c.constant(0) != nullptr)
        c.setConstant(*c.constant(0));
}

void ruleFlatten(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    if (input == nullptr)
        return;
    const auto rank = static_cast<std::int64_t>(input->size());
    std::int64_t axis = c.integer("axis", 1);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis > rank)
        return;
    const auto split = static_cast<std::size_t>(axis);
    c.setOutput(0, c.type(0).elemType, {product(*input, 0, split), product(*input, split, input->size())});
}

void ruleTranspose(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    if (input == nullptr)
        return;
    Dims order(input->size());
    std::iota(order.rbegin(), order.rend(), 0);
    order = c.integers("perm").value_or(order);
    if (order.size() != input->size())
        return;
    Dims dims;
    for (const std::int64_t from : order) {
        const auto axis = axisOf(from, input->size());
        if (!axis)
            return;
        dims.push_back((*input)[*axis]);
    }
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

void foldConcat(RuleContext& c) {
    Dims values;
    for (int i = 0; i < c.inputCount(); ++i) {
        if (c.shape(i) == nullptr || c.shape(i)->size() != 1 || (*c.shape(i))[0] < 0)
            return;
        if (const auto* part = c.constant(i))
            values.insert(values.end(), part->begin(), part->end());
        else if ((*c.shape(i))[0] <= 64)
            values.insert(values.end(), static_cast<std::size_t>((*c.shape(i))[0]), kUnknownValue);
        else
            return;
    }
    c.setConstant(std::move(values));
}

void ruleConcat(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    if (c.shape(0) == nullptr)
        return;
    Dims dims = *c.shape(0);
    const auto axis = axisOf(c.integer("axis", 1), dims.size());
    if (!axis)
        return;
    for (int i = 1; i < c.inputCount(); ++i) {
        const Dims* next = c.shape(i);
        if (next == nullptr || next->size() != dims.size())
            return;
        for (std::size_t d = 0; d < dims.size(); ++d)
            dims[d] = d == *axis ? addDim(dims[d], (*next)[d]) : std::max(dims[d], (*next)[d]);
    }
    c.setOutput(0, c.type(0).elemType, std::move(dims));
    foldConcat(c);
}

/// Axes of Squeeze, Unsqueeze and reductions: an attribute first, an input since opset 13 (18 for some).
std::optional<Dims> axesOf(const RuleContext& c, bool& isGiven) {
    isGiven = true;
    if (auto axes = c.integers("axes"))
        return axes;
    if (c.hasInput(1))
        return c.constant(1) != nullptr ? std::optional<Dims>(*c.constant(1)) : std::nullopt;
    isGiven = false;
    return Dims();
}

void ruleSqueeze(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    bool isGiven = false;
    const auto axes = axesOf(c, isGiven);
    if (input == nullptr || !axes)
        return;
    std::vector<bool> removed(input->size(), false);
    for (std::size_t d = 0; d < input->size() && !isGiven; ++d) {
        if ((*input)[d] < 0)
            return;
        removed[d] = (*input)[d] == 1;
    }
    for (const std::int64_t given : *axes) {
        const auto axis = axisOf(given, input->size());
        if (!axis)
            return;
        removed[*axis] = true;
    }
    Dims dims;
    for (std::size_t d = 0; d < input->size(); ++d) {
        if (!removed[d])
            dims.push_back((*input)[d]);
    }
    c.setOutput(0, c.type(0).elemType, std::move(dims));
    if (c.constant(0) != nullptr)
        c.setConstant(*c.constant(0));
}

void ruleUnsqueeze(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    bool isGiven = false;
    const auto axes = axesOf(c, isGiven);
    if (input == nullptr || !axes || input->size() + axes->size() > kMaxRank)
        return;
    std::vector<bool> added(input->size() + axes->size(), false);
    for (const std::int64_t given : *axes) {
        const auto axis = axisOf(given, added.size());
        if (!axis || added[*axis])
            return;
        added[*axis] = true;
    }
    Dims dims;
    std::size_t from = 0;
    for (const bool isNew : added)
        dims.push_back(isNew ? 1 : (*input)[from++]);
    c.setOutput(0, c.type(0).elemType, std::move(dims));
    if (c.constant(0) != nullptr)
        c.setConstant(*c.constant(0));
}

void foldGather(RuleContext& c) {
    const auto* values = c.constant(0);
    const auto* indices = c.constant(1);
    if (values == nullptr || indices == nullptr || c.shape(0)->size() != 1)
        return;
    Dims picked;
    for (const std::int64_t index : *indices) {
        const auto at = index == kUnknownValue ? std::nullopt : axisOf(index, values->size());
        picked.push_back(at ? (*values)[*at] : kUnknownValue);
    }
    c.setConstant(std::move(picked));
}

void ruleGather(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* data = c.shape(0);
    const Dims* indices = c.shape(1);
    if (data == nullptr || indices == nullptr || data->size() + indices->size() > kMaxRank)
        return;
    const auto axis = axisOf(c.integer("axis", 0), data->size());
    if (!axis)
        return;
    Dims dims(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*axis));
    dims.insert(dims.end(), indices->begin(), indices->end());
    dims.insert(dims.end(), data->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->end());
    c.setOutput(0, c.type(0).elemType, std::move(dims));
    foldGather(c);
}

struct Slice {
    Dims starts, ends, axes, steps;
};

std::optional<Slice> sliceOf(const RuleContext& c, std::size_t rank) {
    Slice slice;
    const auto starts = c.integers("starts");
    const auto ends = c.integers("ends");
    Dims all(rank);
    std::iota(all.begin(), all.end(), 0);
    if (starts && ends) {
        slice = {*starts, *ends, c.integers("axes").value_or(all), {}};
    } else {
        if (c.constant(1) == nullptr || c.constant(2) == nullptr || (c.hasInput(3) && c.constant(3) == nullptr) ||
            (c.hasInput(4) && c.constant(4) == nullptr))
            return std::nullopt;
        slice = {*c.constant(1), *c.constant(2), c.hasInput(3) ? *c.constant(3) : all, c.hasInput(4) ? *c.constant(4) : Dims()};
    }
    slice.axes.resize(std::min(slice.axes.size(), slice.starts.size()));
    slice.steps.resize(slice.starts.size(), 1);
    const bool fits = slice.ends.size() == slice.starts.size() && slice.axes.size() == slice.starts.size();
    return fits ? std::optional(std::move(slice)) : std::nullopt;
}

/// First index and number of elements of one sliced dimension of known size.
std::pair<std::int64_t, std::int64_t> sliceRange(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
    const bool forward = step > 0;
    const auto clamp = [&](std::int64_t at) {
        at += at < 0 ? size : 0;
        return std::clamp<std::int64_t>(at, forward ? 0 : -1, forward ? size : size - 1);
    };
    const std::int64_t from = clamp(start);
    const std::int64_t to = !forward && end < -size ? -1 : clamp(end);
    const std::int64_t span = forward ? to - from : from - to;
    const std::int64_t stride = forward ? step : -(step + 1) + 1;
    return {from, span <= 0 ? 0 : (span - 1) / stride + 1};
}

void ruleSlice(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    if (input == nullptr)
        return;
    const auto slice = sliceOf(c, input->size());
    Dims dims = slice ? *input : Dims(input->size(), -1);
    for (std::size_t i = 0; slice && i < slice->starts.size(); ++i) {
        const auto axis = axisOf(slice->axes[i], dims.size());
        const std::int64_t step = slice->steps[i];
        if (!axis || step == 0 || step == INT64_MIN)
            return;
        const bool isKnown = dims[*axis] >= 0 && slice->starts[i] != kUnknownValue && slice->ends[i] != kUnknownValue;
        if (!isKnown) {
            dims[*axis] = -1;
            continue;
        }
        const auto [from, count] = sliceRange(dims[*axis], slice->starts[i], slice->ends[i], step);
        if (const auto* values = c.constant(0); values != nullptr && dims.size() == 1 &&
                                                static_cast<std::size_t>(dims[0]) == values->size()) {
            Dims picked;
            for (std::int64_t k = 0; k < count; ++k)
                picked.push_back((*values)[static_cast<std::size_t>(from + k * step)]);
            c.setConstant(std::move(picked));
        }
        dims[*axis] = count;
    }
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

void ruleShape(RuleContext& c) {
    const Dims* input = c.shape(0);
    if (input == nullptr)
        return c.setOutput(0, kInt64, {-1});
    const auto rank = static_cast<std::int64_t>(input->size());
    const auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
    const std::int64_t from = clamp(std::max(c.integer("start", 0), -rank));
    const std::int64_t to = std::max(from, clamp(std::max(c.integer("end", rank), -rank)));
    Dims values;
    for (std::int64_t d = from; d < to; ++d)
        values.push_back((*input)[static_cast<std::size_t>(d)] < 0 ? kUnknownValue : (*input)[static_cast<std::size_t>(d)]);
    c.setOutput(0, kInt64, {to - from});
    c.setConstant(std::move(values));
}

void ruleSize(RuleContext& c) {
    c.setOutput(0, kInt64, {});
    if (const Dims* input = c.shape(0)) {
        const std::int64_t count = product(*input, 0, input->size());
        c.setConstant({count < 0 ? kUnknownValue : count});
    }
}

void ruleConstant(RuleContext& c) {
    const auto& node = c.node();
    if (const auto* value = findAttribute(node, "value"); value != nullptr && value->has_t()) {
        c.setOutput(0, value->t().data_type(), typeOf(value->t()).dims);
        if (auto values = onnxIntegers(value->t()))
            c.setConstant(std::move(*values));
        return;
    }
    if (const auto* scalar = findAttribute(node, "value_int")) {
        c.setOutput(0, kInt64, {});
        c.setConstant({scalar->i()});
    } else if (const auto* list = findAttribute(node, "value_ints")) {
        c.setOutput(0, kInt64, {list->ints_size()});
        c.setConstant(Dims(list->ints().begin(), list->ints().end()));
    } else if (findAttribute(node, "value_float") != nullptr) {
        c.setOutput(0, kFloat, {});
    } else if (const auto* floats = findAttribute(node, "value_floats")) {
        c.setOutput(0, kFloat, {floats->floats_size()});
    }
}

void ruleConstantOfShape(RuleContext& c) {
    const auto* value = findAttribute(c.node(), "value");
    const std::int32_t elemType = value != nullptr && value->has_t() ? value->t().data_type() : kFloat;
    c.setOutputType(0, elemType);
    if (const auto* dims = c.constant(0)) {
        Dims shape;
        for (const std::int64_t dim : *dims)
            shape.push_back(std::max<std::int64_t>(dim, -1));
        c.setOutput(0, elemType, std::move(shape));
    }
}

void ruleExpand(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    if (c.shape(0) == nullptr || c.constant(1) == nullptr)
        return;
    Dims target;
    for (const std::int64_t dim : *c.constant(1))
        target.push_back(std::max<std::int64_t>(dim, -1));
    if (auto dims = broadcast(*c.shape(0), target))
        c.setOutput(0, c.type(0).elemType, std::move(*dims));
}

void ruleSplit(RuleContext& c) {
    const int count = std::min(c.node().output_size(), 4096);
    for (int i = 0; i < count; ++i)
        c.setOutputType(i, c.type(0).elemType);
    const Dims* input = c.shape(0);
    const auto axis = input != nullptr ? axisOf(c.integer("axis", 0), input->size()) : std::nullopt;
    if (!axis || count == 0)
        return;
    std::optional<Dims> sizes = c.integers("split");
    if (!sizes && c.constant(1) != nullptr)
        sizes = *c.constant(1);
    const std::int64_t total = (*input)[*axis];
    const std::int64_t part = total < 0 ? -1 : (total + count - 1) / count;
    for (int i = 0; i < count; ++i) {
        Dims dims = *input;
        if (sizes && static_cast<std::size_t>(i) < sizes->size())
            dims[*axis] = std::max<std::int64_t>((*sizes)[static_cast<std::size_t>(i)], -1);
        else
            dims[*axis] = c.hasInput(1) || part < 0 ? -1 : std::min(part, std::max<std::int64_t>(total - i * part, 0));
        c.setOutput(i, c.type(0).elemType, std::move(dims));
    }
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

void rulePad(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    std::optional<Dims> pads = c.integers("pads");
    if (!pads && c.constant(1) != nullptr && !c.hasInput(3))
        pads = *c.constant(1);
    if (input == nullptr)
        return;
    Dims dims(input->size(), -1);
    for (std::size_t d = 0; pads && pads->size() == 2 * dims.size() && d < dims.size(); ++d) {
        const std::int64_t before = (*pads)[d];
        const std::int64_t after = (*pads)[d + dims.size()];
        std::int64_t size = 0;
        if ((*input)[d] >= 0 && !__builtin_add_overflow((*input)[d], before, &size) && !__builtin_add_overflow(size, after, &size))
            dims[d] = std::max<std::int64_t>(size, -1);
    }
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

void ruleTile(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    if (input == nullptr)
        return;
    Dims dims(input->size(), -1);
    for (std::size_t d = 0; c.constant(1) != nullptr && c.constant(1)->size() == dims.size() && d < dims.size(); ++d)
        dims[d] = mulDim((*input)[d], (*c.constant(1))[d]);
    c.setOutput(0, c.type(0).elemType, std::move(dims));
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

void ruleDepthSpace(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    const std::int64_t block = c.integer("blocksize", 0);
    if (input == nullptr || input->size() != 4 || block <= 0 || block > 4096)
        return;
    const bool toSpace = c.node().op_type() == "DepthToSpace";
    const auto spatial = [&](std::int64_t size) { return size < 0 ? -1 : toSpace ? mulDim(size, block) : size / block; };
    const std::int64_t channels = (*input)[1] < 0 ? -1 : toSpace ? (*input)[1] / (block * block) : mulDim((*input)[1], block * block);
    c.setOutput(0, c.type(0).elemType, {(*input)[0], channels, spatial((*input)[2]), spatial((*input)[3])});
}

void ruleTopK(RuleContext& c) {
    Dims dims = c.shape(0) != nullptr ? *c.shape(0) : Dims();
    const auto axis = axisOf(c.integer("axis", -1), dims.size());
    for (int i = 0; i < std::min(c.node().output_size(), 2); ++i) {
        const std::int32_t elemType = i == 0 ? c.type(0).elemType : kInt64;
        c.setOutputType(i, elemType);
        if (!axis)
            continue;
        const auto* k = c.constant(1);
        dims[*axis] = k != nullptr && k->size() == 1 ? std::max<std::int64_t>((*k)[0], -1) : c.integer("k", -1);
        c.setOutput(i, elemType, dims);
    }
}

void ruleResize(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    if (input == nullptr)
        return;
    Dims dims(input->size(), -1);
    if (const auto* sizes = c.constant(3); sizes != nullptr && sizes->size() == dims.size())
        std::transform(sizes->begin(), sizes->end(), dims.begin(), [](std::int64_t d) { return std::max<std::int64_t>(d, -1); });
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

using Rule = void (*)(RuleContext&);

const std::unordered_map<std::string_view, Rule>& rules() {
    static const std::unordered_map<std::string_view, Rule> kRules = [] {
        std::unordered_map<std::string_view, Rule> table;
        for (const char* name :
             {"Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BatchNormalization", "BitwiseNot", "Ceil", "Celu", "Clip",
              "Cos", "Cosh", "CumSum", "Dropout", "Elu", "Erf", "Exp", "FastGelu", "Floor", "Gelu", "GroupNormalization", "HardSigmoid",
              "HardSwish", "Hardmax", "Identity", "InstanceNormalization", "LRN", "LayerNormalization", "LeakyRelu", "Log",
              "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "Not", "PRelu", "QuickGelu", "Reciprocal",
              "Relu", "Round", "ScatterElements", "ScatterND", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh",
              "SkipLayerNormalization", "Softmax", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu", "Trilu"})
            table.emplace(name, ruleSameAsFirst);
        for (const char* name : {"Add", "And", "BitShift", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max",
                                 "Mean", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor"})
            table.emplace(name, ruleBroadcast);
        for (const char* name : {"ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                                 "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"})
            table.emplace(name, ruleReduce);
        for (const char* name : {"AveragePool", "LpPool", "MaxPool"})
            table.emplace(name, rulePool);
        for (const char* name : {"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"})
            table.emplace(name, ruleGlobalPool);
        for (const char* name : {"GRU", "LSTM", "RNN"})
            table.emplace(name, ruleRecurrent);
        const std::pair<const char*, Rule> single[] = {
            {"Cast", ruleCast}, {"Concat", ruleConcat}, {"Constant", ruleConstant}, {"ConstantOfShape", ruleConstantOfShape},
            {"Conv", ruleConv}, {"ConvInteger", ruleConvInteger}, {"ConvTranspose", ruleConvTranspose},
            {"DepthToSpace", ruleDepthSpace}, {"DequantizeLinear", ruleDequantize}, {"Expand", ruleExpand}, {"Flatten", ruleFlatten},
            {"Gather", ruleGather}, {"Gemm", ruleGemm}, {"MatMul", ruleMatMul}, {"MatMulInteger", ruleMatMulInteger},
            {"Pad", rulePad}, {"QLinearConv", ruleQLinearConv}, {"QLinearMatMul", ruleQLinearMatMul}, {"QuantizeLinear", ruleQuantize},
            {"Reshape", ruleReshape}, {"Resize", ruleResize}, {"Shape", ruleShape}, {"Size", ruleSize}, {"Slice", ruleSlice},
            {"SpaceToDepth", ruleDepthSpace}, {"Split", ruleSplit}, {"Squeeze", ruleSqueeze}, {"Tile", ruleTile},
            {"TopK", ruleTopK}, {"Transpose", ruleTranspose}, {"Unsqueeze", ruleUnsqueeze},
        };
        for (const auto& [name, rule] : single)
            table.emplace(name, rule);
        return table;
    }();
    return kRules;
}

} // namespace

RuleContext::RuleContext(const onnx::NodeProto& node, const FindType& findType, const FindConstant& findConstant) : m_node(node) {
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
    const auto found = rules().find(context.node().op_type());
    if (found != rules().end())
        found->second(context);
}

} // namespace pw::formats
