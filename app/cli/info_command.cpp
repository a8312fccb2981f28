#include "app/cli/inputs.h"

#include "core/base/text.h"
#include "core/devices/cost_model.h"
#include "core/graph/graph_stats.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace pw::cli {

namespace {

/// The device whose roofline gives the times of `info --costs` unless --devices says otherwise.
constexpr const char* kCostPreset = "2xP100";

Json warningsJson(const std::vector<Warning>& warnings) {
    Json list = Json::array();
    for (const Warning& warning : warnings)
        list.push_back({{"kind", warning.kind}, {"where", warning.where}, {"detail", warning.detail}});
    return list;
}

Json costsJson(const OpGraph& graph, const DeviceSet& devices) {
    const CostTable table = computeCosts(graph, devices);
    struct Sum {
        std::size_t count = 0;
        double flops = 0.0, bytes = 0.0, us = 0.0;
        std::size_t from[3] = {}; ///< ops by CostSource
    };
    std::map<std::string, Sum> byType;
    std::map<std::string, std::size_t> unknown;
    std::size_t measured = 0;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const OpId id(i);
        const OpWork work = opWork(graph, id);
        Sum& sum = byType[graph.op(id).type];
        ++sum.count;
        sum.flops += work.flops;
        sum.bytes += work.bytesMoved;
        sum.us += table.at(id, DeviceId(0));
        ++sum.from[static_cast<std::size_t>(table.source[i])];
        measured += table.source[i] == CostSource::Measured ? 1 : 0;
        if (table.source[i] == CostSource::Default)
            ++unknown[graph.op(id).type];
    }
    Json types = Json::object();
    for (const auto& [type, sum] : byType) {
        types[type] = {{"ops", sum.count},         {"flops", sum.flops},     {"bytes_moved", sum.bytes}, {"cost_us", sum.us},
                       {"measured", sum.from[0]}, {"formula", sum.from[1]}, {"default", sum.from[2]}};
    }
    return {{"device", devices.device(DeviceId(0)).model}, {"by_type", types}, {"unknown", unknown}, {"measured", measured}};
}

/// "measured", or "formula 3, default 1" where the ops of a type differ.
std::string sourcesOf(const Json& sum) {
    std::string list;
    for (const char* source : {"measured", "formula", "default"}) {
        const auto ops = sum[source].get<std::size_t>();
        if (ops == sum["ops"].get<std::size_t>())
            return source;
        if (ops > 0)
            list += (list.empty() ? "" : ", ") + std::string(source) + " " + std::to_string(ops);
    }
    return list;
}

void printCosts(const Json& costs) {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [type, sum] : costs["by_type"].items())
        order.emplace_back(-sum["cost_us"].get<double>(), type);
    std::sort(order.begin(), order.end());
    std::cout << "\nEstimated on one " << costs["device"].get<std::string>() << " (roofline):\n";
    Table table({"op type", "ops", "GFLOP", "moved", "time", "cost from"}, true);
    for (const auto& [key, type] : order) {
        const Json& sum = costs["by_type"][type];
        char gflop[32];
        std::snprintf(gflop, sizeof gflop, "%.3f", sum["flops"].get<double>() / 1e9);
        table.add({type, std::to_string(sum["ops"].get<std::size_t>()), gflop, text::bytes(sum["bytes_moved"].get<double>()),
                   text::duration(sum["cost_us"].get<double>()), sourcesOf(sum)});
    }
    table.print();
    for (const auto& [type, count] : costs["unknown"].items())
        std::cout << "no formula, or no shapes for it: " << type << " (" << count << (count == 1 ? " op)\n" : " ops)\n");
}

