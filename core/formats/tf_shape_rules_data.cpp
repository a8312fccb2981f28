#include "core/formats/tf_shape_rules_internal.h"

#include <algorithm>
#include <unordered_map>

namespace pw::formats::tf {

namespace {

using rules::axisOf;

/// "not known" as a dimension.
std::int64_t asDim(std::int64_t value) {
    return value < 0 ? -1 : value;
}

void shapeOf(RuleContext& c) {
    const int dtype = c.type("out_type", tensorflow::DT_INT32);
    for (std::size_t i = 0; i < c.inputCount(); ++i) {
        const Dims* dims = c.shape(i);
        c.setOutput(i, dtype, {dims != nullptr ? static_cast<std::int64_t>(dims->size()) : -1});
        if (dims == nullptr)
            continue;
        Dims values = *dims;
        std::replace_if(
            values.begin(), values.end(), [](std::int64_t dim) { return dim < 0; }, kUnknownValue);
        c.outputs()[i].constant = std::move(values);
    }
}

void rank(RuleContext& c) {
    c.setOutput(0, tensorflow::DT_INT32, {});
    if (const Dims* dims = c.shape(0))
        c.setConstant({static_cast<std::int64_t>(dims->size())});
}

void size(RuleContext& c) {
    c.setOutput(0, c.type("out_type", tensorflow::DT_INT32), {});
    if (const Dims* dims = c.shape(0)) {
        const std::int64_t count = rules::product(*dims, 0, dims->size());
        c.setConstant({count < 0 ? kUnknownValue : count});
    }
}

/// One -1 stands for what is left over.
void reshape(RuleContext& c) {
    shapeFromInput(c, 1, c.dtype(0));
    const Dims* target = c.constant(1);
    if (target == nullptr)
        return;
    Dims dims = *target;
    const Dims* data = c.shape(0);
    const std::int64_t total = data != nullptr ? rules::product(*data, 0, data->size()) : -1;
    std::int64_t known = 1;
    std::size_t open = 0;
    std::size_t openAt = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] < 0) {
            ++open;
            openAt = d;
        } else {
            known = rules::mulDim(known, dims[d]);
        }
    }
    if (open == 1 && total >= 0 && known > 0)
        dims[openAt] = total / known;
    c.setOutput(0, c.dtype(0), std::move(dims));
    if (const Dims* values = c.constant(0))
        c.setConstant(*values);
}

void expandDims(RuleContext& c) {
    const Dims* data = c.shape(0);
    const auto axis = c.scalar(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr)
        return;
    Dims dims = *data;
    const auto at = axis ? axisOf(*axis, dims.size() + 1) : std::nullopt;
    if (at)
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*at), 1);
    else
        dims.assign(dims.size() + 1, -1);
    c.setOutput(0, c.dtype(0), std::move(dims));
    if (const Dims* values = c.constant(0))
        c.setConstant(*values);
}

void squeeze(RuleContext& c) {
    const Dims* data = c.shape(0);
    c.setType(0, c.dtype(0));
    if (data == nullptr)
        return;
    const Dims axes = c.integers("squeeze_dims");
    std::vector<bool> isGone(data->size(), false);
    for (const std::int64_t value : axes) {
        const auto axis = axisOf(value, data->size());
        if (!axis)
            return;
        isGone[*axis] = true;
    }
    Dims dims;
    for (std::size_t d = 0; d < data->size(); ++d) {
        if (axes.empty() && (*data)[d] < 0)
            return; // it may be 1
        if (axes.empty() ? (*data)[d] != 1 : !isGone[d])
            dims.push_back((*data)[d]);
    }
    c.setOutput(0, c.dtype(0), std::move(dims));
    if (const Dims* values = c.constant(0))
        c.setConstant(*values);
}

