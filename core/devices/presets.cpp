#include "core/devices/device_set.h"

#include <functional>

namespace pw {

namespace {

// Peak figures from public data sheets, link figures chosen for PCIe and NVLink. Nothing here is measured by
// this program; the efficiencies of the cost model apply on top.

Device k80() { // one GK210, half of a K80 board
    return {"", "gpu", "Tesla K80", 12'000'000'000, 4.37e6, 240000.0, 5.7};
}

Device p100() { // the PCIe card
    return {"", "gpu", "Tesla P100", 16'000'000'000, 9.3e6, 732000.0, 5.0};
}

Device v100() {
    return {"", "gpu", "Tesla V100", 16'000'000'000, 15.7e6, 900000.0, 5.0};
}

Device hostCpu() {
    return {"", "cpu", "host CPU", 128'000'000'000, 1.0e6, 77000.0, 1.0};
}

struct LinkRate {
    double bytesPerUs = 0.0;
    double latencyUs = 0.0;
};

constexpr LinkRate kPlacetoPcie{7600.0, 25.0}; // the values of Placeto's authors
constexpr LinkRate kPcie3x16{11000.0, 15.0};

/// Fills in names "gpu:0", "cpu:0" by kind and a link for every ordered pair.
std::optional<DeviceSet> makeSet(std::string name, std::vector<Device> devices,
                                 const std::function<LinkRate(std::size_t, std::size_t)>& rate) {
    std::size_t gpus = 0;
    std::size_t cpus = 0;
    for (Device& device : devices)
        device.name = device.kind + ":" + std::to_string(device.kind == "cpu" ? cpus++ : gpus++);
    std::vector<Link> links;
    for (std::size_t from = 0; from < devices.size(); ++from) {
        for (std::size_t to = 0; to < devices.size(); ++to) {
            if (from == to)
                continue;
            const LinkRate r = rate(from, to);
            links.push_back({DeviceId(from), DeviceId(to), r.bytesPerUs, r.latencyUs, ""});
        }
    }
    auto set = DeviceSet::create(std::move(name), std::move(devices), std::move(links));
    if (!set)
        return std::nullopt;
    return std::move(*set);
}

std::optional<DeviceSet> uniform(std::string name, const Device& device, std::size_t count, LinkRate rate) {
    return makeSet(std::move(name), std::vector<Device>(count, device),
                   [rate](std::size_t, std::size_t) { return rate; });
}

/// An approximation of a DGX-1: NVLink inside a quad and from i to i + 4, PCIe elsewhere.
std::optional<DeviceSet> nvlinkCube(std::string name) {
    return makeSet(std::move(name), std::vector<Device>(8, v100()), [](std::size_t from, std::size_t to) {
        const bool sameQuad = from / 4 == to / 4;
        const bool acrossQuads = from % 4 == to % 4;
        return sameQuad || acrossQuads ? LinkRate{22000.0, 10.0} : LinkRate{10000.0, 20.0};
    });
}

} // namespace

std::vector<std::string> devicePresetNames() {
    return {"2xK80", "4xK80", "2xP100", "4xP100", "8xP100", "8xV100-NVLink", "CPU+1xP100"};
}

std::optional<DeviceSet> devicePreset(std::string_view name) {
    const std::string own(name);
    if (name == "2xK80" || name == "4xK80")
        return uniform(own, k80(), name == "2xK80" ? 2 : 4, kPlacetoPcie);
    if (name == "2xP100" || name == "4xP100" || name == "8xP100")
        return uniform(own, p100(), static_cast<std::size_t>(name.front() - '0'), kPcie3x16);
    if (name == "8xV100-NVLink")
        return nvlinkCube(own);
    if (name == "CPU+1xP100") // the host comes first, as its name says: cpu:0 is device 0, gpu:0 is device 1
        return makeSet(own, {hostCpu(), p100()}, [](std::size_t, std::size_t) { return kPcie3x16; });
    return std::nullopt;
}

} // namespace pw
