#include "core/formats/recognise.h"

#include "core/base/text.h"
#include "core/formats/file_handle.h"
#include "core/formats/side_files.h"
#include "core/formats/zip_directory.h"
#include "core/formats/tf_recognise.h"
#include "core/formats/wire_head.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace pw::formats {

namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool isPrintable(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return c >= 0x20 || c == '\n' || c == '\t' || c == '\r'; });
}

/// Top level of ModelProto: field 7 is the graph. Wire types and lengths must fit, text must be text.
bool looksLikeOnnx(std::string_view head, std::int64_t fileSize) {
    FieldWalk walk(head);
    bool versionSeen = false;
    bool opsetSeen = false;
    while (walk.next()) {
        const bool isNumber = walk.field == 1 || walk.field == 5;
        static constexpr std::array<std::uint32_t, 9> kMessages = {2, 3, 4, 6, 7, 8, 14, 20, 25};
        if (isNumber != (walk.wire == 0))
            return false;
        if (!isNumber && std::find(kMessages.begin(), kMessages.end(), walk.field) == kMessages.end())
            return versionSeen && opsetSeen; // newer than what is known here
        versionSeen = versionSeen || walk.field == 1;
        opsetSeen = opsetSeen || walk.field == 8;
        if (walk.wire != 2)
            continue;
        const bool fits = static_cast<std::int64_t>(walk.start) <= fileSize &&
                          walk.length <= static_cast<std::uint64_t>(fileSize) - walk.start;
        if (walk.field == 7)
            return fits || versionSeen; // a file that was cut off is still recognised, and refused with the reason
        if (!fits || ((walk.field == 2 || walk.field == 3 || walk.field == 4) && !isPrintable(walk.payload)))
            return false;
    }
    return versionSeen && opsetSeen;
}

