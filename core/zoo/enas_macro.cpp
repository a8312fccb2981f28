#include "core/zoo/enas.h"
#include "core/zoo/image_blocks.h"

namespace pw::zoo {

namespace {

enum class LayerOp { Conv3, Separable3, Conv5, Separable5, Average, Maximum };
constexpr std::uint64_t kLayerOps = 6;

struct LayerChoice {
    LayerOp op = LayerOp::Conv3;
    std::vector<bool> skips; ///< per earlier output (0 = the stem), without the one just before
};

std::vector<LayerChoice> randomLayers(std::int64_t count, Rng& rng) {
    std::vector<LayerChoice> choices(static_cast<std::size_t>(count));
    for (std::size_t layer = 0; layer < choices.size(); ++layer) {
        choices[layer].op = static_cast<LayerOp>(rng.below(kLayerOps));
        for (std::size_t earlier = 0; earlier < layer; ++earlier)
            choices[layer].skips.push_back(rng.below(2) == 1);
    }
    return choices;
}

class MacroChild {
public:
    MacroChild(Net& net, const EnasShape& shape, Rng& rng)
        : m_net(net), m_shape(shape), m_blocks(net), m_choices(randomLayers(shape.layers, rng)) {}
    TensorId build();

private:
    TensorId convNormRelu(TensorId x, const std::string& name, const Window& window);
    TensorId branch(TensorId x, LayerOp op);
    TensorId layer(std::size_t index);
    bool isUsedAfter(std::size_t output, std::size_t layer) const;
    void poolOutputs(std::size_t layer);

    Net& m_net;
    EnasShape m_shape;
    ImageBlocks m_blocks;
    std::vector<LayerChoice> m_choices;
    std::int64_t m_channels = 0;
    std::vector<TensorId> m_outputs; ///< of the stem and the layers; invalid where nobody reads it any more
};

TensorId MacroChild::convNormRelu(TensorId x, const std::string& name, const Window& window) {
    const Net::Scope scope(m_net, name);
    return relu(m_net, m_blocks.norm(m_blocks.conv(x, "conv", m_channels, window)));
}

TensorId MacroChild::branch(TensorId x, LayerOp op) {
    const Net::Scope scope(m_net, "branch_" + std::to_string(static_cast<int>(op)));
    x = convNormRelu(x, "inp_conv_1", squareWindow(1));
    const auto separable = [&](std::int64_t size) {
        const Net::Scope convScope(m_net, "out_conv");
        return relu(m_net, m_blocks.norm(m_blocks.separableConv(x, "separable", m_channels, squareWindow(size))));
    };
    switch (op) {
    case LayerOp::Conv3: return convNormRelu(x, "out_conv", squareWindow(3));
    case LayerOp::Separable3: return separable(3);
    case LayerOp::Conv5: return convNormRelu(x, "out_conv", squareWindow(5));
    case LayerOp::Separable5: return separable(5);
    case LayerOp::Average: return avgPool(m_net, x, squareWindow(3));
    case LayerOp::Maximum: break;
    }
    return maxPool(m_net, x, squareWindow(3));
}

TensorId MacroChild::layer(std::size_t index) {
    const LayerChoice& choice = m_choices[index];
    const TensorId y = branch(m_outputs.back(), choice.op);
    std::vector<TensorId> terms = {y};
    for (std::size_t earlier = 0; earlier < choice.skips.size(); ++earlier) {
        if (choice.skips[earlier])
            terms.push_back(m_outputs[earlier]);
    }
    const Net::Scope scope(m_net, "skip");
    return m_blocks.norm(terms.size() > 1 ? addN(m_net, terms) : y, "bn");
}

bool MacroChild::isUsedAfter(std::size_t output, std::size_t layer) const {
    if (output == layer + 1) // the input of the next layer
        return true;
    for (std::size_t later = layer + 1; later < m_choices.size(); ++later) {
        if (output < later && m_choices[later].skips[output])
            return true;
    }
    return false;
}

/// Halves every output that a later layer reads, with as many channels as before.
void MacroChild::poolOutputs(std::size_t layer) {
    const Net::Scope scope(m_net, "pool_at_" + std::to_string(layer));
    for (std::size_t output = 0; output < m_outputs.size(); ++output) {
        const Net::Scope from(m_net, "from_" + std::to_string(output));
        m_outputs[output] = isUsedAfter(output, layer)
                                ? m_blocks.factorizedReduction(m_outputs[output], m_channels, 2)
                                : TensorId();
    }
}

TensorId MacroChild::build() {
    m_channels = m_shape.channels;
    {
        const Net::Expert expert(m_net, {0, -1});
        const TensorId images = m_net.placeholder("images", {m_shape.batch, 32, 32, 3});
        m_outputs = {m_blocks.norm(m_blocks.conv(images, "stem_conv", m_channels, squareWindow(3)), "stem_conv/bn")};
    }
    const auto layers = static_cast<std::size_t>(m_shape.layers);
    for (std::size_t index = 0; index < layers; ++index) {
        const Net::Expert expert(m_net, {static_cast<int>(index), -1});
        const Net::Scope scope(m_net, "layer_" + std::to_string(index));
        m_outputs.push_back(layer(index));
        if (index == layers / 3 - 1 || index == 2 * (layers / 3) - 1) // after each third
            poolOutputs(index);
    }
    const Net::Expert expert(m_net, {static_cast<int>(layers) - 1, -1});
    TensorId pooled = globalAvgPool(m_net, m_outputs.back());
    if (m_blocks.training())
        pooled = dropout(m_net, pooled);
    return m_blocks.finish({m_blocks.fullyConnected(pooled, "fc", m_shape.classes, false)});
}

} // namespace

TensorId buildEnasMacroChild(Net& net, const EnasShape& shape, Rng& rng) {
    return MacroChild(net, shape, rng).build();
}

} // namespace pw::zoo
