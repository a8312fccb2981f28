#include "app/cli/inputs.h"
#include "app/cli/pictures.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <optional>

namespace pw::cli {

namespace {

struct RenderCommandOptions {
    GraphInput graph;
    std::string placement;
    std::string devices;
    std::string size = "1600x1000";
    PictureOptions picture;
    std::string output;
};

/// Devices that carry the names of a placement file; enough for colours and the legend.
Result<DeviceSet> namedDevices(const formats::PlacementFile& file) {
    std::vector<Device> devices;
    for (const std::string& name : file.devices) {
        Device device;
        device.name = name;
        device.kind = name.substr(0, name.find(':'));
        device.flopsPerUs = 9.3e6;
        device.bytesPerUs = 732000.0;
        devices.push_back(device);
    }
    return DeviceSet::create("placement", std::move(devices), {});
}

Result<int> runRender(const Cli& cli, RenderCommandOptions options) {
    char rest = 0;
    if (std::sscanf(options.size.c_str(), "%dx%d%c", &options.picture.width, &options.picture.height, &rest) != 2 ||
        options.picture.width < 64 || options.picture.height < 64 || options.picture.width > 20000 ||
        options.picture.height > 20000)
        return fail(ErrorCode::Invalid, "expected WIDTHxHEIGHT between 64 and 20000 pixels, got '" + options.size + "'", "--size");
    if (options.picture.colorBy == "time" && (options.placement.empty() || options.devices.empty()))
        return fail(ErrorCode::Invalid, "time depends on where an op runs: name --placement and --devices", "--by");
    PW_TRY(const GraphPtr graph, options.graph.open(cli));
    if (options.placement.empty()) {
        PW_CHECK(renderPicture(graph, nullptr, nullptr, options.picture, options.output));
    } else {
        PW_TRY(const auto file, openPlacement(options.placement, *graph, options.graph.spec));
        PW_TRY(const DeviceSet devices, options.devices.empty() ? namedDevices(file) : openDevices(options.devices, options.graph.spec));
        std::vector<Warning> warnings;
        PW_TRY(const OpPlacement placement, applyPlacementFile(file, options.placement, *graph, devices, warnings));
        reportWarnings(cli, warnings);
        PW_CHECK(renderPicture(graph, &devices, &placement, options.picture, options.output));
    }
    if (cli.json)
        printJson({{"file", options.output}, {"width", options.picture.width}, {"height", options.picture.height}});
    else if (!cli.quiet)
        std::cout << options.output << ": " << options.picture.width << " x " << options.picture.height << "\n";
    return kDone;
}

} // namespace

void addRenderCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<RenderCommandOptions>();
    CLI::App* command = app.add_subcommand("render", "Draw the graph coloured by device to PNG or SVG");
    options->graph.addTo(command);
    command->add_option("--placement,-p", options->placement, "placement that gives the colours; 'file': the devices in the graph's own file");
    command->add_option("--devices,-d", options->devices, "its device set; default: the names in its file");
    command->add_option("--by", options->picture.colorBy, "colour by device, cost, memory, time (on its device; needs --placement and --devices) or phase")->capture_default_str();
    command->add_option("--depth", options->picture.depth, "scope levels to open")->check(CLI::Range(0, 64))->capture_default_str();
    command->add_option("--size", options->size, "picture size in pixels")->capture_default_str();
    command->add_option("--title", options->picture.title, "text above the picture; default: the graph's name");
    command->add_option("-o,--output", options->output, "file to write: .png or .svg")->required();
    setBody(command, cli, [&cli, options] { return runRender(cli, *options); });
    setExample(command, "render zoo:inception_v3 -p metis.placement.json -o inception.png", "  inception.png: 1600 x 1000");
}

} // namespace pw::cli
