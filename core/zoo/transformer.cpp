#include "core/zoo/transformer.h"

#include <array>

namespace pw::zoo {

namespace {

constexpr std::array<std::size_t, 4> kSwapTimeAndHeads = {0, 2, 1, 3};

} // namespace

void addTransformerOptions(WorkloadInfo& info, const TransformerShape& shape, std::int64_t maxSteps) {
    const auto add = [&](const char* key, std::int64_t value, std::string help) {
        info.options.push_back({key, std::to_string(value), std::move(help)});
    };
    add("layers", shape.layers, "blocks");
    add("steps", shape.steps, "tokens of a sequence, at most " + std::to_string(maxSteps));
    add("batch", shape.batch, "sequences per step");
    add("width", shape.width, "of the residual stream");
    add("heads", shape.heads, "attention heads");
    add("inner", shape.inner, "width inside the feed-forward layers");
    add("vocabulary", shape.vocabulary, "tokens of the embedding, whose weights the output layer shares");
    add("dropout", shape.dropout ? 1 : 0, "1: dropout (training)");
    info.options.push_back({"optimizer", "adam", "sgd, momentum, rmsprop or adam"});
    info.options.push_back({"colocate_gradients", "0", "1: gradient ops share the device of their forward op"});
}

TransformerShape readTransformerShape(OptionReader& options, std::int64_t maxSteps, bool training) {
    TransformerShape shape;
    shape.layers = options.integer("layers", 1, 1000);
    shape.steps = options.integer("steps", 1, maxSteps);
    shape.batch = options.integer("batch", 1, 65536);
    shape.width = options.integer("width", 1, 65536);
    shape.heads = options.integer("heads", 1, 1024);
    shape.inner = options.integer("inner", 1, 1 << 20);
    shape.vocabulary = options.integer("vocabulary", 2, 10'000'000);
    shape.dropout = options.flag("dropout") && training;
    return shape;
}

void checkHeads(OptionReader& options, const TransformerShape& shape) {
    if (shape.width % shape.heads != 0)
        options.reject("heads", "must divide width=" + std::to_string(shape.width));
}

ExpertTag expertBlock(std::int64_t block) {
    return {static_cast<int>(block), -1};
}

TensorId splitHeads(Net& net, TensorId x, std::int64_t heads) {
    const Dims in = net.dims(x);
    return transpose(net, reshape(net, x, {in[0], in[1], heads, in[2] / heads}), kSwapTimeAndHeads);
}

TensorId mergeHeads(Net& net, TensorId x) {
    const Dims in = net.dims(x);
    return reshape(net, transpose(net, x, kSwapTimeAndHeads), {in[0], in[2], in[1] * in[3]});
}

TensorId causalMask(Net& net, std::int64_t queries, std::int64_t keys) {
    const Net::Scope scope(net, "mask");
    const TensorId ones = elementwise(net, "Fill", {}, 0.0, {queries, keys});
    return elementwise(net, "MatrixBandPart", {ones}, 1.0, {queries, keys});
}

TensorId maskScores(Net& net, TensorId scores, TensorId mask) {
    const Net::Scope scope(net, "mask");
    const TensorId inverse = elementwise(net, "Sub", {net.constant("one", {}, "f32"), mask}, 1.0, net.dims(mask));
    const TensorId shift = elementwise(net, "Mul", {inverse, net.constant("big", {}, "f32")}, 1.0, net.dims(mask));
    return sub(net, mul(net, scores, mask), shift);
}

TensorId dropoutIf(Net& net, TensorId x, bool isOn) {
    return isOn ? dropout(net, x) : x;
}

TensorId feedForward(Net& net, TensorId x, std::int64_t inner, Activation activation, bool dropoutInside) {
    const std::int64_t width = net.dims(x).back();
    TensorId hidden;
    {
        const Net::Scope scope(net, "layer_1");
        hidden = dense(net, x, inner);
        hidden = activation == Activation::Gelu ? gelu(net, hidden) : relu(net, hidden);
    }
    hidden = dropoutIf(net, hidden, dropoutInside);
    const Net::Scope scope(net, "layer_2");
    return dense(net, hidden, width);
}

TensorId tiedLogits(Net& net, TensorId x, TensorId table) {
    const Dims in = net.dims(x);
    if (in.size() > 2)
        x = reshape(net, x, {in[0] * in[1], in[2]});
    return matMulTransposed(net, x, table);
}

TensorId lossOrProbabilities(Net& net, TensorId logits) {
    if (!net.options().training)
        return softmax(net, logits);
    const TensorId labels = net.placeholder("labels", {net.dims(logits)[0]}, "i32");
    return reduceMean(net, softmaxCrossEntropy(net, logits, labels));
}

} // namespace pw::zoo
