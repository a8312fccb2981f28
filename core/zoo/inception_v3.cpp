#include "core/zoo/options.h"

namespace pw::zoo {

namespace {

constexpr std::int64_t kClasses = 1001; // with TF slim's background class

/// Inception-v3 as in TF slim. Names are slim's.
class InceptionV3 {
public:
    explicit InceptionV3(Net& net) : m_net(net) {}

    /// The total loss in training, else the class probabilities.
    TensorId build(std::int64_t batch, bool auxiliary);

private:
    struct Step {
        const char* name;
        std::int64_t channels;
        Window window;
    };
    using Steps = std::vector<Step>;
    /// Branches as Placeto's authors number them for an expert placement (device = number mod D): the deepest one stays
    /// with the trunk, and so do the joins and the heads.
    enum Side : int { Trunk = 0, Deep = 0, Short = 1, Middle = 2, Pooled = 3 };

    TensorId conv(TensorId x, const Step& step);
    TensorId branch(const char* name, Side side, TensorId x, const Steps& steps);
    TensorId pooledBranch(const char* name, TensorId x, std::int64_t channels);
    TensorId reducingPool(const char* name, Side side, TensorId x);
    TensorId joinBranches(std::initializer_list<TensorId> branches);
    TensorId stem(TensorId images);
    TensorId mixed35(const char* name, TensorId x, std::int64_t poolChannels, bool oddNames);
    TensorId mixed6a(TensorId x);
    TensorId mixed17(const char* name, TensorId x, std::int64_t inner);
    TensorId mixed7a(TensorId x);
    TensorId mixed8(const char* name, TensorId x);
    TensorId forkedBranch(const char* name, Side side, TensorId x, const Steps& steps, const Step& left,
                          const Step& right);
    TensorId fullyConnected(TensorId x);
    TensorId auxiliaryLogits(TensorId x);
    TensorId logits(TensorId x);
    TensorId lossOf(TensorId logits, TensorId labels, const char* name);

