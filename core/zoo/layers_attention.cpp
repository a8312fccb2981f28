#include "core/zoo/layers.h"

#include <numeric>

namespace pw::zoo {

namespace {

/// A copy or an alias: no FLOPs, moves `bytesMoved` (0 for an alias).
TensorId moved(Net& net, const char* type, TensorId x, const Dims& dims, double bytesMoved) {
    OpSpec spec{.type = type, .inputs = {x}, .bytesMoved = bytesMoved};
    spec.outputs.push_back({dims});
    return net.emitValue(std::move(spec));
}

double bytesOf(const Dims& dims) {
    return 4.0 * static_cast<double>(elementCount(dims).value_or(0));
}

TensorId product(Net& net, const char* type, std::vector<TensorId> inputs, const Dims& dims, double flops) {
    OpSpec spec{.type = type, .inputs = std::move(inputs), .flops = flops};
    spec.outputs.push_back({dims});
    return net.emitValue(std::move(spec));
}

/// A product with two gradients that are products of as many FLOPs.
TensorId productWithGradient(Net& net, const char* type, TensorId a, TensorId b, const Dims& dims, double flops) {
    const TensorId y = product(net, type, {a, b}, dims, flops);
    net.setGradient(
        net.producer(y),
        [&net, type, a, b, flops](std::span<const TensorId> dy) {
            if (net.needsGradient(a))
                net.addGradient(a, product(net, type, {dy[0], b}, net.dims(a), flops));
            if (net.needsGradient(b))
                net.addGradient(b, product(net, type, {dy[0], a}, net.dims(b), flops));
        },
        true);
    return y;
}

/// The gradient of a sum over an axis: as many copies as there were terms. `back` has the axis with size 1.
TensorId tiled(Net& net, TensorId gradient, const Dims& back, const Dims& dims) {
    if (net.dims(gradient) != back)
        gradient = moved(net, "Reshape", gradient, back, 0.0);
    return moved(net, "Tile", gradient, dims, bytesOf(back) + bytesOf(dims));
}

} // namespace

TensorId matMulTransposed(Net& net, TensorId a, TensorId b) {
    const Dims left = net.dims(a);
    const Dims right = net.dims(b);
    const double flops = 2.0 * net.elements(a) * static_cast<double>(right[0]);
    return productWithGradient(net, "MatMul", a, b, {left[0], right[0]}, flops);
}

TensorId batchMatMul(Net& net, TensorId a, TensorId b, bool transposeB) {
    Dims dims = net.dims(a);
    const Dims& right = net.dims(b);
    dims.back() = transposeB ? right[right.size() - 2] : right.back();
    const double flops = 2.0 * net.elements(a) * static_cast<double>(dims.back());
    return productWithGradient(net, "BatchMatMul", a, b, dims, flops);
}

TensorId transpose(Net& net, TensorId x, std::span<const std::size_t> axes) {
    const Dims from = net.dims(x);
    Dims to;
    for (const std::size_t axis : axes)
        to.push_back(from[axis]);
    const TensorId y = moved(net, "Transpose", x, to, 2.0 * net.bytes(x));
    net.setGradient(net.producer(y), [&net, x](std::span<const TensorId> dy) {
        net.addGradient(x, moved(net, "Transpose", dy[0], net.dims(x), 2.0 * net.bytes(x)));
    });
    return y;
}

TensorId softmax(Net& net, TensorId x) {
    const TensorId y = elementwise(net, "Softmax", {x}, 5.0, net.dims(x));
    net.setGradient(net.producer(y), [&net, x, y](std::span<const TensorId> dy) { // (dy - sum(dy y)) y
        const Dims dims = net.dims(x);
        Dims rows = dims;
        rows.back() = 1;
        const TensorId weighted = elementwise(net, "Mul", {dy[0], y}, 1.0, dims);
        OpSpec sum{.type = "Sum", .inputs = {weighted}, .flops = net.elements(x)};
        sum.outputs.push_back({rows});
        const TensorId centred = elementwise(net, "Sub", {dy[0], net.emitValue(std::move(sum))}, 1.0, dims);
        net.addGradient(x, elementwise(net, "Mul", {centred, y}, 1.0, dims));
    });
    return y;
}

TensorId reduceSum(Net& net, TensorId x, std::size_t axis) {
    Dims dims = net.dims(x);
    Dims back = dims;
    back[axis] = 1;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    OpSpec spec{.type = "Sum", .inputs = {x, net.constant("Sum/reduction_indices", {})}, .flops = net.elements(x)};
    spec.outputs.push_back({dims});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x, back](std::span<const TensorId> dy) {
        net.addGradient(x, tiled(net, dy[0], back, net.dims(x)));
    });
    return y;
}

TensorId reduceMeanLast(Net& net, TensorId x) {
    Dims dims = net.dims(x);
    dims.back() = 1;
    OpSpec spec{.type = "Mean", .inputs = {x, net.constant("Mean/reduction_indices", {})}, .flops = net.elements(x)};
    spec.outputs.push_back({dims});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x, dims](std::span<const TensorId> dy) {
        const TensorId spread = tiled(net, dy[0], dims, net.dims(x));
        net.addGradient(x, elementwise(net, "RealDiv", {spread}, 1.0, net.dims(x)));
    });
    return y;
}

