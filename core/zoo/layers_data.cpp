#include "core/zoo/layers.h"

namespace pw::zoo {

// Tables, labels, losses: ops at the edges of a network.

TensorId sliceStep(Net& net, TensorId x, std::size_t axis) {
    Dims dims = net.dims(x);
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    OpSpec spec{.type = "StridedSlice", .inputs = {x}};
    spec.bytesMoved = 8.0 * static_cast<double>(elementCount(dims).value_or(0));
    spec.outputs.push_back({std::move(dims), "i32"});
    return net.emitValue(std::move(spec));
}

TensorId reshape(Net& net, TensorId x, Dims dims, const char* type) {
    OpSpec spec{.type = type, .inputs = {x}, .isFree = true};
    spec.outputs.push_back({std::move(dims)});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x](std::span<const TensorId> dy) {
        OpSpec grad{.type = "Reshape", .inputs = {dy[0]}, .isFree = true};
        grad.outputs.push_back({net.dims(x)});
        net.addGradient(x, net.emitValue(std::move(grad)));
    });
    return y;
}

TensorId gather(Net& net, TensorId table, TensorId indices) {
    Dims dims = net.dims(indices);
    dims.push_back(net.dims(table).back());
    OpSpec spec{.type = "GatherV2", .inputs = {table, indices}};
    spec.bytesMoved = 8.0 * static_cast<double>(elementCount(dims).value_or(0)); // the rows, not the table
    spec.outputs.push_back({std::move(dims)});
    const OpId op = net.emit(std::move(spec));
    net.addSparseUse(table, indices);
    net.setGradient(op, [&net, table](std::span<const TensorId> dy) { net.addGradient(table, dy[0]); });
    return net.output(op, 0);
}

TensorId softmaxCrossEntropy(Net& net, TensorId logits, TensorId labels) {
    const double n = net.elements(logits);
    OpSpec spec{.type = "SparseSoftmaxCrossEntropyWithLogits", .inputs = {logits, labels}, .flops = 6.0 * n};
    spec.outputs.push_back({{net.dims(logits)[0]}});
    spec.outputs.push_back({net.dims(logits)});
    const OpId op = net.emit(std::move(spec));
    net.setGradient(op, [&net, op, logits, n](std::span<const TensorId> dy) {
        OpSpec grad{.type = "Mul", .inputs = {net.output(op, 1), dy[0]}, .flops = n};
        grad.outputs.push_back({net.dims(logits)});
        net.addGradient(logits, net.emitValue(std::move(grad)));
    });
    return net.output(op, 0);
}

TensorId reduceMean(Net& net, TensorId x) {
    const double n = net.elements(x);
    OpSpec spec{.type = "Mean", .inputs = {x}, .flops = n};
    spec.outputs.push_back({{}});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x, n](std::span<const TensorId> dy) {
        OpSpec grad{.type = "RealDiv", .name = "Mean_grad", .inputs = {dy[0]}, .flops = n};
        grad.outputs.push_back({net.dims(x)});
        net.addGradient(x, net.emitValue(std::move(grad)));
    });
    return y;
}

TensorId l2Loss(Net& net, TensorId x) {
    const double n = net.elements(x);
    OpSpec spec{.type = "L2Loss", .inputs = {x}, .flops = 2.0 * n, .colocation = net.variableKey(x)};
    spec.outputs.push_back({{}});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x, n](std::span<const TensorId> dy) {
        OpSpec grad{.type = "Mul", .name = "L2Loss_grad", .inputs = {x, dy[0]}, .flops = n,
                    .colocation = net.variableKey(x)};
        grad.outputs.push_back({net.dims(x)});
        net.addGradient(x, net.emitValue(std::move(grad)));
    });
    return y;
}

TensorId addScalars(Net& net, std::span<const TensorId> values, std::string name) {
    return addN(net, values, std::move(name));
}

TensorId scale(Net& net, TensorId x, std::string name) {
    OpSpec spec{.type = "Mul", .name = std::move(name), .inputs = {x}, .flops = net.elements(x)};
    spec.outputs.push_back({net.dims(x)});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x](std::span<const TensorId> dy) {
        OpSpec grad{.type = "Mul", .inputs = {dy[0]}, .flops = net.elements(x)};
        grad.outputs.push_back({net.dims(x)});
        net.addGradient(x, net.emitValue(std::move(grad)));
    });
    return y;
}

} // namespace pw::zoo
