#include "core/zoo/layers.h"

#include <algorithm>

namespace pw::zoo {

namespace {

TensorId elementwise(Net& net, const char* type, std::vector<TensorId> inputs, double flopsPerElement, const Dims& dims) {
    OpSpec spec{.type = type, .inputs = std::move(inputs)};
    spec.flops = flopsPerElement * static_cast<double>(elementCount(dims).value_or(0));
    spec.outputs.push_back({dims});
    return net.emitValue(std::move(spec));
}

/// y = f(x), with a gradient op that reads y and dy.
TensorId unary(Net& net, const char* type, const char* gradientType, TensorId x, double flops, double gradientFlops) {
    const TensorId y = elementwise(net, type, {x}, flops, net.dims(x));
    net.setGradient(net.producer(y), [&net, gradientType, x, y, gradientFlops](std::span<const TensorId> dy) {
        net.addGradient(x, elementwise(net, gradientType, {y, dy[0]}, gradientFlops, net.dims(x)));
    });
    return y;
}

/// What TensorFlow 1 adds to the gradient of a broadcasting op, even for equal shapes: two Shape, BroadcastGradientArgs,
/// and per operand a Sum and a Reshape, which do nothing here. `da` and `db` may be one tensor.
class BroadcastGradient {
public:
    BroadcastGradient(Net& net, OpId forward, TensorId a, TensorId b) : m_net(net), m_a(a), m_b(b) {
        if (!net.options().colocateGradients && net.atLeast(Level::TfLike))
            m_key = "gradients/" + net.op(forward).name;
    }

    const std::string& key() const { return m_key; }

    /// Hands both gradients on. `db` is invalid where nobody needs it and the level has no helpers.
    void finish(TensorId da, TensorId db) {
        if (m_net.atLeast(Level::TfLike)) {
            const TensorId shapeA = shape(m_a);
            const TensorId shapeB = shape(m_b);
            OpSpec args{.type = "BroadcastGradientArgs", .inputs = {shapeA, shapeB}, .isFree = true, .colocation = m_key};
            for (int i = 0; i < 2; ++i)
                args.outputs.push_back({{1}, "i32"});
            const OpId argsOp = m_net.emit(std::move(args));
            const TensorId first = da.isValid() ? da : db;
            const TensorId second = db.isValid() ? db : da;
            da = reduced(first, m_net.output(argsOp, 0), shapeA);
            db = reduced(second, m_net.output(argsOp, 1), shapeB);
        }
        if (da.isValid())
            m_net.addGradient(m_a, da);
        if (db.isValid())
            m_net.addGradient(m_b, db);
    }

private:
    TensorId shape(TensorId x) {
        OpSpec spec{.type = "Shape", .isFree = true, .colocation = m_key};
        if (x.isValid())
            spec.inputs = {x};
        const std::int64_t rank = x.isValid() ? static_cast<std::int64_t>(m_net.dims(x).size()) : 0;
        spec.outputs.push_back({{std::max<std::int64_t>(rank, 1)}, "i32"});
        return m_net.emitValue(std::move(spec));
    }
    TensorId reduced(TensorId gradient, TensorId axes, TensorId shapeOf) {
        OpSpec sum{.type = "Sum", .inputs = {gradient, axes}, .isFree = true, .colocation = m_key};
        sum.outputs.push_back({m_net.dims(gradient)});
        OpSpec back{.type = "Reshape", .inputs = {m_net.emitValue(std::move(sum)), shapeOf}, .isFree = true,
                    .colocation = m_key};
        back.outputs.push_back({m_net.dims(gradient)});
        return m_net.emitValue(std::move(back));
    }

    Net& m_net;
    TensorId m_a;
    TensorId m_b;
    std::string m_key;
};

TensorId productGradient(Net& net, TensorId other, TensorId dy, const std::string& key) {
    OpSpec spec{.type = "Mul", .inputs = {dy, other}, .flops = net.elements(dy), .colocation = key};
    spec.outputs.push_back({net.dims(dy)});
    return net.emitValue(std::move(spec));
}

} // namespace

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

TensorId relu(Net& net, TensorId x) {
    return unary(net, "Relu", "ReluGrad", x, 1.0, 1.0);
}

TensorId sigmoid(Net& net, TensorId x) {
    return unary(net, "Sigmoid", "SigmoidGrad", x, 8.0, 3.0);
}

TensorId tanh(Net& net, TensorId x) {
    return unary(net, "Tanh", "TanhGrad", x, 8.0, 3.0);
}

TensorId add(Net& net, TensorId a, TensorId b) {
    const TensorId y = elementwise(net, "Add", {a, b}, 1.0, net.dims(a));
    net.setGradient(
        net.producer(y),
        [&net, y, a, b](std::span<const TensorId> dy) {
            BroadcastGradient(net, net.producer(y), a, b).finish(dy[0], net.needsGradient(b) ? dy[0] : TensorId());
        },
        true);
    return y;
}

TensorId mul(Net& net, TensorId a, TensorId b) {
    const TensorId y = elementwise(net, "Mul", {a, b}, 1.0, net.dims(a));
    net.setGradient(
        net.producer(y),
        [&net, y, a, b](std::span<const TensorId> dy) {
            BroadcastGradient gradient(net, net.producer(y), a, b);
            TensorId da;
            TensorId db;
            if (net.needsGradient(a))
                da = productGradient(net, b, dy[0], gradient.key());
            if (net.needsGradient(b))
                db = productGradient(net, a, dy[0], gradient.key());
            gradient.finish(da, db);
        },
        true);
    return y;
}

TensorId dropout(Net& net, TensorId x) {
    const Net::Scope scope(net, "dropout");
    const Dims dims = net.dims(x);
    OpSpec random{.type = "RandomUniform", .flops = 8.0 * net.elements(x)};
    random.outputs.push_back({dims});
    const TensorId noise = net.emitValue(std::move(random));
    const TensorId shifted = elementwise(net, "Add", {noise}, 1.0, dims);
    const TensorId mask = elementwise(net, "Floor", {shifted}, 1.0, dims);
    const TensorId scaled = elementwise(net, "RealDiv", {x}, 1.0, dims);
    net.setGradient(
        net.producer(scaled),
        [&net, x, scaled](std::span<const TensorId> dy) {
            BroadcastGradient gradient(net, net.producer(scaled), x, TensorId());
            OpSpec grad{.type = "RealDiv", .inputs = {dy[0]}, .flops = net.elements(x), .colocation = gradient.key()};
            grad.outputs.push_back({net.dims(x)});
            gradient.finish(net.emitValue(std::move(grad)), TensorId());
        },
        true);
    return mul(net, scaled, mask);
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
