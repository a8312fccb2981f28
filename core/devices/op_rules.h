#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pw::devices {

/// Which formula gives FLOPs and bytes of an op (formulas: op_work.cpp). Private to core/devices.
enum class WorkRule : std::uint8_t {
    Unknown,
    Metadata,    ///< no device work: shapes, constants, variables, control flow markers, file and string ops
    Elementwise, ///< k FLOPs per output element; reads inputs, writes outputs
    Move,        ///< reads and writes as many bytes as come out
    Scatter,     ///< reads and writes the updates (last input), not the whole table
    Reduce,      ///< k FLOPs per element of the first input
    Pool,        ///< window size FLOPs per output element
    PoolGrad,    ///< window size FLOPs per incoming gradient element
    MatMul,
    Gemm,
    AddMatMul, ///< PyTorch: what is added first, then the two factors
    QLinearMatMul,
    Einsum,
    Attention,
    ScaledAttention, ///< PyTorch: query, key, value after their projections
    Conv,
    QLinearConv,
    ConvTranspose,
    DepthwiseConv,
    DepthwiseBackpropInput,
    DepthwiseBackpropFilter,
    ConvBackpropInput,
    ConvBackpropFilter,
    ConvGrad, ///< both gradients in one op (com.microsoft)
    Recurrent, ///< k gates over a sequence
    RecurrentCell,
    WeightedRecurrent, ///< PyTorch: all layers in one op, each matrix among the inputs used once per step
    Update, ///< optimiser: k FLOPs per parameter
};

/// Classes that share an efficiency.
enum class OpClass : std::uint8_t { Dense, Depthwise, Bandwidth };

struct OpRule {
    WorkRule rule = WorkRule::Unknown;
    double k = 1.0;
};

/// Case, domain ("com.microsoft::"), leading underscores and a version suffix ("V2") do not matter.
OpRule ruleFor(std::string_view opType);
OpClass classOf(WorkRule rule);

/// "aten::conv_transpose2d_" -> "convtranspose2d"; "" for other domains than PyTorch's.
std::string torchOpKey(std::string_view opType);
/// What PyTorch alone has, or calls by a name that others use for something else.
std::optional<OpRule> torchRule(const std::string& key);

} // namespace pw::devices
