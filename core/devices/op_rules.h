#pragma once

#include <cstdint>
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
    QLinearMatMul,
    Einsum,
    Attention,
    Conv,
    QLinearConv,
    ConvTranspose,
    DepthwiseConv,
    ConvBackpropInput,
    ConvBackpropFilter,
    ConvGrad, ///< both gradients in one op (com.microsoft)
    Recurrent, ///< k gates over a sequence
    RecurrentCell,
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

} // namespace pw::devices