std::string foreignBinary(std::string_view head) {
    struct Magic {
        std::string_view bytes;
        std::size_t offset;
        const char* what;
    };
    static constexpr std::array<Magic, 5> kMagics = {{
        {"\x1f\x8b", 0, "a gzip archive: unpack it first"},
        {"\x89HDF\r\n", 0, "an HDF5 file, as Keras writes its models"},
        {"TFL3", 4, "a TensorFlow Lite model"},
        {"GGUF", 0, "a GGUF file of weights"},
        {"\x93NUMPY", 0, "a NumPy array"},
    }};
    for (const Magic& magic : kMagics) {
        if (head.substr(std::min(magic.offset, head.size())).starts_with(magic.bytes))
            return magic.what;
    }
    if (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
        return "a Python pickle (weights of PyTorch, graphs of GiPH): reading one runs code, so it stays closed";
    if (head.size() > 9 && head.substr(8, 2) == "{\"" && head.substr(4, 4) == std::string_view("\0\0\0\0", 4))
        return "a safetensors file of weights";
    return {};
}

/// The text without leading spaces and comments ("//", "/* */", "#" lines).
std::string_view skipComments(std::string_view text) {
    while (true) {
        text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
        std::string_view end;
        if (text.starts_with("//") || text.starts_with("#"))
            end = "\n";
        else if (text.starts_with("/*"))
            end = "*/";
        else
            return text;
        const auto at = text.find(end);
        text = at == std::string_view::npos ? std::string_view() : text.substr(at + end.size());
    }
}

bool looksLikeDot(std::string_view head) {
    std::string start = text::toLower(skipComments(head).substr(0, 80));
    std::string_view rest = start;
    const auto word = [&](std::string_view expected) {
        if (!rest.starts_with(expected) ||
            (rest.size() > expected.size() && std::isalnum(static_cast<unsigned char>(rest[expected.size()])) != 0))
            return false;
        rest = skipComments(rest.substr(expected.size()));
        return true;
    };
    word("strict");
    if (!word("digraph") && !word("graph"))
        return false;
    // "graph { node { ..." is protobuf text, "graph name {" and "graph {" with anything else are DOT.
    if (!rest.starts_with("{"))
        return !rest.starts_with(":");
    const std::string_view inner = skipComments(rest.substr(1));
    return !inner.starts_with("node {") && !inner.starts_with("node{") && !contains(head, "op_type:");
}

/// The value of the key "format" if the head holds it.
std::string_view declaredFormat(std::string_view head) {
    const auto key = head.find("\"format\"");
    if (key == std::string_view::npos)
        return {};
    std::string_view rest = head.substr(key + 8);
    rest = rest.substr(std::min(rest.find_first_not_of(" \t\r\n:"), rest.size()));
    if (!rest.starts_with('"'))
        return {};
    rest.remove_prefix(1);
    return rest.substr(0, rest.find('"'));
}

Recognition recogniseJson(std::string_view head) {
    const std::string_view format = declaredFormat(head);
    if (format == "placewright-graph")
        return {Format::GraphJson, {}};
    if (format == "placewright-placement")
        return {Format::PlacementJson, {}};
    if (format == "placewright-devices")
        return {Format::DevicesJson, {}};
    if (format == "placewright-policy")
        return {Format::Policy, {}};
    // Keys may stand anywhere, and a file may begin with any of its lists: several keys tell each format.
    struct Hint {
        std::string_view key;
        std::string_view and_; ///< another key that must be there, too; may be empty
        Format format;
        const char* what; ///< for formats that are only known by name
    };
    static constexpr std::array<Hint, 27> kHints = {{
        {"\"layers-model\"", "", Format::TfJs, ""},
        {"\"modelTopology\"", "", Format::TfJs, ""},
        {"\"graph-model\"", "", Format::TfJs, ""},
        {"\"weightsManifest\"", "", Format::TfJs, ""},
        {"\"nbformat\"", "", Format::Unknown, "a notebook"},
        {"\"fpgas\"", "\"nodes\"", Format::DnnPartitioningSplit, ""},
        {"\"cpus\"", "\"nodes\"", Format::DnnPartitioningSplit, ""},
        {"\"maxSizePerFPGA\"", "", Format::DnnPartitioning, ""},
        {"\"maxFPGAs\"", "", Format::DnnPartitioning, ""},
        {"\"fpgaLatency\"", "", Format::DnnPartitioning, ""},
        {"\"supportedOnFpga\"", "", Format::DnnPartitioning, ""},
        {"\"destId\"", "\"cost\"", Format::DnnPartitioning, ""},
        {"\"TMPCs\"", "", Format::Piper, ""},
        {"\"timePerSample\"", "", Format::Piper, ""},
        {"\"communicationCost\"", "", Format::Piper, ""},
        {"\"maxMemoryPerDevice\"", "", Format::Piper, ""},
        {"\"task_graph\"", "", Format::DagBench, ""},
        {"\"dependencies\"", "\"tasks\"", Format::DagBench, ""},
        {"\"network\"", "\"speed\"", Format::DagBench, ""},
        {"\"incomingEdges\"", "", Format::ModelExplorer, ""},
        {"\"sourceNodeId\"", "", Format::ModelExplorer, ""},
        {"\"graphCollections\"", "", Format::ModelExplorer, ""},
        {"\"graphs\"", "\"namespace\"", Format::ModelExplorer, ""},
        {"\"element_type\"", "\"op\"", Format::NGraph, ""},
        {"\"value_type\"", "\"op\"", Format::NGraph, ""},
        {"\"reduction_axes_count\"", "\"op\"", Format::NGraph, ""},
        {"\"lower_bounds\"", "\"op\"", Format::NGraph, ""},
    }};
    for (const Hint& hint : kHints) {
        if (!contains(head, hint.key) || !contains(head, hint.and_))
            continue;
        if (hint.format != Format::Unknown)
            return {hint.format, {}};
        return {Format::Unknown, std::string(hint.what) + " in JSON"};
    }
    return {recogniseSideJson(head), {}};
}

/// A line of one or two counts, then "id time predecessors ...", where the first id is 0 or 1. "#" lines are comments.
bool looksLikeStg(std::string_view head) {
    std::vector<std::string_view> lines;
    while (!head.empty() && lines.size() < 3) {
        const auto end = std::min(head.find('\n'), head.size());
        const std::string_view line = text::trim(head.substr(0, end));
        head.remove_prefix(std::min(end + 1, head.size()));
        if (!line.empty() && line.front() != '#')
            lines.push_back(line);
    }
    if (lines.size() < 2)
        return false;
    for (std::size_t i = 0; i < 2; ++i) {
        if (lines[i].find_first_not_of("0123456789. \t") != std::string_view::npos)
            return false;
    }
    const auto fieldCount = [](std::string_view line) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const bool isBlank = line[i] == ' ' || line[i] == '\t';
            count += !isBlank && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t') ? 1 : 0;
        }
        return count;
    };
    const bool startsAtFirst = lines[1].front() == '0' || lines[1].front() == '1';
    return fieldCount(lines[0]) <= 2 && fieldCount(lines[1]) >= 3 && startsAtFirst;
}

