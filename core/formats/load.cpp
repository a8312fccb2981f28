#include "core/formats/dot.h"
#include "core/formats/file_handle.h"
#include "core/formats/graph_json.h"
#include "core/formats/onnx_import.h"
#include "core/formats/recognise.h"

#include "core/base/text.h"

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxTextGraph = 512LL << 20;

const char* kindName(FileKind kind) {
    switch (kind) {
    case FileKind::PlacementJson:
    case FileKind::PlacementCsv:
        return "a placement";
    case FileKind::DevicesJson:
        return "a device set";
    case FileKind::Project:
        return "a Placewright project";
    case FileKind::Policy:
        return "a policy";
    default:
        return "";
    }
}

tl::unexpected<Error> notAGraph(const Recognition& found, const std::string& path, std::int64_t size) {
    if (size == 0)
        return fail(ErrorCode::Parse, "is empty", {}, path);
    if (found.kind != FileKind::Unknown)
        return fail(ErrorCode::Unsupported, std::string("is ") + kindName(found.kind) + ", not a graph", {}, path);
    const std::string known = "this program opens ONNX, ONNX text, Graphviz DOT and its own graph JSON";
    if (!found.foreign.empty())
        return fail(ErrorCode::Unsupported, "is " + found.foreign + "; " + known, {}, path);
    if (text::toLower(path).ends_with(".onnx"))
        return fail(ErrorCode::Parse, "is not an ONNX model, whatever its ending says; " + known, {}, path);
    return fail(ErrorCode::Unsupported, "is in no format that this program knows; " + known, {}, path);
}

/// The file's name without folder and known endings: the name of a graph that has none.
std::string baseName(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);
    for (const std::string_view ending : {".graph.json", ".json", ".onnx", ".onnxtxt", ".dot", ".gv"}) {
        if (name.size() > ending.size() && text::toLower(name).ends_with(ending))
            return name.substr(0, name.size() - ending.size());
    }
    return name;
}

/// A text that has the look of JSON but not our format key near its start.
bool mayBeGraphJson(std::string_view head, const Recognition& found) {
    const std::string_view start = text::trim(head);
    return found.kind == FileKind::Unknown && found.foreign.empty() && !start.empty() &&
           (start.front() == '{' || start.starts_with("\xef\xbb\xbf{"));
}

Result<GraphPtr> loadRecognised(const Recognition& found, std::string_view head, const OpenFile& file,
                                const std::string& path, const LoadOptions& options) {
    if (found.kind == FileKind::Onnx)
        return importOnnx(file, path, baseName(path), options);
    const bool isJson = found.kind == FileKind::GraphJson || mayBeGraphJson(head, found);
    if (!isJson && found.kind != FileKind::Dot && found.kind != FileKind::OnnxText)
        return notAGraph(found, path, file.size);
    PW_TRY(const std::string content, readFile(path, kMaxTextGraph));
    if (isJson)
        return fromGraphJson(content, path);
    if (found.kind == FileKind::Dot)
        return importDot(content, path, baseName(path), options.stop);
    return importOnnxText(content, path, baseName(path), options);
}

} // namespace

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

Status saveGraph(const OpGraph& graph, const std::string& path, std::span<const DeviceId> placement,
                 const DeviceSet* devices) {
    DeviceNames deviceOf;
    if (!placement.empty()) {
        if (devices == nullptr || placement.size() != graph.opCount())
            return fail(ErrorCode::Internal, "a placement needs its device set and a device per op");
        for (const DeviceId id : placement)
            deviceOf.push_back(devices->device(id).name);
    }
    const std::string lower = text::toLower(path);
    if (lower.ends_with(".json"))
        return writeFileAtomically(path, toGraphJson(graph, deviceOf));
    if (lower.ends_with(".dot") || lower.ends_with(".gv"))
        return writeFileAtomically(path, toDot(graph, deviceOf));
    return fail(ErrorCode::Unsupported, "cannot write a graph with this ending; use .graph.json, .json, .dot or .gv",
                {}, path);
}

} // namespace pw::formats
