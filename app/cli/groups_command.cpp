#include "app/cli/inputs.h"

#include "core/base/text.h"
#include "core/formats/groups_csv.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace pw::cli {

namespace {

constexpr std::size_t kShownGroups = 20;

struct GroupsOptions {
    GraphInput graph;
    GroupInput groups;
    std::string devices = "2xP100";
    std::string output;
};

/// Groups by falling cost.
std::vector<std::pair<double, GroupId>> dearestFirst(const Grouping& grouping, const std::vector<double>& opCostUs) {
    std::vector<std::pair<double, GroupId>> order;
    for (std::size_t g = 0; g < grouping.groupCount(); ++g) {
        double sum = 0.0;
        for (const OpId op : grouping.members[g])
            sum += opCostUs[op.index()];
        order.emplace_back(sum, GroupId(g));
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    return order;
}

Json groupsJson(const OpGraph& graph, const Grouping& grouping, const std::vector<std::pair<double, GroupId>>& order) {
    Json table = Json::array();
    for (const auto& [costUs, group] : order) {
        table.push_back({{"name", grouping.names[group.index()]},
                         {"ops", grouping.members[group.index()].size()},
                         {"cost_us", costUs},
                         {"why", whyGrouped(grouping, group)}});
    }
    return {{"name", graph.name()},          {"ops", graph.opCount()},
            {"groups", grouping.groupCount()}, {"arcs", grouping.arcs.size()},
            {"turned_arcs", grouping.turnedArcs}, {"report", grouping.report},
            {"table", table}};
}

void printGroups(const Grouping& grouping, const std::vector<std::pair<double, GroupId>>& order) {
    for (const std::string& line : grouping.report)
        std::cout << line << "\n";
    Table table({"dearest groups", "cost", "why"}, true);
    for (std::size_t i = 0; i < std::min(order.size(), kShownGroups); ++i) {
        const auto& [costUs, group] = order[i];
        table.add({grouping.names[group.index()], text::duration(costUs), whyGrouped(grouping, group)});
    }
    std::cout << "\n";
    table.print();
    if (order.size() > kShownGroups)
        std::cout << "and " << text::grouped(static_cast<std::int64_t>(order.size() - kShownGroups)) << " more\n";
}

Result<int> runGroups(const Cli& cli, const GroupsOptions& options) {
    PW_TRY(const GraphPtr graph, options.graph.open(cli));
    PW_TRY(const DeviceSet devices, openDevices(options.devices, options.graph.spec));
    PW_TRY(const GroupingOptions rules, options.groups.options());
    const std::vector<double> opCostUs = computeCosts(*graph, devices).fastestUs();
    auto grouping = makeGrouping(*graph, opCostUs, rules);
    if (!grouping) {
        grouping.error().file = options.graph.spec;
        return fail(grouping.error());
    }
    if (!options.output.empty())
        PW_CHECK(formats::saveGroups(*graph, *grouping, options.output));
    const auto order = dearestFirst(*grouping, opCostUs);
    if (cli.json) {
        Json json = groupsJson(*graph, *grouping, order);
        if (!options.output.empty())
            json["file"] = options.output;
        printJson(json);
        return kDone;
    }
    reportWarnings(cli, graph->warnings());
    if (!cli.quiet)
        printGroups(*grouping, order);
    return kDone;
}

} // namespace

void addGroupsCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<GroupsOptions>();
    CLI::App* command = app.add_subcommand("groups", "Show how ops become the groups that placers decide on");
    options->graph.addTo(command);
    options->groups.addTo(command);
    command->add_option("--devices,-d", options->devices, "device set whose costs balance the groups")->capture_default_str();
    command->add_option("-o,--output", options->output, "write op,group for every op; --group-file reads it");
    setBody(command, cli, [&cli, options] { return runGroups(cli, *options); });
    setExample(command, "groups zoo:rnnlm --groups 64",
               "  colocation: 357 keys\n"
               "  5,223 ops in 2,682 groups, 48 arcs turned\n"
               "  coplacement: 958 merges, 1,724 groups\n"
               "  target 64: 64 groups, 1,611 merges refused\n"
               "\n"
               "  dearest groups                          cost  why\n"
               "  gradients/RNNLM/lstm_0/kernel/AddN    8.8 ms  1 op\n"
               "  ...");
}

} // namespace pw::cli