void transpose(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* order = c.constant(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr)
        return;
    Dims dims(data->size(), -1);
    if (order != nullptr && order->size() == data->size()) {
        for (std::size_t d = 0; d < dims.size(); ++d) {
            if (const auto axis = axisOf((*order)[d], data->size()))
                dims[d] = (*data)[*axis];
        }
    }
    c.setOutput(0, c.dtype(0), std::move(dims));
}

/// `count` tensors from input `first` on, joined at `axis`.
void concatenate(RuleContext& c, std::size_t first, std::size_t count, std::optional<std::int64_t> axis) {
    const int dtype = c.dtype(first);
    c.setType(0, dtype);
    std::optional<Dims> dims;
    std::optional<std::size_t> at;
    for (std::size_t i = first; i < first + count; ++i) {
        const Dims* part = c.shape(i);
        if (part == nullptr)
            return;
        if (!dims) {
            dims = *part;
            at = axis ? axisOf(*axis, part->size()) : std::nullopt;
            continue;
        }
        if (part->size() != dims->size())
            return;
        for (std::size_t d = 0; d < dims->size(); ++d) {
            if (at && d == *at)
                (*dims)[d] = rules::addDim((*dims)[d], (*part)[d]);
            else if ((*dims)[d] < 0)
                (*dims)[d] = (*part)[d];
        }
    }
    if (!dims)
        return;
    if (!at)
        std::fill(dims->begin(), dims->end(), -1);
    c.setOutput(0, dtype, *dims);
    Dims values;
    for (std::size_t i = first; i < first + count && dims->size() == 1; ++i) {
        const Dims* part = c.constant(i);
        if (part == nullptr || values.size() > kMaxConstant)
            return;
        values.insert(values.end(), part->begin(), part->end());
    }
    if (dims->size() == 1)
        c.setConstant(std::move(values));
}

void concatV2(RuleContext& c) {
    if (c.inputCount() >= 2)
        concatenate(c, 0, c.inputCount() - 1, c.scalar(c.inputCount() - 1));
}

void concat(RuleContext& c) {
    if (c.inputCount() >= 2)
        concatenate(c, 1, c.inputCount() - 1, c.scalar(0));
}

void pack(RuleContext& c) {
    const Dims* part = nullptr;
    for (std::size_t i = 0; i < c.inputCount() && part == nullptr; ++i)
        part = c.shape(i);
    c.setType(0, c.dtype(0));
    if (part == nullptr)
        return;
    Dims dims = *part;
    const auto at = axisOf(c.integer("axis", 0), dims.size() + 1);
    if (!at)
        return;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*at), static_cast<std::int64_t>(c.inputCount()));
    c.setOutput(0, c.dtype(0), std::move(dims));
    Dims values;
    bool isAnyKnown = false;
    for (std::size_t i = 0; i < c.inputCount() && part->empty(); ++i) {
        values.push_back(c.scalar(i).value_or(kUnknownValue));
        isAnyKnown = isAnyKnown || values.back() != kUnknownValue;
    }
    if (isAnyKnown)
        c.setConstant(std::move(values));
}

void unpack(RuleContext& c) {
    const Dims* data = c.shape(0);
    const std::int64_t count = std::min<std::int64_t>(c.integer("num", 0), kMaxListedOutputs);
    const auto at = data != nullptr ? axisOf(c.integer("axis", 0), data->size()) : std::nullopt;
    for (std::int64_t o = 0; o < count; ++o) {
        if (!at) {
            c.setType(static_cast<std::size_t>(o), c.dtype(0));
            continue;
        }
        Dims dims = *data;
        dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*at));
        c.setOutput(static_cast<std::size_t>(o), c.dtype(0), std::move(dims));
        const Dims* values = c.constant(0);
        if (values != nullptr && data->size() == 1 && static_cast<std::size_t>(o) < values->size())
            c.outputs()[static_cast<std::size_t>(o)].constant = Dims{(*values)[static_cast<std::size_t>(o)]};
    }
}

