#include "core/zoo/lstm.h"
#include "core/zoo/options.h"
#include "core/zoo/seq2seq.h"
#include "core/zoo/transformer.h"

#include "core/base/rng.h"

#include <array>

namespace pw::zoo {

namespace {

// The language model of ENAS (Pham et al.) with a found recurrent cell: a tree of twelve highway nodes. The authors'
// code runs time in a loop; here it is unrolled, one copy of the cell per step.

enum class CellActivation { Tanh, Relu, Identity, Sigmoid };

struct CellNode {
    std::size_t input = 0; ///< an earlier node; unused for node 0
    CellActivation activation = CellActivation::Tanh;
};

constexpr std::size_t kNodes = 12;
using CellPlan = std::array<CellNode, kNodes>;

/// The best cell that the authors published.
CellPlan bestCell() {
    using enum CellActivation;
    return {{{0, Tanh},
             {0, Tanh},
             {1, Relu},
             {2, Relu},
             {2, Tanh},
             {2, Tanh},
             {5, Relu},
             {1, Tanh},
             {6, Relu},
             {8, Relu},
             {8, Relu},
             {8, Relu}}};
}

/// Inputs and activations uniform, as the search starts from.
CellPlan randomCell(std::uint64_t seed, std::int64_t index) {
    Rng rng = Rng::derive(seed, "enas_ptb/" + std::to_string(index));
    CellPlan plan;
    for (std::size_t node = 0; node < kNodes; ++node) {
        if (node > 0)
            plan[node].input = static_cast<std::size_t>(rng.below(node));
        plan[node].activation = static_cast<CellActivation>(rng.below(4));
    }
    return plan;
}

struct PtbShape {
    std::int64_t steps = 35;
    std::int64_t batch = 64;
    std::int64_t hidden = 748;
    std::int64_t vocabulary = 10000;
    bool dropout = false;
};

std::string nodeName(std::size_t node) {
    std::string name(node < 10 ? "node_0" : "node_");
    return name + std::to_string(node);
}

class EnasPtb {
public:
    EnasPtb(Net& net, const PtbShape& shape, const CellPlan& plan)
        : m_net(net)
        , m_shape(shape)
        , m_plan(plan) {}
    TensorId build();

private:
    /// One for all steps (Gal's dropout); invalid without dropout.
    TensorId mask(const char* name);
    TensorId masked(TensorId x, TensorId mask) { return mask.isValid() ? mul(m_net, x, mask) : x; }
    TensorId activated(TensorId x, CellActivation activation);
    /// from + t (h - from), where h and t are the halves of input x weights.
    TensorId highway(TensorId from, TensorId input, std::size_t node);
    TensorId step(TensorId x, TensorId state);
    TensorId averageOfLooseEnds(const std::array<TensorId, kNodes>& values);

