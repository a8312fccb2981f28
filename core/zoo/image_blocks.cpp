#include "core/zoo/image_blocks.h"

#include <algorithm>
#include <array>

namespace pw::zoo {

TensorId ImageBlocks::weights(const char* name, Dims dims) {
    const TensorId value = m_net.variable(name, std::move(dims));
    if (training())
        m_decayed.push_back(l2Loss(m_net, value));
    return value;
}

TensorId ImageBlocks::conv(TensorId x, const std::string& name, std::int64_t channels, const Window& window) {
    const Net::Scope scope(m_net, name);
    return conv2d(m_net, x, weights("weights", {window.height, window.width, m_net.dims(x)[3], channels}), window);
}

TensorId ImageBlocks::norm(TensorId x, const std::string& name) {
    return batchNorm(m_net, x, {true, name.c_str()});
}

TensorId ImageBlocks::separableConv(TensorId x, const std::string& name, std::int64_t channels, const Window& window) {
    const Net::Scope scope(m_net, name);
    const std::int64_t in = m_net.dims(x)[3];
    const TensorId depthwise = weights("depthwise_weights", {window.height, window.width, in, 1});
    const TensorId pointwise = weights("pointwise_weights", {1, 1, in, channels});
    return conv2d(m_net, depthwiseConv2d(m_net, x, depthwise, window), pointwise, squareWindow(1));
}

TensorId ImageBlocks::factorizedReduction(TensorId x, std::int64_t channels, std::int64_t stride) {
    if (stride == 1)
        return norm(conv(x, "path_conv", channels, squareWindow(1)), "path_bn");
    const Window subsample = squareWindow(1, stride, Padding::Valid);
    const TensorId first = conv(avgPool(m_net, x, subsample), "path1_conv", channels / 2, squareWindow(1));
    const TensorId moved = avgPool(m_net, shiftByOne(m_net, x), subsample);
    const TensorId second = conv(moved, "path2_conv", channels - channels / 2, squareWindow(1));
    return norm(concat(m_net, std::array{first, second}, 3), "final_path_bn");
}

TensorId ImageBlocks::fullyConnected(TensorId x, const std::string& name, std::int64_t classes, bool bias) {
    const Net::Scope scope(m_net, name);
    const TensorId y = matMul(m_net, x, weights("weights", {m_net.dims(x)[1], classes}));
    return bias ? biasAdd(m_net, y, m_net.variable("biases", {classes})) : y;
}

TensorId ImageBlocks::auxiliaryHead(TensorId x, std::int64_t classes) {
    const Net::Scope scope(m_net, "aux_logits");
    // The window is as large as the image allows: small images come here as 8x8, tiny ones even smaller.
    const std::int64_t window = std::min<std::int64_t>(5, m_net.dims(x)[1]);
    TensorId y = avgPool(m_net, x, squareWindow(window, 3, Padding::Valid));
    y = relu(m_net, norm(conv(y, "proj", 128, squareWindow(1)), "aux_bn0"));
    const Dims left = m_net.dims(y);
    y = relu(m_net, norm(conv(y, "Conv", 768, {left[1], left[2], 1, Padding::Valid}), "aux_bn1"));
    return fullyConnected(reshape(m_net, y, {left[0], 768}), "FC", classes);
}

TensorId ImageBlocks::finish(const Heads& heads) {
    if (!training())
        return elementwise(m_net, "Softmax", {heads.logits}, 5.0, m_net.dims(heads.logits));
    const TensorId labels = m_net.placeholder("labels", {m_net.dims(heads.logits)[0]}, "i32");
    const auto lossOf = [&](TensorId logits, const char* name) {
        const Net::Scope scope(m_net, name);
        return reduceMean(m_net, softmaxCrossEntropy(m_net, logits, labels));
    };
    std::vector<TensorId> losses = {lossOf(heads.logits, "loss")};
    if (heads.auxiliary.isValid())
        losses.push_back(scale(m_net, lossOf(heads.auxiliary, "aux_loss"), "aux_loss/Mul")); // 0.4
    losses.push_back(scale(m_net, addScalars(m_net, m_decayed, "weight_decay/AddN"), "weight_decay/Mul"));
    return addScalars(m_net, losses, "total_loss/AddN");
}

} // namespace pw::zoo
