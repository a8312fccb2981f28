#pragma once

#include "core/zoo/image_blocks.h"

#include <array>

namespace pw::zoo {

enum class CellOpKind {
    Separable3, ///< twice ReLU, depthwise 3x3, 1x1, batch norm; the stride in the first
    Separable5,
    Separable7,
    Conv1x1,     ///< ReLU, convolution, batch norm
    Conv3x3,     ///< with a bottleneck of a quarter of the channels: 1x1, 3x3, 1x1
    Conv1x7_7x1, ///< likewise: 1x1, 1x7, 7x1, 1x1
    AvgPool3,
    MaxPool2,
    MaxPool3,
    Identity,
};

struct CellOp {
    int state = 0; ///< what it reads: 0 = the layer before, 1 = the one before that, 2 ... = results of earlier blocks
    CellOpKind kind = CellOpKind::Identity;
};

/// The sum of two ops.
struct CellBlock {
    CellOp left;
    CellOp right;
};

struct Cell {
    std::array<CellBlock, 5> blocks;
    std::vector<int> outputs; ///< states that are concatenated
};

/// How a family of nets names and finishes its cells. Defaults: slim's nasnet_utils.
struct CellStyle {
    const char* block = "comb_iter_";
    const char* left = "left";
    const char* right = "right";
    const char* output = "cell_output";
    bool pointwiseRelu = false;       ///< a ReLU before the 1x1 convolution that fits the channels of a pool
    bool reducingIdentity = false;    ///< a strided identity is a factorised reduction, else a strided 1x1 convolution
    bool dropPath = false;
};

/// Emits cells. Expert tags: block b is branch b + 1, the rest of a cell branch 0.
class CellBuilder {
public:
    CellBuilder(ImageBlocks& blocks, const CellStyle& style) : m_blocks(blocks), m_style(style) {}

    struct Inputs {
        TensorId current;
        TensorId previous; ///< the layer before; may be twice as large
        bool fitPrevious = true; ///< bring `previous` to the size and the channels of the cell
    };
    TensorId build(const std::string& name, const Cell& cell, const Inputs& inputs, std::int64_t channels,
                   std::int64_t stride);

private:
    TensorId fitPrevious(TensorId previous, std::int64_t size);
    TensorId apply(const char* side, const CellOp& op);
    TensorId operation(TensorId x, CellOpKind kind, std::int64_t stride);
    TensorId separable(TensorId x, std::int64_t size, std::int64_t stride);
    TensorId bottleneck(TensorId x, std::span<const Window> windows);
    TensorId pooled(TensorId x, CellOpKind kind, std::int64_t stride);
    TensorId identity(TensorId x, std::int64_t stride);
    TensorId reluConvNorm(TensorId x, const std::string& name, const std::string& normName, std::int64_t channels,
                          const Window& window);
    TensorId combined(const Cell& cell);

    ImageBlocks& m_blocks;
    CellStyle m_style;
    std::int64_t m_channels = 0; ///< of the cell being built
    std::int64_t m_stride = 1;
    std::vector<TensorId> m_states;
};

} // namespace pw::zoo