void printStats(const OpGraph& graph, const GraphStats& stats, double flops) {
    const auto count = [](std::size_t n) { return text::grouped(static_cast<std::int64_t>(n)); };
    std::cout << graph.name() << "\n"
              << "format       " << graph.format() << "\n"
              << "ops          " << count(stats.ops)
              << (stats.opsTotal != stats.ops ? " (" + count(stats.opsTotal) + " with bodies)" : "") << "\n"
              << "tensors      " << count(stats.tensors) << "\n"
              << "edges        " << count(stats.edges) << " (" << count(stats.edgesDistinct) << " distinct, "
              << count(stats.controlEdges) << " control)\n"
              << "depth        " << (stats.depth ? count(*stats.depth) : "- (the graph has a cycle)") << "\n"
              << "scopes       " << count(stats.scopes) << "\n"
              << "parameters   " << text::bytes(static_cast<double>(stats.parameterBytes)) << "\n";
    char line[64];
    std::snprintf(line, sizeof line, "%.3f", flops / 1e9);
    std::cout << "work         " << line << " GFLOP\n";
    std::vector<std::pair<std::size_t, std::string>> types;
    for (const auto& [type, n] : stats.opTypes)
        types.emplace_back(n, type);
    std::sort(types.rbegin(), types.rend());
    std::cout << "op types     " << types.size() << ":";
    for (std::size_t i = 0; i < std::min<std::size_t>(types.size(), 8); ++i)
        std::cout << (i > 0 ? "," : "") << " " << types[i].second << " " << count(types[i].first);
    std::cout << (types.size() > 8 ? ", ...\n" : "\n");
}

Result<int> runInfo(const Cli& cli, const GraphInput& input, bool costs, const std::string& devices) {
    const Disposable disposable(cli);
    Json profiles = Json::array();
    PW_TRY(const GraphPtr graph, input.open(cli, &profiles));
    const GraphStats stats = computeStats(*graph);
    const double flops = totalFlops(*graph);
    Json json;
    json["name"] = graph->name();
    json["format"] = graph->format();
    json["hash"] = graph->hash();
    json["ops"] = stats.ops;
    json["ops_total"] = stats.opsTotal;
    json["tensors"] = stats.tensors;
    json["edges"] = stats.edges;
    json["edges_distinct"] = stats.edgesDistinct;
    json["control_edges"] = stats.controlEdges;
    json["depth"] = stats.depth ? Json(*stats.depth) : Json(nullptr);
    json["cyclic"] = graph->isCyclic();
    json["op_types"] = stats.opTypes;
    json["parameter_bytes"] = stats.parameterBytes;
    json["flops"] = flops;
    json["scopes"] = stats.scopes;
    json["devices"] = stats.devices;
    json["warnings"] = warningsJson(graph->warnings());
    if (!input.profiles.empty())
        json["profiles"] = profiles;
    if (costs) {
        PW_TRY(const DeviceSet set, openDevices(devices, input.spec));
        json["costs"] = costsJson(*graph, set);
    }
    if (cli.json) {
        printJson(json);
        return kDone;
    }
    reportWarnings(cli, graph->warnings());
    printStats(*graph, stats, flops);
    if (costs)
        printCosts(json["costs"]);
    return kDone;
}

} // namespace

void addInfoCommand(CLI::App& app, Cli& cli) {
    struct Options {
        GraphInput graph;
        bool costs = false;
        std::string devices = kCostPreset;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("info", "Open a model and describe it");
    options->graph.addTo(command);
    command->add_flag("--costs", options->costs, "estimated work and time by op type");
    command->add_option("--devices,-d", options->devices, "whose first device --costs estimates for")->capture_default_str();
    setBody(command, cli, [&cli, options] { return runInfo(cli, options->graph, options->costs, options->devices); });
    setExample(command, "info zoo:rnnlm",
               "  rnnlm\n"
               "  format       zoo\n"
               "  ops          5,223\n"
               "  tensors      5,811\n"
               "  edges        9,206 (9,206 distinct, 1 control)\n"
               "  depth        993\n"
               "  scopes       278\n"
               "  parameters   432.4 MB\n"
               "  work         1181.532 GFLOP\n"
               "  op types     30: Sum 700, Shape 700, Reshape 700, Mul 673, BroadcastGradientArgs 350, ...");
}

} // namespace pw::cli
