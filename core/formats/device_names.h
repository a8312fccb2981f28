#pragma once

#include "core/formats/formats.h"

#include <map>
#include <string>
#include <string_view>

namespace pw::formats {

/// A device name taken apart: "gpu:1", "cuda", "job:worker/task:1/gpu:0".
struct DeviceName {
    std::string place; ///< "job:worker/task:1", as a rule ""
    std::string kind;  ///< lower case; cuda, rocm and xla_gpu are "gpu"
    std::size_t index = 0;

    static std::optional<DeviceName> parse(std::string_view name);
    std::string toString() const; ///< without the place: "gpu:1"
};

/// Finds the devices of a set by the names that a placement file has for them.
///
/// The set's own name counts first. Otherwise "gpu:1" is the second device of kind gpu, whatever it is called; where
/// names tell of several jobs or tasks, their devices follow each other in the order of the places.
class DeviceFinder {
public:
    DeviceFinder(const DeviceSet& devices, const PlacementFile& file);

    Result<DeviceId> find(const std::string& name, const std::string& where);
    bool usedCpuForDisk() const { return m_usedCpuForDisk; }

private:
    std::optional<DeviceId> nthOf(const std::string& kind, std::size_t index) const;
    void addName(const std::string& name);

    const DeviceSet& m_devices;
    std::map<std::string, std::size_t> m_placeRank;
    std::map<std::string, std::size_t> m_perPlace; ///< kind -> devices of one place
    std::map<std::string, DeviceId> m_known;
    bool m_usedCpuForDisk = false;
};

/// What to call each device of a file so that any device set understands it: kind and number within the kind.
std::map<std::string, DeviceName> portableNames(const PlacementFile& file);

} // namespace pw::formats
