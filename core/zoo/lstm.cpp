#include "core/zoo/lstm.h"

#include <array>

namespace pw::zoo {

LstmWeights lstmWeights(Net& net, std::int64_t input, std::int64_t hidden) {
    return {net.variable("kernel", {input + hidden, 4 * hidden}), net.variable("bias", {4 * hidden})};
}

LstmState lstmZeroState(Net& net, std::int64_t batch, std::int64_t hidden) {
    const auto zeros = [&](const char* name) {
        OpSpec spec{.type = "Fill", .name = name};
        spec.outputs.push_back({{batch, hidden}});
        return net.emitValue(std::move(spec));
    };
    const TensorId c = zeros("zero_c");
    return {c, zeros("zero_h")};
}

LstmState lstmStep(Net& net, TensorId x, const LstmState& state, const LstmWeights& weights) {
    const std::array<TensorId, 2> inputs = {x, state.h};
    const TensorId product = matMul(net, concat(net, inputs, 1), weights.kernel);
    const std::vector<TensorId> gates = split(net, biasAdd(net, product, weights.bias), 4, 1); // i, j, f, o
    const TensorId f = sigmoid(net, add(net, gates[2], net.constant("forget_bias", {}, "f32")));
    const TensorId i = sigmoid(net, gates[0]);
    const TensorId o = sigmoid(net, gates[3]);
    const TensorId j = tanh(net, gates[1]);
    const TensorId kept = mul(net, state.c, f);
    const TensorId c = add(net, kept, mul(net, i, j));
    return {c, mul(net, tanh(net, c), o)};
}

} // namespace pw::zoo