Recognition recogniseText(std::string_view head) {
    const std::string_view start = skipComments(head);
    const std::string lower = text::toLower(start.substr(0, 64));
    if (head.starts_with("version https://git-lfs.github.com/spec"))
        return {Format::Unknown, "a Git LFS pointer, not the model itself: run \"git lfs pull\""};
    if (lower.starts_with("<!doctype html") || lower.starts_with("<html"))
        return {Format::Unknown, "a web page (HTML), not a model: the download went wrong"};
    if (lower.starts_with("<?xml") || lower.starts_with("<svg"))
        return {Format::Unknown, "an XML file"};
    if (start.starts_with("{") || start.starts_with("["))
        return recogniseJson(head);
    if (looksLikeDot(head))
        return {Format::Dot, {}};
    if (looksLikeStepStatsText(head))
        return {Format::TfStepStatsText, {}};
    if (contains(head, "ir_version:") || (start.starts_with("graph") && contains(head, "op_type:")))
        return {Format::OnnxText, {}};
    if (const Recognition found = recogniseTensorFlowText(head); found.format != Format::Unknown || !found.foreign.empty())
        return found;
    if (contains(head, "forward_compute_time="))
        return {Format::PipeDream, {}};
    if (looksLikeStg(head))
        return {Format::Stg, {}};
    return {recogniseTable(head), {}};
}

} // namespace

Recognition recognise(std::string_view head, std::int64_t fileSize) {
    if (head.starts_with(std::string_view("SQLite format 3\0", 16)))
        return {Format::Project, {}};
    if (contains(head.substr(0, 256), "placewright-policy"))
        return {Format::Policy, {}};
    if (looksLikeOnnx(head, fileSize))
        return {Format::Onnx, {}};
    if (looksLikeStepStats(head))
        return {Format::TfStepStats, {}};
    if (const Format format = recogniseTensorFlow(head, fileSize); format != Format::Unknown)
        return {format, {}};
    if (head.starts_with("PK\x03\x04"))
        return recogniseZip(head);
    if (head.find('\0') != std::string_view::npos)
        return {Format::Unknown, foreignBinary(head)};
    std::string_view text = head;
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    Recognition found = recogniseText(text);
    if (found.format == Format::Unknown && found.foreign.empty())
        found.foreign = foreignBinary(head);
    return found;
}

FileKind kindOf(Format format) {
    switch (format) {
    case Format::Unknown: return FileKind::Unknown;
    case Format::PlacementJson:
    case Format::DnnPartitioningSplit:
    case Format::DeviceMap:
    case Format::OrtAssignment:
    case Format::PlacementCsv: return FileKind::Placement;
    case Format::TraceProfile:
    case Format::TfStepStats:
    case Format::TfStepStatsText:
    case Format::CsvProfile: return FileKind::Profile;
    case Format::DevicesJson: return FileKind::DeviceSet;
    case Format::Project: return FileKind::Project;
    case Format::Policy: return FileKind::Policy;
    default: return FileKind::Graph;
    }
}

Result<FileKind> sniff(const std::string& path) {
    PW_TRY(const OpenFile file, openRegularFile(path));
    PW_TRY(const std::string head, readUpTo(file, kHeadBytes, path));
    return kindOf(recognise(head, file.size).format);
}

} // namespace pw::formats
