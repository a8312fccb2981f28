#include "core/zoo/lstm.h"
#include "core/zoo/options.h"

namespace pw::zoo {

namespace {

struct Shape {
    std::int64_t layers = 2;
    std::int64_t steps = 35;
    std::int64_t batch = 64;
    std::int64_t hidden = 2048;
    std::int64_t vocabulary = 10000;
    bool dropout = false;
};

std::string numbered(const char* prefix, std::int64_t number) {
    std::string name(prefix);
    if (number < 10)
        name += '0';
    return name + std::to_string(number);
}

/// Layer i of the cells is layer i of an expert's placement; the embedding goes with the first, the softmax with the
/// last.
ExpertTag expertLayer(std::int64_t layer) {
    return {static_cast<int>(layer), -1};
}

/// Projection to the vocabulary and, in training, the loss of one time step.
TensorId outputStep(Net& net, TensorId h, TensorId labels, std::int64_t step, const LstmWeights& softmax) {
    const Net::Scope scope(net, numbered("softmax/t", step));
    const TensorId logits = biasAdd(net, matMul(net, h, softmax.kernel), softmax.bias);
    if (net.options().training)
        return reduceMean(net, softmaxCrossEntropy(net, logits, sliceStep(net, labels, 1)));
    OpSpec probabilities{.type = "Softmax", .inputs = {logits}, .flops = 5.0 * net.elements(logits)};
    probabilities.outputs.push_back({net.dims(logits)});
    return net.emitValue(std::move(probabilities));
}

/// Weights and running states of the cells.
struct Cells {
    std::vector<LstmWeights> weights;
    std::vector<LstmState> states;
};

Cells makeCells(Net& net, const Shape& shape) {
    Cells cells;
    for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
        const Net::Scope scope(net, "lstm_" + std::to_string(layer));
        const Net::Expert expert(net, expertLayer(layer));
        cells.weights.push_back(lstmWeights(net, shape.hidden, shape.hidden));
        cells.states.push_back(lstmZeroState(net, shape.batch, shape.hidden));
    }
    return cells;
}

TensorId embeddingStep(Net& net, TensorId table, TensorId tokens, std::int64_t step) {
    const Net::Scope scope(net, numbered("embedding/t", step));
    const Net::Expert expert(net, expertLayer(0));
    return gather(net, table, sliceStep(net, tokens, 1));
}

/// Returns the losses of all steps (their probabilities in inference).
std::vector<TensorId> forward(Net& net, const Shape& shape) {
    TensorId tokens;
    TensorId table;
    {
        const Net::Expert expert(net, expertLayer(0));
        tokens = net.placeholder("tokens", {shape.batch, shape.steps}, "i32");
        table = net.variable("embedding/weights", {shape.vocabulary, shape.hidden});
    }
    Cells cells = makeCells(net, shape);
    const Net::Expert last(net, expertLayer(shape.layers - 1));
    const TensorId labels =
        net.options().training ? net.placeholder("labels", {shape.batch, shape.steps}, "i32") : TensorId();
    const LstmWeights softmax{net.variable("softmax/weights", {shape.hidden, shape.vocabulary}),
                              net.variable("softmax/bias", {shape.vocabulary})};
    std::vector<TensorId> results;
    for (std::int64_t step = 0; step < shape.steps; ++step) {
        TensorId x = embeddingStep(net, table, tokens, step);
        for (std::size_t layer = 0; layer < cells.weights.size(); ++layer) {
            const Net::Scope scope(net, "lstm_" + std::to_string(layer) + numbered("/t", step));
            const Net::Expert expert(net, expertLayer(static_cast<std::int64_t>(layer)));
            LstmState& state = cells.states[layer];
            state = lstmStep(net, shape.dropout ? dropout(net, x) : x, state, cells.weights[layer]);
            x = state.h;
        }
        results.push_back(outputStep(net, x, labels, step, softmax));
    }
    return results;
}

} // namespace

WorkloadInfo rnnlmInfo() {
    WorkloadInfo info{"rnnlm", "RNNLM", "LSTM language model, unrolled in time.", {}};
    info.options = {{"layers", "2", "LSTM layers"},
                    {"steps", "35", "unrolled time steps"},
                    {"batch", "64", "sequences per step"},
                    {"hidden", "2048", "width of the cells and of the embedding"},
                    {"vocabulary", "10000", "words"},
                    {"dropout", "0", "1: dropout on the input of every cell (training)"},
                    {"colocate_gradients", "0", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L1"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildRnnlm(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    Shape shape;
    shape.layers = options.integer("layers", 1, 64);
    shape.steps = options.integer("steps", 1, 1000);
    shape.batch = options.integer("batch", 1, 65536);
    shape.hidden = options.integer("hidden", 1, 65536);
    shape.vocabulary = options.integer("vocabulary", 2, 10'000'000);
    shape.dropout = options.flag("dropout") && net.training;
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const TensorId loss = [&] {
        const Net::Scope scope(network, "RNNLM");
        const std::vector<TensorId> results = forward(network, shape);
        const Net::Expert last(network, expertLayer(shape.layers - 1));
        return net.training ? scale(network, addScalars(network, results, "loss/AddN"), "loss/Mean") : TensorId();
    }();
    if (net.training)
        trainOn(network, loss, {Optimizer::Sgd, true});
    return std::move(network).finish();
}

} // namespace pw::zoo
