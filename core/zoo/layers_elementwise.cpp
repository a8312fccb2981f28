#include "core/zoo/layers.h"

#include <algorithm>

namespace pw::zoo {

namespace {

/// y = f(x), with a gradient op that reads y and dy.
TensorId unary(Net& net, const char* type, const char* gradientType, TensorId x, double flops, double gradientFlops) {
    const TensorId y = elementwise(net, type, {x}, flops, net.dims(x));
    net.setGradient(net.producer(y), [&net, gradientType, x, y, gradientFlops](std::span<const TensorId> dy) {
        net.addGradient(x, elementwise(net, gradientType, {y, dy[0]}, gradientFlops, net.dims(x)));
    });
    return y;
}

/// Shape of `a op b`, aligned at the last axis as NumPy's. An invalid `b` is a scalar constant.
Dims broadcast(Net& net, TensorId a, TensorId b) {
    Dims dims = net.dims(a);
    if (!b.isValid())
        return dims;
    const Dims& other = net.dims(b);
    if (other.size() > dims.size())
        dims.insert(dims.begin(), other.size() - dims.size(), 1);
    for (std::size_t i = 1; i <= other.size(); ++i) {
        std::int64_t& dim = dims[dims.size() - i];
        dim = std::max(dim, other[other.size() - i]);
    }
    return dims;
}

/// The way back of a broadcasting op: the gradient of an operand that was spread is summed to the operand's shape.
/// TensorFlow 1 adds seven helpers, even for equal shapes, where they do nothing: two Shape, BroadcastGradientArgs, and
/// per operand a Sum and a Reshape. `da` and `db` may be one tensor.
class BroadcastGradient {
public:
    BroadcastGradient(Net& net, OpId forward, TensorId a, TensorId b)
        : m_net(net)
        , m_a(a)
        , m_b(b) {
        if (!net.options().colocateGradients && net.atLeast(Level::TfLike))
            m_key = "gradients/" + net.op(forward).name;
    }

    const std::string& key() const { return m_key; }

    /// Hands both gradients on. `db` is invalid where nobody needs it and the level has no helpers.
    void finish(TensorId da, TensorId db) {
        if (m_net.atLeast(Level::TfLike)) {
            const TensorId shapeA = shape(m_a);
            const TensorId shapeB = shape(m_b);
            OpSpec args{
                .type = "BroadcastGradientArgs", .inputs = {shapeA, shapeB}, .isFree = true, .colocation = m_key};
            for (int i = 0; i < 2; ++i)
                args.outputs.push_back({{1}, "i32"});
            const OpId argsOp = m_net.emit(std::move(args));
            const TensorId first = da.isValid() ? da : db;
            const TensorId second = db.isValid() ? db : da;
            da = reshaped(summed(first, m_a, m_net.output(argsOp, 0)), shapeA);
            db = reshaped(summed(second, m_b, m_net.output(argsOp, 1)), shapeB);
        } else {
            da = da.isValid() && isSpread(da, m_a) ? summed(da, m_a, TensorId()) : da;
            db = db.isValid() && isSpread(db, m_b) ? summed(db, m_b, TensorId()) : db;
        }
        if (da.isValid())
            m_net.addGradient(m_a, da);
        if (db.isValid())
            m_net.addGradient(m_b, db);
    }

private:
    bool isSpread(TensorId gradient, TensorId operand) {
        return operand.isValid() && m_net.dims(operand) != m_net.dims(gradient);
    }
    TensorId shape(TensorId x) {
        OpSpec spec{.type = "Shape", .isFree = true, .colocation = m_key};
        if (x.isValid())
            spec.inputs = {x};
        const std::int64_t rank = x.isValid() ? static_cast<std::int64_t>(m_net.dims(x).size()) : 0;
        spec.outputs.push_back({{std::max<std::int64_t>(rank, 1)}, "i32"});
        return m_net.emitValue(std::move(spec));
    }
    TensorId summed(TensorId gradient, TensorId operand, TensorId axes) {
        const bool isKernel = isSpread(gradient, operand) && m_net.needsGradient(operand);
        OpSpec sum{.type = "Sum",
                   .inputs = {gradient, axes},
                   .flops = isKernel ? m_net.elements(gradient) : 0.0,
                   .isFree = !isKernel,
                   .colocation = m_key};
        sum.outputs.push_back({m_net.dims(operand.isValid() ? operand : gradient)});
        return m_net.emitValue(std::move(sum));
    }
    TensorId reshaped(TensorId gradient, TensorId shapeOf) {
        OpSpec back{.type = "Reshape", .inputs = {gradient, shapeOf}, .isFree = true, .colocation = m_key};
        back.outputs.push_back({m_net.dims(gradient)});
        return m_net.emitValue(std::move(back));
    }

