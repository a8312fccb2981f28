#include "core/formats/formats.h"

#include "core/base/text.h"
#include "core/formats/json_util.h"

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxDevicesFile = 16 << 20;

Result<Device> readDevice(const Json& value, const std::string& path) {
    PW_TRY(const JsonObject object, JsonObject::of(value, path));
    Device device;
    PW_TRY(device.name, object.requiredText("name"));
    PW_TRY(device.kind, object.text("kind"));
    PW_TRY(device.model, object.text("model"));
    PW_TRY(device.memoryBytes, object.integer("memory_bytes", 0));
    PW_TRY(device.flopsPerUs, object.number("flops_per_us", 0.0));
    PW_TRY(device.bytesPerUs, object.number("bytes_per_us", 0.0));
    PW_TRY(device.launchUs, object.number("launch_us", 0.0));
    return device;
}

Result<DeviceId> deviceByName(const std::vector<Device>& devices, const JsonObject& link, const char* key) {
    PW_TRY(const std::string name, link.requiredText(key));
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].name == name)
            return DeviceId(i);
    }
    return fail(ErrorCode::Invalid, "there is no device \"" + name + "\"", link.pathOf(key));
}

Result<Link> readLink(const Json& value, const std::string& path, const std::vector<Device>& devices) {
    PW_TRY(const JsonObject object, JsonObject::of(value, path));
    Link link;
    PW_TRY(link.from, deviceByName(devices, object, "from"));
    PW_TRY(link.to, deviceByName(devices, object, "to"));
    if (object.find("bytes_per_us") == nullptr)
        return fail(ErrorCode::Parse, "missing", object.pathOf("bytes_per_us"));
    PW_TRY(link.bytesPerUs, object.number("bytes_per_us", 0.0));
    PW_TRY(link.latencyUs, object.number("latency_us", 0.0));
    PW_TRY(link.shared, object.text("shared"));
    return link;
}

Result<DeviceSet> readDeviceSet(const JsonObject& document) {
    PW_TRY(std::string name, document.text("name"));
    std::vector<Device> devices;
    PW_TRY(const Json* const deviceList, document.array("devices"));
    for (std::size_t i = 0; i < deviceList->size(); ++i) {
        PW_TRY(Device device, readDevice((*deviceList)[i], "devices[" + std::to_string(i) + "]"));
        devices.push_back(std::move(device));
    }
    std::vector<Link> links;
    PW_TRY(const Json* const linkList, document.array("links"));
    for (std::size_t i = 0; i < linkList->size(); ++i) {
        PW_TRY(Link link, readLink((*linkList)[i], "links[" + std::to_string(i) + "]", devices));
        links.push_back(std::move(link));
    }
    return DeviceSet::create(std::move(name), std::move(devices), std::move(links));
}

} // namespace

Result<DeviceSet> fromDevicesJson(std::string_view json, const std::string& file) {
    PW_TRY(const Json document, parseDocument(json, "placewright-devices", file));
    auto set = readDeviceSet(JsonObject(document, {}));
    if (!set)
        set.error().file = file;
    return set;
}

Result<DeviceSet> loadDeviceSet(const std::string& path) {
    PW_TRY(const std::string text, readFile(path, kMaxDevicesFile));
    return fromDevicesJson(text, path);
}

std::string toDevicesJson(const DeviceSet& devices) {
    std::string out = "{ \"format\": \"placewright-devices\", \"version\": 1, \"name\": " + jsonString(devices.name()) +
                      ",\n  \"devices\": [";
    const char* separator = "\n";
    for (const Device& device : devices.devices()) {
        out += separator;
        out += "    {\"name\": " + jsonString(device.name) + ", \"kind\": " + jsonString(device.kind) +
               ", \"model\": " + jsonString(device.model) +
               ", \"memory_bytes\": " + std::to_string(device.memoryBytes) +
               ", \"flops_per_us\": " + text::number(device.flopsPerUs) +
               ", \"bytes_per_us\": " + text::number(device.bytesPerUs) +
               ", \"launch_us\": " + text::number(device.launchUs) + "}";
        separator = ",\n";
    }
    out += " ],\n  \"links\": [";
    separator = "\n";
    for (const Link& link : devices.links()) {
        out += separator;
        out += "    {\"from\": " + jsonString(devices.device(link.from).name) +
               ", \"to\": " + jsonString(devices.device(link.to).name) +
               ", \"bytes_per_us\": " + text::number(link.bytesPerUs) +
               ", \"latency_us\": " + text::number(link.latencyUs);
        if (!link.shared.empty())
            out += ", \"shared\": " + jsonString(link.shared);
        out += "}";
        separator = ",\n";
    }
    return out + " ] }\n";
}

Status saveDeviceSet(const DeviceSet& devices, const std::string& path) {
    return writeFileAtomically(path, toDevicesJson(devices));
}

} // namespace pw::formats
