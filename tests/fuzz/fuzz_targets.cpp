#include "tests/fuzz/fuzz_targets.h"

#include "core/devices/cost_model.h"
#include "core/formats/exporters.h"
#include "core/formats/groups_csv.h"
#include "core/formats/importers.h"
#include "core/formats/profile.h"
#include "core/formats/tf_edits.h"
#include "core/formats/torchscript_protocol.h"
#include "core/formats/zip_directory.h"
#include "core/graph/graph_builder.h"
#include "core/graph/graph_stats.h"
#include "tests/formats/temp_file.h"

#include <functional>
#include <iterator>
#include <stdexcept>

namespace pw::test {

namespace {

using Read = std::function<Status(const std::string& path)>;

/// Does to a graph what opening its file does, statistics and costs, and what saving it does.
void use(const OpGraph& graph) {
    static const DeviceSet kDevices = *devicePreset("CPU+1xP100");
    static_cast<void>(computeStats(graph));
    static_cast<void>(computeCosts(graph, kDevices));
    static_cast<void>(formats::toDot(graph, {}));
    if (const auto again = formats::fromGraphJson(formats::toGraphJson(graph)); !again)
        throw std::logic_error("what was written cannot be read: " + again.error().toString());
}

Status used(const Result<GraphPtr>& opened) {
    if (!opened)
        return fail(opened.error());
    use(**opened);
    return {};
}

Read graph(Result<GraphPtr> (*import)(const formats::Source&, const formats::LoadOptions&)) {
    return [import](const std::string& path) -> Status {
        PW_TRY(const formats::OpenFile file, formats::openRegularFile(path));
        return used(import(formats::Source{file, path, "fuzz"}, {}));
    };
}

Status readAnyGraph(const std::string& path) {
    static_cast<void>(formats::sniff(path));
    return used(formats::loadGraph(path));
}

/// Without a worker, importTorchScript() reads no more than the archive's directory.
Status readTorchScript(const std::string& path) {
    PW_TRY(const formats::OpenFile file, formats::openRegularFile(path));
    PW_TRY(const auto names, formats::zipEntryNames(file));
    const auto opened = formats::importTorchScript(formats::Source{file, path, "fuzz"}, {});
    if (opened || opened.error().message.find("placewright-cli") == std::string::npos)
        return fail(ErrorCode::Unsupported, "is no program");
    return {};
}

/// What a TorchScript worker may answer, and what it may be asked.
Status readTorchScriptAnswer(const std::string& path) {
    PW_TRY(const std::string text, formats::readFile(path, 1 << 20));
    static_cast<void>(formats::errorFromText(text));
    static_cast<void>(formats::requestFromText(text));
    return used(formats::graphFromText(text));
}

/// Puts devices into whatever TensorFlow file this is.
Status readTfEdits(const std::string& path) {
    PW_TRY(const std::string content, formats::readFile(path, 1 << 20));
    PW_TRY(const GraphPtr graph, formats::loadGraph(path));
    formats::tf::WantedDevices wanted(graph->opCount(), "/device:GPU:1");
    for (std::size_t i = 0; i < wanted.size(); i += 3)
        wanted[i] = i % 2 == 0 ? std::nullopt : std::optional<std::string>("");
    Status any = fail(ErrorCode::Parse, "is no TensorFlow file");
    for (const auto edit : {formats::tf::binaryEdits, formats::tf::textEdits}) {
        for (const auto wrapping : {formats::tf::Wrapping::GraphDef, formats::tf::Wrapping::MetaGraphDef,
                                    formats::tf::Wrapping::SavedModel}) {
            auto edits = edit(content, wrapping, wanted);
            if (!edits)
                continue;
            static_cast<void>(formats::tf::applied(content, std::move(*edits)));
            any = {};
        }
    }
    return any;
}

/// Puts devices into an ONNX file.
Status writeOnnxDevices(const std::string& path) {
    static const TempFolder kFolder;
    static const std::string kCopy = kFolder.path("copy.onnx");
    PW_TRY(const GraphPtr graph, formats::loadGraph(path));
    formats::DeviceNames names(graph->opCount());
    for (std::size_t i = 0; i < names.size(); ++i)
        names[i] = i % 3 == 0 ? "" : "gpu:" + std::to_string(i % 3);
    PW_CHECK(formats::exportOnnx(*graph, {kCopy, names, path}));
    if (const auto again = formats::loadGraph(kCopy); !again || (*again)->opCount() != graph->opCount())
        throw std::logic_error("the copy with devices is another graph");
    return {};
}

/// Ops "a" and "b", which the seeds of side files name.
const OpGraph& smallGraph() {
    static const GraphPtr kGraph = [] {
        GraphBuilder builder("small", "fuzz");
        for (const char* name : {"a", "b"}) {
            Op op;
            op.name = name;
            op.type = "MatMul";
            builder.addOp(std::move(op));
        }
        return std::move(builder).build().value();
    }();
    return *kGraph;
}

Status readPlacement(const std::string& path) {
    PW_TRY(const formats::PlacementFile file, formats::loadPlacement(path));
    std::vector<Warning> warnings;
    static_cast<void>(formats::applyPlacement(file, smallGraph(), *devicePreset("CPU+1xP100"), warnings));
    static_cast<void>(formats::toPlacementJson(file));
    return {};
}

Status readDevices(const std::string& path) {
    auto devices = formats::loadDeviceSet(path);
    if (!devices)
        devices = formats::loadDevicesOfGraph(path);
    if (!devices)
        return fail(devices.error());
    static_cast<void>(computeCosts(smallGraph(), *devices));
    if (const auto again = formats::fromDevicesJson(formats::toDevicesJson(*devices)); !again)
        throw std::logic_error("what was written cannot be read: " + again.error().toString());
    return {};
}

Status readProfile(const std::string& path) {
    PW_TRY(const formats::Profile profile, formats::loadProfile(path));
    formats::ProfileReport report;
    static_cast<void>(formats::applyProfile(smallGraph(), profile, report));
    return {};
}

Status readGroups(const std::string& path) {
    PW_TRY(const auto groups, formats::loadGroups(path));
    static_cast<void>(groups);
    return {};
}

struct Target {
    const char* name;
    Read read;
};

/// One line per reader of core/formats; tests/arch/check_fuzz_targets.py checks that none is missing.
const Target kTargets[] = {
    {"onnx", graph(formats::importOnnx)},
    {"onnx_text", graph(formats::importOnnxText)},
    {"dot", graph(formats::importDot)},
    {"graph_json", graph(formats::importGraphJson)},
    {"dnn_partitioning", graph(formats::importDnnPartitioning)},
    {"pipedream", graph(formats::importPipeDream)},
    {"dagbench", graph(formats::importDagBench)},
    {"stg", graph(formats::importStg)},
    {"ngraph", graph(formats::importNGraph)},
    {"piper", graph(formats::importPiper)},
    {"model_explorer", graph(formats::importModelExplorer)},
    {"tf_graph_def", graph(formats::importTfGraphDef)},
    {"tf_graph_def_text", graph(formats::importTfGraphDefText)},
    {"tf_meta_graph", graph(formats::importTfMetaGraph)},
    {"tf_meta_graph_text", graph(formats::importTfMetaGraphText)},
    {"tf_saved_model", graph(formats::importTfSavedModel)},
    {"tf_saved_model_text", graph(formats::importTfSavedModelText)},
    {"tf_events", graph(formats::importTfEvents)},
    {"tf_js", graph(formats::importTfJs)},
    {"tf_cost_graph", graph(formats::importTfCostGraph)},
    {"tf_cost_graph_text", graph(formats::importTfCostGraphText)},
    {"torchscript", readTorchScript}, // importTorchScript
    {"torchscript_answer", readTorchScriptAnswer},
    {"tf_edits", readTfEdits},
    {"onnx_devices", writeOnnxDevices},
    {"any_graph", readAnyGraph},
    {"placement", readPlacement}, // loadPlacement
    {"devices", readDevices},     // loadDeviceSet, loadDevicesOfGraph
    {"profile", readProfile},     // loadProfile
    {"groups", readGroups},       // loadGroups
};

} // namespace

std::optional<Status> fuzzOnce(std::string_view target, const std::string& path) {
    for (const Target& known : kTargets) {
        if (target == known.name)
            return known.read(path);
    }
    return std::nullopt;
}

} // namespace pw::test
