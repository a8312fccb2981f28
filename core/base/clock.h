#pragma once

#include <chrono>
#include <cstdint>

namespace pw {

/// Wall time since construction, in seconds. The only place of the core that reads the clock.
class Stopwatch {
public:
    Stopwatch() : m_start(std::chrono::steady_clock::now()) {}
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    }
    void restart() { m_start = std::chrono::steady_clock::now(); }

private:
    std::chrono::steady_clock::time_point m_start;
};

/// Seconds since the Unix epoch, for records that people read.
inline std::int64_t unixTimeSeconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace pw
