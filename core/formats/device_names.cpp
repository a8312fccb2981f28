#include "core/formats/device_names.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>

namespace pw::formats {

std::optional<DeviceName> DeviceName::parse(std::string_view name) {
    DeviceName parsed;
    const auto slash = name.rfind('/');
    if (slash != std::string_view::npos) {
        parsed.place = name.substr(0, slash);
        name.remove_prefix(slash + 1);
    }
    const auto colon = name.rfind(':');
    const std::string_view number = colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
    if (!number.empty() && number != "*") {
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), parsed.index);
        if (error != std::errc() || end != number.data() + number.size())
            return std::nullopt;
    }
    parsed.kind = text::toLower(name.substr(0, colon));
    if (parsed.kind == "cuda" || parsed.kind == "rocm" || parsed.kind == "xla_gpu")
        parsed.kind = "gpu";
    if (parsed.kind == "xla_cpu")
        parsed.kind = "cpu";
    return parsed.kind.empty() ? std::nullopt : std::optional(std::move(parsed));
}

namespace {

/// Places in the order of their numbers: "task:2" before "task:10".
std::string sortKey(const std::string& place) {
    std::string key;
    for (std::size_t i = 0; i < place.size();) {
        const std::size_t end = std::min(place.find_first_not_of("0123456789", i), place.size());
        if (end > i)
            key += std::string(end - i < 10 ? 10 - (end - i) : 0, '0') + place.substr(i, end - i);
        else
            key += place[i];
        i = std::max(end, i + 1);
    }
    return key;
}

} // namespace

std::string DeviceName::toString() const {
    return kind + ":" + std::to_string(index);
}

DeviceFinder::DeviceFinder(const DeviceSet& devices, const PlacementFile& file)
    : m_devices(devices) {
    std::map<std::string_view, bool> seen;
    const auto add = [&](const std::string& name) {
        if (seen.emplace(name, true).second)
            addName(name);
    };
    for (const auto& [op, device] : file.assignment)
        add(device);
    for (const auto& [scope, device] : file.scopes)
        add(device);
    if (file.defaultDevice)
        add(*file.defaultDevice);
    std::size_t rank = 0;
    for (auto& [place, number] : m_placeRank)
        number = rank++;
}

void DeviceFinder::addName(const std::string& name) {
    if (const auto parsed = DeviceName::parse(name)) {
        m_placeRank.try_emplace(sortKey(parsed->place), 0);
        std::size_t& count = m_perPlace[parsed->kind];
        count = std::max(count, std::min<std::size_t>(parsed->index, m_devices.count()) + 1);
    }
}

std::optional<DeviceId> DeviceFinder::nthOf(const std::string& kind, std::size_t index) const {
    for (std::size_t d = 0; d < m_devices.count(); ++d) {
        if (text::toLower(m_devices.device(DeviceId(d)).kind) != kind)
            continue;
        if (index == 0)
            return DeviceId(d);
        --index;
    }
    return std::nullopt;
}

Result<DeviceId> DeviceFinder::find(const std::string& name, const std::string& where) {
    if (const auto known = m_known.find(name); known != m_known.end())
        return known->second;
    std::optional<DeviceId> found = m_devices.find(name);
    if (!found && name == "disk") {
        found = nthOf("cpu", 0);
        m_usedCpuForDisk = found.has_value();
    }
    if (const auto parsed = DeviceName::parse(name); !found && parsed && parsed->index < m_devices.count()) {
        const auto rank = m_placeRank.find(sortKey(parsed->place));
        const std::size_t before = rank == m_placeRank.end() ? 0 : rank->second * m_perPlace[parsed->kind];
        found = nthOf(parsed->kind, before + parsed->index);
    }
    if (found) {
        m_known.emplace(name, *found);
        return *found;
    }
    std::string names;
    for (const Device& device : m_devices.devices())
        names += (names.empty() ? "" : ", ") + device.name;
    return fail(ErrorCode::Invalid, "there is no device \"" + text::toValidUtf8(name) + "\" (there are: " + names + ")",
                where);
}

std::map<std::string, DeviceName> portableNames(const PlacementFile& file) {
    std::map<std::string, DeviceName> names;
    std::map<std::string, std::size_t> count;
    const bool hasKinds = file.deviceKinds.size() == file.devices.size();
    for (std::size_t d = 0; d < file.devices.size(); ++d) {
        DeviceName name;
        if (hasKinds) {
            name.kind = text::toLower(file.deviceKinds[d]);
            name.index = count[name.kind]++;
        } else if (const auto parsed = DeviceName::parse(file.devices[d])) {
            name = *parsed;
        }
        names.emplace(file.devices[d], std::move(name));
    }
    for (const auto& [op, device] : file.assignment) {
        if (!names.contains(device))
            names.emplace(device, DeviceName::parse(device).value_or(DeviceName()));
    }
    return names;
}

} // namespace pw::formats
