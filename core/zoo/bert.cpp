#include "core/zoo/transformer.h"

#include <array>

namespace pw::zoo {

namespace {

// BERT (Devlin et al.): both directions, norm behind every sum. The defaults are the published base model, uncased;
// batch, length and the number of predictions are chosen.

constexpr std::int64_t kPositions = 512;

struct BertShape {
    TransformerShape base;
    std::int64_t predictions = 20; ///< masked tokens per sequence
    bool isPretraining = true;
};

class Bert {
public:
    Bert(Net& net, const BertShape& shape)
        : m_net(net)
        , m_shape(shape.base)
        , m_options(shape) {}
    TensorId build();

private:
    TensorId embed();
    TensorId typeRows(TensorId words);
    TensorId norm(TensorId x);
    TensorId projected(TensorId x, const char* name);
    TensorId heads(TensorId x, const char* name) { return splitHeads(m_net, projected(x, name), m_shape.heads); }
    TensorId attention(TensorId x);
    TensorId layer(TensorId x);
    TensorId pooled(TensorId x);
    TensorId maskedTokenLoss(TensorId x);
    /// Two classes: is it the next sentence, or the classes of a fine-tuned task.
    TensorId sentenceLoss(TensorId x, const char* scope);

    Net& m_net;
    TransformerShape m_shape;
    BertShape m_options;
    TensorId m_table;
    TensorId m_mask; ///< [B, 1, 1, T], 1 where there is a token
};

TensorId Bert::norm(TensorId x) {
    const Net::Scope scope(m_net, "LayerNorm");
    return layerNorm(m_net, x);
}

/// Rows of the two sentence types: a one-hot product, as the table is tiny.
TensorId Bert::typeRows(TensorId words) {
    const Dims dims = m_net.dims(words);
    const std::int64_t rows = dims[0] * dims[1];
    const TensorId types = m_net.placeholder("token_type_ids", {dims[0], dims[1]}, "i32");
    const TensorId oneHot = elementwise(m_net, "OneHot", {types}, 0.0, {rows, 2});
    const TensorId table = m_net.variable("token_type_embeddings", {2, dims[2]});
    return reshape(m_net, matMul(m_net, oneHot, table), dims);
}

TensorId Bert::embed() {
    const Net::Scope scope(m_net, "embeddings");
    m_table = m_net.variable("word_embeddings", {m_shape.vocabulary, m_shape.width});
    const TensorId words =
        gatherDense(m_net, m_table, m_net.placeholder("input_ids", {m_shape.batch, m_shape.steps}, "i32"));
    const TensorId typed = add(m_net, words, typeRows(words));
    const TensorId positions = m_net.variable("position_embeddings", {kPositions, m_shape.width});
    const TensorId x = add(m_net, typed, slice(m_net, positions, {m_shape.steps, m_shape.width}));
    return dropoutIf(m_net, norm(x), m_shape.dropout);
}

TensorId Bert::projected(TensorId x, const char* name) {
    const Net::Scope scope(m_net, name);
    return dense(m_net, x, m_shape.width);
}

TensorId Bert::attention(TensorId x) {
    const Net::Scope scope(m_net, "attention");
    TensorId seen;
    {
        const Net::Scope self(m_net, "self");
        const TensorId query = heads(x, "query");
        const TensorId key = heads(x, "key");
        const TensorId value = heads(x, "value");
        const TensorId scores = mul(m_net, batchMatMul(m_net, query, key, true), m_net.constant("scale", {}, "f32"));
        const Dims mask = m_net.dims(m_mask);
        const TensorId inverse = elementwise(m_net, "Sub", {m_net.constant("one", {}, "f32"), m_mask}, 1.0, mask);
        const TensorId shift = elementwise(m_net, "Mul", {inverse, m_net.constant("big", {}, "f32")}, 1.0, mask);
        const TensorId weights = dropoutIf(m_net, softmax(m_net, add(m_net, scores, shift)), m_shape.dropout);
        seen = mergeHeads(m_net, batchMatMul(m_net, weights, value));
    }
    const Net::Scope output(m_net, "output");
    return norm(add(m_net, x, dropoutIf(m_net, projected(seen, "dense"), m_shape.dropout)));
}

TensorId Bert::layer(TensorId x) {
    const TensorId attended = attention(x);
    TensorId y;
    {
        const Net::Scope scope(m_net, "feed_forward");
        y = feedForward(m_net, attended, m_shape.inner, Activation::Gelu, false);
    }
    const Net::Scope scope(m_net, "output");
    return norm(add(m_net, attended, dropoutIf(m_net, y, m_shape.dropout)));
}

/// The first token of each sequence, one more layer.
TensorId Bert::pooled(TensorId x) {
    const Net::Scope scope(m_net, "pooler");
    const TensorId first = slice(m_net, x, {m_shape.batch, 1, m_shape.width});
    return tanh(m_net, projected(reshape(m_net, first, {m_shape.batch, m_shape.width}, "Squeeze"), "dense"));
}

TensorId Bert::maskedTokenLoss(TensorId x) {
    const Net::Scope scope(m_net, "cls/predictions");
    const TensorId rows = reshape(m_net, x, {m_shape.batch * m_shape.steps, m_shape.width});
    const TensorId positions = m_net.placeholder("masked_positions", {m_shape.batch * m_options.predictions}, "i32");
    TensorId y;
    {
        const Net::Scope transform(m_net, "transform");
        y = norm(gelu(m_net, projected(gatherDense(m_net, rows, positions), "dense")));
    }
    const TensorId bias = m_net.variable("output_bias", {m_shape.vocabulary});
    return lossOrProbabilities(m_net, biasAdd(m_net, tiedLogits(m_net, y, m_table), bias));
}

TensorId Bert::sentenceLoss(TensorId x, const char* scopeName) {
    const TensorId first = pooled(x);
    const Net::Scope scope(m_net, scopeName);
    return lossOrProbabilities(m_net, dense(m_net, first, 2));
}

TensorId Bert::build() {
    TensorId x;
    {
        const Net::Expert expert(m_net, expertBlock(0));
        x = embed();
        const TensorId given = m_net.placeholder("input_mask", {m_shape.batch, 1, 1, m_shape.steps}, "i32");
        m_mask = elementwise(m_net, "Cast", {given}, 1.0, m_net.dims(given));
    }
    for (std::int64_t i = 0; i < m_shape.layers; ++i) {
        const Net::Expert expert(m_net, expertBlock(i));
        const Net::Scope scope(m_net, "encoder/layer_" + std::to_string(i));
        x = layer(x);
    }
    const Net::Expert expert(m_net, expertBlock(m_shape.layers - 1));
    if (!m_options.isPretraining)
        return sentenceLoss(x, "classifier");
    const TensorId tokens = maskedTokenLoss(x);
    const TensorId sentences = sentenceLoss(x, "cls/seq_relationship");
    return m_net.options().training ? addScalars(m_net, std::array{tokens, sentences}, "loss/AddN") : TensorId();
}

} // namespace

WorkloadInfo bertInfo() {
    WorkloadInfo info{
        "bert", "BERT", "Encoder of both directions; the defaults are the base model of 110 M parameters.", {}};
    addTransformerOptions(info, {}, kPositions);
    for (OptionInfo& option : info.options) {
        if (option.key == "dropout")
            option.defaultValue = "1";
    }
    info.options.push_back(
        {"head", "pretraining", "pretraining (masked tokens and next sentence) or classifier (two classes)"});
    info.options.push_back({"predictions", "20", "masked tokens of a sequence in pretraining, at most steps"});
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildBert(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    BertShape shape;
    shape.base = readTransformerShape(options, kPositions, net.training);
    checkHeads(options, shape.base);
    shape.isPretraining = options.choice("head", {"pretraining", "classifier"}) == 0;
    shape.predictions = options.integer("predictions", 1, kPositions);
    if (shape.isPretraining && shape.predictions > shape.base.steps)
        options.reject("predictions", "must be at most steps=" + std::to_string(shape.base.steps));
    const Optimizer optimizer = options.optimizer();
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const TensorId loss = [&] {
        const Net::Scope scope(network, "bert");
        return Bert(network, shape).build();
    }();
    if (net.training)
        trainOn(network, loss, {optimizer, true});
    return std::move(network).finish();
}

} // namespace pw::zoo
