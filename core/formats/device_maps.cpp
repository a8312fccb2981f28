#include "core/formats/device_maps.h"

#include "core/base/text.h"
#include "core/formats/csv.h"
#include "core/formats/device_names.h"
#include "core/formats/tf_devices.h"

#include <algorithm>
#include <array>

namespace pw::formats {

namespace {

struct Provider {
    std::string_view name;
    std::string_view kind;
};
/// The first of a kind is the one that is written.
constexpr std::array<Provider, 7> kProviders = {{
    {"CUDAExecutionProvider", "gpu"},
    {"CPUExecutionProvider", "cpu"},
    {"TensorrtExecutionProvider", "gpu"},
    {"NvTensorRTRTXExecutionProvider", "gpu"},
    {"ROCMExecutionProvider", "gpu"},
    {"MIGraphXExecutionProvider", "gpu"},
    {"DmlExecutionProvider", "gpu"},
}};

/// "CUDAExecutionProvider" -> "gpu:0"; a number of the device may follow after a colon.
Result<std::string> deviceOfProvider(std::string_view written, std::size_t deviceId, const std::string& where) {
    const auto colon = written.find(':');
    const std::string_view name = written.substr(0, colon);
    for (const Provider& provider : kProviders) {
        if (provider.name != name)
            continue;
        if (colon == std::string_view::npos)
            return std::string(provider.kind) + ":" + std::to_string(deviceId);
        return std::string(provider.kind) + std::string(written.substr(colon));
    }
    return fail(ErrorCode::Unsupported,
                "the execution provider \"" + text::toValidUtf8(written) + "\" is not known here", where);
}

bool isProvider(std::string_view device) {
    return device.find("ExecutionProvider") != std::string_view::npos;
}

void noteDevice(PlacementFile& file, const std::string& device) {
    if (std::find(file.devices.begin(), file.devices.end(), device) == file.devices.end() && file.devices.size() < 1024)
        file.devices.push_back(device);
}

/// A device of PyTorch: the number of a GPU, or "cpu", "cuda:1", "disk".
Result<std::string> torchDevice(const Json& value, const std::string& where) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() < 1024)
        return "gpu:" + std::to_string(value.get<std::uint64_t>());
    if (!value.is_string())
        return fail(ErrorCode::Parse, "expected the number of a GPU or the name of a device, found " + jsonKind(value),
                    where);
    const auto& name = value.get_ref<const std::string&>();
    if (name == "disk")
        return name;
    if (name == "meta")
        return fail(ErrorCode::Unsupported, "\"meta\" is no device that could run an op", where);
    const auto parsed = DeviceName::parse(name);
    return parsed && parsed->place.empty() ? parsed->toString() : name;
}

/// "/model/layers.0//attn" -> "model.layers.0.attn".
std::string dotted(std::string_view path) {
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const bool isPair = path[i] == ':' && i + 1 < path.size() && path[i + 1] == ':';
        if (path[i] != '/' && path[i] != '.' && !isPair) {
            out += path[i];
            continue;
        }
        i += isPair ? 1 : 0;
        if (!out.empty() && out.back() != '.')
            out += '.';
    }
    if (!out.empty() && out.back() == '.')
        out.pop_back();
    return out;
}

/// Each op's device by name; every one must have one.
using DeviceOfOp = std::vector<const std::string*>;

/// The scopes and ops that say the same in the fewest words: a scope whose ops all share a device is one entry.
std::map<std::string, std::string> compressed(const OpGraph& graph, const DeviceOfOp& deviceOf) {
    std::vector<const std::string*> deviceOfScope(graph.scopeCount());
    std::vector<bool> isMixed(graph.scopeCount());
    const auto join = [&](std::size_t scope, const std::string* device) {
        if (deviceOfScope[scope] != nullptr && device != nullptr && *deviceOfScope[scope] != *device)
            isMixed[scope] = true;
        deviceOfScope[scope] = device != nullptr ? device : deviceOfScope[scope];
    };
    for (std::size_t s = graph.scopeCount(); s-- > 0;) { // inner scopes have the greater ids
        for (const OpId op : graph.scope(ScopeId(s)).ops)
            join(s, deviceOf[op.index()]);
        if (const ScopeId parent = graph.scope(ScopeId(s)).parent; parent.isValid()) {
            join(parent.index(), deviceOfScope[s]);
            isMixed[parent.index()] = isMixed[parent.index()] || isMixed[s];
        }
    }
    std::map<std::string, std::string> map;
    std::vector<ScopeId> open{ScopeId(0)};
    while (!open.empty()) {
        const ScopeId at = open.back();
        open.pop_back();
        const Scope& scope = graph.scope(at);
        if (!isMixed[at.index()]) {
            if (deviceOfScope[at.index()] != nullptr)
                map.try_emplace(dotted(graph.scopePath(at)), *deviceOfScope[at.index()]);
            continue;
        }
        for (const OpId op : scope.ops)
            map.insert_or_assign(graph.op(op).name, *deviceOf[op.index()]);
        open.insert(open.end(), scope.children.begin(), scope.children.end());
    }
    return map;
}

