#include "app/cli/inputs.h"

#include "core/base/text.h"
#include "core/devices/cost_model.h"
#include "core/graph/graph_stats.h"
#include "core/zoo/zoo.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace pw::cli {

namespace {

Result<int> runZooList(const Cli& cli) {
    Json list = Json::array();
    Table table({"name", "what"});
    for (const zoo::WorkloadInfo& workload : zoo::workloads()) {
        Json options = Json::array();
        for (const zoo::OptionInfo& option : workload.options)
            options.push_back({{"key", option.key}, {"default", option.defaultValue}, {"help", option.help}});
        list.push_back({{"name", workload.name}, {"title", workload.title}, {"help", workload.help}, {"options", options}});
    }
    if (cli.json) {
        printJson({{"workloads", list}});
        return kDone;
    }
    for (const Json& workload : list) {
        std::cout << workload["name"].get<std::string>() << "  " << workload["help"].get<std::string>() << "\n";
        for (const Json& option : workload["options"]) {
            std::cout << "    " << option["key"].get<std::string>() << "=" << option["default"].get<std::string>() << "  "
                      << option["help"].get<std::string>() << "\n";
        }
    }
    return kDone;
}

struct EmitOptions {
    std::string name;
    std::vector<std::string> settings;
    std::string output;
};

Result<int> runZooEmit(const Cli& cli, const EmitOptions& options) {
    PW_TRY(const auto settings, parseSettings(options.settings));
    GraphPtr graph;
    {
        const Disposable disposable(cli);
        PW_TRY(graph, zoo::make(options.name, settings));
    }
    if (cli.interrupted())
        return kInterrupted;
    PW_CHECK(formats::saveGraph(*graph, options.output));
    const GraphStats stats = computeStats(*graph);
    if (cli.json) {
        printJson({{"name", graph->name()}, {"file", options.output}, {"ops", stats.ops}, {"edges", stats.edges},
                   {"parameter_bytes", stats.parameterBytes}, {"flops", stats.flops}});
    } else if (!cli.quiet) {
        std::cout << options.output << ": " << text::grouped(static_cast<std::int64_t>(stats.ops)) << " ops, "
                  << text::grouped(static_cast<std::int64_t>(stats.edges)) << " edges, parameters "
                  << text::bytes(static_cast<double>(stats.parameterBytes)) << "\n";
    }
    return kDone;
}

} // namespace

void addZooCommand(CLI::App& app, Cli& cli) {
    CLI::App* command = app.add_subcommand("zoo", "The built-in workloads of the papers");
    command->require_subcommand(1);
    CLI::App* list = command->add_subcommand("list", "Names, options and defaults");
    setBody(list, cli, [&cli] { return runZooList(cli); });
    setExample(list, "zoo list",
               "  inception_v3  Image classifier of TF slim, 94 convolutions.\n"
               "      batch=64  images per step\n"
               "      optimizer=momentum  sgd, momentum, rmsprop or adam\n"
               "  ...");

    auto options = std::make_shared<EmitOptions>();
    CLI::App* emit = command->add_subcommand("emit", "Write a workload to a file");
    emit->add_option("name", options->name, "a name of 'zoo list'")->required();
    emit->add_option("settings", options->settings, "key=value ...");
    emit->add_option("-o,--output", options->output, "file to write (.graph.json, .dot)")->required();
    setBody(emit, cli, [&cli, options] { return runZooEmit(cli, *options); });
    setExample(emit, "zoo emit rnnlm layers=2 level=L0 -o rnnlm.graph.json",
               "  rnnlm.graph.json: 2,773 ops, 5,076 edges, parameters 432.4 MB");
}

} // namespace pw::cli
