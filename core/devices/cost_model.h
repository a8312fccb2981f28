#pragma once

#include "core/devices/device_set.h"
#include "core/graph/op_graph.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pw {

enum class CostSource : std::uint8_t { Measured, Formula, Default };

/// Time of every op on every device of one set, without launch overhead (the simulator adds that).
struct CostTable {
    std::size_t deviceCount = 0;
    std::vector<double> costUs; ///< op * deviceCount + device
    std::vector<CostSource> source; ///< per op

    double at(OpId op, DeviceId device) const { return costUs[op.index() * deviceCount + device.index()]; }
    /// Per op: on the device that is fastest for it. What groupings are balanced with.
    std::vector<double> fastestUs() const;
};

/// Share of the peak that an op class reaches on a device kind.
struct Efficiency {
    double compute = 0.5;
    double bandwidth = 0.75;
};
Efficiency efficiencyFor(std::string_view opType, std::string_view deviceKind);

/// FLOPs and bytes moved of an op from its type and shapes (formulas: op_work.cpp), where the file gave none.
/// Never negative; `known` is false where no formula covers the type or the shapes it needs are missing (then bytes moved
/// = inputs + outputs, FLOPs 0). Unknown dimensions of a known rank count as 1. Container ops are not looked into.
/// Shapes of inputs that no op makes (weights, graph inputs) come from the attribute `input_shapes`: per slot, separated
/// by ';', dimensions joined by 'x', '?' for an unknown one, empty for an unknown shape.
struct OpWork {
    double flops = 0.0;
    double bytesMoved = 0.0;
    bool known = false;
};
OpWork opWork(const OpGraph& graph, OpId id);
/// FLOPs of one step: as the file gives them, else by formula; ops without either count nothing, bodies are not looked into.
double totalFlops(const OpGraph& graph);

/// A variable or a constant: it computes nothing, and what it puts out is the parameter that it owns, not a copy of it.
bool isParameterHolder(const Op& op);

/// Roofline: max(FLOPs / (efficiency * peak), bytes / (efficiency * bandwidth)); measured costs override it (the
/// device's kind first, then ""). Metadata ops (Shape, Reshape, Constant, NoOp, ...) cost 0. Container ops: dearest branch
/// of If, body times trip count for Loop and Scan (1 if unknown).
CostTable computeCosts(const OpGraph& graph, const DeviceSet& devices);

} // namespace pw
