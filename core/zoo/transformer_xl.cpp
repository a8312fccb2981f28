#include "core/zoo/transformer.h"

#include <array>

namespace pw::zoo {

namespace {

// Transformer-XL (Dai et al.): attention over the segment and a memory of the one before, with relative positions.
// Structure as the authors' code; the default sizes are chosen: the three published ones are in README.md.

constexpr std::int64_t kMaxSteps = 16384;

struct XlShape {
    TransformerShape base;
    std::int64_t headWidth = 128;
    std::int64_t memory = 256;
    std::int64_t keys() const { return base.steps + memory; }
};

class TransformerXl {
public:
    TransformerXl(Net& net, const XlShape& shape)
        : m_net(net)
        , m_shape(shape) {}
    TensorId build();

private:
    struct Heads {
        TensorId query; ///< [B, T, h, d]
        TensorId key;   ///< [B, h, K, d]
        TensorId value; ///< [B, h, K, d]
    };

    TensorId positions();
    TensorId withMemory(TensorId x);
    Heads projectHeads(TensorId x);
    /// query + bias, then [B, h, T, d].
    TensorId biased(TensorId query, const char* bias);
    TensorId contentScores(const Heads& heads);
    TensorId positionScores(const Heads& heads, TensorId positions);
    /// Row t shifted by T - 1 - t, so that columns are distances.
    TensorId relativeShift(TensorId scores);
    TensorId attention(TensorId x, TensorId positions, TensorId mask);
    TensorId layer(TensorId x, TensorId positions, TensorId mask);

