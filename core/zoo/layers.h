#pragma once

#include "core/zoo/net.h"

namespace pw::zoo {

// Ops with their gradients. FLOPs as in core/devices/op_work.cpp; tensors are f32, images batch-height-width-channel.

enum class Padding { Same, Valid };

/// A window over an image.
struct Window {
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t stride = 1;
    Padding padding = Padding::Same;
};

/// SAME: ceil(size / stride); VALID: floor((size - window) / stride) + 1.
std::int64_t windowOutput(std::int64_t size, std::int64_t window, std::int64_t stride, Padding padding);

TensorId conv2d(Net& net, TensorId x, TensorId weights, const Window& window);
struct BatchNorm {
    bool scale = false; ///< a gamma beside the beta
    const char* scope = "BatchNorm";
};
/// With moving averages of mean and variance in training. Makes its variables.
TensorId batchNorm(Net& net, TensorId x, const BatchNorm& options = {});
TensorId maxPool(Net& net, TensorId x, const Window& window);
TensorId avgPool(Net& net, TensorId x, const Window& window);
/// Five forward ops, two backward.
TensorId dropout(Net& net, TensorId x);

/// One op with one output and no gradient.
TensorId elementwise(Net& net, const char* type, std::vector<TensorId> inputs, double flopsPerElement, Dims dims);

/// [m, k] x [k, n].
TensorId matMul(Net& net, TensorId a, TensorId b);
TensorId biasAdd(Net& net, TensorId x, TensorId bias);
TensorId relu(Net& net, TensorId x);
TensorId sigmoid(Net& net, TensorId x);
TensorId tanh(Net& net, TensorId x);
TensorId rsqrt(Net& net, TensorId x);
TensorId gelu(Net& net, TensorId x);
/// Elementwise with broadcasting; level L1 adds seven helpers to the gradient. `b` may be invalid: a constant.
TensorId add(Net& net, TensorId a, TensorId b);
TensorId sub(Net& net, TensorId a, TensorId b);
TensorId mul(Net& net, TensorId a, TensorId b);
/// Sum of tensors of one shape.
TensorId addN(Net& net, std::span<const TensorId> values, std::string name = {});
/// An alias with a name of its own; the gradient passes through.
TensorId identity(Net& net, TensorId x);
/// `b` is not a constant.
TensorId squaredDifference(Net& net, TensorId a, TensorId b);
TensorId concat(Net& net, std::span<const TensorId> parts, std::size_t axis);
std::vector<TensorId> split(Net& net, TensorId x, std::size_t parts, std::size_t axis);
/// Rows of `x` along an axis that is dropped: [B, T] -> [B]. No gradient: for tokens and labels.
TensorId sliceStep(Net& net, TensorId x, std::size_t axis);
/// `type` is the name of the op: "ExpandDims", "Squeeze".
TensorId reshape(Net& net, TensorId x, Dims dims, const char* type = "Reshape");
/// Rows of a table; the gradient is sparse (values and indices), see applyOptimizer.
TensorId gather(Net& net, TensorId table, TensorId indices);
/// Loss per row; the op makes the gradient in the same pass.
TensorId softmaxCrossEntropy(Net& net, TensorId logits, TensorId labels);
TensorId reduceMean(Net& net, TensorId x);
TensorId l2Loss(Net& net, TensorId x);
TensorId addScalars(Net& net, std::span<const TensorId> values, std::string name);
TensorId scale(Net& net, TensorId x, std::string name);

// Sequences and attention: tensors with more than two axes.

/// [m, k] x [n, k] transposed: a softmax that shares the embedding's weights.
TensorId matMulTransposed(Net& net, TensorId a, TensorId b);
/// [..., m, k] x [..., k, n]; transposed: [..., m, k] x [..., n, k].
TensorId batchMatMul(Net& net, TensorId a, TensorId b, bool transposeB = false);
TensorId transpose(Net& net, TensorId x, std::span<const std::size_t> axes);
/// Along the last axis; four ops in the backward pass.
TensorId softmax(Net& net, TensorId x);
/// Sum over an axis that is dropped.
TensorId reduceSum(Net& net, TensorId x, std::size_t axis);
/// Mean over the last axis, which stays with size 1.
TensorId reduceMeanLast(Net& net, TensorId x);
/// A block of shape `dims`.
TensorId slice(Net& net, TensorId x, Dims dims);
/// Zeros around `x`, up to shape `dims`.
TensorId pad(Net& net, TensorId x, Dims dims);
/// T tensors [B, ...] -> [B, T, ...], and back.
TensorId pack(Net& net, std::span<const TensorId> parts);
std::vector<TensorId> unpack(Net& net, TensorId x);
/// Rows of a table that other ops use as well: the gradient is dense.
TensorId gatherDense(Net& net, TensorId table, TensorId indices);
/// Mean and variance over the last axis, scale and shift: eleven ops. Makes its variables in the current scope.
TensorId layerNorm(Net& net, TensorId x);
/// x W + b on the last axis: reshape, product, bias, reshape. Makes its variables; `bias` false leaves the bias out.
TensorId dense(Net& net, TensorId x, std::int64_t width, bool bias = true);
/// The value without its gradient.
TensorId stopGradient(Net& net, TensorId x);

// Cell networks and audio.

/// One filter per channel: weights [height, width, channels, 1].
TensorId depthwiseConv2d(Net& net, TensorId x, TensorId weights, const Window& window);
/// Mean over height and width: [B, H, W, C] -> [B, C].
TensorId globalAvgPool(Net& net, TensorId x);
/// The image moved up and left by one pixel: pad and slice.
TensorId shiftByOne(Net& net, TensorId x);
/// Drops whole examples.
TensorId dropPath(Net& net, TensorId x);
/// [B, T, C] with weights [width, C, D] -> [B, T - (width - 1) * dilation, D]. Level L2 spells out what TensorFlow 1
/// makes of it: the samples between two taps become examples of a batch, a two-dimensional convolution, and back.
TensorId causalConv1d(Net& net, TensorId x, TensorId weights, std::int64_t dilation);
/// The last `length` steps: [B, T, C] -> [B, length, C].
TensorId cropToLast(Net& net, TensorId x, std::int64_t length);

struct TrainOptions {
    Optimizer optimizer = Optimizer::Sgd;
    bool clipGlobalNorm = false;
};
/// Gradients of `loss` and one update op per trainable variable.
void trainOn(Net& net, TensorId loss, const TrainOptions& options);

} // namespace pw::zoo
