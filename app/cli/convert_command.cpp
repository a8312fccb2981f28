#include "app/cli/inputs.h"

#include "core/base/text.h"
#include "core/graph/graph_stats.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace pw::cli {

namespace {

struct ConvertOptions {
    GraphInput graph;
    std::string output;
    std::string placement;
    std::string devices;
};

/// The device set named with --devices, else one made of the names that the placement file lists.
Result<DeviceSet> devicesFor(const ConvertOptions& options, const formats::PlacementFile& placement) {
    if (!options.devices.empty())
        return openDevices(options.devices, options.graph.spec);
    std::vector<Device> devices;
    for (const std::string& name : placement.devices) {
        Device device;
        device.name = name;
        device.kind = name.substr(0, name.find(':'));
        devices.push_back(device);
    }
    return DeviceSet::create("placement", std::move(devices), {});
}

/// The file that ONNX and TensorFlow outputs are copied from; none for workloads of the zoo.
std::string sourceFile(const ConvertOptions& options) {
    return options.graph.spec.starts_with("zoo:") ? std::string() : options.graph.spec;
}

/// Writes the graph with the placement's devices, or the placement alone where the ending stands for one.
Status writePlaced(const ConvertOptions& options, const OpGraph& graph, std::vector<Warning>& warnings) {
    PW_TRY(const auto file, openPlacement(options.placement, graph, options.graph.spec));
    PW_TRY(const DeviceSet devices, devicesFor(options, file));
    PW_TRY(const auto placement, applyPlacementFile(file, options.placement, graph, devices, warnings));
    if (!formats::isPlacementPath(options.output))
        return formats::saveGraph(graph, options.output, {placement, &devices, sourceFile(options)});
    return formats::savePlacement(formats::makePlacementFile(graph, devices, placement, file.method, file.seed), options.output,
                                  &graph);
}

Result<int> runConvert(const Cli& cli, const ConvertOptions& options) {
    Json profiles = Json::array();
    PW_TRY(const GraphPtr graph, options.graph.open(cli, &profiles));
    if (options.placement.empty() && formats::isPlacementPath(options.output))
        return fail(ErrorCode::Invalid, "an output of this kind is a placement: name one with --placement", {}, options.output);
    std::vector<Warning> warnings = graph->warnings();
    if (options.placement.empty()) {
        PW_CHECK(formats::saveGraph(*graph, options.output, {{}, nullptr, sourceFile(options)}));
    } else {
        PW_CHECK(writePlaced(options, *graph, warnings));
    }
    const GraphStats stats = computeStats(*graph);
    if (cli.json) {
        Json list = Json::array();
        for (const Warning& warning : warnings)
            list.push_back({{"kind", warning.kind}, {"where", warning.where}, {"detail", warning.detail}});
        Json json = {{"file", options.output}, {"ops", stats.ops}, {"edges", stats.edges}, {"warnings", list}};
        if (!options.graph.profiles.empty())
            json["profiles"] = profiles;
        printJson(json);
        return kDone;
    }
    reportWarnings(cli, warnings);
    if (!cli.quiet) {
        std::cout << options.output << ": " << text::grouped(static_cast<std::int64_t>(stats.ops)) << " ops, "
                  << text::grouped(static_cast<std::int64_t>(stats.edges)) << " edges\n";
    }
    return kDone;
}

/// The endings of the graph formats that can be written, with or without an original.
std::string endings(bool needsSource) {
    std::vector<std::string> known;
    for (const formats::FormatInfo& format : formats::knownFormats()) {
        if (format.kind != formats::FileKind::Graph || !format.canWrite || format.needsSource != needsSource)
            continue;
        for (const std::string& ending : format.endings) {
            if (std::find(known.begin(), known.end(), ending) == known.end())
                known.push_back(ending);
        }
    }
    std::string list;
    for (const std::string& ending : known)
        list += (list.empty() ? "" : ", ") + ending;
    return list;
}

std::string outputHelp() {
    return "file to write; its ending chooses the format: " + endings(false) + "; from a file of the same format " +
           endings(true);
}

} // namespace

void addConvertCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<ConvertOptions>();
    CLI::App* command = app.add_subcommand("convert", "Write a model in another format, or ONNX and TensorFlow files with devices put in");
    options->graph.addTo(command);
    command->add_option("output", options->output, outputHelp())->required();
    command->add_option("--placement,-p", options->placement, "write this placement's devices into the ops, or (.placement.json, .csv, .tf.csv, .device_map.json, .ort.json) the placement alone; "
                        "'file': the devices in the graph's own file");
    command->add_option("--devices,-d", options->devices, "device set of the placement; default: the names in its file");
    setBody(command, cli, [&cli, options] { return runConvert(cli, *options); });
    setExample(command, "convert zoo:inception_v3 inception.dot", "  inception.dot: 2,273 ops, 3,617 edges");
}

} // namespace pw::cli
