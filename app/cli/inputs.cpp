#include "app/cli/inputs.h"

#include "core/base/text.h"
#include "core/formats/groups_csv.h"
#include "core/formats/profile.h"
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

tl::unexpected<Error> badInput(const std::string& text, const std::string& reason) {
    return fail(ErrorCode::Invalid, reason + "; expected SHAPE or SHAPE:DTYPE, as in 1x3x224x224:f32", "--input " + text);
}

/// "1x3x224x224:f32"; "scalar:i64".
Result<formats::SampleInput> parseInput(const std::string& text) {
    formats::SampleInput input;
    const auto colon = text.find(':');
    const std::string shape = text.substr(0, colon);
    if (colon != std::string::npos)
        input.dtype = text.substr(colon + 1);
    if (dtypeBytes(input.dtype) == 0)
        return badInput(text, "there is no element type '" + input.dtype + "'");
    if (shape == "scalar")
        return input;
    for (const std::string_view part : text::split(shape, 'x')) {
        std::int64_t dim = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), dim);
        if (error != std::errc() || end != part.data() + part.size() || dim <= 0)
            return badInput(text, "'" + std::string(part) + "' is no positive whole number");
        input.dims.push_back(dim);
    }
    return input;
}

/// "profile: 312 of 415 ops matched (2.1 ms of 2.3 ms); not in the graph: a, b, ... (12)".
void reportProfile(const Cli& cli, const formats::Profile& profile, const formats::ProfileReport& report) {
    if (cli.quiet)
        return;
    const auto count = [](std::size_t n) { return text::grouped(static_cast<std::int64_t>(n)); };
    std::string line = "profile: " + count(report.opsMatched) + " of " + count(report.opsMatched + report.opsWithoutTime) +
                       " ops matched (" + text::duration(report.matchedUs) + " of " +
                       text::duration(report.matchedUs + report.unmatchedUs) + ")";
    constexpr std::size_t kShown = 5;
    const auto& names = report.unmatchedEntries;
    for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
        line += (i == 0 ? "; not in the graph: " : ", ") + names[i];
    if (names.size() > kShown)
        line += ", ...";
    if (!names.empty())
        line += " (" + count(names.size()) + ")";
    printNote(line);
    reportWarnings(cli, profile.warnings);
    reportWarnings(cli, report.warnings);
}

Json profileJson(const std::string& path, const formats::Profile& profile, const formats::ProfileReport& report) {
    Json warnings = Json::array();
    for (const auto* list : {&profile.warnings, &report.warnings}) {
        for (const Warning& warning : *list)
            warnings.push_back({{"kind", warning.kind}, {"where", warning.where}, {"detail", warning.detail}});
    }
    return {{"file", path},
            {"format", profile.format},
            {"ops_matched", report.opsMatched},
            {"ops_without_time", report.opsWithoutTime},
            {"matched_us", report.matchedUs},
            {"unmatched_us", report.unmatchedUs},
            {"unmatched", report.unmatchedEntries},
            {"warnings", warnings}};
}

/// The graph with the times of one profile file.
Result<GraphPtr> layOver(const Cli& cli, const OpGraph& graph, const std::string& path, Json* json) {
    PW_TRY(const formats::Profile profile, formats::loadProfile(path));
    formats::ProfileReport report;
    auto measured = formats::applyProfile(graph, profile, report);
    if (!measured) {
        measured.error().file = path;
        return measured;
    }
    reportProfile(cli, profile, report);
    if (json != nullptr)
        json->push_back(profileJson(path, profile, report));
    return measured;
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
    addOptionsTo(app);
}

void GraphInput::addOptionsTo(CLI::App* app) {
    app->add_option("--dim", dims, "value of a symbolic dimension, NAME=N, as in --dim batch=8; may be repeated")
        ->allow_extra_args(false);
    app->add_option("--input", inputs,
                    "an input of a traced program (TorchScript), SHAPE[:DTYPE], as in --input 1x3x224x224:f32; one for each, in order")
        ->allow_extra_args(false);
    app->add_option("--profile", profiles,
                    "measured op times laid over the graph by name, as in --profile ort_profile.json (ONNX Runtime, Chrome trace, "
                    "PyTorch, TensorFlow RunMetadata, CSV op,us[,device_kind]); may be repeated")
        ->allow_extra_args(false);
}

Result<GraphPtr> GraphInput::open(const Cli& cli, Json* profilesJson) const {
    const Disposable disposable(cli);
    formats::LoadOptions options;
    PW_TRY(options.dims, parseDims(dims));
    for (const std::string& input : inputs) {
        PW_TRY(formats::SampleInput sample, parseInput(input));
        options.sampleInputs.push_back(std::move(sample));
    }
    PW_TRY(GraphPtr graph, openGraph(cli, spec, std::move(options)));
    for (const std::string& profile : profiles) {
        PW_TRY(graph, layOver(cli, *graph, profile, profilesJson));
    }
    return graph;
}

