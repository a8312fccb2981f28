#include "core/formats/formats.h"

#include "core/base/text.h"
#include "core/formats/csv.h"
#include "core/formats/device_maps.h"
#include "core/formats/device_names.h"
#include "core/formats/published.h"
#include "core/formats/recognise.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxPlacementFile = 512LL << 20;

Status readStrings(const JsonObject& object, const char* key, std::vector<std::string>& into) {
    PW_TRY(const Json* const list, object.array(key));
    for (std::size_t i = 0; i < list->size(); ++i) {
        PW_TRY(std::string text, jsonText((*list)[i], object.pathOf(key) + "[" + std::to_string(i) + "]"));
        into.push_back(std::move(text));
    }
    return {};
}

Result<PlacementFile> readPlacementJson(const JsonObject& document) {
    PlacementFile file;
    if (const Json* graph = document.find("graph")) {
        PW_TRY(const JsonObject object, JsonObject::of(*graph, "graph"));
        PW_TRY(file.graphName, object.text("name"));
        PW_TRY(file.graphHash, object.text("hash"));
    }
    PW_CHECK(readStrings(document, "devices", file.devices));
    PW_CHECK(readStrings(document, "pinned", file.pinned));
    if (document.find("default") != nullptr) {
        PW_TRY(file.defaultDevice, document.text("default"));
    }
    if (const Json* assignment = document.find("assignment")) {
        PW_TRY(const JsonObject map, JsonObject::of(*assignment, "assignment"));
        for (const auto& [op, device] : map.value().items()) {
            PW_TRY(std::string name, jsonText(device, "assignment." + op));
            file.assignment.emplace(op, std::move(name));
        }
    }
    if (const Json* madeBy = document.find("made_by")) {
        PW_TRY(const JsonObject object, JsonObject::of(*madeBy, "made_by"));
        PW_TRY(file.method, object.text("method"));
        if (const Json* seed = object.find("seed")) {
            if (!seed->is_number_unsigned())
                return fail(ErrorCode::Parse, "expected a whole number, 0 or more", "made_by.seed");
            file.seed = seed->get<std::uint64_t>();
        }
    }
    return file;
}

Result<PlacementFile> readPlacementCsv(std::string_view text) {
    PlacementFile file;
    CsvReader reader(text);
    std::vector<std::string> row;
    for (bool first = true; reader.next(row); first = false) {
        const std::string where = "line " + std::to_string(reader.line());
        if (row.size() == 1 && row.front().empty())
            continue;
        if (row.size() < 2)
            return fail(ErrorCode::Parse, "expected \"op,device\"", where);
        if (first && row[0] == "op" && row[1] == "device")
            continue;
        if (!file.assignment.emplace(row[0], row[1]).second)
            return fail(ErrorCode::Invalid, "op \"" + row[0] + "\" is named twice", where);
        if (std::find(file.devices.begin(), file.devices.end(), row[1]) == file.devices.end() &&
            file.devices.size() < 1024)
            file.devices.push_back(row[1]);
    }
    if (!reader.error().empty())
        return fail(ErrorCode::Parse, reader.error(), "line " + std::to_string(reader.line()));
    if (file.assignment.empty())
        return fail(ErrorCode::Parse, "holds no assignment");
    return file;
}

void warnAboutMisses(const PlacementFile& file, const OpGraph& graph, std::size_t misses,
                     std::vector<Warning>& warnings) {
    const bool otherGraph = !file.graphHash.empty() && file.graphHash != graph.hash();
    if (!otherGraph && misses == 0)
        return;
    const std::string of = text::grouped(static_cast<std::int64_t>(misses)) + " of " +
                           text::grouped(static_cast<std::int64_t>(file.assignment.size() + file.scopes.size())) +
                           (file.scopes.empty() ? " named ops are not in this graph" : " named modules are not in this graph");
    warnings.push_back({otherGraph ? "other_graph" : "unknown_op", file.graphName,
                        otherGraph ? "the placement was made for another graph; applied by name, " + of : of});
}

} // namespace