void splitInto(RuleContext& c, std::size_t input, std::optional<std::int64_t> axis, const Dims* sizes) {
    const Dims* data = c.shape(input);
    const std::int64_t count = std::min<std::int64_t>(c.integer("num_split", 0), kMaxListedOutputs);
    const auto at = data != nullptr && axis ? axisOf(*axis, data->size()) : std::nullopt;
    for (std::int64_t o = 0; o < count; ++o) {
        const auto output = static_cast<std::size_t>(o);
        c.setType(output, c.dtype(input));
        if (data == nullptr)
            continue;
        Dims dims = at ? *data : Dims(data->size(), -1);
        if (at) {
            std::int64_t& dim = dims[at.value()];
            if (sizes != nullptr)
                dim = output < sizes->size() ? asDim((*sizes)[output]) : -1;
            else
                dim = c.node().op() == "SplitV" || dim < 0 ? -1 : dim / count;
        }
        c.setOutput(output, c.dtype(input), std::move(dims));
    }
}

void split(RuleContext& c) {
    splitInto(c, 1, c.scalar(0), nullptr);
}

void splitV(RuleContext& c) {
    splitInto(c, 0, c.scalar(2), c.constant(1));
}

void pad(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* pads = c.constant(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr)
        return;
    Dims dims(data->size(), -1);
    for (std::size_t d = 0; pads != nullptr && pads->size() == 2 * dims.size() && d < dims.size(); ++d)
        dims[d] = rules::addDim((*data)[d], rules::addDim((*pads)[2 * d], (*pads)[2 * d + 1]));
    c.setOutput(0, c.dtype(0), std::move(dims));
}

void tile(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* times = c.constant(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr)
        return;
    Dims dims(data->size(), -1);
    for (std::size_t d = 0; times != nullptr && times->size() == dims.size() && d < dims.size(); ++d)
        dims[d] = rules::mulDim((*data)[d], (*times)[d]);
    c.setOutput(0, c.dtype(0), std::move(dims));
}

void fill(RuleContext& c) {
    shapeFromInput(c, 0, c.dtype(1));
    const auto value = c.scalar(1);
    const Dims* shape = c.constant(0);
    if (value && shape != nullptr && shape->size() == 1 && shape->front() >= 0 &&
        shape->front() <= static_cast<std::int64_t>(kMaxConstant))
        c.setConstant(Dims(static_cast<std::size_t>(shape->front()), *value));
}

void random(RuleContext& c) {
    shapeFromInput(c, 0, c.type("dtype", tensorflow::DT_FLOAT));
}

void broadcastTo(RuleContext& c) {
    shapeFromInput(c, 1, c.dtype(0));
}

void range(RuleContext& c) {
    c.setOutput(0, c.dtype(0), {-1});
    const auto start = c.scalar(0);
    const auto limit = c.scalar(1);
    const auto step = c.scalar(2);
    constexpr std::int64_t kSane = std::int64_t{1} << 40;
    if (!start || !limit || !step || *step <= 0 || std::abs(*start) > kSane || std::abs(*limit) > kSane)
        return;
    const std::int64_t count = *limit > *start ? (*limit - *start - 1) / *step + 1 : 0;
    c.setOutput(0, c.dtype(0), {count});
    Dims values;
    for (std::int64_t i = 0; i < count && count <= static_cast<std::int64_t>(kMaxConstant); ++i)
        values.push_back(*start + i * *step);
    if (static_cast<std::int64_t>(values.size()) == count)
        c.setConstant(std::move(values));
}

/// Shape of data with its `axis` replaced by the indices' shape.
void gatherAlong(RuleContext& c, const Dims* data, int dtype, const Dims* indices, std::optional<std::int64_t> axis) {
    c.setType(0, dtype);
    const auto at = data != nullptr && axis ? axisOf(*axis, data->size()) : std::nullopt;
    const std::int64_t batch = c.integer("batch_dims", 0);
    if (!at || indices == nullptr || batch < 0 || batch > static_cast<std::int64_t>(std::min(*at, indices->size())))
        return;
    Dims dims(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*at));
    dims.insert(dims.end(), indices->begin() + static_cast<std::ptrdiff_t>(batch), indices->end());
    dims.insert(dims.end(), data->begin() + static_cast<std::ptrdiff_t>(*at) + 1, data->end());
    c.setOutput(0, dtype, std::move(dims));
}

