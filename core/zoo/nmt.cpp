#include "core/zoo/seq2seq.h"

#include <array>

namespace pw::zoo {

namespace {

// Translation with standard attention as tensorflow/nmt builds it: an encoder of two stacks, one per direction, of half
// the layers each; attention asked by the top decoder layer and fed back to the bottom one, so that a decoder step
// waits for all of the step before.

class Nmt {
public:
    Nmt(Net& net, const Seq2SeqShape& shape)
        : m_net(net)
        , m_shape(shape) {}
    TensorId build();

private:
    ExpertTag lastLayer() const { return {static_cast<int>(m_shape.layers) - 1, -1}; }
    std::vector<Cell> encoderStack(const char* direction, std::int64_t firstExpert);
    /// One step of all cells of a stack; returns the output of the top one.
    TensorId stepStack(std::vector<Cell>& cells, TensorId x, TensorId context, std::int64_t step);
    /// Also fills m_states, which the decoder starts from.
    std::vector<TensorId> encode(std::span<const TensorId> rows);
    std::vector<TensorId> decode(std::span<const TensorId> rows, Attention& attention);
    /// The context and the query, joined and brought to the width of the cells.
    TensorId attentionLayer(TensorId kernel, TensorId query, TensorId context, std::int64_t step);

    Net& m_net;
    Seq2SeqShape m_shape;
    std::vector<LstmState> m_states; ///< last states of the encoder, both directions of a layer in turn
};

std::vector<Cell> Nmt::encoderStack(const char* direction, std::int64_t firstExpert) {
    std::vector<Cell> cells;
    for (std::int64_t layer = 0; layer < m_shape.layers / 2; ++layer)
        cells.push_back(makeCell(m_net, "encoder/" + std::string(direction) + "/layer_" + std::to_string(layer),
                                 static_cast<int>(firstExpert + layer), m_shape.hidden, m_shape));
    return cells;
}

TensorId Nmt::stepStack(std::vector<Cell>& cells, TensorId x, TensorId context, std::int64_t step) {
    for (std::size_t layer = 0; layer < cells.size(); ++layer)
        x = stepCell(m_net, cells[layer], step, {x, layer == 0 ? context : TensorId(), m_shape.residual && layer > 0},
                     m_shape.dropout);
    return x;
}

std::vector<TensorId> Nmt::encode(std::span<const TensorId> rows) {
    std::vector<Cell> forward = encoderStack("fw", 0);
    std::vector<Cell> backward = encoderStack("bw", m_shape.layers / 2);
    std::vector<TensorId> left(rows.size());
    std::vector<TensorId> right(rows.size());
    for (std::size_t step = 0; step < rows.size(); ++step) {
        const std::size_t mirrored = rows.size() - 1 - step;
        left[step] = stepStack(forward, rows[step], TensorId(), static_cast<std::int64_t>(step));
        right[mirrored] = stepStack(backward, rows[mirrored], TensorId(), static_cast<std::int64_t>(mirrored));
    }
    for (std::size_t layer = 0; layer < forward.size(); ++layer) {
        m_states.push_back(forward[layer].state);
        m_states.push_back(backward[layer].state);
    }
    const Net::Expert expert(m_net, lastLayer());
    std::vector<TensorId> joined;
    for (std::size_t step = 0; step < rows.size(); ++step) {
        const Net::Scope scope(m_net, "encoder/join/" + timeStep(static_cast<std::int64_t>(step)));
        joined.push_back(concat(m_net, std::array{left[step], right[step]}, 1));
    }
    return joined;
}

TensorId Nmt::attentionLayer(TensorId kernel, TensorId query, TensorId context, std::int64_t step) {
    const Net::Expert expert(m_net, lastLayer());
    const Net::Scope scope(m_net, "decoder/attention_layer/" + timeStep(step));
    return matMul(m_net, concat(m_net, std::array{query, context}, 1), kernel);
}

std::vector<TensorId> Nmt::decode(std::span<const TensorId> rows, Attention& attention) {
    std::vector<Cell> cells;
    for (std::int64_t layer = 0; layer < m_shape.layers; ++layer)
        cells.push_back(makeCell(m_net, "decoder/layer_" + std::to_string(layer), static_cast<int>(layer),
                                 layer == 0 ? 2 * m_shape.hidden : m_shape.hidden, m_shape,
                                 &m_states[static_cast<std::size_t>(layer)]));
    const TensorId kernel = m_net.variable("decoder/attention_layer/kernel", {3 * m_shape.hidden, m_shape.hidden});
    OpSpec zeros{.type = "Fill", .name = "decoder/attention/zero_attention"};
    zeros.outputs.push_back({{m_shape.batch, m_shape.hidden}});
    TensorId attended = m_net.emitValue(std::move(zeros));
    std::vector<TensorId> outputs;
    for (std::int64_t step = 0; step < m_shape.steps; ++step) {
        const TensorId top = stepStack(cells, rows[static_cast<std::size_t>(step)], attended, step);
        attended = attentionLayer(kernel, top, attention.context(top, step), step);
        outputs.push_back(attended);
    }
    return outputs;
}

TensorId Nmt::build() {
    const std::vector<TensorId> encoded = encode(embedTokens(m_net, "encoder", m_shape));
    const std::vector<TensorId> targets = embedTokens(m_net, "decoder", m_shape);
    const Net::Expert expert(m_net, lastLayer());
    Attention attention(m_net, encoded, m_shape);
    return projectOutputs(m_net, decode(targets, attention), m_shape);
}

Result<GraphPtr> buildFrom(OptionReader& options, const char* workload, Seq2SeqShape shape, const NetOptions& net) {
    shape.dropout = shape.dropout && net.training;
    const Optimizer optimizer = options.optimizer();
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());
    if (shape.layers % 2 != 0)
        return fail(ErrorCode::Invalid,
                    std::string(workload) + ": layers=" + std::to_string(shape.layers) +
                        ": must be even, half of them read the source backwards",
                    "zoo");
    PW_CHECK(checkCellSteps(workload, 2 * shape.layers, shape.steps));
    Net network(options.graphName(), net);
    const TensorId loss = Nmt(network, shape).build();
    if (net.training)
        trainOn(network, loss, {optimizer, true});
    return std::move(network).finish();
}

// Family: chosen; the published set varies length and batch, its ranges are not known.
constexpr std::array<std::int64_t, 8> kLengths = {8, 12, 16, 20, 24, 32, 40, 48};
constexpr std::array<std::int64_t, 4> kBatches = {32, 64, 128, 256};

Seq2SeqShape familyShape() {
    Seq2SeqShape shape;
    shape.hidden = 512;
    shape.vocabulary = 16000;
    shape.bahdanau = false;
    return shape;
}

} // namespace

