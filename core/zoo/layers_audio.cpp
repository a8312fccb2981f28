#include "core/zoo/layers.h"

#include <array>

namespace pw::zoo {

namespace {

/// 2 FLOPs per output element, input channel and tap, whatever the layout.
TensorId convolution(Net& net, const char* type, TensorId x, TensorId weights, Dims dims, double flops) {
    OpSpec spec{.type = type, .inputs = {x, weights}, .flops = flops};
    spec.outputs.push_back({std::move(dims)});
    const OpId op = net.emit(std::move(spec));
    const std::string base = type;
    net.setGradient(
        op,
        [&net, base, x, weights, flops](std::span<const TensorId> dy) {
            const bool isPlanar = base == "Conv2D";
            OpSpec filterGrad{.type = isPlanar ? "Conv2DBackpropFilter" : "Conv1DBackpropFilter",
                              .inputs = {x, dy[0]}, .flops = flops};
            filterGrad.outputs.push_back({net.dims(weights)});
            net.addGradient(weights, net.emitValue(std::move(filterGrad)));
            if (!net.needsGradient(x))
                return;
            OpSpec inputGrad{.type = isPlanar ? "Conv2DBackpropInput" : "Conv1DBackpropInput",
                             .inputs = {weights, dy[0]}, .flops = flops};
            inputGrad.outputs.push_back({net.dims(x)});
            net.addGradient(x, net.emitValue(std::move(inputGrad)));
        },
        true);
    return net.output(op, 0);
}

/// [B, T, C] -> [B * dilation, T / dilation, C], with zeros up to a multiple of the dilation.
TensorId timeToBatch(Net& net, TensorId x, std::int64_t dilation) {
    const Net::Scope scope(net, "time_to_batch");
    const Dims in = net.dims(x);
    const std::int64_t steps = (in[1] + dilation - 1) / dilation;
    TensorId y = pad(net, x, {in[0], steps * dilation, in[2]});
    y = reshape(net, y, {in[0] * steps, dilation, in[2]});
    y = transpose(net, y, std::array<std::size_t, 3>{1, 0, 2});
    return reshape(net, y, {in[0] * dilation, steps, in[2]});
}

TensorId batchToTime(Net& net, TensorId x, std::int64_t dilation) {
    const Net::Scope scope(net, "batch_to_time");
    const Dims in = net.dims(x);
    TensorId y = reshape(net, x, {dilation, in[0] / dilation * in[1], in[2]});
    y = transpose(net, y, std::array<std::size_t, 3>{1, 0, 2});
    return reshape(net, y, {in[0] / dilation, dilation * in[1], in[2]});
}

/// As tf.nn.conv1d makes it: a convolution over images of height 1.
TensorId planarConv(Net& net, TensorId x, TensorId weights) {
    const Dims in = net.dims(x);
    const Dims filter = net.dims(weights); // width, in, out
    const TensorId image = reshape(net, x, {in[0], 1, in[1], in[2]}, "ExpandDims");
    const TensorId kernel = reshape(net, weights, {1, filter[0], filter[1], filter[2]}, "ExpandDims");
    const std::int64_t steps = in[1] - filter[0] + 1;
    const double flops =
        2.0 * static_cast<double>(in[0] * steps * filter[0]) * static_cast<double>(filter[1] * filter[2]);
    const TensorId y = convolution(net, "Conv2D", image, kernel, {in[0], 1, steps, filter[2]}, flops);
    return reshape(net, y, {in[0], steps, filter[2]}, "Squeeze");
}

} // namespace

TensorId causalConv1d(Net& net, TensorId x, TensorId weights, std::int64_t dilation) {
    const Dims in = net.dims(x);
    const Dims filter = net.dims(weights); // width, in, out
    const std::int64_t steps = in[1] - (filter[0] - 1) * dilation;
    if (!net.atLeast(Level::Full)) {
        const double flops =
            2.0 * static_cast<double>(in[0] * steps * filter[0]) * static_cast<double>(filter[1] * filter[2]);
        return convolution(net, "Conv1D", x, weights, {in[0], steps, filter[2]}, flops);
    }
    if (dilation == 1)
        return planarConv(net, x, weights);
    const TensorId y = batchToTime(net, planarConv(net, timeToBatch(net, x, dilation), weights), dilation);
    return slice(net, y, {in[0], steps, filter[2]});
}

TensorId cropToLast(Net& net, TensorId x, std::int64_t length) {
    const Dims in = net.dims(x);
    return in[1] == length ? x : slice(net, x, {in[0], length, in[2]});
}

} // namespace pw::zoo