void gather(RuleContext& c) {
    const auto axis = c.node().op() == "GatherV2" ? c.scalar(2) : std::optional<std::int64_t>(0);
    gatherAlong(c, c.shape(0), c.dtype(0), c.shape(1), axis);
    const Dims* values = c.constant(0);
    const Dims* picks = c.constant(1);
    if (values == nullptr || picks == nullptr || c.shape(0) == nullptr || c.shape(0)->size() != 1)
        return;
    Dims out;
    for (const std::int64_t pick : *picks)
        out.push_back(pick >= 0 && pick < static_cast<std::int64_t>(values->size())
                          ? (*values)[static_cast<std::size_t>(pick)]
                          : kUnknownValue);
    c.setConstant(std::move(out));
}

void resourceGather(RuleContext& c) {
    const auto& handle = c.input(0).handle;
    gatherAlong(c, handle && handle->shapeKnown ? &handle->dims : nullptr, c.type("dtype"), c.shape(1), 0);
}

void gatherNd(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* indices = c.shape(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr || indices == nullptr || indices->empty() || indices->back() < 0 ||
        indices->back() > static_cast<std::int64_t>(data->size()))
        return;
    Dims dims(indices->begin(), indices->end() - 1);
    dims.insert(dims.end(), data->begin() + static_cast<std::ptrdiff_t>(indices->back()), data->end());
    c.setOutput(0, c.dtype(0), std::move(dims));
}

void slice(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* begin = c.constant(1);
    const Dims* sizes = c.constant(2);
    c.setType(0, c.dtype(0));
    if (data == nullptr)
        return;
    Dims dims(data->size(), -1);
    for (std::size_t d = 0; sizes != nullptr && sizes->size() == dims.size() && d < dims.size(); ++d) {
        dims[d] = asDim((*sizes)[d]);
        const bool isRest = (*sizes)[d] == -1 && begin != nullptr && begin->size() == dims.size();
        if (isRest && (*begin)[d] >= 0 && (*data)[d] >= (*begin)[d])
            dims[d] = (*data)[d] - (*begin)[d];
    }
    const Dims* values = c.constant(0);
    const bool isVector = values != nullptr && dims.size() == 1 && dims[0] >= 0 && begin != nullptr && begin->size() == 1;
    const std::int64_t first = isVector ? begin->front() : -1;
    const std::int64_t last = first < 0 ? -1 : rules::addDim(first, dims[0]);
    c.setOutput(0, c.dtype(0), dims);
    if (last >= 0 && last <= static_cast<std::int64_t>(values->size()))
        c.setConstant(Dims(values->begin() + first, values->begin() + last));
}

/// Elements of begin:end:step on an axis of `size`, as NumPy counts; the start through `first`. -1 if not known.
std::int64_t strided(std::int64_t size, std::optional<std::int64_t> begin, std::optional<std::int64_t> end, std::int64_t step,
                     std::int64_t& first) {
    if (size < 0 || step == 0 || step == INT64_MIN)
        return -1;
    const std::int64_t low = step > 0 ? 0 : -1;
    const std::int64_t high = step > 0 ? size : size - 1;
    const auto clamp = [&](std::int64_t value) { return std::clamp(value < 0 ? value + size : value, low, high); };
    first = begin ? clamp(*begin) : (step > 0 ? low : high);
    const std::int64_t last = end ? clamp(*end) : (step > 0 ? high : low);
    const std::int64_t span = step > 0 ? last - first : first - last;
    const std::int64_t stride = std::abs(step);
    return span <= 0 ? 0 : (span - 1) / stride + 1;
}

bool bit(std::int64_t mask, std::size_t i) {
    return i < 63 && ((mask >> i) & 1) != 0;
}

