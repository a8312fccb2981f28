#include "core/zoo/seq2seq.h"

#include "core/base/text.h"

#include <array>

namespace pw::zoo {

std::string timeStep(std::int64_t step) {
    std::string digits = std::to_string(step);
    return "t" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

Cell makeCell(Net& net, std::string scopeName, int expertLayer, std::int64_t input, const Seq2SeqShape& shape,
              const LstmState* initial) {
    const Net::Scope scope(net, scopeName);
    const Net::Expert expert(net, {expertLayer, -1});
    Cell cell{std::move(scopeName), {expertLayer, -1}, lstmWeights(net, input, shape.hidden), {}};
    cell.state = initial ? *initial : lstmZeroState(net, shape.batch, shape.hidden);
    return cell;
}

TensorId stepCell(Net& net, Cell& cell, std::int64_t step, const CellInput& input, bool withDropout) {
    const Net::Scope scope(net, cell.scope + '/' + timeStep(step));
    const Net::Expert expert(net, cell.expert);
    TensorId x = input.x;
    if (input.context.isValid())
        x = concat(net, std::array{x, input.context}, 1);
    if (withDropout)
        x = dropout(net, x);
    cell.state = lstmStep(net, x, cell.state, cell.weights);
    return input.isResidual ? add(net, cell.state.h, input.x) : cell.state.h;
}

std::vector<TensorId> embedTokens(Net& net, const char* language, const Seq2SeqShape& shape) {
    const Net::Expert expert(net, {0, -1});
    const Net::Scope scope(net, std::string("embeddings/") + language);
    const TensorId tokens = net.placeholder("tokens", {shape.batch, shape.steps}, "i32");
    const TensorId table = net.variable("weights", {shape.vocabulary, shape.hidden});
    std::vector<TensorId> rows;
    for (std::int64_t step = 0; step < shape.steps; ++step) {
        const Net::Scope stepScope(net, timeStep(step));
        rows.push_back(gather(net, table, sliceStep(net, tokens, 1)));
    }
    return rows;
}

Attention::Attention(Net& net, std::span<const TensorId> outputs, const Seq2SeqShape& shape)
    : m_net(net)
    , m_isBahdanau(shape.bahdanau) {
    const Net::Scope scope(net, "decoder/attention");
    m_values = pack(net, outputs);
    {
        const Net::Scope memory(net, "memory_layer");
        m_keys = dense(net, m_values, shape.hidden, false);
    }
    if (!m_isBahdanau) {
        m_v = net.variable("attention_g", {});
        return;
    }
    m_queryKernel = net.variable("query_layer/kernel", {shape.hidden, shape.hidden});
    m_bias = net.variable("attention_b", {shape.hidden});
    const TensorId v = net.variable("attention_v", {shape.hidden});
    const TensorId g = net.variable("attention_g", {});
    const Net::Scope normed(net, "normed_v"); // g v / |v|
    m_v = mul(net, mul(net, v, rsqrt(net, reduceSum(net, mul(net, v, v), 0))), g);
}

/// v . tanh(keys + W query + b)
TensorId Attention::bahdanauScore(TensorId query) {
    const Dims keys = m_net.dims(m_keys);
    const TensorId processed = reshape(m_net, matMul(m_net, query, m_queryKernel), {keys[0], 1, keys[2]}, "ExpandDims");
    const TensorId energy = tanh(m_net, add(m_net, add(m_net, m_keys, processed), m_bias));
    return reduceSum(m_net, mul(m_net, energy, m_v), 2);
}

/// g (keys . query)
TensorId Attention::luongScore(TensorId query) {
    const Dims keys = m_net.dims(m_keys);
    const TensorId row = reshape(m_net, query, {keys[0], 1, keys[2]}, "ExpandDims");
    const TensorId score = batchMatMul(m_net, row, m_keys, true);
    return mul(m_net, reshape(m_net, score, {keys[0], keys[1]}, "Squeeze"), m_v);
}

TensorId Attention::context(TensorId query, std::int64_t step) {
    const Net::Scope scope(m_net, "decoder/attention/" + timeStep(step));
    const TensorId alignment = softmax(m_net, m_isBahdanau ? bahdanauScore(query) : luongScore(query));
    const Dims values = m_net.dims(m_values);
    const TensorId row = reshape(m_net, alignment, {values[0], 1, values[1]}, "ExpandDims");
    return reshape(m_net, batchMatMul(m_net, row, m_values), {values[0], values[2]}, "Squeeze");
}

TensorId projectOutputs(Net& net, std::span<const TensorId> outputs, const Seq2SeqShape& shape) {
    const Net::Scope scope(net, "decoder/output_projection");
    const bool training = net.options().training;
    const TensorId labels = training ? net.placeholder("labels", {shape.batch, shape.steps}, "i32") : TensorId();
    const TensorId kernel = net.variable("kernel", {shape.hidden, shape.vocabulary});
    std::vector<TensorId> losses;
    for (std::size_t step = 0; step < outputs.size(); ++step) {
        const Net::Scope stepScope(net, timeStep(static_cast<std::int64_t>(step)));
        const TensorId logits = matMul(net, outputs[step], kernel);
        if (training)
            losses.push_back(reduceMean(net, softmaxCrossEntropy(net, logits, sliceStep(net, labels, 1))));
        else
            softmax(net, logits);
    }
    return training ? scale(net, addScalars(net, losses, "loss/AddN"), "loss/Mean") : TensorId();
}

void addSeq2SeqOptions(WorkloadInfo& info, const Seq2SeqShape& shape) {
    info.options.push_back({"hidden", std::to_string(shape.hidden), "width of the cells and of the embeddings"});
    info.options.push_back({"vocabulary", std::to_string(shape.vocabulary), "word pieces of each language"});
    info.options.push_back({"dropout", "0", "1: dropout on the input of every cell (training)"});
    info.options.push_back({"optimizer", "sgd", "sgd, momentum, rmsprop or adam"});
    info.options.push_back({"colocate_gradients", "0", "1: gradient ops share the device of their forward op"});
}

void readSeq2SeqOptions(OptionReader& options, Seq2SeqShape& shape) {
    shape.hidden = options.integer("hidden", 1, 65536);
    shape.vocabulary = options.integer("vocabulary", 2, 10'000'000);
    shape.dropout = options.flag("dropout");
}

Status checkCellSteps(const char* workload, std::int64_t cells, std::int64_t steps) {
    constexpr std::int64_t kMaxCellSteps = 40'000; // about 130 ops each at level L2
    if (cells * steps <= kMaxCellSteps)
        return {};
    return fail(ErrorCode::TooLarge,
                std::string(workload) + ": layers and steps make " + text::grouped(cells * steps) +
                    " cell steps, more than " + text::grouped(kMaxCellSteps),
                "zoo");
}

} // namespace pw::zoo
