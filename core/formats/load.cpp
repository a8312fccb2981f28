#include "core/formats/exporters.h"
#include "core/formats/importers.h"
#include "core/formats/recognise.h"

#include "core/base/text.h"

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxTextGraph = 512LL << 20;

struct Importer {
    Format format;
    Result<GraphPtr> (*read)(const Source&, const LoadOptions&);
};

constexpr Importer kImporters[] = {
    {Format::Onnx, importOnnx},
    {Format::OnnxText, importOnnxText},
    {Format::Dot, importDot},
    {Format::GraphJson, importGraphJson},
    {Format::DnnPartitioning, importDnnPartitioning},
    {Format::PipeDream, importPipeDream},
    {Format::DagBench, importDagBench},
    {Format::Stg, importStg},
    {Format::NGraph, importNGraph},
    {Format::Piper, importPiper},
    {Format::ModelExplorer, importModelExplorer},
    {Format::TfGraphDef, importTfGraphDef},
    {Format::TfGraphDefText, importTfGraphDefText},
    {Format::TfMetaGraph, importTfMetaGraph},
    {Format::TfMetaGraphText, importTfMetaGraphText},
    {Format::TfSavedModel, importTfSavedModel},
    {Format::TfSavedModelText, importTfSavedModelText},
    {Format::TfEvents, importTfEvents},
    {Format::TfJs, importTfJs},
    {Format::TfCostGraph, importTfCostGraph},
    {Format::TfCostGraphText, importTfCostGraphText},
    {Format::TorchScript, importTorchScript},
};

struct Exporter {
    const char* ending;
    Status (*write)(const OpGraph&, const Target&);
};

/// The longest matching ending wins.
constexpr Exporter kExporters[] = {
    {".graph.json", exportGraphJson},
    {".json", exportGraphJson},
    {".dot", exportDot},
    {".gv", exportDot},
    {".graphml", exportGraphml},
    {".onnx", exportOnnx},
    {".pb", exportTensorFlow},
    {".pbtxt", exportTensorFlow},
    {".meta", exportTensorFlow},
};

const char* kindName(FileKind kind) {
    switch (kind) {
    case FileKind::Placement: return "a placement";
    case FileKind::DeviceSet: return "a device set";
    case FileKind::Profile: return "a profile";
    case FileKind::Project: return "a Placewright project";
    case FileKind::Policy: return "a policy";
    case FileKind::Graph:
    case FileKind::Unknown: break;
    }
    return "";
}

/// "ONNX, Graphviz DOT and ...": the graph formats that can be read.
std::string readableFormats() {
    std::vector<std::string> titles;
    for (const FormatInfo& format : knownFormats()) {
        if (format.kind == FileKind::Graph && format.canRead)
            titles.push_back(format.title);
    }
    std::string list;
    for (std::size_t i = 0; i < titles.size(); ++i)
        list += (i == 0 ? "" : i + 1 == titles.size() ? " and " : ", ") + titles[i];
    return list;
}

tl::unexpected<Error> notAGraph(const Recognition& found, const std::string& path, std::int64_t size) {
    if (size == 0)
        return fail(ErrorCode::Parse, "is empty");
    if (found.format != Format::Unknown)
        return fail(ErrorCode::Unsupported, std::string("is ") + kindName(kindOf(found.format)) + ", not a graph");
    const std::string known = "this program opens " + readableFormats();
    if (!found.foreign.empty())
        return fail(ErrorCode::Unsupported, "is " + found.foreign + "; " + known);
    if (text::toLower(path).ends_with(".onnx"))
        return fail(ErrorCode::Parse, "is not an ONNX model, whatever its ending says; " + known);
    return fail(ErrorCode::Unsupported, "is in no format that this program knows; " + known);
}

/// The file's name without folder and known endings: the name of a graph that has none.
std::string baseNameOf(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);
    const std::string lower = text::toLower(name);
    std::size_t longest = 0;
    for (const FormatInfo& format : knownFormats()) {
        for (const std::string& ending : format.endings) {
            if (name.size() > ending.size() && lower.ends_with(ending))
                longest = std::max(longest, ending.size());
        }
    }
    return name.substr(0, name.size() - longest);
}

/// A text that has the look of JSON but not our format key near its start.
bool mayBeGraphJson(std::string_view head, const Recognition& found) {
    const std::string_view start = text::trim(head);
    return found.format == Format::Unknown && found.foreign.empty() && !start.empty() &&
           (start.front() == '{' || start.starts_with("\xef\xbb\xbf{"));
}