std::optional<std::int64_t> element(const Dims* values, std::size_t i) {
    return values != nullptr && i < values->size() && (*values)[i] != kUnknownValue ? std::optional((*values)[i])
                                                                                   : std::nullopt;
}

struct SliceMasks {
    std::int64_t begin, end, ellipsis, newAxis, shrink;
};

/// Follows the masks; ellipses are expanded. False if that is not possible.
bool stridedShape(RuleContext& c, const SliceMasks& masks, std::size_t specs, Dims& out) {
    const Dims& data = *c.shape(0);
    std::size_t newAxes = 0;
    for (std::size_t i = 0; i < specs; ++i)
        newAxes += bit(masks.newAxis, i) || bit(masks.ellipsis, i) ? 1 : 0;
    if (specs - newAxes > data.size())
        return false;
    std::size_t axis = 0;
    for (std::size_t i = 0; i < specs; ++i) {
        if (bit(masks.ellipsis, i)) {
            for (std::size_t rest = data.size() - (specs - newAxes); rest > 0; --rest)
                out.push_back(data[axis++]);
            continue;
        }
        if (bit(masks.newAxis, i)) {
            out.push_back(1);
            continue;
        }
        const std::int64_t size = data[axis++];
        if (bit(masks.shrink, i))
            continue;
        const auto step = element(c.constant(3), i);
        const auto begin = bit(masks.begin, i) ? std::nullopt : element(c.constant(1), i);
        const auto end = bit(masks.end, i) ? std::nullopt : element(c.constant(2), i);
        const bool isKnown = step && (begin || bit(masks.begin, i)) && (end || bit(masks.end, i));
        std::int64_t first = 0;
        out.push_back(isKnown ? strided(size, begin, end, *step, first) : -1);
    }
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(axis), data.end());
    return true;
}

void stridedSlice(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* specs = c.shape(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr || specs == nullptr || specs->size() != 1 || specs->front() < 0 ||
        specs->front() > static_cast<std::int64_t>(rules::kMaxRank))
        return;
    const SliceMasks masks{c.integer("begin_mask", 0), c.integer("end_mask", 0), c.integer("ellipsis_mask", 0),
                           c.integer("new_axis_mask", 0), c.integer("shrink_axis_mask", 0)};
    Dims dims;
    if (!stridedShape(c, masks, static_cast<std::size_t>(specs->front()), dims))
        return;
    c.setOutput(0, c.dtype(0), std::move(dims));
    const Dims* values = c.constant(0);
    const auto step = element(c.constant(3), 0);
    const bool isVector = values != nullptr && data->size() == 1 && specs->front() == 1 && masks.newAxis == 0 &&
                          masks.ellipsis == 0 && step;
    if (!isVector)
        return;
    const auto size = static_cast<std::int64_t>(values->size());
    const auto begin = bit(masks.begin, 0) ? std::nullopt : element(c.constant(1), 0);
    auto end = bit(masks.end, 0) ? std::nullopt : element(c.constant(2), 0);
    if ((!begin && !bit(masks.begin, 0)) || (!end && !bit(masks.end, 0)))
        return;
    const bool isOne = bit(masks.shrink, 0);
    if (isOne && begin)
        end = *begin == -1 ? std::optional<std::int64_t>() : std::optional(*begin + 1);
    std::int64_t first = 0;
    const std::int64_t count = strided(size, begin, end, isOne ? 1 : *step, first);
    Dims out;
    for (std::int64_t i = 0; i < count; ++i)
        out.push_back((*values)[static_cast<std::size_t>(first + i * (isOne ? 1 : *step))]);
    c.setConstant(std::move(out));
}

void stridedSliceGradient(RuleContext& c) {
    shapeFromInput(c, 0, c.dtype(4));
}

