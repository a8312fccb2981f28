#include "core/formats/tf_shape_rules_internal.h"

#include <algorithm>
#include <unordered_map>

namespace pw::formats::tf {

namespace {

/// Where batch, channels and the spatial dimensions are in tensors of rank `rank`.
struct Layout {
    std::size_t channel = 0;
    std::size_t firstSpatial = 1;

    Layout(std::string_view dataFormat, std::size_t rank) {
        const bool channelsFirst = dataFormat.starts_with("NC");
        channel = channelsFirst ? 1 : rank - 1;
        firstSpatial = channelsFirst ? 2 : 1;
    }
};

/// Window arithmetic of TensorFlow: SAME keeps ceil(size / stride), VALID only whole windows.
std::int64_t windowed(const RuleContext& c, std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                      std::size_t axis) {
    if (size < 0 || kernel < 1 || stride < 1 || dilation < 1 || kernel > (std::int64_t{1} << 31) ||
        dilation > (std::int64_t{1} << 31))
        return -1;
    const std::string_view padding = c.text("padding");
    if (padding == "SAME")
        return (size + stride - 1) / stride;
    if (padding == "EXPLICIT") {
        const Dims pads = c.integers("explicit_paddings");
        if (pads.size() < 2 * axis + 2)
            return -1;
        size = rules::addDim(rules::addDim(size, pads[2 * axis]), pads[2 * axis + 1]);
    }
    const std::int64_t reach = (kernel - 1) * dilation + 1;
    return size < reach ? (size < 0 ? -1 : 0) : (size - reach) / stride + 1;
}

std::int64_t at(const Dims& dims, std::size_t i, std::int64_t fallback) {
    return i < dims.size() ? dims[i] : fallback;
}

/// Spatial sizes of a convolution or pool; `kernel` per axis of the data.
Dims convolved(const RuleContext& c, const Dims& data, const Dims& kernel, std::int64_t channels) {
    const Layout layout(c.text("data_format"), data.size());
    const Dims strides = c.integers("strides");
    const Dims dilations = c.integers("dilations");
    Dims out = data;
    for (std::size_t s = 0; s + 2 < data.size(); ++s) {
        const std::size_t axis = layout.firstSpatial + s;
        out[axis] = windowed(c, data[axis], kernel[axis], at(strides, axis, 1), at(dilations, axis, 1), axis);
    }
    out[layout.channel] = channels;
    return out;
}

/// Weights are height, width, in, out; in `kernel` they stand at the axes of the data.
Dims kernelAtAxes(const RuleContext& c, const Dims& data, const Dims& weight) {
    const Layout layout(c.text("data_format"), data.size());
    Dims kernel(data.size(), 1);
    for (std::size_t s = 0; s + 2 < data.size(); ++s)
        kernel[layout.firstSpatial + s] = weight[s];
    return kernel;
}

void convolution(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* weight = c.shape(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr || weight == nullptr || data->size() < 3 || weight->size() != data->size())
        return;
    c.setOutput(0, c.dtype(0), convolved(c, *data, kernelAtAxes(c, *data, *weight), weight->back()));
}

void depthwiseConvolution(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* weight = c.shape(1);
    c.setType(0, c.dtype(0));
    if (data == nullptr || weight == nullptr || data->size() != 4 || weight->size() != 4)
        return;
    c.setOutput(0, c.dtype(0),
                convolved(c, *data, kernelAtAxes(c, *data, *weight), rules::mulDim((*weight)[2], (*weight)[3])));
}

void pool(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims kernel = c.integers("ksize");
    c.setType(0, c.dtype(0));
    if (data == nullptr || data->size() < 3 || kernel.size() != data->size())
        return;
    const Layout layout(c.text("data_format"), data->size());
    c.setOutput(0, c.dtype(0), convolved(c, *data, kernel, (*data)[layout.channel]));
    if (c.node().op() == "MaxPoolWithArgmax")
        c.setOutput(1, tensorflow::DT_INT64, c.outputs().front().type.dims);
}

void convolutionInputGradient(RuleContext& c) {
    shapeFromInput(c, 0, c.dtype(1));
}

void convolutionWeightGradient(RuleContext& c) {
    shapeFromInput(c, 1, c.dtype(0));
}

void averagePoolGradient(RuleContext& c) {
    shapeFromInput(c, 0, c.dtype(1));
}

void sameAsFirst(RuleContext& c) {
    sameShapeAs(c, 0, 0, c.dtype(0));
}

void biasGradient(RuleContext& c) {
    const Dims* data = c.shape(0);
    if (data == nullptr || data->size() < 2)
        return;
    c.setOutput(0, c.dtype(0), {(*data)[Layout(c.text("data_format"), data->size()).channel]});
}

void matMul(RuleContext& c) {
    const Dims* a = c.shape(0);
    const Dims* b = c.shape(1);
    c.setType(0, c.dtype(0));
    if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2)
        return;
    c.setOutput(0, c.dtype(0), {(*a)[c.flag("transpose_a") ? 1 : 0], (*b)[c.flag("transpose_b") ? 0 : 1]});
}

void batchMatMul(RuleContext& c) {
    const Dims* a = c.shape(0);
    const Dims* b = c.shape(1);
    c.setType(0, c.dtype(0));
    if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2)
        return;
    auto dims = rules::broadcast(Dims(a->begin(), a->end() - 2), Dims(b->begin(), b->end() - 2));
    if (!dims)
        return;
    dims->push_back(c.flag("adj_x") ? a->back() : (*a)[a->size() - 2]);
    dims->push_back(c.flag("adj_y") ? (*b)[b->size() - 2] : b->back());
    c.setOutput(0, c.dtype(0), std::move(*dims));
}

