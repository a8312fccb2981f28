#include "core/zoo/options.h"

#include <array>

namespace pw::zoo {

namespace {

struct Shape {
    std::int64_t stacks = 2;
    std::int64_t layersPerStack = 9; ///< dilations 1, 2, 4, ...
    std::int64_t batch = 1;
    std::int64_t samples = 100'000; ///< predicted per step; the receptive field is read in addition
    std::int64_t residual = 32;
    std::int64_t dilated = 32;
    std::int64_t skip = 512;
    std::int64_t levels = 256;

    std::int64_t layers() const { return stacks * layersPerStack; }
    /// Width 2 everywhere, one convolution before the stacks.
    std::int64_t receptiveField() const { return stacks * ((std::int64_t{1} << layersPerStack) - 1) + 2; }
};

/// WaveNet as ibab/tensorflow-wavenet builds it, on one-hot samples.
class WaveNet {
public:
    WaveNet(Net& net, const Shape& shape) : m_net(net), m_shape(shape) {}
    TensorId build();

private:
    /// A convolution with bias.
    TensorId conv(TensorId x, const std::string& name, std::int64_t width, std::int64_t channels,
                  std::int64_t dilation);
    TensorId encode(TensorId audio);
    TensorId layer(TensorId x, std::int64_t dilation, bool isLast);
    TensorId postprocess();
    TensorId loss(TensorId logits, TensorId levels);

