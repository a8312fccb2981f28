#include "core/zoo/layers.h"

#include <algorithm>

namespace pw::zoo {

namespace {

Dims windowDims(Net& net, TensorId x, const Window& window, std::int64_t channels) {
    const Dims& in = net.dims(x);
    return {in[0], windowOutput(in[1], window.height, window.stride, window.padding),
            windowOutput(in[2], window.width, window.stride, window.padding), channels};
}

/// A pool and its gradient, which reads the output as well for a maximum.
TensorId pool(Net& net, const char* type, const char* gradientType, TensorId x, const Window& window, bool readsForward) {
    const double area = static_cast<double>(window.height * window.width);
    OpSpec spec{.type = type, .inputs = {x}};
    spec.outputs.push_back({windowDims(net, x, window, net.dims(x)[3])});
    const OpId op = net.emit(std::move(spec));
    const TensorId y = net.output(op, 0);
    net.op(op).flops = area * net.elements(y);
    net.setGradient(op, [&net, gradientType, x, y, area, readsForward](std::span<const TensorId> dy) {
        OpSpec grad{.type = gradientType, .flops = area * net.elements(y)};
        if (readsForward)
            grad.inputs = {x, y, dy[0]};
        else
            grad.inputs = {dy[0]};
        grad.outputs.push_back({net.dims(x)});
        net.addGradient(x, net.emitValue(std::move(grad)));
    });
    return y;
}

/// moving -= (moving - batch) * (1 - decay): three ops, the last one writes the variable.
void updateMovingAverage(Net& net, TensorId moving, TensorId batch, const char* scopeName) {
    const Net::Scope scope(net, scopeName);
    const std::string key = net.variableKey(moving);
    const double n = net.elements(moving);
    net.setPhase(Phase::Auxiliary);
    OpSpec difference{.type = "Sub", .inputs = {moving, batch}, .flops = n, .colocation = key};
    difference.outputs.push_back({net.dims(moving)});
    OpSpec decayed{.type = "Mul", .inputs = {net.emitValue(std::move(difference))}, .flops = n, .colocation = key};
    decayed.outputs.push_back({net.dims(moving)});
    const TensorId step = net.emitValue(std::move(decayed));
    net.emit({.type = "AssignSub", .inputs = {moving, step}, .flops = n, .colocation = key});
    net.setPhase(Phase::Forward);
}

} // namespace

std::int64_t windowOutput(std::int64_t size, std::int64_t window, std::int64_t stride, Padding padding) {
    return padding == Padding::Same ? (size + stride - 1) / stride : (size - window) / stride + 1;
}

TensorId conv2d(Net& net, TensorId x, TensorId weights, const Window& window) {
    const Dims filter = net.dims(weights); // height, width, in, out
    OpSpec spec{.type = "Conv2D", .inputs = {x, weights}};
    spec.outputs.push_back({windowDims(net, x, window, filter[3])});
    const OpId op = net.emit(std::move(spec));
    const TensorId y = net.output(op, 0);
    const double flops = 2.0 * net.elements(y) * static_cast<double>(filter[0] * filter[1] * filter[2]);
    net.op(op).flops = flops;
    net.setGradient(
        op,
        [&net, x, weights, flops](std::span<const TensorId> dy) {
            OpSpec filterGrad{.type = "Conv2DBackpropFilter", .inputs = {x, dy[0]}, .flops = flops};
            filterGrad.outputs.push_back({net.dims(weights)});
            net.addGradient(weights, net.emitValue(std::move(filterGrad)));
            if (!net.needsGradient(x))
                return;
            OpSpec inputGrad{.type = "Conv2DBackpropInput", .inputs = {weights, dy[0]}, .flops = flops};
            inputGrad.outputs.push_back({net.dims(x)});
            net.addGradient(x, net.emitValue(std::move(inputGrad)));
        },
        true);
    return y;
}

TensorId batchNorm(Net& net, TensorId x, const BatchNorm& options) {
    const Net::Scope scope(net, options.scope);
    const Dims channels = {net.dims(x)[3]};
    const TensorId gamma = options.scale ? net.variable("gamma", channels) : TensorId();
    const TensorId beta = net.variable("beta", channels);
    const TensorId mean = net.variable("moving_mean", channels, false);
    const TensorId variance = net.variable("moving_variance", channels, false);
    const double n = net.elements(x);
    OpSpec spec{.type = "FusedBatchNorm", .inputs = {x, gamma, beta}};
    spec.outputs.push_back({net.dims(x)});
    if (!net.options().training) { // a scale and a shift per channel
        spec.inputs.insert(spec.inputs.end(), {mean, variance});
        spec.flops = 2.0 * n;
        return net.emitValue(std::move(spec));
    }
    spec.flops = 8.0 * n;
    for (int i = 0; i < 4; ++i) // batch mean and variance, and both once more for the gradient
        spec.outputs.push_back({channels});
    const OpId op = net.emit(std::move(spec));
    net.setGradient(
        op,
        [&net, op, x, gamma, beta, n](std::span<const TensorId> dy) {
            OpSpec grad{.type = "FusedBatchNormGrad",
                        .inputs = {dy[0], x, gamma, net.output(op, 3), net.output(op, 4)},
                        .flops = 12.0 * n};
            for (const Dims& out : {net.dims(x), net.dims(beta), net.dims(beta)}) // x, scale, offset
                grad.outputs.push_back({out});
            const OpId gradOp = net.emit(std::move(grad));
            net.addGradient(x, net.output(gradOp, 0));
            if (gamma.isValid())
                net.addGradient(gamma, net.output(gradOp, 1));
            net.addGradient(beta, net.output(gradOp, 2));
        },
        true);
    updateMovingAverage(net, mean, net.output(op, 1), "AssignMovingAvg");
    updateMovingAverage(net, variance, net.output(op, 2), "AssignMovingAvg_1");
    return net.output(op, 0);
}

TensorId maxPool(Net& net, TensorId x, const Window& window) {
    return pool(net, "MaxPool", "MaxPoolGrad", x, window, true);
}

TensorId avgPool(Net& net, TensorId x, const Window& window) {
    return pool(net, "AvgPool", "AvgPoolGrad", x, window, false);
}

} // namespace pw::zoo
