#include "core/zoo/layers.h"

namespace pw::zoo {

// Layers of cell networks: depthwise convolutions, the shift of a factorised reduction, drop path, global pooling.

TensorId depthwiseConv2d(Net& net, TensorId x, TensorId weights, const Window& window) {
    const Dims filter = net.dims(weights); // height, width, channels, 1
    const Dims in = net.dims(x);
    OpSpec spec{.type = "DepthwiseConv2dNative", .inputs = {x, weights}};
    spec.outputs.push_back({{in[0], windowOutput(in[1], window.height, window.stride, window.padding),
                             windowOutput(in[2], window.width, window.stride, window.padding), in[3]}});
    const OpId op = net.emit(std::move(spec));
    const TensorId y = net.output(op, 0);
    const double flops = 2.0 * net.elements(y) * static_cast<double>(filter[0] * filter[1]);
    net.op(op).flops = flops;
    net.setGradient(
        op,
        [&net, x, weights, flops](std::span<const TensorId> dy) {
            OpSpec filterGrad{.type = "DepthwiseConv2dNativeBackpropFilter", .inputs = {x, dy[0]}, .flops = flops};
            filterGrad.outputs.push_back({net.dims(weights)});
            net.addGradient(weights, net.emitValue(std::move(filterGrad)));
            if (!net.needsGradient(x))
                return;
            OpSpec inputGrad{.type = "DepthwiseConv2dNativeBackpropInput", .inputs = {weights, dy[0]}, .flops = flops};
            inputGrad.outputs.push_back({net.dims(x)});
            net.addGradient(x, net.emitValue(std::move(inputGrad)));
        },
        true);
    return y;
}

TensorId globalAvgPool(Net& net, TensorId x) {
    const Dims in = net.dims(x);
    OpSpec spec{.type = "Mean", .inputs = {x, net.constant("Mean/reduction_indices", {2})}, .flops = net.elements(x)};
    spec.outputs.push_back({{in[0], in[3]}});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x, in](std::span<const TensorId> dy) {
        OpSpec back{.type = "Reshape", .inputs = {dy[0]}, .isFree = true};
        back.outputs.push_back({{in[0], 1, 1, in[3]}});
        OpSpec tile{.type = "Tile", .inputs = {net.emitValue(std::move(back))}};
        tile.outputs.push_back({in});
        const TensorId spread = net.emitValue(std::move(tile));
        net.addGradient(x, elementwise(net, "RealDiv", {spread}, 1.0, in));
    });
    return y;
}

TensorId shiftByOne(Net& net, TensorId x) {
    const Dims in = net.dims(x);
    return slice(net, pad(net, x, {in[0], in[1] + 1, in[2] + 1, in[3]}), in);
}

TensorId dropPath(Net& net, TensorId x) {
    const Net::Scope scope(net, "drop_path");
    const Dims each = {net.dims(x)[0], 1, 1, 1}; // one draw per example
    OpSpec random{.type = "RandomUniform", .flops = 8.0 * static_cast<double>(each[0])};
    random.outputs.push_back({each});
    const TensorId noise = net.emitValue(std::move(random));
    const TensorId shifted = elementwise(net, "Add", {noise}, 1.0, each);
    const TensorId keep = elementwise(net, "Floor", {shifted}, 1.0, each);
    return mul(net, mul(net, x, net.constant("keep_probability_inverse", {}, "f32")), keep);
}

} // namespace pw::zoo
