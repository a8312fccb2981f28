#pragma once

#include <cstdint>
#include <string>

namespace pw::storage {

/// The program that writes a run. A process id alone is not enough, since ids are reused: the start time (clock ticks
/// since boot, field 22 of /proc/PID/stat) and the boot make it unique. WAL files cannot be shared between machines, so
/// a record of another boot is one of the past.
struct Owner {
    std::int64_t pid = 0;
    std::int64_t startTicks = 0;
    std::string boot;

    bool operator==(const Owner&) const = default;
};

Owner thisProcess();
bool isAlive(const Owner& owner);

} // namespace pw::storage
