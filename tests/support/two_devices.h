#pragma once

#include "core/devices/device_set.h"

#include <string>
#include <vector>

namespace pw::test {

/// "pair": two equal gpus without limits, 1,000 bytes/us and 1 us between them.
inline DeviceSet pairOfDevices() {
    std::vector<Device> devices(2);
    for (std::size_t i = 0; i < 2; ++i) {
        devices[i].name = "gpu:" + std::to_string(i);
        devices[i].kind = "gpu";
        devices[i].flopsPerUs = 1e6;
        devices[i].bytesPerUs = 1e5;
    }
    return *DeviceSet::create("pair", devices,
                              {{DeviceId(0), DeviceId(1), 1000.0, 1.0, {}}, {DeviceId(1), DeviceId(0), 1000.0, 1.0, {}}});
}

} // namespace pw::test
