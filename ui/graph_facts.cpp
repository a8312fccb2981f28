#include "ui/graph_facts.h"

#include "core/devices/cost_model.h"

#include <algorithm>
#include <map>

namespace pw::ui {

namespace {

/// The op that a warning is about: `where` is its name, or a path below it ("op/output", "op/attribute").
qint64 opOfWarning(const OpGraph& graph, const Warning& warning) {
    std::string_view name = warning.where;
    while (!name.empty()) {
        if (const auto op = graph.findOp(name))
            return static_cast<qint64>(op->value());
        const std::size_t slash = name.rfind('/');
        if (slash == std::string_view::npos)
            break;
        name = name.substr(0, slash);
    }
    return -1;
}

} // namespace

GraphFacts graphFacts(const OpGraph& graph, const DeviceSet& devices) {
    GraphFacts facts;
    facts.stats = computeStats(graph);
    facts.flops = totalFlops(graph);
    const CostTable costs = computeCosts(graph, devices);
    std::map<std::string, std::size_t> unknown;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        if (costs.source[i] != CostSource::Default)
            continue;
        facts.unknownOps.append(static_cast<quint32>(i));
        ++unknown[graph.op(OpId(i)).type];
    }
    facts.unknownTypes.assign(unknown.begin(), unknown.end());
    std::stable_sort(facts.unknownTypes.begin(), facts.unknownTypes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const Warning& warning : graph.warnings())
        facts.warningOps.push_back(opOfWarning(graph, warning));
    return facts;
}

QList<quint32> opsOnFileDevice(const OpGraph& graph, const std::string& device) {
    QList<quint32> ops;
    for (std::size_t i = 0; i < graph.opCount(); ++i)
        if (graph.op(OpId(i)).device == device)
            ops.append(static_cast<quint32>(i));
    return ops;
}

} // namespace pw::ui
