#include "core/devices/device_set.h"

#include "core/base/hash.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace pw {

namespace {

constexpr std::size_t kMaxDevices = 1024;

// Sums of times must stay finite and keep their order: a launch or a latency is at most 11 days, and the slowest link
// moves one byte a second. An infinite arrival would mean that a consumer never starts.
constexpr double kMaxDelayUs = 1.0e12;
constexpr double kMinLinkBytesPerUs = 1.0e-6;

bool isRate(double value) {
    return std::isfinite(value) && value >= 0.0;
}

Status checkDevice(const Device& device, std::size_t index) {
    const std::string where = "devices[" + std::to_string(index) + "]";
    if (device.name.empty())
        return fail(ErrorCode::Invalid, "a device needs a name", where);
    const std::string named = where + " (" + device.name + ")";
    if (device.memoryBytes < 0)
        return fail(ErrorCode::Invalid, "memory size is negative", named);
    if (!isRate(device.flopsPerUs) || !isRate(device.bytesPerUs))
        return fail(ErrorCode::Invalid, "rates must be finite and 0 or more", named);
    if (!isRate(device.launchUs))
        return fail(ErrorCode::Invalid, "launch time must be finite and 0 or more", named);
    if (device.launchUs > kMaxDelayUs)
        return fail(ErrorCode::Invalid, "launch time must be at most 1e12 us", named);
    return {};
}

Status checkLink(const Link& link, std::size_t deviceCount, std::size_t index) {
    const std::string where = "links[" + std::to_string(index) + "]";
    if (!link.from.isValid() || !link.to.isValid() || link.from.index() >= deviceCount ||
        link.to.index() >= deviceCount)
        return fail(ErrorCode::Invalid, "the link names a device that is not there", where);
    if (link.from == link.to)
        return fail(ErrorCode::Invalid, "a link from a device to itself", where);
    if (!isRate(link.bytesPerUs) || link.bytesPerUs == 0.0)
        return fail(ErrorCode::Invalid, "the link's rate must be finite and above 0", where);
    if (!isRate(link.latencyUs))
        return fail(ErrorCode::Invalid, "the link's latency must be finite and 0 or more", where);
    if (link.bytesPerUs < kMinLinkBytesPerUs)
        return fail(ErrorCode::Invalid, "the link's rate must be at least 1e-6 bytes/us", where);
    if (link.latencyUs > kMaxDelayUs)
        return fail(ErrorCode::Invalid, "the link's latency must be at most 1e12 us", where);
    return {};
}

} // namespace

Result<DeviceSet> DeviceSet::create(std::string name, std::vector<Device> devices, std::vector<Link> links) {
    if (devices.empty())
        return fail(ErrorCode::Invalid, "a device set needs at least one device", "devices");
    if (devices.size() > kMaxDevices)
        return fail(ErrorCode::TooLarge,
                    std::to_string(devices.size()) + " devices, at most " + std::to_string(kMaxDevices) + " are possible",
                    "devices");
    std::unordered_set<std::string_view> names;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        PW_CHECK(checkDevice(devices[i], i));
        if (!names.insert(devices[i].name).second)
            return fail(ErrorCode::Invalid, "two devices have the name \"" + devices[i].name + "\"",
                        "devices[" + std::to_string(i) + "]");
    }
    DeviceSet set;
    set.m_table.assign(devices.size() * devices.size(), LinkId());
    for (std::size_t i = 0; i < links.size(); ++i) {
        PW_CHECK(checkLink(links[i], devices.size(), i));
        LinkId& entry = set.m_table[links[i].from.index() * devices.size() + links[i].to.index()];
        if (entry.isValid())
            return fail(ErrorCode::Invalid,
                        "a second link from " + devices[links[i].from.index()].name + " to " +
                            devices[links[i].to.index()].name,
                        "links[" + std::to_string(i) + "]");
        entry = LinkId(i);
    }
    set.m_name = std::move(name);
    set.m_devices = std::move(devices);
    set.m_links = std::move(links);
    return set;
}

std::optional<DeviceId> DeviceSet::find(std::string_view name) const {
    const auto found = std::find_if(m_devices.begin(), m_devices.end(),
                                    [&](const Device& device) { return device.name == name; });
    if (found == m_devices.end())
        return std::nullopt;
    return DeviceId(static_cast<std::size_t>(found - m_devices.begin()));
}

std::string DeviceSet::hash() const {
    // Models and the set's own name are words for people; everything that changes a simulation is in.
    Hasher hasher;
    hasher.add(m_devices.size());
    for (const Device& device : m_devices) {
        hasher.add(device.name);
        hasher.add(device.kind);
        hasher.add(device.memoryBytes);
        hasher.add(device.flopsPerUs);
        hasher.add(device.bytesPerUs);
        hasher.add(device.launchUs);
    }
    hasher.add(m_links.size());
    for (const Link& link : m_links) {
        hasher.add(link.from.value());
        hasher.add(link.to.value());
        hasher.add(link.bytesPerUs);
        hasher.add(link.latencyUs);
        hasher.add(link.shared);
    }
    return hasher.finishHex();
}

std::string deviceLetter(DeviceId id) {
    if (!id.isValid())
        return "?";
    std::string letters;
    for (std::size_t rest = id.index() + 1; rest > 0; rest = (rest - 1) / 26)
        letters.insert(letters.begin(), static_cast<char>('A' + (rest - 1) % 26));
    return letters;
}

} // namespace pw