GraphInput GraphInput::with(const std::string& otherSpec) const {
    GraphInput other = *this;
    other.spec = otherSpec;
    return other;
}

void ProblemInput::addTo(CLI::App* app, bool withGroups) {
    app->add_option("--devices,-d", devices, "preset name, 'local', 'file' (what the graph's file carries), or a device-set file")->required();
    app->add_option("--model", model, "simulator: links or reference")->capture_default_str();
    app->add_option("--memory-headroom", headroomPct, "keep this share of every device's memory free, in percent")
        ->capture_default_str();
    if (withGroups)
        groups.addTo(app);
    else
        groups.target = 0;
}

void GroupInput::addTo(CLI::App* app) {
    app->add_option("--groups", target, "merge ops into this many groups, one decision each; 0 = no merging")
        ->capture_default_str();
    app->add_option("--group-scopes", scopeDepth, "first make one group per scope down to this depth");
    app->add_option("--group-file", file, "groups made by hand: lines op,group; they stay as they are");
    app->add_flag("--coplacement", coplacement, "ops with one consumer join its group, whatever it costs");
    app->add_flag("--no-colocation", ignoreColocation, "let ops of one colocation key be apart");
}

Result<GroupingOptions> GroupInput::options() const {
    GroupingOptions options;
    options.targetGroups = target;
    options.scopeDepth = scopeDepth;
    options.coplacement = coplacement;
    options.colocation = !ignoreColocation;
    if (!file.empty()) {
        PW_TRY(options.byHand, formats::loadGroups(file));
    }
    return options;
}

Result<ProblemPtr> ProblemInput::compile(const GraphPtr& graph, const std::string& graphFile) const {
    PW_TRY(DeviceSet set, openDevices(devices, graphFile));
    const auto simModel = simModelFromName(model);
    if (!simModel)
        return fail(ErrorCode::Invalid, "no simulator model '" + model + "'; there are: links, reference", "--model");
    if (!(headroomPct >= 0.0 && headroomPct < 100.0))
        return fail(ErrorCode::Invalid, "must be at least 0 and below 100", "--memory-headroom");
    PW_TRY(const GroupingOptions grouping, groups.options());
    auto problem = PlacementProblem::compile(graph, std::move(set), grouping, SimOptions{*simModel, headroomPct});
    if (!problem && problem.error().file.empty()) {
        const bool aboutGraph = !graph->cycle().empty() || problem.error().code == ErrorCode::TooLarge;
        problem.error().file = aboutGraph ? graphFile : devices;
    }
    return problem;
}

Result<GraphPtr> openGraph(const Cli& cli, const std::string& spec, formats::LoadOptions options) {
    if (spec.starts_with("zoo:"))
        return zoo::makeFromSpec(spec);
    options.workerProgram = cli.program;
    options.stop = cli.stop.get_token();
    return formats::loadGraph(spec, options);
}

Result<formats::PlacementFile> openPlacement(const std::string& spec, const OpGraph& graph, const std::string& graphFile) {
    if (spec != "file")
        return formats::loadPlacement(spec);
    auto placement = formats::placementOfGraph(graph);
    if (!placement)
        placement.error().file = graphFile;
    return placement;
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

std::string methodNames(const Cli& cli) {
    return joined(cli.placers.names());
}

Result<const Placer*> findPlacer(const Cli& cli, const std::string& method) {
    if (const Placer* placer = cli.placers.find(method))
        return placer;
    return fail(ErrorCode::Invalid, "no method '" + method + "'; there are: " + methodNames(cli), "--method");
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

namespace {

/// As the file would be. The keys of an ordered object are not looked up one by one: that would be quadratic.
Json placementJson(const formats::PlacementFile& file) {
    Json assignment = Json::object();
    auto& members = static_cast<Json::object_t::Container&>(assignment.get_ref<Json::object_t&>());
    members.reserve(file.assignment.size());
    for (const auto& [op, device] : file.assignment)
        members.emplace_back(op, device);
    formats::PlacementFile head = file;
    head.assignment.clear();
    Json json = Json::parse(formats::toPlacementJson(head));
    json["assignment"] = std::move(assignment);
    return json;
}

} // namespace

Status addPlacementOutput(const Cli& cli, Json& json, const PlacementProblem& problem, const std::string& method,
                          std::uint64_t seed, const PlaceResult& result, const std::string& output) {
    if (output.empty() && !cli.json)
        return {};
    const auto file = formats::makePlacementFile(problem.graph(), problem.devices(), result.placement, method, seed);
    if (output.empty()) {
        json["placement"] = placementJson(file);
        return {};
    }
    PW_CHECK(formats::savePlacement(file, output, &problem.graph()));
    json["placement"] = output;
    return {};
}

} // namespace pw::cli
