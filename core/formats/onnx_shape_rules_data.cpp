#include "core/formats/onnx_shape_rules_internal.h"

#include <algorithm>
#include <numeric>

// Ops that move data without computing, and the values of small integer tensors on their way through them.
namespace pw::formats::rules {

std::optional<Dims> axesOf(const RuleContext& c, bool& isGiven) {
    isGiven = true;
    if (auto axes = c.integers("axes"))
        return axes;
    if (c.hasInput(1))
        return c.constant(1) != nullptr ? std::optional<Dims>(*c.constant(1)) : std::nullopt;
    isGiven = false;
    return Dims();
}

namespace {

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
        slice = {*c.constant(1), *c.constant(2), c.hasInput(3) ? *c.constant(3) : all,
                 c.hasInput(4) ? *c.constant(4) : Dims()};
    }
    slice.axes.resize(std::min(slice.axes.size(), slice.starts.size()));
    slice.steps.resize(slice.starts.size(), 1);
    const bool fits = slice.ends.size() == slice.starts.size() && slice.axes.size() == slice.starts.size();
    return fits ? std::optional(std::move(slice)) : std::nullopt;
}

/// First index and number of elements of one sliced dimension of known size.
std::pair<std::int64_t, std::int64_t> sliceRange(std::int64_t size, std::int64_t start, std::int64_t end,
                                                 std::int64_t step) {
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
        if (const auto* values = c.constant(0);
            values != nullptr && dims.size() == 1 && static_cast<std::size_t>(dims[0]) == values->size()) {
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
        values.push_back((*input)[static_cast<std::size_t>(d)] < 0 ? kUnknownValue
                                                                   : (*input)[static_cast<std::size_t>(d)]);
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
        if ((*input)[d] >= 0 && !__builtin_add_overflow((*input)[d], before, &size) &&
            !__builtin_add_overflow(size, after, &size))
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

void ruleDepthSpace(RuleContext& c) {
    c.setOutputType(0, c.type(0).elemType);
    const Dims* input = c.shape(0);
    const std::int64_t block = c.integer("blocksize", 0);
    if (input == nullptr || input->size() != 4 || block <= 0 || block > 4096)
        return;
    const bool toSpace = c.node().op_type() == "DepthToSpace";
    const auto spatial = [&](std::int64_t size) {
        return size < 0 ? -1 : toSpace ? mulDim(size, block) : size / block;
    };
    const std::int64_t channels = (*input)[1] < 0 ? -1
                                  : toSpace       ? (*input)[1] / (block * block)
                                                  : mulDim((*input)[1], block * block);
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
        std::transform(sizes->begin(), sizes->end(), dims.begin(),
                       [](std::int64_t d) { return std::max<std::int64_t>(d, -1); });
    c.setOutput(0, c.type(0).elemType, std::move(dims));
}

} // namespace

Rule dataRule(std::string_view opType) {
    static const std::unordered_map<std::string_view, Rule> kRules = {
        {"Concat", ruleConcat},
        {"Constant", ruleConstant},
        {"ConstantOfShape", ruleConstantOfShape},
        {"DepthToSpace", ruleDepthSpace},
        {"Expand", ruleExpand},
        {"Flatten", ruleFlatten},
        {"Gather", ruleGather},
        {"Pad", rulePad},
        {"Reshape", ruleReshape},
        {"Resize", ruleResize},
        {"Shape", ruleShape},
        {"Size", ruleSize},
        {"Slice", ruleSlice},
        {"SpaceToDepth", ruleDepthSpace},
        {"Split", ruleSplit},
        {"Squeeze", ruleSqueeze},
        {"Tile", ruleTile},
        {"TopK", ruleTopK},
        {"Transpose", ruleTranspose},
        {"Unsqueeze", ruleUnsqueeze},
    };
    const auto found = kRules.find(opType);
    return found != kRules.end() ? found->second : nullptr;
}

} // namespace pw::formats::rules
