#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

struct Device {
    std::string name;  ///< "gpu:0"
    std::string kind;  ///< "gpu", "cpu": what costs and constraints refer to
    std::string model; ///< "Tesla K80", for people
    std::int64_t memoryBytes = 0; ///< 0 = no limit
    double flopsPerUs = 0.0;      ///< peak
    double bytesPerUs = 0.0;      ///< peak memory bandwidth
    double launchUs = 0.0;        ///< added to every op of non-zero cost

    bool operator==(const Device&) const = default;
};

struct Link {
    DeviceId from;
    DeviceId to;
    double bytesPerUs = 0.0;
    double latencyUs = 0.0;
    std::string shared; ///< links with the same non-empty name take turns

    bool operator==(const Link&) const = default;
};

/// Devices and the directed links between them. Immutable after create(); copies are cheap enough (tens of devices).
class DeviceSet {
public:
    /// Fails on: no devices, duplicate names, more than 1024 devices, sizes or rates that are not finite or are negative, link to itself,
    /// to a device that is not there, twice in one direction, or of rate 0.
    static Result<DeviceSet> create(std::string name, std::vector<Device> devices, std::vector<Link> links);

    const std::string& name() const { return m_name; }
    std::size_t count() const { return m_devices.size(); }
    const Device& device(DeviceId id) const { return m_devices[id.index()]; }
    std::span<const Device> devices() const { return m_devices; }
    std::span<const Link> links() const { return m_links; }
    const Link& link(LinkId id) const { return m_links[id.index()]; }
    /// The direct link, invalid id if there is none.
    LinkId linkBetween(DeviceId from, DeviceId to) const { return m_table[from.index() * count() + to.index()]; }
    std::optional<DeviceId> find(std::string_view name) const;
    std::string hash() const;

private:
    std::string m_name;
    std::vector<Device> m_devices;
    std::vector<Link> m_links;
    std::vector<LinkId> m_table;
};

/// Names of the presets, in the order they are listed ("2xK80" ...).
std::vector<std::string> devicePresetNames();
/// A preset by name (exact spelling); nothing if there is none.
std::optional<DeviceSet> devicePreset(std::string_view name);

/// "A".."Z", then "AA", "AB"...: the letter that stands for a device everywhere.
std::string deviceLetter(DeviceId id);

} // namespace pw
