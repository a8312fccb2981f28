#include "core/zoo/transformer.h"

namespace pw::zoo {

namespace {

// GPT-2 (Radford et al.): causal blocks with the norm in front, embedding shared with the output layer. The defaults
// are the published small model; batch is chosen.

constexpr std::int64_t kPositions = 1024;

class Gpt2 {
public:
    Gpt2(Net& net, const TransformerShape& shape)
        : m_net(net)
        , m_shape(shape) {}
    TensorId build();

private:
    TensorId embed(TensorId& table);
    TensorId norm(TensorId x, const char* name);
    TensorId attention(TensorId x, TensorId mask);
    TensorId block(TensorId x, TensorId mask);

    Net& m_net;
    TransformerShape m_shape;
};

TensorId Gpt2::embed(TensorId& table) {
    const Net::Scope scope(m_net, "embedding");
    table = m_net.variable("wte", {m_shape.vocabulary, m_shape.width});
    const TensorId positions = m_net.variable("wpe", {kPositions, m_shape.width});
    const TensorId tokens = m_net.placeholder("tokens", {m_shape.batch, m_shape.steps}, "i32");
    const TensorId rows = slice(m_net, positions, {m_shape.steps, m_shape.width});
    return dropoutIf(m_net, add(m_net, gatherDense(m_net, table, tokens), rows), m_shape.dropout);
}

TensorId Gpt2::norm(TensorId x, const char* name) {
    const Net::Scope scope(m_net, name);
    return layerNorm(m_net, x);
}

TensorId Gpt2::attention(TensorId x, TensorId mask) {
    const Net::Scope scope(m_net, "attn");
    TensorId projected;
    {
        const Net::Scope projection(m_net, "c_attn");
        projected = dense(m_net, x, 3 * m_shape.width);
    }
    const std::vector<TensorId> parts = split(m_net, projected, 3, 2);
    const TensorId query = splitHeads(m_net, parts[0], m_shape.heads);
    const TensorId key = splitHeads(m_net, parts[1], m_shape.heads);
    const TensorId value = splitHeads(m_net, parts[2], m_shape.heads);
    const TensorId scores = mul(m_net, batchMatMul(m_net, query, key, true), m_net.constant("scale", {}, "f32"));
    const TensorId weights = dropoutIf(m_net, softmax(m_net, maskScores(m_net, scores, mask)), m_shape.dropout);
    const TensorId seen = mergeHeads(m_net, batchMatMul(m_net, weights, value));
    const Net::Scope projection(m_net, "c_proj");
    return dropoutIf(m_net, dense(m_net, seen, m_shape.width), m_shape.dropout);
}

TensorId Gpt2::block(TensorId x, TensorId mask) {
    x = add(m_net, x, attention(norm(x, "ln_1"), mask));
    const TensorId normed = norm(x, "ln_2");
    TensorId y;
    {
        const Net::Scope scope(m_net, "mlp");
        y = dropoutIf(m_net, feedForward(m_net, normed, m_shape.inner, Activation::Gelu, false), m_shape.dropout);
    }
    return add(m_net, x, y);
}

TensorId Gpt2::build() {
    TensorId table;
    TensorId x;
    TensorId mask;
    {
        const Net::Expert expert(m_net, expertBlock(0));
        x = embed(table);
        mask = causalMask(m_net, m_shape.steps, m_shape.steps);
    }
    for (std::int64_t i = 0; i < m_shape.layers; ++i) {
        const Net::Expert expert(m_net, expertBlock(i));
        const Net::Scope scope(m_net, "h" + std::to_string(i));
        x = block(x, mask);
    }
    const Net::Expert expert(m_net, expertBlock(m_shape.layers - 1));
    x = norm(x, "ln_f");
    const Net::Scope scope(m_net, "output");
    return lossOrProbabilities(m_net, tiedLogits(m_net, x, table));
}

} // namespace

WorkloadInfo gpt2Info() {
    WorkloadInfo info{
        "gpt2", "GPT-2", "Causal language model; the defaults are the small one of 124 M parameters.", {}};
    TransformerShape shape;
    shape.steps = kPositions;
    shape.batch = 8;
    shape.vocabulary = 50257;
    addTransformerOptions(info, shape, kPositions);
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildGpt2(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    const TransformerShape shape = readTransformerShape(options, kPositions, net.training);
    checkHeads(options, shape);
    const Optimizer optimizer = options.optimizer();
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const TensorId loss = [&] {
        const Net::Scope scope(network, "model");
        return Gpt2(network, shape).build();
    }();
    if (net.training)
        trainOn(network, loss, {optimizer, true});
    return std::move(network).finish();
}

} // namespace pw::zoo
