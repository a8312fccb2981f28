#include "core/zoo/cell_net.h"

namespace pw::zoo {

namespace {

class CellNet {
public:
    CellNet(Net& net, const CellNetShape& shape)
        : m_shape(shape), m_net(net), m_blocks(net), m_cells(m_blocks, shape.style) {}
    TensorId build();

private:
    TensorId current() const { return m_layers.back(); }
    /// The layer before the current one; the stem has none.
    TensorId previous() const { return m_layers.size() > 1 ? m_layers[m_layers.size() - 2] : m_layers.back(); }
    void addCell(const std::string& name, bool reduces, TensorId previous, std::int64_t channels);
    void stem();
    void cells();
    TensorId logits();

    const CellNetShape& m_shape;
    Net& m_net;
    ImageBlocks m_blocks;
    CellBuilder m_cells;
    std::vector<TensorId> m_layers;
    TensorId m_auxiliary;
};

void CellNet::addCell(const std::string& name, bool reduces, TensorId previous, std::int64_t channels) {
    const bool fits = m_shape.fitFirstPrevious || m_layers.size() > 1;
    m_layers.push_back(m_cells.build(name, reduces ? m_shape.reduction : m_shape.normal, {current(), previous, fits},
                                     channels, reduces ? 2 : 1));
}

void CellNet::stem() {
    const TensorId images = m_net.placeholder("images", {m_shape.batch, m_shape.image, m_shape.image, 3});
    const TensorId x = m_blocks.conv(images, m_shape.stemName, m_shape.stemChannels, m_shape.stemWindow);
    m_layers = {m_blocks.norm(x, m_shape.stemName + "_bn")};
    for (std::size_t i = 0; i < m_shape.stemCells.size(); ++i)
        addCell("cell_stem_" + std::to_string(i), true, previous(), m_shape.stemCells[i]);
}

void CellNet::cells() {
    std::int64_t channels = m_shape.channels;
    std::int64_t reductions = 0;
    for (std::int64_t cell = 0; cell < m_shape.cells; ++cell) {
        TensorId before = previous();
        if (reductions < 2 && cell == (reductions + 1) * m_shape.cells / 3) {
            channels *= 2;
            addCell("reduction_cell_" + std::to_string(reductions++), true, before, channels);
            if (!m_shape.skipReductionInput)
                before = previous();
        }
        addCell("cell_" + std::to_string(cell), false, before, channels);
        if (m_shape.auxiliary && m_blocks.training() && cell == 2 * m_shape.cells / 3 - 1) {
            const Net::Scope scope(m_net, "aux_" + std::to_string(cell));
            m_auxiliary = m_blocks.auxiliaryHead(relu(m_net, current()), m_shape.classes);
        }
    }
}

TensorId CellNet::logits() {
    const Net::Scope scope(m_net, "final_layer");
    TensorId x = globalAvgPool(m_net, relu(m_net, current()));
    if (m_blocks.training())
        x = dropout(m_net, x);
    return m_blocks.fullyConnected(x, "FC", m_shape.classes);
}

TensorId CellNet::build() {
    stem();
    cells();
    const TensorId result = logits();
    return m_blocks.finish({result, m_auxiliary});
}

} // namespace

Result<GraphPtr> makeCellNet(OptionReader& options, const NetOptions& net, CellNetShape shape) {
    const Optimizer optimizer = options.optimizer();
    shape.auxiliary = options.flag("aux");
    shape.style.dropPath = options.flag("drop_path");
    options.seed(); // checked; nothing here is random
    PW_CHECK(options.status());

    Net network(options.graphName(), net);
    const Net::Expert trunk(network, {-1, 0});
    const TensorId result = CellNet(network, shape).build();
    if (net.training)
        trainOn(network, result, {optimizer, true});
    return std::move(network).finish();
}

} // namespace pw::zoo
