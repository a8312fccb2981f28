#include "core/zoo/cells.h"

namespace pw::zoo {

TensorId CellBuilder::build(const std::string& name, const Cell& cell, const Inputs& inputs, std::int64_t channels,
                            std::int64_t stride) {
    Net& net = m_blocks.net();
    const Net::Scope scope(net, name);
    m_channels = channels;
    m_stride = stride;
    const TensorId previous =
        inputs.fitPrevious ? fitPrevious(inputs.previous, net.dims(inputs.current)[1]) : inputs.previous;
    m_states = {reluConvNorm(inputs.current, "1x1", "beginning_bn", channels, squareWindow(1)), previous};
    for (std::size_t i = 0; i < cell.blocks.size(); ++i) {
        const Net::Expert expert(net, {-1, static_cast<int>(i) + 1});
        const Net::Scope blockScope(net, m_style.block + std::to_string(i));
        const TensorId left = apply(m_style.left, cell.blocks[i].left);
        const TensorId right = apply(m_style.right, cell.blocks[i].right);
        const Net::Scope sumScope(net, "combine");
        m_states.push_back(add(net, left, right));
    }
    return combined(cell);
}

TensorId CellBuilder::fitPrevious(TensorId previous, std::int64_t size) {
    Net& net = m_blocks.net();
    const Dims dims = net.dims(previous);
    if (dims[1] != size)
        return m_blocks.factorizedReduction(relu(net, previous), m_channels, 2);
    if (dims[3] != m_channels)
        return reluConvNorm(previous, "prev_1x1", "prev_bn", m_channels, squareWindow(1));
    return previous;
}

TensorId CellBuilder::reluConvNorm(TensorId x, const std::string& name, const std::string& normName,
                                   std::int64_t channels, const Window& window) {
    return m_blocks.norm(m_blocks.conv(relu(m_blocks.net(), x), name, channels, window), normName);
}

TensorId CellBuilder::apply(const char* side, const CellOp& op) {
    const Net::Scope scope(m_blocks.net(), side);
    const TensorId x = m_states[static_cast<std::size_t>(op.state)];
    const TensorId y = operation(x, op.kind, op.state < 2 ? m_stride : 1);
    const bool dropped = m_style.dropPath && m_blocks.training() && op.kind != CellOpKind::Identity;
    return dropped ? dropPath(m_blocks.net(), y) : y;
}

TensorId CellBuilder::operation(TensorId x, CellOpKind kind, std::int64_t stride) {
    switch (kind) {
    case CellOpKind::Separable3: return separable(x, 3, stride);
    case CellOpKind::Separable5: return separable(x, 5, stride);
    case CellOpKind::Separable7: return separable(x, 7, stride);
    case CellOpKind::Conv1x1: return reluConvNorm(x, "1x1", "bn_1", m_channels, squareWindow(1, stride));
    case CellOpKind::Conv3x3: return bottleneck(x, std::array{squareWindow(3, stride)});
    case CellOpKind::Conv1x7_7x1: return bottleneck(x, std::array{Window{1, 7, stride}, Window{7, 1, 1}});
    case CellOpKind::AvgPool3:
    case CellOpKind::MaxPool2:
    case CellOpKind::MaxPool3: return pooled(x, kind, stride);
    case CellOpKind::Identity: break;
    }
    return identity(x, stride);
}

TensorId CellBuilder::separable(TensorId x, std::int64_t size, std::int64_t stride) {
    const std::string kernel = std::to_string(size) + "x" + std::to_string(size);
    for (const char* layer : {"_1", "_2"}) {
        const std::string name = kernel + layer;
        const TensorId activated = relu(m_blocks.net(), x);
        x = m_blocks.separableConv(activated, "separable_" + name, m_channels, squareWindow(size, stride));
        x = m_blocks.norm(x, "bn_sep_" + name);
        stride = 1;
    }
    return x;
}

/// The strides of 1x7 and 7x1 are taken at once by the first: as many positions come out.
TensorId CellBuilder::bottleneck(TensorId x, std::span<const Window> windows) {
    const std::int64_t inner = m_channels / 4;
    x = reluConvNorm(x, "bottle_1x1_0", "bottle_bn_0", inner, squareWindow(1));
    for (const Window& window : windows) {
        const std::string kernel = std::to_string(window.height) + "x" + std::to_string(window.width);
        x = reluConvNorm(x, kernel, "bn_" + kernel, inner, window);
    }
    return reluConvNorm(x, "bottle_1x1_1", "bottle_bn_1", m_channels, squareWindow(1));
}

TensorId CellBuilder::pooled(TensorId x, CellOpKind kind, std::int64_t stride) {
    Net& net = m_blocks.net();
    const bool fits = net.dims(x)[3] == m_channels;
    const Window window = squareWindow(kind == CellOpKind::MaxPool2 ? 2 : 3, stride);
    x = kind == CellOpKind::AvgPool3 ? avgPool(net, x, window) : maxPool(net, x, window);
    if (fits)
        return x;
    if (m_style.pointwiseRelu)
        x = relu(net, x);
    return m_blocks.norm(m_blocks.conv(x, "1x1", m_channels, squareWindow(1)), "bn_1");
}

TensorId CellBuilder::identity(TensorId x, std::int64_t stride) {
    if (stride == 1 && m_blocks.net().dims(x)[3] == m_channels)
        return x;
    if (stride > 1 && m_style.reducingIdentity)
        return m_blocks.factorizedReduction(x, m_channels, stride);
    return reluConvNorm(x, "1x1", "bn_1", m_channels, squareWindow(1, stride));
}

TensorId CellBuilder::combined(const Cell& cell) {
    Net& net = m_blocks.net();
    const Net::Scope scope(net, m_style.output);
    const Dims last = net.dims(m_states.back());
    std::vector<TensorId> parts;
    for (const int index : cell.outputs) {
        const TensorId state = m_states[static_cast<std::size_t>(index)];
        const Dims dims = net.dims(state);
        const Net::Scope part(net, "reduction_" + std::to_string(index));
        const bool fits = dims[1] == last[1] && dims[3] == last[3];
        parts.push_back(fits ? state : m_blocks.factorizedReduction(state, last[3], dims[1] == last[1] ? 1 : 2));
    }
    return concat(net, parts, 3);
}

} // namespace pw::zoo