/// Adds the ops that the map gets wrong by their full names, which count before all paths. That may change what paths
/// mean for others (an op may be called like a scope), so it is repeated; in the end all ops may stand there by name.
void correct(std::map<std::string, std::string>& map, const OpGraph& graph, const DeviceOfOp& deviceOf) {
    for (int round = 0; round < 4; ++round) {
        ScopeMap reader(map);
        std::vector<OpId> wrong;
        for (std::size_t i = 0; i < graph.opCount(); ++i) {
            const std::string* found = reader.find(graph, OpId(i));
            if (found == nullptr || *found != *deviceOf[i])
                wrong.emplace_back(i);
        }
        if (wrong.empty())
            return;
        for (const OpId op : wrong)
            map.insert_or_assign(graph.op(op).name, *deviceOf[op.index()]);
    }
    for (std::size_t i = 0; i < graph.opCount(); ++i)
        map.insert_or_assign(graph.op(OpId(i)).name, *deviceOf[i]);
}

/// The device of each op of the file's assignment (or of its default).
Result<DeviceOfOp> devicesOfOps(const PlacementFile& file, const OpGraph& graph) {
    DeviceOfOp deviceOf(graph.opCount(), file.defaultDevice ? &*file.defaultDevice : nullptr);
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        if (const auto found = file.assignment.find(graph.op(OpId(i)).name); found != file.assignment.end())
            deviceOf[i] = &found->second;
        if (deviceOf[i] == nullptr)
            return fail(ErrorCode::Invalid, "has no device", "op \"" + graph.op(OpId(i)).name + "\"");
    }
    return deviceOf;
}

/// What a GPU or CPU is called in a device_map.
std::string torchName(const DeviceName& device, const std::string& name) {
    if (device.kind == "gpu")
        return std::to_string(device.index);
    if (device.kind.empty())
        return jsonString(name);
    return jsonString(device.kind == "cpu" && device.index == 0 ? "cpu" : device.toString());
}

} // namespace

Result<PlacementFile> readDeviceMap(const JsonObject& document) {
    PlacementFile file;
    for (const auto& [key, value] : document.value().items()) {
        const std::string where = "\"" + text::toValidUtf8(key) + "\"";
        const std::string_view written =
            value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view();
        std::string device;
        const bool isOfOp = isProvider(written) || written.starts_with('/');
        if (isProvider(written)) {
            PW_TRY(device, deviceOfProvider(written, 0, where));
        } else if (isOfOp) {
            device = written;
        } else {
            PW_TRY(device, torchDevice(value, where));
        }
        file.restOnFirstDevice = file.restOnFirstDevice || isProvider(written);
        noteDevice(file, device);
        (isOfOp ? file.assignment : file.scopes).emplace(key, std::move(device));
    }
    shortenTfDevices(file);
    return file;
}

Result<PlacementFile> readOrtAssignment(const Json& document) {
    const Json* list = &document;
    if (document.is_object() && document.contains("subgraphs"))
        list = &document["subgraphs"];
    if (!list->is_array())
        return fail(ErrorCode::Parse, "expected a list of subgraphs with \"ep_name\" and \"nodes\"");
    PlacementFile file;
    file.restOnFirstDevice = true; // what the optimiser folded away has no provider
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string where = "[" + std::to_string(i) + "]";
        PW_TRY(const JsonObject subgraph, JsonObject::of((*list)[i], where));
        PW_TRY(const std::string provider, subgraph.requiredText("ep_name"));
        PW_TRY(const std::int64_t deviceId, subgraph.integer("device_id", 0));
        if (deviceId < 0 || deviceId >= 1024)
            return fail(ErrorCode::Invalid, "expected the number of a device", subgraph.pathOf("device_id"));
        PW_TRY(const std::string device, deviceOfProvider(provider, static_cast<std::size_t>(deviceId), where));
        noteDevice(file, device);
        PW_TRY(const Json* const nodes, subgraph.array("nodes"));
        for (std::size_t n = 0; n < nodes->size(); ++n) {
            const Json& node = (*nodes)[n];
            const std::string place = where + ".nodes[" + std::to_string(n) + "]";
            const Json* named = &node;
            if (node.is_object())
                named = node.contains("name") ? &node["name"] : nullptr;
            if (named == nullptr)
                return fail(ErrorCode::Parse, "a node without \"name\"", place);
            PW_TRY(const std::string name, jsonText(*named, place));
            if (!name.empty())
                file.assignment.insert_or_assign(name, device);
        }
    }
    if (file.assignment.empty())
        return fail(ErrorCode::Parse, "holds no assignment");
    return file;
}

