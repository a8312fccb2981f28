// The libFuzzer program; the environment variable PW_FUZZ_TARGET names the reader. Beside crashes, it stops at an input that
// takes too much memory or time for its size.

#include "tests/fuzz/fuzz_targets.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// Inputs are a few kB: the bounds are what a reader may take before it looks at the file's size, and some per byte.
constexpr std::size_t kFreeBytes = 8U << 20;
constexpr std::size_t kBytesPerByte = 256; ///< an op of two characters, with its strings, in two forms at once
constexpr double kMaxCpuSeconds = 1.0;     ///< under the sanitizers, some five times slower than what users run

std::size_t liveBytes = 0;
std::size_t peakBytes = 0;
const char* target = nullptr;

/// protobuf makes room for a text of the length that a damaged record claims, up to 50 MB, finds that the file is shorter,
/// and fails. It touches none of it. These readers give it records that they have not walked through before.
bool isClaimedRoom(std::size_t bytes) {
    static const std::string_view kTarget = target;
    static const bool kHandsOnDamage = kTarget == "tf_cost_graph" || kTarget == "profile" || kTarget == "any_graph";
    return kHandsOnDamage && bytes > (1U << 20) && bytes <= 50'000'001;
}

std::size_t countedBytes(const volatile void* memory) {
    const std::size_t bytes = memory == nullptr ? 0 : __sanitizer_get_allocated_size(const_cast<const void*>(memory));
    return isClaimedRoom(bytes) ? 0 : bytes;
}

void onMalloc(const volatile void* memory, std::size_t) {
    liveBytes += countedBytes(memory);
    peakBytes = liveBytes > peakBytes ? liveBytes : peakBytes;
}

void onFree(const volatile void* memory) {
    liveBytes -= countedBytes(memory);
}

double cpuSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

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

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    target = std::getenv("PW_FUZZ_TARGET");
    if (target == nullptr)
        target = "";
    return __sanitizer_install_malloc_and_free_hooks(onMalloc, onFree) > 0 ? 0 : 1;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile file;
    const std::string& path = file.holding(data, size);
    const std::size_t before = liveBytes;
    const double start = cpuSeconds();
    peakBytes = liveBytes;
    if (!pw::test::fuzzOnce(target, path)) {
        std::fputs("PW_FUZZ_TARGET must name a reader of tests/fuzz/fuzz_targets.cpp\n", stderr);
        std::abort();
    }
    const std::size_t taken = peakBytes - before;
    const double seconds = cpuSeconds() - start;
    if (taken > kFreeBytes + kBytesPerByte * size || seconds > kMaxCpuSeconds) {
        std::fprintf(stderr, "%zu bytes of input took %zu bytes of memory and %.2f s\n", size, taken, seconds);
        std::abort();
    }
    return 0;
}
