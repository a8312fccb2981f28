#pragma once

#include "core/devices/device_set.h"
#include "core/graph/graph_stats.h"
#include "core/graph/op_graph.h"

#include <QList>

#include <string>
#include <utility>
#include <vector>

namespace pw::ui {

/// What the strip above the picture says about a graph: the counts of `placewright-cli info --costs`, and which ops they are.
struct GraphFacts {
    GraphStats stats;
    double flops = 0.0;          ///< as the file gives them, else by formula
    QList<quint32> unknownOps;   ///< no measured cost and no formula: estimated from bytes
    std::vector<std::pair<std::string, std::size_t>> unknownTypes; ///< of those, most ops first
    std::vector<qint64> warningOps; ///< per warning of the graph the op it speaks of, -1 if none
};

/// Linear in the graph; for jobs. Which costs count as measured depends on the kinds of `devices`.
GraphFacts graphFacts(const OpGraph& graph, const DeviceSet& devices);

/// Ops whose own device in the file is `device`; "" = those without one.
QList<quint32> opsOnFileDevice(const OpGraph& graph, const std::string& device);

} // namespace pw::ui
