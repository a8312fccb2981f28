#include "core/zoo/seq2seq.h"

#include <array>

namespace pw::zoo {

namespace {

// GNMT as tensorflow/nmt builds it ("gnmt_v2"): a bidirectional first encoder layer, then one direction; attention
// asked by the bottom decoder layer, whose context of the same step joins the input of every layer above; residual
// connections from the third layer on. The layers of a step depend on the layer below and on the step before: a
// wavefront.

std::string layerScope(const char* side, std::int64_t layer) {
    return std::string(side) + "/layer_" + std::to_string(layer);
}

class Gnmt {
public:
    Gnmt(Net& net, const Seq2SeqShape& shape)
        : m_net(net)
        , m_shape(shape) {}
    TensorId build();

private:
    bool isResidual(std::int64_t layer) const { return layer >= 2; }
    /// The outputs of the two directions, joined per step.
    std::vector<TensorId> encodeBothWays(std::span<const TensorId> rows);
    /// Also fills m_states, which the decoder starts from.
    std::vector<TensorId> encode(std::span<const TensorId> rows);
    std::vector<TensorId> decode(std::span<const TensorId> rows, Attention& attention);
    TensorId decodeStep(std::vector<Cell>& cells, TensorId row, TensorId& context, Attention& attention,
                        std::int64_t step);

    Net& m_net;
    Seq2SeqShape m_shape;
    std::vector<LstmState> m_states; ///< last state of each encoder layer
};

std::vector<TensorId> Gnmt::encodeBothWays(std::span<const TensorId> rows) {
    Cell forward = makeCell(m_net, "encoder/layer_0/fw", 0, m_shape.hidden, m_shape);
    Cell backward = makeCell(m_net, "encoder/layer_0/bw", 0, m_shape.hidden, m_shape);
    std::vector<TensorId> left(rows.size());
    std::vector<TensorId> right(rows.size());
    const auto steps = static_cast<std::int64_t>(rows.size());
    for (std::int64_t step = 0; step < steps; ++step) {
        const auto first = static_cast<std::size_t>(step);
        const auto last = static_cast<std::size_t>(steps - 1 - step);
        left[first] = stepCell(m_net, forward, step, {rows[first]}, m_shape.dropout);
        right[last] = stepCell(m_net, backward, steps - 1 - step, {rows[last]}, m_shape.dropout);
    }
    m_states.push_back(backward.state);
    const Net::Expert expert(m_net, {0, -1});
    std::vector<TensorId> joined;
    for (std::size_t step = 0; step < rows.size(); ++step) {
        const Net::Scope scope(m_net, "encoder/layer_0/join/" + timeStep(static_cast<std::int64_t>(step)));
        joined.push_back(concat(m_net, std::array{left[step], right[step]}, 1));
    }
    return joined;
}

std::vector<TensorId> Gnmt::encode(std::span<const TensorId> rows) {
    std::vector<TensorId> outputs = encodeBothWays(rows);
    std::vector<Cell> cells;
    for (std::int64_t layer = 1; layer < m_shape.layers; ++layer)
        cells.push_back(makeCell(m_net, layerScope("encoder", layer), static_cast<int>(layer),
                                 layer == 1 ? 2 * m_shape.hidden : m_shape.hidden, m_shape));
    for (std::int64_t step = 0; step < m_shape.steps; ++step) {
        TensorId& x = outputs[static_cast<std::size_t>(step)];
        for (std::size_t i = 0; i < cells.size(); ++i)
            x = stepCell(m_net, cells[i], step, {x, {}, isResidual(static_cast<std::int64_t>(i) + 1)}, m_shape.dropout);
    }
    for (const Cell& cell : cells)
        m_states.push_back(cell.state);
    return outputs;
}

TensorId Gnmt::decodeStep(std::vector<Cell>& cells, TensorId row, TensorId& context, Attention& attention,
                          std::int64_t step) {
    TensorId x = stepCell(m_net, cells[0], step, {row, context}, m_shape.dropout);
    {
        const Net::Expert expert(m_net, {static_cast<int>(m_shape.layers) - 1, -1});
        context = attention.context(x, step);
    }
    for (std::size_t layer = 1; layer < cells.size(); ++layer)
        x = stepCell(m_net, cells[layer], step, {x, context, isResidual(static_cast<std::int64_t>(layer))},
                     m_shape.dropout);
    return x;
}

std::vector<TensorId> Gnmt::decode(std::span<const TensorId> rows, Attention& attention) {
    std::vector<Cell> cells;
    for (std::int64_t layer = 0; layer < m_shape.layers; ++layer)
        cells.push_back(makeCell(m_net, layerScope("decoder", layer), static_cast<int>(layer), 2 * m_shape.hidden,
                                 m_shape, &m_states[static_cast<std::size_t>(layer)]));
    OpSpec zeros{.type = "Fill", .name = "decoder/attention/zero_context"};
    zeros.outputs.push_back({{m_shape.batch, m_shape.hidden}});
    TensorId context = m_net.emitValue(std::move(zeros));
    std::vector<TensorId> outputs;
    for (std::int64_t step = 0; step < m_shape.steps; ++step)
        outputs.push_back(decodeStep(cells, rows[static_cast<std::size_t>(step)], context, attention, step));
    return outputs;
}

TensorId Gnmt::build() {
    const std::vector<TensorId> encoded = encode(embedTokens(m_net, "encoder", m_shape));
    const std::vector<TensorId> targets = embedTokens(m_net, "decoder", m_shape);
    const Net::Expert expert(m_net, {static_cast<int>(m_shape.layers) - 1, -1});
    Attention attention(m_net, encoded, m_shape);
    return projectOutputs(m_net, decode(targets, attention), m_shape);
}

} // namespace

WorkloadInfo gnmtInfo() {
    WorkloadInfo info{
        "gnmt", "GNMT", "Translation, unrolled in time; attention asked by the bottom decoder layer.", {}};
    info.options = {{"layers", "2", "LSTM layers of the encoder and of the decoder"},
                    {"steps", "40", "unrolled time steps of source and target"},
                    {"batch", "128", "sentence pairs per step"}};
    addSeq2SeqOptions(info, {});
    for (OptionInfo& option : commonOptions("L1"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildGnmt(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    Seq2SeqShape shape;
    shape.layers = options.integer("layers", 2, 64);
    shape.steps = options.integer("steps", 1, 1000);
    shape.batch = options.integer("batch", 1, 65536);
    readSeq2SeqOptions(options, shape);
    shape.dropout = shape.dropout && net.training;
    const Optimizer optimizer = options.optimizer();
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());
    PW_CHECK(checkCellSteps("gnmt", 2 * shape.layers + 1, shape.steps));

    Net network(options.graphName(), net);
    const TensorId loss = Gnmt(network, shape).build();
    if (net.training)
        trainOn(network, loss, {optimizer, true});
    return std::move(network).finish();
}

} // namespace pw::zoo