/// y like x, statistics per channel.
void batchNorm(RuleContext& c) {
    sameShapeAs(c, 0, 0, c.dtype(0));
    for (std::size_t o = 1; o < 5; ++o)
        sameShapeAs(c, o, 1, c.dtype(1));
}

/// dx like x, then gradients of scale and offset.
void batchNormGradient(RuleContext& c) {
    sameShapeAs(c, 0, 1, c.dtype(1));
    sameShapeAs(c, 1, 2, c.dtype(2));
    sameShapeAs(c, 2, 2, c.dtype(2));
}

/// Loss per row, and its gradient.
void crossEntropy(RuleContext& c) {
    const Dims* logits = c.shape(0);
    c.setType(0, c.dtype(0));
    if (logits == nullptr || logits->size() != 2)
        return;
    c.setOutput(0, c.dtype(0), {logits->front()});
    c.setOutput(1, c.dtype(0), *logits);
}

void resize(RuleContext& c) {
    const Dims* data = c.shape(0);
    const Dims* size = c.constant(1);
    const int dtype = c.node().op() == "ResizeBilinear" ? int{tensorflow::DT_FLOAT} : c.dtype(0);
    c.setType(0, dtype);
    if (data == nullptr || data->size() != 4)
        return;
    const bool isKnown = size != nullptr && size->size() == 2;
    c.setOutput(0, dtype, {(*data)[0], isKnown ? (*size)[0] : -1, isKnown ? (*size)[1] : -1, (*data)[3]});
}

/// x, cs_prev, h_prev, w, ...: all seven outputs are [batch, cell].
void lstmCell(RuleContext& c) {
    for (std::size_t o = 0; o < 7; ++o)
        sameShapeAs(c, o, 1, c.dtype(0));
}

/// cs_prev_grad, dicfo [batch, 4 cells], three peephole gradients.
void lstmCellGradient(RuleContext& c) {
    const Dims* state = c.shape(1);
    if (state == nullptr || state->size() != 2)
        return;
    c.setOutput(0, c.dtype(0), *state);
    c.setOutput(1, c.dtype(0), {state->front(), rules::mulDim(4, state->back())});
    for (std::size_t o = 2; o < 5; ++o)
        c.setOutput(o, c.dtype(0), {state->back()});
}

void einsum(RuleContext& c) {
    const std::string_view equation = c.text("equation");
    const auto arrow = equation.find("->");
    c.setType(0, c.dtype(0));
    if (arrow == std::string_view::npos || equation.find('.') != std::string_view::npos)
        return;
    std::unordered_map<char, std::int64_t> sizes;
    std::size_t input = 0;
    std::size_t axis = 0;
    for (const char label : equation.substr(0, arrow)) {
        if (label == ',') {
            ++input;
            axis = 0;
            continue;
        }
        const Dims* dims = c.shape(input);
        const std::int64_t size = dims != nullptr && axis < dims->size() ? (*dims)[axis] : -1;
        std::int64_t& known = sizes.try_emplace(label, -1).first->second;
        known = std::max(known, size);
        ++axis;
    }
    Dims out;
    for (const char label : equation.substr(arrow + 2))
        out.push_back(sizes.count(label) != 0 ? sizes[label] : -1);
    c.setOutput(0, c.dtype(0), std::move(out));
}

} // namespace

Rule networkRule(std::string_view opType) {
    static const std::unordered_map<std::string_view, Rule> kTable = {
        {"Conv2D", convolution},
        {"_FusedConv2D", convolution},
        {"FusedConv2D", convolution},
        {"Conv3D", convolution},
        {"DepthwiseConv2dNative", depthwiseConvolution},
        {"FusedDepthwiseConv2dNative", depthwiseConvolution},
        {"_FusedDepthwiseConv2dNative", depthwiseConvolution},
        {"Conv2DBackpropInput", convolutionInputGradient},
        {"Conv2DBackpropFilter", convolutionWeightGradient},
        {"DepthwiseConv2dNativeBackpropInput", convolutionInputGradient},
        {"DepthwiseConv2dNativeBackpropFilter", convolutionWeightGradient},
        {"MaxPool", pool},
        {"AvgPool", pool},
        {"MaxPool3D", pool},
        {"AvgPool3D", pool},
        {"MaxPoolWithArgmax", pool},
        {"MaxPoolGrad", sameAsFirst},
        {"AvgPoolGrad", averagePoolGradient},
        {"LRNGrad", sameAsFirst},
        {"BiasAddGrad", biasGradient},
        {"MatMul", matMul},
        {"_FusedMatMul", matMul},
        {"SparseMatMul", matMul},
        {"BatchMatMul", batchMatMul},
        {"BatchMatMulV2", batchMatMul},
        {"BatchMatMulV3", batchMatMul},
        {"FusedBatchNorm", batchNorm},
        {"FusedBatchNormV2", batchNorm},
        {"FusedBatchNormV3", batchNorm},
        {"FusedBatchNormGrad", batchNormGradient},
        {"FusedBatchNormGradV2", batchNormGradient},
        {"FusedBatchNormGradV3", batchNormGradient},
        {"SoftmaxCrossEntropyWithLogits", crossEntropy},
        {"SparseSoftmaxCrossEntropyWithLogits", crossEntropy},
        {"ResizeBilinear", resize},
        {"ResizeNearestNeighbor", resize},
        {"LSTMBlockCell", lstmCell},
        {"LSTMBlockCellGrad", lstmCellGradient},
        {"Einsum", einsum},
    };
    const auto found = kTable.find(opType);
    return found == kTable.end() ? nullptr : found->second;
}

} // namespace pw::formats::tf
