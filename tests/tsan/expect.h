#pragma once

#include <cstdio>

namespace pw::test {

inline int g_failures = 0; ///< touched by the main thread only

inline void expectAt(bool holds, const char* text, int line) {
    if (!holds) {
        ++g_failures;
        std::printf("line %d: expected %s\n", line, text);
    }
}

inline int exitCode() {
    return g_failures == 0 ? 0 : 1;
}

} // namespace pw::test

#define PW_EXPECT(condition) ::pw::test::expectAt((condition), #condition, __LINE__)
