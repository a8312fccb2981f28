#include "storage/owner.h"

#include <fstream>
#include <sstream>

#include <unistd.h>

namespace pw::storage {

namespace {

std::string bootId() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    file >> id;
    return id;
}

/// Negative if there is no such process, or it is a zombie: dead, and only waiting to be asked for its exit code.
std::int64_t startTicksOf(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(file, line))
        return -1;
    // why: field 2 is the program's name in parentheses and may hold anything, ')' and spaces too
    const auto nameEnd = line.rfind(')');
    if (nameEnd == std::string::npos)
        return -1;
    std::istringstream rest(line.substr(nameEnd + 1));
    std::string state;
    rest >> state;
    if (state == "Z" || state == "X")
        return -1;
    std::string skipped;
    for (int field = 4; field < 22; ++field)
        rest >> skipped;
    std::int64_t ticks = -1;
    rest >> ticks;
    return rest ? ticks : -1;
}

} // namespace

Owner thisProcess() {
    const auto pid = static_cast<std::int64_t>(::getpid());
    return {pid, startTicksOf(pid), bootId()};
}

bool isAlive(const Owner& owner) {
    return owner.pid > 0 && owner.boot == bootId() && startTicksOf(owner.pid) == owner.startTicks;
}

} // namespace pw::storage