    Net& m_net;
    Shape m_shape;
    std::vector<TensorId> m_skips;
};

TensorId WaveNet::conv(TensorId x, const std::string& name, std::int64_t width, std::int64_t channels,
                       std::int64_t dilation) {
    const TensorId weights = m_net.variable(name, {width, m_net.dims(x)[2], channels});
    const TensorId bias = m_net.variable(name + "_bias", {channels});
    const Net::Scope scope(m_net, name + "_conv");
    return biasAdd(m_net, causalConv1d(m_net, x, weights, dilation), bias);
}

/// mu-law: sign(x) log(1 + mu |x|) / log(1 + mu), as a whole number.
TensorId WaveNet::encode(TensorId audio) {
    const Net::Scope scope(m_net, "encode");
    const Dims dims = m_net.dims(audio);
    const TensorId magnitude = elementwise(m_net, "Abs", {audio}, 1.0, dims);
    const TensorId scaled = elementwise(m_net, "Mul", {magnitude}, 1.0, dims);
    const TensorId logarithm = elementwise(m_net, "Log1p", {scaled}, 8.0, dims);
    const TensorId sign = elementwise(m_net, "Sign", {audio}, 1.0, dims);
    const TensorId signal = elementwise(m_net, "Mul", {sign, logarithm}, 1.0, dims);
    OpSpec cast{.type = "Cast", .inputs = {signal}, .flops = m_net.elements(audio)};
    cast.outputs.push_back({dims, "i32"});
    return m_net.emitValue(std::move(cast));
}

/// Returns the input of the next layer; keeps the contribution to the skip sum. Nobody reads what the last layer would
/// hand on: its dense convolution, which the original makes and never trains, is left out.
TensorId WaveNet::layer(TensorId x, std::int64_t dilation, bool isLast) {
    const TensorId filter = tanh(m_net, conv(x, "filter", 2, m_shape.dilated, dilation));
    const TensorId gate = sigmoid(m_net, conv(x, "gate", 2, m_shape.dilated, dilation));
    const TensorId out = mul(m_net, filter, gate);
    m_skips.push_back(conv(cropToLast(m_net, out, m_shape.samples), "skip", 1, m_shape.skip, 1));
    if (isLast)
        return TensorId();
    const TensorId dense = conv(out, "dense", 1, m_shape.residual, 1);
    return add(m_net, cropToLast(m_net, x, m_net.dims(dense)[1]), dense);
}

/// The logits of every sample: [B * T, levels].
TensorId WaveNet::postprocess() {
    const Net::Scope scope(m_net, "postprocessing");
    TensorId total = m_skips.front();
    for (std::size_t i = 1; i < m_skips.size(); ++i)
        total = add(m_net, total, m_skips[i]);
    const TensorId hidden = conv(relu(m_net, total), "postprocess1", 1, m_shape.skip, 1);
    const TensorId logits = conv(relu(m_net, hidden), "postprocess2", 1, m_shape.levels, 1);
    return reshape(m_net, logits, {m_shape.batch * m_shape.samples, m_shape.levels});
}

TensorId WaveNet::loss(TensorId logits, TensorId levels) {
    const Net::Scope scope(m_net, "loss");
    OpSpec targets{.type = "Slice", .inputs = {levels}};
    targets.bytesMoved = 8.0 * static_cast<double>(m_shape.batch * m_shape.samples); // read and written, 4 bytes each
    targets.outputs.push_back({{m_shape.batch, m_shape.samples}, "i32"});
    OpSpec flat{.type = "Reshape", .inputs = {m_net.emitValue(std::move(targets))}, .isFree = true};
    flat.outputs.push_back({{m_shape.batch * m_shape.samples}, "i32"});
    return reduceMean(m_net, softmaxCrossEntropy(m_net, logits, m_net.emitValue(std::move(flat))));
}

TensorId WaveNet::build() {
    const std::int64_t length = m_shape.samples + m_shape.receptiveField() - 1;
    TensorId x;
    TensorId levels;
    {
        const Net::Expert expert(m_net, {0, -1});
        levels = encode(m_net.placeholder("audio", {m_shape.batch, length}));
        OpSpec oneHot{.type = "OneHot", .inputs = {levels}};
        oneHot.outputs.push_back({{m_shape.batch, length, m_shape.levels}});
        const TensorId encoded = m_net.emitValue(std::move(oneHot));
        const Net::Scope scope(m_net, "causal_layer");
        x = conv(encoded, "filter", 2, m_shape.residual, 1);
    }
    for (std::int64_t i = 0; i < m_shape.layers(); ++i) {
        const Net::Expert expert(m_net, {static_cast<int>(i), -1});
        const Net::Scope scope(m_net, "dilated_stack/layer" + std::to_string(i));
        x = layer(x, std::int64_t{1} << (i % m_shape.layersPerStack), i + 1 == m_shape.layers());
    }
    const Net::Expert expert(m_net, {static_cast<int>(m_shape.layers()) - 1, -1});
    const TensorId logits = postprocess();
    return m_net.options().training ? loss(logits, levels)
                                    : elementwise(m_net, "Softmax", {logits}, 5.0, m_net.dims(logits));
}

} // namespace

WorkloadInfo wavenetInfo() {
    WorkloadInfo info{"wavenet", "WaveNet", "Speech from stacks of dilated convolutions over samples.", {}};
    info.options = {{"stacks", "2", "stacks of layers"},
                    {"layers_per_stack", "9", "layers per stack, with dilations 1, 2, 4, ..."},
                    {"batch", "1", "pieces of audio per step"},
                    {"samples", "100000", "samples predicted per piece"},
                    {"residual", "32", "residual channels"},
                    {"dilated", "32", "channels of the dilated convolutions"},
                    {"skip", "512", "skip channels"},
                    {"optimizer", "adam", "sgd, momentum, rmsprop or adam"},
                    {"colocate_gradients", "0", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildWavenet(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    Shape shape;
    shape.stacks = options.integer("stacks", 1, 64);
    shape.layersPerStack = options.integer("layers_per_stack", 1, 16);
    shape.batch = options.integer("batch", 1, 4096);
    shape.samples = options.integer("samples", 1, 10'000'000);
    shape.residual = options.integer("residual", 1, 4096);
    shape.dilated = options.integer("dilated", 1, 4096);
    shape.skip = options.integer("skip", 1, 4096);
    const Optimizer optimizer = options.optimizer();
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const TensorId result = [&] {
        const Net::Scope scope(network, "wavenet");
        return WaveNet(network, shape).build();
    }();
    if (net.training)
        trainOn(network, result, {optimizer, false});
    return std::move(network).finish();
}

} // namespace pw::zoo