Result<PlacementFile> loadPlacement(const std::string& path) {
    PW_TRY(const std::string content, readFile(path, kMaxPlacementFile));
    const std::string_view trimmed = text::trim(content);
    const std::string_view head = std::string_view(content).substr(0, kHeadBytes);
    const Format format = recognise(head, static_cast<std::int64_t>(content.size())).format;
    Result<PlacementFile> file = PlacementFile();
    if (format == Format::DnnPartitioningSplit) {
        PW_TRY(const Json document, parseJson(content, path));
        file = readDnnPartitioningSplit(JsonObject(document, {}));
    } else if (format == Format::PipeDream) {
        file = readPipeDreamStages(content);
    } else if (format == Format::OrtAssignment) {
        PW_TRY(const Json document, parseJson(content, path));
        file = readOrtAssignment(document);
    } else if (format == Format::DeviceMap) {
        PW_TRY(const Json document, parseJson(content, path));
        file = readDeviceMap(JsonObject(document, {}));
    } else if (!trimmed.empty() && trimmed.front() == '{') {
        PW_TRY(const Json document, parseDocument(content, "placewright-placement", path));
        file = readPlacementJson(JsonObject(document, {}));
    } else if (text::isValidUtf8(content) && content.find('\0') == std::string::npos) {
        file = readPlacementCsv(content);
    } else {
        file = fail(ErrorCode::Parse, "is neither a placement in JSON nor a table \"op,device\"");
    }
    if (file)
        shortenTfDevices(*file);
    else
        file.error().file = path;
    return file;
}

Result<PlacementFile> placementOfGraph(const OpGraph& graph) {
    PlacementFile file;
    file.graphName = graph.name();
    file.graphHash = graph.hash();
    file.restOnFirstDevice = true;
    std::set<std::string> devices;
    for (const Op& op : graph.ops()) {
        if (op.device.empty())
            continue;
        file.assignment.emplace(op.name, op.device);
        if (devices.insert(op.device).second && file.devices.size() < 1024)
            file.devices.push_back(op.device);
    }
    if (file.assignment.empty())
        return fail(ErrorCode::NotFound, "the graph's file gives no op a device");
    shortenTfDevices(file);
    return file;
}

namespace {

/// Ops by the names that a placement file has for them.
class NamedOps {
public:
    NamedOps(const OpGraph& graph, const std::string& attribute)
        : m_graph(graph)
        , m_isByAttribute(!attribute.empty()) {
        for (std::size_t i = 0; m_isByAttribute && i < graph.opCount(); ++i) {
            for (const auto& [key, value] : graph.op(OpId(i)).attributes) {
                if (key == attribute)
                    m_byAttribute.emplace(value, OpId(i));
            }
        }
    }

    std::optional<OpId> find(const std::string& name) const {
        if (!m_isByAttribute)
            return m_graph.findOp(name);
        const auto found = m_byAttribute.find(name);
        return found == m_byAttribute.end() ? std::nullopt : std::optional<OpId>(found->second);
    }

private:
    const OpGraph& m_graph;
    bool m_isByAttribute;
    std::unordered_map<std::string_view, OpId> m_byAttribute;
};

} // namespace

namespace {

/// What is left without a device by names and module paths.
Status placeRest(const PlacementFile& file, const OpGraph& graph, std::vector<DeviceId>& placement,
                 std::vector<Warning>& warnings) {
    std::size_t rest = 0;
    for (std::size_t i = 0; i < placement.size(); ++i) {
        if (placement[i].isValid())
            continue;
        if (!file.restOnFirstDevice)
            return fail(ErrorCode::Invalid, "has no device and there is no default",
                        "op \"" + graph.op(OpId(i)).name + "\"");
        placement[i] = DeviceId(0);
        ++rest;
    }
    if (rest > 0)
        warnings.push_back({"unplaced_ops", "", text::grouped(static_cast<std::int64_t>(rest)) +
                                                    " ops have no device there and take the first one"});
    return {};
}

/// Places the ops that have no device yet by the file's module paths; counts paths that lead to no op.
Result<std::size_t> placeByScopes(const PlacementFile& file, const OpGraph& graph, DeviceFinder& finder,
                                  std::vector<DeviceId>& placement) {
    ScopeMap scopes(file.scopes);
    for (std::size_t i = 0; i < placement.size(); ++i) {
        const std::string* device = placement[i].isValid() ? nullptr : scopes.find(graph, OpId(i));
        if (device != nullptr) {
            PW_TRY(placement[i], finder.find(*device, "op \"" + graph.op(OpId(i)).name + "\""));
        }
    }
    return scopes.unusedCount();
}

} // namespace