WorkloadInfo nmtInfo() {
    WorkloadInfo info{"nmt", "NMT", "Translation, unrolled in time; attention asked by the top decoder layer.", {}};
    info.options = {{"layers", "2", "LSTM layers of the encoder (both directions together) and of the decoder; even"},
                    {"steps", "40", "unrolled time steps of source and target"},
                    {"batch", "128", "sentence pairs per step"},
                    {"attention", "bahdanau", "bahdanau (normalised) or luong (scaled)"},
                    {"residual", "0", "1: residual connections from the second layer of each stack on"}};
    addSeq2SeqOptions(info, {});
    for (OptionInfo& option : commonOptions("L1"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildNmt(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    Seq2SeqShape shape;
    shape.layers = options.integer("layers", 2, 64);
    shape.steps = options.integer("steps", 1, 1000);
    shape.batch = options.integer("batch", 1, 65536);
    shape.bahdanau = options.choice("attention", {"bahdanau", "luong"}) == 0;
    shape.residual = options.flag("residual");
    readSeq2SeqOptions(options, shape);
    return buildFrom(options, "nmt", shape, net);
}

WorkloadInfo nmtFamilyInfo() {
    WorkloadInfo info{"nmt_family",
                      "NMT family",
                      "32 translation models of two layers that differ in sentence length and batch.",
                      {}};
    info.options = {{"index", "0", "which of the 32: length index % 8, batch index / 8"}};
    addSeq2SeqOptions(info, familyShape());
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildNmtFamily(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    Seq2SeqShape shape = familyShape();
    const auto index = static_cast<std::size_t>(options.integer("index", 0, 31));
    shape.steps = kLengths[index % kLengths.size()];
    shape.batch = kBatches[index / kLengths.size()];
    readSeq2SeqOptions(options, shape);
    return buildFrom(options, "nmt_family", shape, net);
}

} // namespace pw::zoo
