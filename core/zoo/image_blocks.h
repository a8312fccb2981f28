#pragma once

#include "core/zoo/layers.h"

namespace pw::zoo {

constexpr Window squareWindow(std::int64_t size, std::int64_t stride = 1, Padding padding = Padding::Same) {
    return {size, size, stride, padding};
}

/// What image classifiers share: convolutions whose weights decay, batch norm with scale, classifier, losses.
/// The names are parts of op names; each makes a scope.
class ImageBlocks {
public:
    explicit ImageBlocks(Net& net) : m_net(net) {}

    Net& net() { return m_net; }
    bool training() const { return m_net.options().training; }

    /// Without bias.
    TensorId conv(TensorId x, const std::string& name, std::int64_t channels, const Window& window);
    TensorId norm(TensorId x, const std::string& name = "BatchNorm");
    /// Depthwise, then pointwise, without bias.
    TensorId separableConv(TensorId x, const std::string& name, std::int64_t channels, const Window& window);
    /// Changes the channels and, with stride 2, halves the size: two 1x1 convolutions, one of them on the image moved
    /// by a pixel, so that no pixel is lost. Without ReLU. Makes no scope.
    TensorId factorizedReduction(TensorId x, std::int64_t channels, std::int64_t stride);
    /// [B, C] -> [B, classes].
    TensorId fullyConnected(TensorId x, const std::string& name, std::int64_t classes, bool bias = true);
    /// The head in the middle of the net of Inception and its successors, on activated values: average 5x5/3, 1x1 128,
    /// a convolution over what is left to 768, classes.
    TensorId auxiliaryHead(TensorId x, std::int64_t classes);

    struct Heads {
        TensorId logits;
        TensorId auxiliary = {}; ///< may be invalid; its loss counts 0.4
    };
    /// Training: the loss with weight decay, on labels of its own making. Inference: probabilities.
    TensorId finish(const Heads& heads);

private:
    TensorId weights(const char* name, Dims dims);

    Net& m_net;
    std::vector<TensorId> m_decayed; ///< L2 losses of all weights
};

} // namespace pw::zoo