Result<std::vector<DeviceId>> applyPlacement(const PlacementFile& file, const OpGraph& graph, const DeviceSet& devices,
                                             std::vector<Warning>& warnings) {
    DeviceFinder finder(devices, file);
    std::vector<DeviceId> placement(graph.opCount());
    std::size_t misses = 0;
    const NamedOps ops(graph, file.nameAttribute);
    for (const auto& [op, device] : file.assignment) {
        PW_TRY(const DeviceId id, finder.find(device, "op \"" + op + "\""));
        if (const auto found = ops.find(op))
            placement[found->index()] = id;
        else
            ++misses;
    }
    if (!file.scopes.empty()) {
        PW_TRY(const std::size_t unused, placeByScopes(file, graph, finder, placement));
        misses += unused;
    }
    const std::size_t named = file.assignment.size() + file.scopes.size();
    if (named > 0 && misses == named && graph.opCount() > 0) {
        return fail(ErrorCode::Invalid, "none of the " + text::grouped(static_cast<std::int64_t>(misses)) +
                                            (file.scopes.empty() ? " ops" : " modules") + " of the placement is in graph \"" +
                                            graph.name() + "\"");
    }
    if (file.defaultDevice) {
        PW_TRY(const DeviceId fallback, finder.find(*file.defaultDevice, "default"));
        std::replace(placement.begin(), placement.end(), DeviceId(), fallback);
    }
    PW_CHECK(placeRest(file, graph, placement, warnings));
    if (finder.usedCpuForDisk())
        warnings.push_back({"disk", "", "\"disk\" is no device that computes; its ops run on the CPU"});
    warnAboutMisses(file, graph, misses, warnings);
    return placement;
}

PlacementFile makePlacementFile(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement,
                                std::string method, std::uint64_t seed) {
    PlacementFile file;
    file.graphName = graph.name();
    file.graphHash = graph.hash();
    file.method = std::move(method);
    file.seed = seed;
    for (const Device& device : devices.devices()) {
        file.devices.push_back(device.name);
        file.deviceKinds.push_back(device.kind);
    }
    for (std::size_t i = 0; i < placement.size(); ++i)
        file.assignment.emplace(graph.op(OpId(i)).name, devices.device(placement[i]).name);
    return file;
}

std::string toPlacementJson(const PlacementFile& file) {
    const auto list = [](const std::vector<std::string>& texts) {
        std::string out = "[";
        for (const auto& item : texts)
            out += (out.size() > 1 ? ", " : "") + jsonString(item);
        return out + "]";
    };
    std::string out = "{ \"format\": \"placewright-placement\", \"version\": 1,\n  \"graph\": {\"name\": " +
                      jsonString(file.graphName) + ", \"hash\": " + jsonString(file.graphHash) +
                      "},\n  \"devices\": " + list(file.devices);
    if (file.defaultDevice)
        out += ",\n  \"default\": " + jsonString(*file.defaultDevice);
    out += ",\n  \"assignment\": {";
    const char* separator = "\n";
    for (const auto& [op, device] : file.assignment) {
        out += separator + std::string("    ") + jsonString(op) + ": " + jsonString(device);
        separator = ",\n";
    }
    out += " }";
    if (!file.pinned.empty())
        out += ",\n  \"pinned\": " + list(file.pinned);
    if (!file.method.empty())
        out += ",\n  \"made_by\": {\"method\": " + jsonString(file.method) +
               ", \"seed\": " + std::to_string(file.seed) + "}";
    return out + " }\n";
}

namespace {

Result<std::string> toCsv(const PlacementFile& file) {
    std::string out = "op,device\n";
    for (const auto& [op, device] : file.assignment)
        out += csvField(op) + "," + csvField(device) + "\n";
    return out;
}

} // namespace

bool isPlacementPath(const std::string& path) {
    const std::string lower = text::toLower(path);
    for (const char* ending : {".placement.json", ".device_map.json", ".ort.json", ".csv"}) {
        if (lower.ends_with(ending))
            return true;
    }
    return false;
}

Status savePlacement(const PlacementFile& file, const std::string& path, const OpGraph* graph) {
    const std::string lower = text::toLower(path);
    if (!lower.ends_with(".json") && !lower.ends_with(".csv")) {
        return fail(ErrorCode::Unsupported,
                    "cannot write a placement with this ending; there are .placement.json, .json, .csv, .tf.csv, "
                    ".device_map.json, .ort.json",
                    {}, path);
    }
    auto content = lower.ends_with(".tf.csv")            ? toTfCsv(file)
                   : lower.ends_with(".csv")             ? toCsv(file)
                   : lower.ends_with(".device_map.json") ? toDeviceMap(file, graph)
                   : lower.ends_with(".ort.json")        ? toOrtAssignment(file)
                                                         : Result<std::string>(toPlacementJson(file));
    if (!content && content.error().file.empty())
        content.error().file = path;
    PW_TRY(const std::string text, std::move(content));
    return writeFileAtomically(path, text);
}

} // namespace pw::formats