    Net& m_net;
    std::vector<TensorId> m_decayed; ///< L2 losses of all weights
};

constexpr Window square(std::int64_t size, std::int64_t stride = 1, Padding padding = Padding::Same) {
    return {size, size, stride, padding};
}

TensorId InceptionV3::conv(TensorId x, const Step& step) {
    const Net::Scope scope(m_net, step.name);
    const Window& window = step.window;
    const TensorId weights =
        m_net.variable("weights", {window.height, window.width, m_net.dims(x)[3], step.channels});
    if (m_net.options().training)
        m_decayed.push_back(l2Loss(m_net, weights));
    return relu(m_net, batchNorm(m_net, conv2d(m_net, x, weights, window)));
}

TensorId InceptionV3::branch(const char* name, Side side, TensorId x, const Steps& steps) {
    const Net::Expert expert(m_net, {-1, side});
    const Net::Scope scope(m_net, name);
    for (const Step& step : steps)
        x = conv(x, step);
    return x;
}

TensorId InceptionV3::pooledBranch(const char* name, TensorId x, std::int64_t channels) {
    const Net::Expert expert(m_net, {-1, Pooled});
    const Net::Scope scope(m_net, name);
    TensorId pooled;
    {
        const Net::Scope poolScope(m_net, "AvgPool_0a_3x3");
        pooled = avgPool(m_net, x, square(3));
    }
    return conv(pooled, {"Conv2d_0b_1x1", channels, square(1)});
}

TensorId InceptionV3::reducingPool(const char* name, Side side, TensorId x) {
    const Net::Expert expert(m_net, {-1, side});
    const Net::Scope scope(m_net, name);
    return maxPool(m_net, x, square(3, 2, Padding::Valid));
}

TensorId InceptionV3::joinBranches(std::initializer_list<TensorId> branches) {
    return concat(m_net, std::vector<TensorId>(branches), 3);
}

TensorId InceptionV3::stem(TensorId images) {
    TensorId x = conv(images, {"Conv2d_1a_3x3", 32, square(3, 2, Padding::Valid)});
    x = conv(x, {"Conv2d_2a_3x3", 32, square(3, 1, Padding::Valid)});
    x = conv(x, {"Conv2d_2b_3x3", 64, square(3)});
    x = reducingPool("MaxPool_3a_3x3", Trunk, x);
    x = conv(x, {"Conv2d_3b_1x1", 80, square(1, 1, Padding::Valid)});
    x = conv(x, {"Conv2d_4a_3x3", 192, square(3, 1, Padding::Valid)});
    return reducingPool("MaxPool_5a_3x3", Trunk, x);
}

TensorId InceptionV3::mixed35(const char* name, TensorId x, std::int64_t poolChannels, bool oddNames) {
    const Net::Scope scope(m_net, name);
    // why: slim gives two layers of Mixed_5c other names
    const char* first = oddNames ? "Conv2d_0b_1x1" : "Conv2d_0a_1x1";
    const char* second = oddNames ? "Conv_1_0c_5x5" : "Conv2d_0b_5x5";
    return joinBranches({branch("Branch_0", Short, x, {{"Conv2d_0a_1x1", 64, square(1)}}),
                         branch("Branch_1", Middle, x, {{first, 48, square(1)}, {second, 64, square(5)}}),
                         branch("Branch_2", Deep, x,
                                {{"Conv2d_0a_1x1", 64, square(1)},
                                 {"Conv2d_0b_3x3", 96, square(3)},
                                 {"Conv2d_0c_3x3", 96, square(3)}}),
                         pooledBranch("Branch_3", x, poolChannels)});
}

TensorId InceptionV3::mixed6a(TensorId x) {
    const Net::Scope scope(m_net, "Mixed_6a");
    const Window reduce = square(3, 2, Padding::Valid);
    return joinBranches({branch("Branch_0", Short, x, {{"Conv2d_1a_1x1", 384, reduce}}),
                         branch("Branch_1", Deep, x,
                                {{"Conv2d_0a_1x1", 64, square(1)},
                                 {"Conv2d_0b_3x3", 96, square(3)},
                                 {"Conv2d_1a_1x1", 96, reduce}}),
                         reducingPool("Branch_2/MaxPool_1a_3x3", Middle, x)});
}

TensorId InceptionV3::mixed17(const char* name, TensorId x, std::int64_t inner) {
    const Net::Scope scope(m_net, name);
    const Window row{1, 7, 1, Padding::Same};
    const Window column{7, 1, 1, Padding::Same};
    return joinBranches({branch("Branch_0", Short, x, {{"Conv2d_0a_1x1", 192, square(1)}}),
                         branch("Branch_1", Middle, x,
                                {{"Conv2d_0a_1x1", inner, square(1)},
                                 {"Conv2d_0b_1x7", inner, row},
                                 {"Conv2d_0c_7x1", 192, column}}),
                         branch("Branch_2", Deep, x,
                                {{"Conv2d_0a_1x1", inner, square(1)},
                                 {"Conv2d_0b_7x1", inner, column},
                                 {"Conv2d_0c_1x7", inner, row},
                                 {"Conv2d_0d_7x1", inner, column},
                                 {"Conv2d_0e_1x7", 192, row}}),
                         pooledBranch("Branch_3", x, 192)});
}

TensorId InceptionV3::mixed7a(TensorId x) {
    const Net::Scope scope(m_net, "Mixed_7a");
    const Window reduce = square(3, 2, Padding::Valid);
    return joinBranches({branch("Branch_0", Short, x,
                                {{"Conv2d_0a_1x1", 192, square(1)}, {"Conv2d_1a_3x3", 320, reduce}}),
                         branch("Branch_1", Deep, x,
                                {{"Conv2d_0a_1x1", 192, square(1)},
                                 {"Conv2d_0b_1x7", 192, {1, 7, 1, Padding::Same}},
                                 {"Conv2d_0c_7x1", 192, {7, 1, 1, Padding::Same}},
                                 {"Conv2d_1a_3x3", 192, reduce}}),
                         reducingPool("Branch_2/MaxPool_1a_3x3", Middle, x)});
}

TensorId InceptionV3::forkedBranch(const char* name, Side side, TensorId x, const Steps& steps, const Step& left,
                                   const Step& right) {
    const Net::Expert expert(m_net, {-1, side});
    const Net::Scope scope(m_net, name);
    for (const Step& step : steps)
        x = conv(x, step);
    const TensorId first = conv(x, left);
    return joinBranches({first, conv(x, right)});
}

TensorId InceptionV3::mixed8(const char* name, TensorId x) {
    const Net::Scope scope(m_net, name);
    const Window row{1, 3, 1, Padding::Same};
    const Window column{3, 1, 1, Padding::Same};
    return joinBranches({branch("Branch_0", Short, x, {{"Conv2d_0a_1x1", 320, square(1)}}),
                         forkedBranch("Branch_1", Middle, x, {{"Conv2d_0a_1x1", 384, square(1)}},
                                      {"Conv2d_0b_1x3", 384, row}, {"Conv2d_0c_3x1", 384, column}),
                         forkedBranch("Branch_2", Deep, x,
                                      {{"Conv2d_0a_1x1", 448, square(1)}, {"Conv2d_0b_3x3", 384, square(3)}},
                                      {"Conv2d_0c_1x3", 384, row}, {"Conv2d_0d_3x1", 384, column}),
                         pooledBranch("Branch_3", x, 192)});
}

/// [B, 1, 1, C] -> logits.
TensorId InceptionV3::fullyConnected(TensorId x) {
    const Dims in = m_net.dims(x);
    const TensorId weights = m_net.variable("weights", {in[3], kClasses});
    const TensorId bias = m_net.variable("biases", {kClasses});
    if (m_net.options().training)
        m_decayed.push_back(l2Loss(m_net, weights));
    const TensorId rows = reshape(m_net, x, {in[0], in[3]});
    return biasAdd(m_net, matMul(m_net, rows, weights), bias);
}

TensorId InceptionV3::auxiliaryLogits(TensorId x) {
    const Net::Scope scope(m_net, "AuxLogits");
    TensorId y;
    {
        const Net::Scope poolScope(m_net, "AvgPool_1a_5x5");
        y = avgPool(m_net, x, square(5, 3, Padding::Valid));
    }
    y = conv(y, {"Conv2d_1b_1x1", 128, square(1)});
    y = conv(y, {"Conv2d_2a_5x5", 768, square(5, 1, Padding::Valid)});
    const Net::Scope logitsScope(m_net, "Conv2d_2b_1x1");
    return fullyConnected(y);
}

TensorId InceptionV3::logits(TensorId x) {
    const Net::Scope scope(m_net, "Logits");
    TensorId y;
    {
        const Net::Scope poolScope(m_net, "AvgPool_1a_8x8");
        y = avgPool(m_net, x, square(m_net.dims(x)[1], 1, Padding::Valid));
    }
    if (m_net.options().training)
        y = dropout(m_net, y);
    const Net::Scope logitsScope(m_net, "Conv2d_1c_1x1");
    return fullyConnected(y);
}

TensorId InceptionV3::lossOf(TensorId logitsValue, TensorId labels, const char* name) {
    const Net::Scope scope(m_net, name);
    return reduceMean(m_net, softmaxCrossEntropy(m_net, logitsValue, labels));
}

TensorId InceptionV3::build(std::int64_t batch, bool auxiliary) {
    const bool training = m_net.options().training;
    TensorId x = stem(m_net.placeholder("images", {batch, 299, 299, 3}));
    x = mixed35("Mixed_5b", x, 32, false);
    x = mixed35("Mixed_5c", x, 64, true);
    x = mixed35("Mixed_5d", x, 64, false);
    x = mixed6a(x);
    x = mixed17("Mixed_6b", x, 128);
    x = mixed17("Mixed_6c", x, 160);
    x = mixed17("Mixed_6d", x, 160);
    x = mixed17("Mixed_6e", x, 192);
    const TensorId auxiliaryValue = training && auxiliary ? auxiliaryLogits(x) : TensorId();
    x = mixed7a(x);
    x = mixed8("Mixed_7b", x);
    x = logits(mixed8("Mixed_7c", x));
    if (!training) {
        OpSpec softmax{.type = "Softmax", .name = "Predictions/Softmax", .inputs = {x}, .flops = 5.0 * m_net.elements(x)};
        softmax.outputs.push_back({m_net.dims(x)});
        return m_net.emitValue(std::move(softmax));
    }
    const TensorId labels = m_net.placeholder("labels", {batch}, "i32");
    std::vector<TensorId> losses = {lossOf(x, labels, "loss")};
    if (auxiliaryValue.isValid())
        losses.push_back(scale(m_net, lossOf(auxiliaryValue, labels, "aux_loss"), "aux_loss/Mul")); // 0.4
    losses.push_back(scale(m_net, addScalars(m_net, m_decayed, "weight_decay/AddN"), "weight_decay/Mul"));
    return addScalars(m_net, losses, "total_loss/AddN");
}

} // namespace

WorkloadInfo inceptionV3Info() {
    WorkloadInfo info{"inception_v3", "Inception-v3", "Image classifier of TF slim, 94 convolutions.", {}};
    info.options = {{"batch", "64", "images per step"},
                    {"optimizer", "momentum", "sgd, momentum, rmsprop or adam"},
                    {"aux", "1", "1: with the auxiliary classifier (training)"},
                    {"colocate_gradients", "1", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildInceptionV3(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    const std::int64_t batch = options.integer("batch", 1, 65536);
    const Optimizer optimizer = options.optimizer();
    const bool auxiliary = options.flag("aux");
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const Net::Expert trunk(network, {-1, 0});
    const TensorId result = [&] {
        const Net::Scope scope(network, "InceptionV3");
        return InceptionV3(network).build(batch, auxiliary);
    }();
    if (net.training)
        trainOn(network, result, {optimizer, false});
    return std::move(network).finish();
}

} // namespace pw::zoo
