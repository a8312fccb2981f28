#include "core/zoo/layers.h"

namespace pw::zoo {

TensorId elementwise(Net& net, const char* type, std::vector<TensorId> inputs, double flopsPerElement, Dims dims) {
    OpSpec spec{.type = type, .inputs = std::move(inputs)};
    spec.flops = flopsPerElement * static_cast<double>(elementCount(dims).value_or(0));
    spec.outputs.push_back({std::move(dims)});
    return net.emitValue(std::move(spec));
}

TensorId matMul(Net& net, TensorId a, TensorId b) {
    const Dims left = net.dims(a);
    const Dims right = net.dims(b);
    const double flops = 2.0 * static_cast<double>(left[0]) * static_cast<double>(left[1]) * static_cast<double>(right[1]);
    OpSpec spec{.type = "MatMul", .inputs = {a, b}, .flops = flops};
    spec.outputs.push_back({{left[0], right[1]}});
    const OpId op = net.emit(std::move(spec));
    net.setGradient(
        op,
        [&net, a, b, flops](std::span<const TensorId> dy) {
            const auto gradient = [&](std::vector<TensorId> inputs, TensorId of) {
                if (!net.needsGradient(of))
                    return;
                OpSpec grad{.type = "MatMul", .inputs = std::move(inputs), .flops = flops};
                grad.outputs.push_back({net.dims(of)});
                net.addGradient(of, net.emitValue(std::move(grad)));
            };
            gradient({dy[0], b}, a);
            gradient({a, dy[0]}, b);
        },
        true);
    return net.output(op, 0);
}

TensorId biasAdd(Net& net, TensorId x, TensorId bias) {
    const TensorId y = elementwise(net, "BiasAdd", {x, bias}, 1.0, net.dims(x));
    net.setGradient(
        net.producer(y),
        [&net, x, bias](std::span<const TensorId> dy) {
            OpSpec grad{.type = "BiasAddGrad", .inputs = {dy[0]}, .flops = net.elements(dy[0])};
            grad.outputs.push_back({net.dims(bias)});
            net.addGradient(bias, net.emitValue(std::move(grad)));
            net.addGradient(x, dy[0]);
        },
        true);
    return y;
}

TensorId concat(Net& net, std::span<const TensorId> parts, std::size_t axis) {
    Dims dims = net.dims(parts[0]);
    for (const TensorId part : parts.subspan(1))
        dims[axis] += net.dims(part)[axis];
    OpSpec spec{.type = "ConcatV2", .inputs = {parts.begin(), parts.end()}};
    spec.inputs.push_back(net.constant("concat/axis", {}));
    spec.outputs.push_back({dims});
    const OpId op = net.emit(std::move(spec));
    const std::vector<TensorId> inputs(parts.begin(), parts.end());
    net.setGradient(
        op,
        [&net, inputs](std::span<const TensorId> dy) {
            TensorId offsets;
            if (const TensorId axisValue = net.constant("concat_grad/axis", {}); axisValue.isValid()) {
                OpSpec shapes{.type = "ShapeN", .inputs = inputs, .isFree = true};
                shapes.outputs.push_back({{4}, "i32"});
                OpSpec offset{.type = "ConcatOffset", .inputs = {axisValue, net.emitValue(std::move(shapes))},
                              .isFree = true};
                offset.outputs.push_back({{4}, "i32"});
                offsets = net.emitValue(std::move(offset));
            }
            for (const TensorId input : inputs) {
                if (!net.needsGradient(input))
                    continue;
                OpSpec slice{.type = "Slice", .inputs = {dy[0], offsets}, .bytesMoved = 2.0 * net.bytes(input)};
                slice.outputs.push_back({net.dims(input)});
                net.addGradient(input, net.emitValue(std::move(slice)));
            }
        },
        true);
    return net.output(op, 0);
}

std::vector<TensorId> split(Net& net, TensorId x, std::size_t parts, std::size_t axis) {
    Dims dims = net.dims(x);
    dims[axis] /= static_cast<std::int64_t>(parts);
    OpSpec spec{.type = "Split", .inputs = {net.constant("split/split_dim", {}), x}};
    spec.outputs.assign(parts, OutputSpec{dims});
    const OpId op = net.emit(std::move(spec));
    net.setGradient(op, [&net, x, dims](std::span<const TensorId> dy) {
        OpSpec joined{.type = "ConcatV2"};
        for (TensorId part : dy) {
            if (!part.isValid())
                part = elementwise(net, "ZerosLike", {}, 0.0, dims);
            joined.inputs.push_back(part);
        }
        joined.inputs.push_back(net.constant("split_grad/axis", {}));
        joined.outputs.push_back({net.dims(x)});
        net.addGradient(x, net.emitValue(std::move(joined)));
    });
    std::vector<TensorId> values;
    for (std::size_t i = 0; i < parts; ++i)
        values.push_back(net.output(op, i));
    return values;
}

} // namespace pw::zoo
