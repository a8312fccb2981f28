#pragma once

#include <mutex>

namespace pw {

/// Graphviz keeps global state even while parsing: two threads with separate graphs crash (measured with 2.42).
/// Everything that calls cgraph or gvc holds this gate from reading to closing. Process-wide, not recursive.
inline std::unique_lock<std::mutex> graphvizGate() {
    static std::mutex gate;
    return std::unique_lock<std::mutex>(gate);
}

} // namespace pw