void oneHot(RuleContext& c) {
    const Dims* indices = c.shape(0);
    c.setType(0, c.dtype(2));
    if (indices == nullptr)
        return;
    Dims dims = *indices;
    const std::int64_t axis = c.integer("axis", -1);
    const auto at = axisOf(axis, dims.size() + 1);
    if (!at)
        return;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*at), asDim(c.scalar(1).value_or(-1)));
    c.setOutput(0, c.dtype(2), std::move(dims));
}

/// values and indices: the last axis becomes k.
void topK(RuleContext& c) {
    const Dims* data = c.shape(0);
    if (data == nullptr || data->empty())
        return;
    Dims dims = *data;
    dims.back() = asDim(c.node().op() == "TopK" ? c.integer("k", -1) : c.scalar(1).value_or(-1));
    c.setOutput(0, c.dtype(0), dims);
    c.setOutput(1, tensorflow::DT_INT32, std::move(dims));
}

void where(RuleContext& c) {
    const Dims* data = c.shape(0);
    c.setOutput(0, tensorflow::DT_INT64, {-1, data != nullptr ? static_cast<std::int64_t>(data->size()) : -1});
}

/// The elements' number does not change.
void sameNumber(RuleContext& c) {
    c.setOutput(0, c.dtype(0), {-1});
    c.setOutput(1, c.type("out_idx", tensorflow::DT_INT32), {-1});
}

void scatterNd(RuleContext& c) {
    shapeFromInput(c, 2, c.dtype(1));
}

void sparseToDense(RuleContext& c) {
    shapeFromInput(c, 1, c.dtype(2));
}

void depthToSpace(RuleContext& c) {
    const Dims* data = c.shape(0);
    const std::int64_t block = c.integer("block_size", 0);
    c.setType(0, c.dtype(0));
    if (data == nullptr || data->size() != 4 || block < 1 || block > 65536 || c.text("data_format").starts_with("NC"))
        return;
    const Dims& d = *data;
    if (c.node().op() == "DepthToSpace")
        c.setOutput(0, c.dtype(0), {d[0], rules::mulDim(d[1], block), rules::mulDim(d[2], block), d[3] < 0 ? -1 : d[3] / (block * block)});
    else
        c.setOutput(0, c.dtype(0), {d[0], d[1] < 0 ? -1 : d[1] / block, d[2] < 0 ? -1 : d[2] / block, rules::mulDim(d[3], block * block)});
}

} // namespace

Rule dataRule(std::string_view opType) {
    static const std::unordered_map<std::string_view, Rule> kTable = {
        {"Shape", shapeOf},
        {"ShapeN", shapeOf},
        {"Rank", rank},
        {"Size", size},
        {"Reshape", reshape},
        {"ExpandDims", expandDims},
        {"Squeeze", squeeze},
        {"Transpose", transpose},
        {"ConcatV2", concatV2},
        {"Concat", concat},
        {"Pack", pack},
        {"Unpack", unpack},
        {"Split", split},
        {"SplitV", splitV},
        {"Pad", pad},
        {"PadV2", pad},
        {"MirrorPad", pad},
        {"Tile", tile},
        {"Fill", fill},
        {"RandomUniform", random},
        {"RandomStandardNormal", random},
        {"TruncatedNormal", random},
        {"BroadcastTo", broadcastTo},
        {"Range", range},
        {"Gather", gather},
        {"GatherV2", gather},
        {"ResourceGather", resourceGather},
        {"GatherNd", gatherNd},
        {"Slice", slice},
        {"StridedSlice", stridedSlice},
        {"StridedSliceGrad", stridedSliceGradient},
        {"OneHot", oneHot},
        {"TopK", topK},
        {"TopKV2", topK},
        {"Where", where},
        {"Unique", sameNumber},
        {"ListDiff", sameNumber},
        {"ScatterNd", scatterNd},
        {"SparseToDense", sparseToDense},
        {"DepthToSpace", depthToSpace},
        {"SpaceToDepth", depthToSpace},
    };
    const auto found = kTable.find(opType);
    return found == kTable.end() ? nullptr : found->second;
}

} // namespace pw::formats::tf