TensorId slice(Net& net, TensorId x, Dims dims) {
    const TensorId y = moved(net, "StridedSlice", x, dims, 2.0 * bytesOf(dims));
    net.setGradient(net.producer(y), [&net, x, dims](std::span<const TensorId> dy) {
        const double bytes = bytesOf(dims) + net.bytes(x);
        net.addGradient(x, moved(net, "StridedSliceGrad", dy[0], net.dims(x), bytes));
    });
    return y;
}

TensorId pad(Net& net, TensorId x, Dims dims) {
    const TensorId y = moved(net, "Pad", x, dims, net.bytes(x) + bytesOf(dims));
    net.setGradient(net.producer(y), [&net, x](std::span<const TensorId> dy) {
        net.addGradient(x, moved(net, "Slice", dy[0], net.dims(x), 2.0 * net.bytes(x)));
    });
    return y;
}

TensorId pack(Net& net, std::span<const TensorId> parts) {
    Dims dims = net.dims(parts[0]);
    dims.insert(dims.begin() + 1, static_cast<std::int64_t>(parts.size()));
    OpSpec spec{.type = "Pack", .inputs = {parts.begin(), parts.end()}};
    spec.outputs.push_back({dims});
    const TensorId y = net.emitValue(std::move(spec));
    const std::vector<TensorId> inputs(parts.begin(), parts.end());
    net.setGradient(net.producer(y), [&net, inputs](std::span<const TensorId> dy) {
        OpSpec grad{.type = "Unpack", .inputs = {dy[0]}};
        grad.outputs.assign(inputs.size(), OutputSpec{net.dims(inputs[0])});
        const OpId op = net.emit(std::move(grad));
        for (std::size_t i = 0; i < inputs.size(); ++i)
            net.addGradient(inputs[i], net.output(op, i));
    });
    return y;
}

std::vector<TensorId> unpack(Net& net, TensorId x) {
    Dims dims = net.dims(x);
    const auto count = static_cast<std::size_t>(dims[1]);
    dims.erase(dims.begin() + 1);
    OpSpec spec{.type = "Unpack", .inputs = {x}};
    spec.outputs.assign(count, OutputSpec{dims});
    const OpId op = net.emit(std::move(spec));
    net.setGradient(op, [&net, x, dims](std::span<const TensorId> dy) {
        OpSpec grad{.type = "Pack"};
        for (const TensorId part : dy)
            grad.inputs.push_back(part.isValid() ? part : elementwise(net, "ZerosLike", {}, 0.0, dims));
        grad.outputs.push_back({net.dims(x)});
        net.addGradient(x, net.emitValue(std::move(grad)));
    });
    std::vector<TensorId> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(net.output(op, i));
    return values;
}

TensorId gatherDense(Net& net, TensorId table, TensorId indices) {
    Dims dims = net.dims(indices);
    dims.push_back(net.dims(table).back());
    OpSpec spec{.type = "GatherV2", .inputs = {table, indices}, .bytesMoved = 2.0 * bytesOf(dims)}; // the rows alone
    spec.outputs.push_back({dims});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, table, indices](std::span<const TensorId> dy) {
        OpSpec grad{.type = "UnsortedSegmentSum", .inputs = {dy[0], indices}, .flops = net.elements(dy[0])};
        grad.outputs.push_back({net.dims(table)});
        net.addGradient(table, net.emitValue(std::move(grad)));
    });
    return y;
}

TensorId layerNorm(Net& net, TensorId x) {
    const Dims width = {net.dims(x).back()};
    const TensorId beta = net.variable("beta", width);
    const TensorId gamma = net.variable("gamma", width);
    TensorId mean;
    TensorId variance;
    {
        const Net::Scope scope(net, "moments");
        mean = reduceMeanLast(net, x);
        variance = reduceMeanLast(net, squaredDifference(net, x, stopGradient(net, mean)));
    }
    const Net::Scope scope(net, "batchnorm");
    const TensorId factor = mul(net, rsqrt(net, add(net, variance, net.constant("epsilon", {}, "f32"))), gamma);
    return add(net, mul(net, x, factor), sub(net, beta, mul(net, mean, factor)));
}

TensorId dense(Net& net, TensorId x, std::int64_t width, bool bias) {
    const Dims in = net.dims(x);
    const TensorId kernel = net.variable("kernel", {in.back(), width});
    const TensorId shift = bias ? net.variable("bias", {width}) : TensorId();
    const std::int64_t rows = std::accumulate(in.begin(), in.end() - 1, std::int64_t{1}, std::multiplies<>());
    TensorId y = matMul(net, in.size() == 2 ? x : reshape(net, x, {rows, in.back()}), kernel);
    if (bias)
        y = biasAdd(net, y, shift);
    if (in.size() == 2)
        return y;
    Dims out = in;
    out.back() = width;
    return reshape(net, y, std::move(out));
}

TensorId stopGradient(Net& net, TensorId x) {
    OpSpec spec{.type = "StopGradient", .inputs = {x}, .isFree = true, .stopsGradient = true};
    spec.outputs.push_back({net.dims(x)});
    return net.emitValue(std::move(spec));
}

} // namespace pw::zoo
