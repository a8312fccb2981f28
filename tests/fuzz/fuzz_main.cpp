// The libFuzzer program; the environment variable PW_FUZZ_TARGET names the reader.

#include "tests/fuzz/fuzz_targets.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace {

/// A file in memory that readers can open by path.
class MemoryFile {
public:
    MemoryFile() : m_fd(memfd_create("fuzz", MFD_CLOEXEC)), m_path("/proc/self/fd/" + std::to_string(m_fd)) {
        if (m_fd < 0)
            std::abort();
    }

    const std::string& holding(const std::uint8_t* data, std::size_t size) {
        if (ftruncate(m_fd, 0) != 0 || pwrite(m_fd, data, size, 0) != static_cast<ssize_t>(size))
            std::abort();
        return m_path;
    }

private:
    int m_fd;
    std::string m_path;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile file;
    static const char* const kTarget = std::getenv("PW_FUZZ_TARGET");
    if (kTarget == nullptr || !pw::test::fuzzOnce(kTarget, file.holding(data, size))) {
        std::fputs("PW_FUZZ_TARGET must name a reader of tests/fuzz/fuzz_targets.cpp\n", stderr);
        std::abort();
    }
    return 0;
}