    Net& m_net;
    PtbShape m_shape;
    CellPlan m_plan;
    std::array<TensorId, kNodes> m_kernels;
    TensorId m_inputMask;
    TensorId m_stateMask;
};

TensorId EnasPtb::mask(const char* name) {
    if (!m_shape.dropout)
        return TensorId();
    const Net::Scope scope(m_net, name);
    const Dims dims = {m_shape.batch, m_shape.hidden};
    const TensorId noise = elementwise(m_net, "RandomUniform", {}, 8.0, dims);
    const TensorId kept = elementwise(m_net, "Floor", {elementwise(m_net, "Add", {noise}, 1.0, dims)}, 1.0, dims);
    return elementwise(m_net, "RealDiv", {kept}, 1.0, dims);
}

TensorId EnasPtb::activated(TensorId x, CellActivation activation) {
    switch (activation) {
    case CellActivation::Tanh:
        return tanh(m_net, x);
    case CellActivation::Relu:
        return relu(m_net, x);
    case CellActivation::Identity:
        return identity(m_net, x);
    case CellActivation::Sigmoid:
        return sigmoid(m_net, x);
    }
    return x;
}

TensorId EnasPtb::highway(TensorId from, TensorId input, std::size_t node) {
    const std::vector<TensorId> halves = split(m_net, matMul(m_net, input, m_kernels[node]), 2, 1);
    const TensorId h = activated(halves[0], m_plan[node].activation);
    const TensorId t = sigmoid(m_net, halves[1]);
    return add(m_net, from, mul(m_net, t, sub(m_net, h, from)));
}

TensorId EnasPtb::averageOfLooseEnds(const std::array<TensorId, kNodes>& values) {
    std::array<bool, kNodes> isUsed{};
    for (std::size_t node = 1; node < kNodes; ++node)
        isUsed[m_plan[node].input] = true;
    std::vector<TensorId> loose;
    for (std::size_t node = 0; node < kNodes; ++node) {
        if (!isUsed[node])
            loose.push_back(values[node]);
    }
    return scale(m_net, addN(m_net, loose), "average");
}

TensorId EnasPtb::step(TensorId x, TensorId state) {
    std::array<TensorId, kNodes> values;
    for (std::size_t node = 0; node < kNodes; ++node) {
        const Net::Scope scope(m_net, nodeName(node));
        const Net::Expert expert(m_net, expertBlock(static_cast<std::int64_t>(node)));
        if (node == 0) {
            const std::array parts = {masked(x, m_inputMask), masked(state, m_stateMask)};
            values[0] = highway(state, concat(m_net, parts, 1), 0);
            continue;
        }
        const TensorId from = values[m_plan[node].input];
        values[node] = highway(from, masked(from, m_stateMask), node);
    }
    return averageOfLooseEnds(values);
}

TensorId EnasPtb::build() {
    const Net::Expert last(m_net, expertBlock(kNodes - 1));
    TensorId table;
    std::vector<TensorId> rows;
    {
        const Net::Expert expert(m_net, expertBlock(0));
        const Net::Scope scope(m_net, "embedding");
        table = m_net.variable("weights", {m_shape.vocabulary, m_shape.hidden});
        rows = unpack(m_net,
                      gatherDense(m_net, table, m_net.placeholder("tokens", {m_shape.batch, m_shape.steps}, "i32")));
        m_inputMask = mask("input_mask");
        m_stateMask = mask("state_mask");
    }
    for (std::size_t node = 0; node < kNodes; ++node) {
        const Net::Expert expert(m_net, expertBlock(static_cast<std::int64_t>(node)));
        m_kernels[node] = m_net.variable("cell/" + nodeName(node) + "/kernel",
                                         {node == 0 ? 2 * m_shape.hidden : m_shape.hidden, 2 * m_shape.hidden});
    }
    TensorId state = elementwise(m_net, "Fill", {}, 0.0, {m_shape.batch, m_shape.hidden});
    for (std::size_t t = 0; t < rows.size(); ++t) {
        const Net::Scope scope(m_net, "cell/" + timeStep(static_cast<std::int64_t>(t)));
        state = step(rows[t], state);
        rows[t] = state;
    }
    const Net::Scope scope(m_net, "softmax");
    const TensorId outputs = dropoutIf(m_net, pack(m_net, rows), m_shape.dropout);
    return lossOrProbabilities(m_net, tiedLogits(m_net, outputs, table));
}

} // namespace

WorkloadInfo enasPtbInfo() {
    WorkloadInfo info{
        "enas_ptb", "ENAS PTB", "Language model with a random or the best recurrent cell of ENAS, unrolled.", {}};
    info.options = {{"cell", "random", "random (by index and seed) or best (the published one)"},
                    {"index", "0", "which of 32 random cells"},
                    {"steps", "35", "unrolled time steps"},
                    {"batch", "64", "sequences per step"},
                    {"hidden", "748", "width of the cell and of the embedding"},
                    {"vocabulary", "10000", "words; the output layer shares the embedding's weights"},
                    {"dropout", "1", "1: masks on inputs and states (training)"},
                    {"optimizer", "sgd", "sgd, momentum, rmsprop or adam"},
                    {"colocate_gradients", "0", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildEnasPtb(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    const bool isBest = options.choice("cell", {"random", "best"}) == 1;
    const std::int64_t index = options.integer("index", 0, 31);
    PtbShape shape;
    shape.steps = options.integer("steps", 1, 1000);
    shape.batch = options.integer("batch", 1, 65536);
    shape.hidden = options.integer("hidden", 1, 65536);
    shape.vocabulary = options.integer("vocabulary", 2, 10'000'000);
    shape.dropout = options.flag("dropout") && net.training;
    const Optimizer optimizer = options.optimizer();
    const std::uint64_t seed = options.seed();
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const CellPlan plan = isBest ? bestCell() : randomCell(seed, index);
    const TensorId loss = EnasPtb(network, shape, plan).build();
    if (net.training)
        trainOn(network, loss, {optimizer, true});
    return std::move(network).finish();
}

} // namespace pw::zoo
