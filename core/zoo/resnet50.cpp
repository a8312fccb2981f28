#include "core/zoo/image_blocks.h"
#include "core/zoo/options.h"

namespace pw::zoo {

namespace {

constexpr std::int64_t kUnits[] = {3, 4, 6, 3}; ///< bottleneck units of the four blocks

/// ResNet-50 with batch norm after each convolution ("version 1"). Names as in TF slim.
class ResNet50 {
public:
    ResNet50(Net& net, bool strideInWindow) : m_net(net), m_blocks(net), m_strideInWindow(strideInWindow) {}
    TensorId build(std::int64_t batch, std::int64_t image, std::int64_t classes);

private:
    TensorId convNorm(TensorId x, const char* name, std::int64_t channels, const Window& window);
    TensorId unit(TensorId x, std::int64_t inner, std::int64_t stride);

    Net& m_net;
    ImageBlocks m_blocks;
    bool m_strideInWindow; ///< in the 3x3 convolution, else in the 1x1 before it
};

TensorId ResNet50::convNorm(TensorId x, const char* name, std::int64_t channels, const Window& window) {
    const TensorId y = m_blocks.conv(x, name, channels, window);
    return m_blocks.norm(y, std::string(name) + "/BatchNorm");
}

TensorId ResNet50::unit(TensorId x, std::int64_t inner, std::int64_t stride) {
    const Net::Scope scope(m_net, "bottleneck_v1");
    const std::int64_t channels = 4 * inner;
    const bool fits = stride == 1 && m_net.dims(x)[3] == channels;
    const TensorId shortcut = fits ? x : convNorm(x, "shortcut", channels, squareWindow(1, stride));
    TensorId y = relu(m_net, convNorm(x, "conv1", inner, squareWindow(1, m_strideInWindow ? 1 : stride)));
    y = relu(m_net, convNorm(y, "conv2", inner, squareWindow(3, m_strideInWindow ? stride : 1)));
    return relu(m_net, add(m_net, shortcut, convNorm(y, "conv3", channels, squareWindow(1))));
}

TensorId ResNet50::build(std::int64_t batch, std::int64_t image, std::int64_t classes) {
    int layer = 0; // of the expert: the stem goes with the first unit, the head with the last
    TensorId x;
    {
        const Net::Expert expert(m_net, {0, -1});
        const TensorId images = m_net.placeholder("images", {batch, image, image, 3});
        x = relu(m_net, convNorm(images, "conv1", 64, squareWindow(7, 2)));
        const Net::Scope scope(m_net, "pool1");
        x = maxPool(m_net, x, squareWindow(3, 2));
    }
    for (std::int64_t block = 0; block < 4; ++block) {
        const Net::Scope blockScope(m_net, "block" + std::to_string(block + 1));
        for (std::int64_t i = 0; i < kUnits[block]; ++i) {
            const Net::Expert expert(m_net, {layer++, -1});
            const Net::Scope scope(m_net, "unit_" + std::to_string(i + 1));
            x = unit(x, 64 << block, block > 0 && i == 0 ? 2 : 1);
        }
    }
    const Net::Expert expert(m_net, {layer - 1, -1});
    TensorId pooled;
    {
        const Net::Scope scope(m_net, "pool5");
        pooled = globalAvgPool(m_net, x);
    }
    return m_blocks.finish({m_blocks.fullyConnected(pooled, "logits", classes)});
}

} // namespace

WorkloadInfo resnet50Info() {
    WorkloadInfo info{"resnet50", "ResNet-50", "Image classifier: one long chain with shortcuts.", {}};
    info.options = {{"batch", "32", "images per step"},
                    {"image", "224", "height and width of the images"},
                    {"classes", "1000", "classes"},
                    {"variant", "v1.5", "where a block halves the size: v1.5 in its 3x3, v1 in its first 1x1"},
                    {"optimizer", "momentum", "sgd, momentum, rmsprop or adam"},
                    {"colocate_gradients", "1", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildResnet50(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    const std::int64_t batch = options.integer("batch", 1, 65536);
    const std::int64_t image = options.integer("image", 32, 4096);
    const std::int64_t classes = options.integer("classes", 2, 1'000'000);
    const bool strideInWindow = options.choice("variant", {"v1.5", "v1"}) == 0;
    const Optimizer optimizer = options.optimizer();
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const TensorId result = [&] {
        const Net::Scope scope(network, "resnet_v1_50");
        return ResNet50(network, strideInWindow).build(batch, image, classes);
    }();
    if (net.training)
        trainOn(network, result, {optimizer, false});
    return std::move(network).finish();
}

} // namespace pw::zoo