    Net& m_net;
    XlShape m_shape;
};

/// Sines and cosines of K distances.
TensorId TransformerXl::positions() {
    const Net::Scope scope(m_net, "positions");
    const std::int64_t keys = m_shape.keys();
    const std::int64_t half = (m_shape.base.width + 1) / 2;
    const TensorId distance = elementwise(m_net, "Range", {}, 0.0, {keys});
    const TensorId angles = elementwise(m_net, "Mul", {distance}, 1.0, {keys, half});
    const TensorId sines = elementwise(m_net, "Sin", {angles}, 8.0, {keys, half});
    const TensorId cosines = elementwise(m_net, "Cos", {angles}, 8.0, {keys, m_shape.base.width - half});
    return dropoutIf(m_net, concat(m_net, std::array{sines, cosines}, 1), m_shape.base.dropout);
}

/// Memory and segment joined in time. The new memory is this layer's input, without gradient.
TensorId TransformerXl::withMemory(TensorId x) {
    if (m_shape.memory == 0)
        return x;
    const Dims memory = {m_shape.base.batch, m_shape.memory, m_shape.base.width};
    const TensorId joined = concat(m_net, std::array{m_net.placeholder("memory", memory), x}, 1);
    const Net::Scope scope(m_net, "new_memory");
    slice(m_net, stopGradient(m_net, joined), memory);
    return joined;
}

TransformerXl::Heads TransformerXl::projectHeads(TensorId x) {
    const TransformerShape& base = m_shape.base;
    const std::int64_t all = base.heads * m_shape.headWidth;
    TensorId projected;
    {
        const Net::Scope scope(m_net, "qkv");
        projected = dense(m_net, withMemory(x), 3 * all, false);
    }
    const std::vector<TensorId> parts = split(m_net, projected, 3, 2);
    const TensorId query = m_shape.memory == 0 ? parts[0] : slice(m_net, parts[0], {base.batch, base.steps, all});
    return {reshape(m_net, query, {base.batch, base.steps, base.heads, m_shape.headWidth}),
            splitHeads(m_net, parts[1], base.heads), splitHeads(m_net, parts[2], base.heads)};
}

TensorId TransformerXl::biased(TensorId query, const char* bias) {
    const TensorId value = m_net.variable(bias, {m_shape.base.heads, m_shape.headWidth});
    return transpose(m_net, add(m_net, query, value), std::array<std::size_t, 4>{0, 2, 1, 3});
}

TensorId TransformerXl::contentScores(const Heads& heads) {
    const Net::Scope scope(m_net, "content");
    return batchMatMul(m_net, biased(heads.query, "r_w_bias"), heads.key, true);
}

/// One product per head: all queries of the batch share the K projected positions.
TensorId TransformerXl::positionScores(const Heads& heads, TensorId positionRows) {
    const Net::Scope scope(m_net, "position");
    const TransformerShape& base = m_shape.base;
    const std::int64_t width = m_shape.headWidth;
    TensorId rows;
    {
        const Net::Scope projection(m_net, "r");
        rows = dense(m_net, positionRows, base.heads * width, false);
    }
    rows = transpose(m_net, reshape(m_net, rows, {m_shape.keys(), base.heads, width}),
                     std::array<std::size_t, 3>{1, 0, 2});
    TensorId query = biased(heads.query, "r_r_bias");
    query = transpose(m_net, query, std::array<std::size_t, 4>{1, 0, 2, 3});
    query = reshape(m_net, query, {base.heads, base.batch * base.steps, width});
    TensorId scores = batchMatMul(m_net, query, rows, true);
    scores = reshape(m_net, scores, {base.heads, base.batch, base.steps, m_shape.keys()});
    return relativeShift(transpose(m_net, scores, std::array<std::size_t, 4>{1, 0, 2, 3}));
}

TensorId TransformerXl::relativeShift(TensorId scores) {
    const Net::Scope scope(m_net, "relative_shift");
    const Dims from = m_net.dims(scores);
    const TensorId padded = pad(m_net, scores, {from[0], from[1], from[2], from[3] + 1});
    const TensorId turned = reshape(m_net, padded, {from[0], from[1], from[3] + 1, from[2]});
    return reshape(m_net, slice(m_net, turned, {from[0], from[1], from[3], from[2]}), from);
}

TensorId TransformerXl::attention(TensorId x, TensorId positionRows, TensorId mask) {
    const Net::Scope scope(m_net, "rel_attn");
    const Heads heads = projectHeads(x);
    TensorId scores = add(m_net, contentScores(heads), positionScores(heads, positionRows));
    scores = mul(m_net, scores, m_net.constant("scale", {}, "f32"));
    const TensorId weights = softmax(m_net, maskScores(m_net, scores, mask));
    const TensorId seen = batchMatMul(m_net, dropoutIf(m_net, weights, m_shape.base.dropout), heads.value);
    TensorId y;
    {
        const Net::Scope output(m_net, "o");
        y = dense(m_net, mergeHeads(m_net, seen), m_shape.base.width, false);
    }
    y = add(m_net, x, dropoutIf(m_net, y, m_shape.base.dropout));
    const Net::Scope norm(m_net, "LayerNorm");
    return layerNorm(m_net, y);
}

TensorId TransformerXl::layer(TensorId x, TensorId positionRows, TensorId mask) {
    const TensorId attended = attention(x, positionRows, mask);
    const Net::Scope scope(m_net, "ff");
    const bool dropping = m_shape.base.dropout;
    const TensorId y = feedForward(m_net, attended, m_shape.base.inner, Activation::Relu, dropping);
    const TensorId sum = add(m_net, attended, dropoutIf(m_net, y, dropping));
    const Net::Scope norm(m_net, "LayerNorm");
    return layerNorm(m_net, sum);
}

TensorId TransformerXl::build() {
    const TransformerShape& base = m_shape.base;
    TensorId table;
    TensorId x;
    TensorId positionRows;
    TensorId mask;
    {
        const Net::Expert expert(m_net, expertBlock(0));
        const Net::Scope scope(m_net, "embedding");
        table = m_net.variable("lookup_table", {base.vocabulary, base.width});
        x = gatherDense(m_net, table, m_net.placeholder("tokens", {base.batch, base.steps}, "i32"));
        x = dropoutIf(m_net, mul(m_net, x, m_net.constant("scale", {}, "f32")), base.dropout);
        positionRows = positions();
        mask = causalMask(m_net, base.steps, m_shape.keys());
    }
    for (std::int64_t i = 0; i < base.layers; ++i) {
        const Net::Expert expert(m_net, expertBlock(i));
        const Net::Scope scope(m_net, "layer_" + std::to_string(i));
        x = layer(x, positionRows, mask);
    }
    const Net::Expert expert(m_net, expertBlock(base.layers - 1));
    const Net::Scope scope(m_net, "softmax");
    const TensorId logits = tiedLogits(m_net, dropoutIf(m_net, x, base.dropout), table);
    return lossOrProbabilities(m_net, biasAdd(m_net, logits, m_net.variable("bias", {base.vocabulary})));
}

} // namespace

WorkloadInfo transformerXlInfo() {
    WorkloadInfo info{
        "transformer_xl", "Transformer-XL", "Language model: attention with a memory and relative positions.", {}};
    TransformerShape shape;
    shape.layers = 2;
    shape.steps = 256;
    shape.width = 1024;
    shape.heads = 8;
    shape.inner = 4096;
    shape.vocabulary = 32000;
    shape.dropout = true;
    addTransformerOptions(info, shape, kMaxSteps);
    info.options.push_back({"head_width", "128", "width of one attention head"});
    info.options.push_back({"memory", "256", "tokens of the segment before; 0: none"});
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildTransformerXl(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    XlShape shape;
    shape.base = readTransformerShape(options, kMaxSteps, net.training);
    shape.headWidth = options.integer("head_width", 1, 65536);
    shape.memory = options.integer("memory", 0, kMaxSteps);
    const Optimizer optimizer = options.optimizer();
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const TensorId loss = [&] {
        const Net::Scope scope(network, "transformer");
        return TransformerXl(network, shape).build();
    }();
    if (net.training)
        trainOn(network, loss, {optimizer, true});
    return std::move(network).finish();
}

} // namespace pw::zoo
