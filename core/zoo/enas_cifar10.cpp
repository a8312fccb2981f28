#include "core/zoo/cells.h"
#include "core/zoo/enas.h"
#include "core/zoo/options.h"

#include <algorithm>

namespace pw::zoo {

namespace {

using enum CellOpKind;

constexpr int kGraphs = 32; ///< of the family

/// The operations of ENAS by number.
constexpr std::array<CellOpKind, 5> kOps = {Separable3, Separable5, AvgPool3, MaxPool3, Identity};

/// A block as ENAS writes it: input, op, input, op. Its state 0 is the older layer, ours the newer one.
using Code = std::array<std::array<int, 4>, 5>;

Cell cellOf(const Code& code) {
    Cell cell;
    std::array<bool, 7> used = {};
    const auto opOf = [&used](int input, int op) {
        const int state = input < 2 ? 1 - input : input;
        used[static_cast<std::size_t>(state)] = true;
        return CellOp{state, kOps[static_cast<std::size_t>(op)]};
    };
    for (std::size_t i = 0; i < code.size(); ++i)
        cell.blocks[i] = {opOf(code[i][0], code[i][1]), opOf(code[i][2], code[i][3])};
    for (int state = 0; state < 7; ++state) {
        if (!used[static_cast<std::size_t>(state)])
            cell.outputs.push_back(state);
    }
    return cell;
}

/// The cells that ENAS published as its result.
constexpr Code kBestNormal = {{{0, 2, 0, 0}, {0, 4, 0, 1}, {0, 4, 1, 1}, {1, 0, 0, 1}, {0, 2, 1, 1}}};
constexpr Code kBestReduction = {{{1, 0, 1, 0}, {0, 3, 0, 2}, {1, 1, 3, 1}, {1, 0, 0, 4}, {0, 3, 1, 1}}};

/// Inputs and ops drawn evenly, as from a controller that has learned nothing yet.
Code randomCode(Rng& rng) {
    Code code;
    for (std::size_t block = 0; block < code.size(); ++block) {
        for (std::size_t side = 0; side < 4; side += 2) {
            code[block][side] = static_cast<int>(rng.below(block + 2));
            code[block][side + 1] = static_cast<int>(rng.below(kOps.size()));
        }
    }
    return code;
}

/// The network that ENAS builds from two cells ("micro" search space).
class MicroChild {
public:
    MicroChild(Net& net, const EnasShape& shape, Cell normal, Cell reduction)
        : m_net(net), m_shape(shape), m_blocks(net), m_cells(m_blocks, style()), m_normal(std::move(normal)),
          m_reduction(std::move(reduction)) {}
    TensorId build();

private:
    static CellStyle style() {
        CellStyle style{"cell_", "x_conv", "y_conv", "final_combine"};
        style.pointwiseRelu = true;
        style.reducingIdentity = true;
        return style;
    }
    /// Reduction layers stand after each third of the others.
    bool reduces(std::int64_t layer) const {
        const std::int64_t distance = m_shape.layers / 3;
        return layer == distance || layer == 2 * distance + 1;
    }
    TensorId auxiliaryLogits(TensorId x);

    Net& m_net;
    EnasShape m_shape;
    ImageBlocks m_blocks;
    CellBuilder m_cells;
    Cell m_normal;
    Cell m_reduction;
};

TensorId MicroChild::auxiliaryLogits(TensorId x) {
    const Net::Scope scope(m_net, "aux_head");
    return m_blocks.auxiliaryHead(relu(m_net, x), m_shape.classes);
}

TensorId MicroChild::build() {
    const TensorId images = m_net.placeholder("images", {m_shape.batch, 32, 32, 3});
    std::int64_t channels = m_shape.channels;
    TensorId current = m_blocks.norm(m_blocks.conv(images, "stem_conv", 3 * channels, squareWindow(3)), "stem_conv/bn");
    TensorId previous = current;
    TensorId auxiliary;
    for (std::int64_t layer = 0; layer < m_shape.layers + 2; ++layer) {
        const bool isReduction = reduces(layer);
        channels *= isReduction ? 2 : 1;
        const TensorId next = m_cells.build("layer_" + std::to_string(layer), isReduction ? m_reduction : m_normal,
                                            {current, previous}, channels, isReduction ? 2 : 1);
        previous = current;
        current = next;
        const bool hasHead = layer == 2 * (m_shape.layers / 3) + 2; // one after the second reduction
        if (hasHead && m_shape.auxiliary && m_blocks.training())
            auxiliary = auxiliaryLogits(current);
    }
    TensorId pooled = globalAvgPool(m_net, relu(m_net, current));
    if (m_blocks.training())
        pooled = dropout(m_net, pooled);
    return m_blocks.finish({m_blocks.fullyConnected(pooled, "fc", m_shape.classes, false), auxiliary});
}

TensorId buildMicroChild(Net& net, const EnasShape& shape, bool isBest, Rng& rng) {
    const Code normal = isBest ? kBestNormal : randomCode(rng);
    const Code reduction = isBest ? kBestReduction : randomCode(rng);
    const Net::Expert trunk(net, {-1, 0});
    return MicroChild(net, shape, cellOf(normal), cellOf(reduction)).build();
}

} // namespace

WorkloadInfo enasCifar10Info() {
    WorkloadInfo info{"enas_cifar10", "ENAS CIFAR-10", "A family of 32 small image classifiers of random cells.", {}};
    info.options = {{"index", "0", "which graph of the family, 0 to 31"},
                    {"space", "micro", "micro: cells; macro: an op and skip connections per layer"},
                    {"cell", "random", "random, or best: the cells that ENAS published (micro)"},
                    {"layers", "6", "layers, in micro beside the two reduction layers"},
                    {"filters", "20", "channels of the first layers"},
                    {"batch", "160", "images per step"},
                    {"optimizer", "momentum", "sgd, momentum, rmsprop or adam"},
                    {"aux", "1", "1: with the auxiliary classifier (training, micro)"},
                    {"colocate_gradients", "1", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildEnasCifar10(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    EnasShape shape;
    const std::int64_t index = options.integer("index", 0, kGraphs - 1);
    const bool isMacro = options.choice("space", {"micro", "macro"}) == 1;
    const bool isBest = options.choice("cell", {"random", "best"}) == 1;
    if (isMacro && isBest)
        options.reject("cell", "the macro space has no cells");
    shape.layers = options.integer("layers", 3, 300);
    shape.channels = options.integer("filters", 2, 4096);
    shape.batch = options.integer("batch", 1, 65536);
    shape.auxiliary = options.flag("aux");
    const Optimizer optimizer = options.optimizer();
    const std::uint64_t seed = options.seed();
    PW_CHECK(options.status());

    Rng rng = Rng::derive(seed, "zoo.enas_cifar10." + std::to_string(index));
    Net network(options.graphName(), net);
    const TensorId result = [&] {
        const Net::Scope scope(network, "child");
        return isMacro ? buildEnasMacroChild(network, shape, rng) : buildMicroChild(network, shape, isBest, rng);
    }();
    if (net.training)
        trainOn(network, result, {optimizer, false});
    return std::move(network).finish();
}

} // namespace pw::zoo