    Net& m_net;
    TensorId m_a;
    TensorId m_b;
    std::string m_key;
};

/// A gradient kernel that belongs to a broadcasting op.
TensorId factor(Net& net, const char* type, std::vector<TensorId> inputs, const Dims& dims, const std::string& key) {
    OpSpec spec{.type = type, .inputs = std::move(inputs), .colocation = key};
    spec.flops = static_cast<double>(elementCount(dims).value_or(0));
    spec.outputs.push_back({dims});
    return net.emitValue(std::move(spec));
}

} // namespace

TensorId relu(Net& net, TensorId x) {
    return unary(net, "Relu", "ReluGrad", x, 1.0, 1.0);
}

TensorId sigmoid(Net& net, TensorId x) {
    return unary(net, "Sigmoid", "SigmoidGrad", x, 8.0, 3.0);
}

TensorId tanh(Net& net, TensorId x) {
    return unary(net, "Tanh", "TanhGrad", x, 8.0, 3.0);
}

TensorId rsqrt(Net& net, TensorId x) {
    return unary(net, "Rsqrt", "RsqrtGrad", x, 8.0, 3.0);
}

TensorId gelu(Net& net, TensorId x) {
    const TensorId y = elementwise(net, "Gelu", {x}, 8.0, net.dims(x));
    net.setGradient(net.producer(y), [&net, x](std::span<const TensorId> dy) {
        net.addGradient(x, elementwise(net, "GeluGrad", {x, dy[0]}, 3.0, net.dims(x)));
    });
    return y;
}

TensorId add(Net& net, TensorId a, TensorId b) {
    const TensorId y = elementwise(net, "Add", {a, b}, 1.0, broadcast(net, a, b));
    net.setGradient(
        net.producer(y),
        [&net, y, a, b](std::span<const TensorId> dy) {
            BroadcastGradient(net, net.producer(y), a, b)
                .finish(net.needsGradient(a) ? dy[0] : TensorId(), net.needsGradient(b) ? dy[0] : TensorId());
        },
        true);
    return y;
}

TensorId sub(Net& net, TensorId a, TensorId b) {
    const TensorId y = elementwise(net, "Sub", {a, b}, 1.0, broadcast(net, a, b));
    net.setGradient(
        net.producer(y),
        [&net, y, a, b](std::span<const TensorId> dy) {
            BroadcastGradient gradient(net, net.producer(y), a, b);
            const TensorId da = net.needsGradient(a) ? dy[0] : TensorId();
            TensorId db;
            if (net.needsGradient(b))
                db = factor(net, "Neg", {dy[0]}, net.dims(dy[0]), gradient.key());
            gradient.finish(da, db);
        },
        true);
    return y;
}

TensorId mul(Net& net, TensorId a, TensorId b) {
    const TensorId y = elementwise(net, "Mul", {a, b}, 1.0, broadcast(net, a, b));
    net.setGradient(
        net.producer(y),
        [&net, y, a, b](std::span<const TensorId> dy) {
            BroadcastGradient gradient(net, net.producer(y), a, b);
            TensorId da;
            TensorId db;
            if (net.needsGradient(a))
                da = factor(net, "Mul", {dy[0], b}, net.dims(dy[0]), gradient.key());
            if (net.needsGradient(b))
                db = factor(net, "Mul", {dy[0], a}, net.dims(dy[0]), gradient.key());
            gradient.finish(da, db);
        },
        true);
    return y;
}

TensorId squaredDifference(Net& net, TensorId a, TensorId b) {
    const TensorId y = elementwise(net, "SquaredDifference", {a, b}, 3.0, broadcast(net, a, b));
    net.setGradient(
        net.producer(y),
        [&net, y, a, b](std::span<const TensorId> dy) {
            BroadcastGradient gradient(net, net.producer(y), a, b);
            const Dims dims = net.dims(y);
            const TensorId difference = factor(net, "Sub", {a, b}, dims, gradient.key());
            const TensorId twice = factor(net, "Mul", {difference}, dims, gradient.key());
            const TensorId da = factor(net, "Mul", {twice, dy[0]}, dims, gradient.key());
            TensorId db;
            if (net.needsGradient(b))
                db = factor(net, "Neg", {da}, dims, gradient.key());
            gradient.finish(da, db);
        },
        true);
    return y;
}

TensorId addN(Net& net, std::span<const TensorId> values, std::string name) {
    OpSpec spec{.type = "AddN", .name = std::move(name), .inputs = {values.begin(), values.end()}};
    spec.flops = static_cast<double>(values.size() - 1) * net.elements(values[0]);
    spec.outputs.push_back({net.dims(values[0])});
    const TensorId y = net.emitValue(std::move(spec));
    const std::vector<TensorId> inputs(values.begin(), values.end());
    net.setGradient(net.producer(y), [&net, inputs](std::span<const TensorId> dy) {
        for (const TensorId input : inputs)
            net.addGradient(input, dy[0]);
    });
    return y;
}

TensorId identity(Net& net, TensorId x) {
    OpSpec spec{.type = "Identity", .inputs = {x}, .isFree = true};
    spec.outputs.push_back({net.dims(x)});
    const TensorId y = net.emitValue(std::move(spec));
    net.setGradient(net.producer(y), [&net, x](std::span<const TensorId> dy) { net.addGradient(x, dy[0]); });
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

} // namespace pw::zoo