void shortenTfDevices(PlacementFile& file) {
    TfDeviceNames names;
    bool any = false;
    const auto isTf = [](const std::string& device) { return device.starts_with('/') && TfDevice::parse(device); };
    std::map<std::string, std::string> shortOf;
    const auto note = [&](const std::string& device) {
        if (isTf(device) && shortOf.try_emplace(device).second) {
            names.add(device);
            any = true;
        }
    };
    for (const auto& [op, device] : file.assignment)
        note(device);
    for (const std::string& device : file.devices)
        note(device);
    if (file.defaultDevice)
        note(*file.defaultDevice);
    if (!any)
        return;
    for (auto& [device, name] : shortOf)
        name = names.nameOf(device);
    const auto shorten = [&shortOf](std::string& device) {
        if (const auto found = shortOf.find(device); found != shortOf.end())
            device = found->second;
    };
    for (auto& [op, device] : file.assignment)
        shorten(device);
    if (file.defaultDevice)
        shorten(*file.defaultDevice);
    const std::vector<std::string> written = std::exchange(file.devices, {});
    for (std::string device : written) {
        shorten(device);
        noteDevice(file, device);
    }
}

Result<std::string> toDeviceMap(const PlacementFile& file, const OpGraph* graph) {
    std::map<std::string, std::string> map = file.assignment;
    if (graph != nullptr) {
        PW_TRY(const DeviceOfOp deviceOf, devicesOfOps(file, *graph));
        map = compressed(*graph, deviceOf);
        correct(map, *graph, deviceOf);
    }
    const auto names = portableNames(file);
    std::string out = "{";
    for (const auto& [path, device] : map) {
        const auto known = names.find(device);
        out += (out.size() > 1 ? ",\n  " : "\n  ") + jsonString(path) + ": " +
               torchName(known == names.end() ? DeviceName() : known->second, device);
    }
    return out + "\n}\n";
}

Result<std::string> toOrtAssignment(const PlacementFile& file) {
    const auto names = portableNames(file);
    std::map<std::string, std::string> nodesOf;
    for (const auto& [op, device] : file.assignment) {
        std::string& nodes = nodesOf[device];
        nodes += (nodes.empty() ? "\n    {\"name\": " : ",\n    {\"name\": ") + jsonString(op) + "}";
    }
    std::string out = "[";
    for (const auto& [device, nodes] : nodesOf) {
        const DeviceName& name = names.at(device);
        const auto provider = std::find_if(kProviders.begin(), kProviders.end(),
                                           [&](const Provider& candidate) { return candidate.kind == name.kind; });
        if (provider == kProviders.end())
            return fail(ErrorCode::Unsupported, "ONNX Runtime has no execution provider for device \"" + device + "\"");
        out += (out.size() > 1 ? ",\n  " : "\n  ") + ("{\"ep_name\": \"" + std::string(provider->name)) +
               "\", \"device_id\": " + std::to_string(name.index) + ", \"nodes\": [" + nodes + "]}";
    }
    return out + "\n]\n";
}

Result<std::string> toTfCsv(const PlacementFile& file) {
    const auto names = portableNames(file);
    std::map<std::string, std::string> spelling;
    for (const auto& [device, name] : names) {
        TfDevice tf{"localhost", "0", "0", name.kind, std::to_string(name.index)};
        if (name.kind.empty() || !TfDevice::parse(tf.toString()))
            return fail(ErrorCode::Unsupported, "TensorFlow cannot name device \"" + device + "\"");
        spelling.emplace(device, tf.toString());
    }
    std::string out = "op,device\n";
    for (const auto& [op, device] : file.assignment)
        out += csvField(op) + "," + spelling.at(device) + "\n";
    return out;
}

ScopeMap::ScopeMap(const std::map<std::string, std::string>& scopes)
    : m_scopes(scopes) {
    for (auto entry = scopes.begin(); entry != scopes.end(); ++entry) {
        const auto path = m_byPath.try_emplace(dotted(entry->first), entry).first;
        m_lengths.insert(path->first.size());
    }
}

ScopeMap::Match ScopeMap::longest(const std::string& path) const {
    for (auto length = m_lengths.rbegin(); length != m_lengths.rend(); ++length) {
        const bool isPrefix = *length == path.size() || *length == 0 || (*length < path.size() && path[*length] == '.');
        if (!isPrefix)
            continue;
        if (const auto found = m_byPath.find(path.substr(0, *length)); found != m_byPath.end())
            return {&found->second, *length};
    }
    return {};
}

const ScopeMap::Match& ScopeMap::matchOfScope(const OpGraph& graph, ScopeId scope) {
    const auto [known, isNew] = m_matchOfScope.try_emplace(scope);
    if (isNew)
        known->second = longest(dotted(graph.scopePath(scope)));
    return known->second;
}

const std::string* ScopeMap::find(const OpGraph& graph, OpId op) {
    const Op& what = graph.op(op);
    if (const auto exact = m_scopes.find(what.name); exact != m_scopes.end()) {
        m_used.insert(&exact->first);
        return &exact->second;
    }
    Match best = longest(dotted(what.name));
    if (const Match& byScope = matchOfScope(graph, what.scope); best.entry == nullptr || byScope.length > best.length)
        best = byScope.entry != nullptr ? byScope : best;
    if (best.entry == nullptr)
        return nullptr;
    m_used.insert(&(*best.entry)->first);
    return &(*best.entry)->second;
}

} // namespace pw::formats