Result<GraphPtr> loadRecognised(Recognition found, std::string_view head, const OpenFile& file, const std::string& path,
                                const LoadOptions& options) {
    if (mayBeGraphJson(head, found))
        found.format = Format::GraphJson;
    for (const Importer& importer : kImporters) {
        if (importer.format == found.format)
            return importer.read({file, path, baseNameOf(path)}, options);
    }
    return notAGraph(found, path, file.size);
}

} // namespace

Result<std::string> Source::text() const {
    return readFile(path, kMaxTextGraph);
}

const std::vector<FormatInfo>& knownFormats() {
    static const std::vector<FormatInfo> kFormats = {
        {"ONNX", FileKind::Graph, {".onnx"}, true, true, true},
        {"ONNX text", FileKind::Graph, {".onnxtxt", ".prototxt"}, true, false},
        {"Graphviz DOT", FileKind::Graph, {".dot", ".gv"}, true, true},
        {"GraphML", FileKind::Graph, {".graphml"}, false, true},
        {"Placewright graph", FileKind::Graph, {".graph.json", ".json"}, true, true},
        {"dnn-partitioning workload", FileKind::Graph, {".json"}, true, false},
        {"PipeDream graph.txt", FileKind::Graph, {".txt"}, true, false},
        {"DAGBench/SAGA task graph", FileKind::Graph, {".json"}, true, false},
        {"Standard Task Graph", FileKind::Graph, {".stg"}, true, false},
        {"nGraph function", FileKind::Graph, {".json"}, true, false},
        {"Piper workload", FileKind::Graph, {".json"}, true, false},
        {"Model Explorer graph", FileKind::Graph, {".json"}, true, false},
        {"TensorFlow GraphDef", FileKind::Graph, {".pb", ".pbtxt"}, true, true, true},
        {"TensorFlow MetaGraphDef", FileKind::Graph, {".meta"}, true, true, true},
        {"TensorFlow SavedModel", FileKind::Graph, {".pb"}, true, true, true},
        {"TensorBoard event file", FileKind::Graph, {}, true, false},
        {"TensorFlow.js graph model", FileKind::Graph, {".json"}, true, false},
        {"TensorFlow CostGraphDef", FileKind::Graph, {".pbtxt"}, true, false},
        {"TorchScript", FileKind::Graph, {".pt", ".pth"}, true, false},
        {"Placewright placement", FileKind::Placement, {".placement.json"}, true, true},
        {"CSV placement (op,device)", FileKind::Placement, {".csv"}, true, true},
        {"device_map of PyTorch and Accelerate", FileKind::Placement, {".device_map.json"}, true, true},
        {"ONNX Runtime assignment", FileKind::Placement, {".ort.json"}, true, true},
        {"CSV placement with TensorFlow's devices", FileKind::Placement, {".tf.csv"}, true, true},
        {"profile: ONNX Runtime, Chrome trace, PyTorch", FileKind::Profile, {".json"}, true, false},
        {"profile: TensorFlow RunMetadata, StepStats", FileKind::Profile, {".pb", ".pbtxt"}, true, false},
        {"profile: CSV (op,us)", FileKind::Profile, {".csv"}, true, false},
        {"Placewright device set", FileKind::DeviceSet, {".devices.json"}, true, true},
    };
    return kFormats;
}

Result<GraphPtr> loadGraph(const std::string& path, const LoadOptions& options) {
    PW_TRY(const OpenFile file, openRegularFile(path));
    PW_TRY(const std::string head, readUpTo(file, kHeadBytes, path));
    auto graph = loadRecognised(recognise(head, file.size), head, file, path, options);
    if (options.stop.stop_requested())
        return fail(ErrorCode::Busy, "cancelled", {}, path);
    if (!graph && graph.error().file.empty())
        graph.error().file = path;
    return graph;
}

Status saveGraph(const OpGraph& graph, const std::string& path, const SaveOptions& options) {
    DeviceNames deviceOf;
    if (!options.placement.empty()) {
        if (options.devices == nullptr || options.placement.size() != graph.opCount())
            return fail(ErrorCode::Internal, "a placement needs its device set and a device per op");
        for (const DeviceId id : options.placement)
            deviceOf.push_back(options.devices->device(id).name);
    }
    const std::string lower = text::toLower(path);
    const Exporter* best = nullptr;
    std::string endings;
    for (const Exporter& exporter : kExporters) {
        const std::string_view ending = exporter.ending;
        if (lower.ends_with(ending) && (best == nullptr || ending.size() > std::string_view(best->ending).size()))
            best = &exporter;
        (endings += endings.empty() ? "" : ", ") += ending;
    }
    if (best == nullptr)
        return fail(ErrorCode::Unsupported, "cannot write a graph with this ending; there are " + endings, {}, path);
    return best->write(graph, {path, deviceOf, options.source});
}

} // namespace pw::formats
