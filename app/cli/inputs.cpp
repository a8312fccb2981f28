#include "app/cli/inputs.h"

#include "core/base/text.h"
#include "core/learn/learn_loader.h"
#include "core/zoo/zoo.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>

namespace pw::cli {

namespace {

Result<std::map<std::string, std::int64_t>> parseDims(const std::vector<std::string>& pairs) {
    std::map<std::string, std::int64_t> dims;
    for (const std::string& pair : pairs) {
        const auto equals = pair.find('=');
        std::int64_t value = 0;
        const char* end = pair.data() + pair.size();
        if (equals == std::string::npos || equals == 0)
            return fail(ErrorCode::Invalid, "expected NAME=N", "--dim " + pair);
        const auto [stop, error] = std::from_chars(pair.data() + equals + 1, end, value);
        if (error != std::errc() || stop != end || value <= 0)
            return fail(ErrorCode::Invalid, "expected a positive whole number after '='", "--dim " + pair);
        dims[pair.substr(0, equals)] = value;
    }
    return dims;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

} // namespace

void GraphInput::addTo(CLI::App* app, const std::string& help) {
    app->add_option("graph", spec, help)->required();
    addDimsTo(app);
}

void GraphInput::addDimsTo(CLI::App* app) {
    app->add_option("--dim", dims, "value of a symbolic dimension, NAME=N; may be repeated")
        ->allow_extra_args(false);
}

Result<GraphPtr> GraphInput::open(const Cli& cli) const {
    PW_TRY(const auto values, parseDims(dims));
    return openGraph(cli, spec, values);
}

void ProblemInput::addTo(CLI::App* app, bool withGroups) {
    app->add_option("--devices,-d", devices, "preset name, 'local', 'file' (what the graph's file carries), or a device-set file")->required();
    app->add_option("--model", model, "simulator: links or reference")->capture_default_str();
    app->add_option("--memory-headroom", headroomPct, "keep this share of every device's memory free, in percent")
        ->capture_default_str();
    if (withGroups) {
        app->add_option("--groups", groups, "merge ops into this many groups, one decision each; 0 = colocation only")
            ->capture_default_str();
    }
}

Result<ProblemPtr> ProblemInput::compile(const GraphPtr& graph, const std::string& graphFile) const {
    PW_TRY(DeviceSet set, openDevices(devices, graphFile));
    const auto simModel = simModelFromName(model);
    if (!simModel)
        return fail(ErrorCode::Invalid, "no simulator model '" + model + "'; there are: links, reference", "--model");
    if (!(headroomPct >= 0.0 && headroomPct < 100.0))
        return fail(ErrorCode::Invalid, "must be at least 0 and below 100", "--memory-headroom");
    GroupingOptions grouping;
    grouping.targetGroups = groups;
    auto problem = PlacementProblem::compile(graph, std::move(set), grouping, SimOptions{*simModel, headroomPct});
    if (!problem && problem.error().file.empty()) {
        const bool aboutGraph = !graph->cycle().empty() || problem.error().code == ErrorCode::TooLarge;
        problem.error().file = aboutGraph ? graphFile : devices;
    }
    return problem;
}

Result<GraphPtr> openGraph(const Cli& cli, const std::string& spec, const std::map<std::string, std::int64_t>& dims) {
    if (spec.starts_with("zoo:"))
        return zoo::makeFromSpec(spec);
    formats::LoadOptions options;
    options.dims = dims;
    options.workerProgram = cli.program;
    options.stop = cli.stop.get_token();
    return formats::loadGraph(spec, options);
}

Result<OpPlacement> applyPlacementFile(const formats::PlacementFile& file, const std::string& path, const OpGraph& graph,
                                       const DeviceSet& devices, std::vector<Warning>& warnings) {
    const std::size_t before = warnings.size();
    auto placement = formats::applyPlacement(file, graph, devices, warnings);
    if (!placement && placement.error().file.empty())
        placement.error().file = path;
    for (std::size_t i = before; i < warnings.size(); ++i) {
        if (warnings[i].where.empty())
            warnings[i].where = path;
    }
    return placement;
}

Result<DeviceSet> openDevices(const std::string& spec, const std::string& graphFile) {
    if (auto preset = devicePreset(spec))
        return std::move(*preset);
    if (spec == "local")
        return localDevices();
    if (spec == "file") {
        if (graphFile.empty() || graphFile.starts_with("zoo:"))
            return fail(ErrorCode::Invalid, "there is no graph file to take a device set from", "--devices file");
        return formats::loadDevicesOfGraph(graphFile);
    }
    if (const auto kind = formats::sniff(spec); kind && *kind == formats::FileKind::Graph)
        return formats::loadDevicesOfGraph(spec);
    auto loaded = formats::loadDeviceSet(spec);
    if (!loaded && loaded.error().code == ErrorCode::NotFound)
        return fail(ErrorCode::NotFound, "no such preset or file; presets: " + joined(devicePresetNames()), "--devices",
                    spec);
    return loaded;
}

Result<DeviceSet> localDevices() {
    PW_TRY(const learn::Library* library, learn::load());
    const learn::LocalInfo info = library->localInfo(true);
    std::vector<Device> devices;
    std::vector<Link> links;
    for (const learn::LocalDevice& local : info.devices) {
        Device device;
        device.name = local.name;
        device.kind = local.name.starts_with("cuda") ? "gpu" : "cpu";
        device.model = local.model;
        device.memoryBytes = local.memoryBytes;
        // Only the CPU's product was timed here; a CUDA device gets the figures of a P100 until it is measured.
        device.flopsPerUs = device.kind == "cpu" ? std::max(1.0, info.gflops) * 1e3 : 9.3e6;
        device.bytesPerUs = device.kind == "cpu" ? 20000.0 : 732000.0;
        device.launchUs = device.kind == "cpu" ? 1.0 : 5.0;
        devices.push_back(device);
    }
    for (std::size_t a = 0; a < devices.size(); ++a) {
        for (std::size_t b = 0; b < devices.size(); ++b) {
            if (a != b)
                links.push_back({DeviceId(a), DeviceId(b), 11000.0, 15.0, ""});
        }
    }
    return DeviceSet::create("local", std::move(devices), std::move(links));
}

Result<std::map<std::string, std::string>> parseSettings(const std::vector<std::string>& pairs) {
    std::map<std::string, std::string> settings;
    for (const std::string& pair : pairs) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail(ErrorCode::Invalid, "expected key=value", "'" + pair + "'");
        settings[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    return settings;
}

Result<const Placer*> findPlacer(const Cli& cli, const std::string& method) {
    if (const Placer* placer = cli.placers.find(method))
        return placer;
    return fail(ErrorCode::Invalid, "no method '" + method + "'; there are: " + joined(cli.placers.names()), "--method");
}

Json placeResultJson(const PlacementProblem& problem, const std::string& method, const PlaceResult& result) {
    Json json;
    json["graph"] = problem.graph().name();
    json["method"] = method;
    json["devices"] = problem.devices().name();
    json["model"] = simModelName(problem.options().model);
    json["groups"] = problem.groupCount();
    json["step_time_us"] = result.evaluation.stepTimeUs;
    json["valid"] = result.evaluation.valid;
    json["evaluations"] = result.evaluations;
    json["seconds"] = result.seconds;
    json["lower_bound_us"] = lowerBounds(problem).best();
    json["peak_bytes"] = result.peakBytes;
    return json;
}

void printPlaceResult(const PlacementProblem& problem, const std::string& method, const PlaceResult& result) {
    const double bound = lowerBounds(problem).best();
    std::cout << "method       " << method << "\n"
              << "step time    " << text::duration(result.evaluation.stepTimeUs) << " (simulated, "
              << simModelName(problem.options().model) << " model)" << (result.evaluation.valid ? "" : "  INVALID")
              << "\n"
              << "lower bound  " << text::duration(bound) << "\n"
              << "groups       " << problem.groupCount() << " of " << problem.opCount() << " ops\n"
              << "evaluations  " << text::grouped(result.evaluations) << " in " << text::number(std::round(result.seconds * 1000.0) / 1000.0)
              << " s\n";
    for (std::size_t d = 0; d < problem.deviceCount(); ++d) {
        const Device& device = problem.devices().device(DeviceId(d));
        std::cout << "peak memory  " << device.name << "  " << text::bytes(static_cast<double>(result.peakBytes[d]))
                  << (device.memoryBytes > 0 ? " of " + text::bytes(static_cast<double>(device.memoryBytes)) : "") << "\n";
    }
}

Status addPlacementOutput(Json& json, const PlacementProblem& problem, const std::string& method, std::uint64_t seed,
                          const PlaceResult& result, const std::string& output) {
    const auto file = formats::makePlacementFile(problem.graph(), problem.devices(), result.placement, method, seed);
    if (output.empty()) {
        json["placement"] = Json::parse(formats::toPlacementJson(file));
        return {};
    }
    PW_CHECK(formats::savePlacement(file, output));
    json["placement"] = output;
    return {};
}

} // namespace pw::cli
