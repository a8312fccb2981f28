#include "core/learn/blas_core.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace pw::learn {

namespace {

constexpr const char* kSafeCore = "HASWELL";

/// Lines of the cache: processor, wanted core, core to use, separated by tabs.
std::string cacheKey(const std::string& cpuModel, const std::string& wanted) {
    return cpuModel + "\t" + wanted + "\t";
}

bool readCached(const std::string& path, const std::string& key, std::string& core) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) {
            core = line.substr(key.size());
            return core.empty() || core == "COOPERLAKE" || core == "SKYLAKEX" || core == kSafeCore;
        }
    }
    return false;
}

/// Appends the answer by way of a new file, so that a reader never sees half a line. A cache that cannot be written is
/// no error: the check then runs again.
void writeCached(const std::string& path, const std::string& key, const std::string& core) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    const std::string temporary = path + "." + std::to_string(getpid());
    {
        std::ofstream out(temporary);
        std::ifstream before(path);
        for (std::string line; std::getline(before, line);)
            if (!line.starts_with(key))
                out << line << '\n';
        out << key << core << '\n';
        if (!out.flush()) {
            std::filesystem::remove(temporary, ignored);
            return;
        }
    }
    std::filesystem::rename(temporary, path, ignored);
}

} // namespace

std::string blasCoreForCpu() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512 && __builtin_cpu_supports("avx512bf16"))
        return "COOPERLAKE";
    if (avx512)
        return "SKYLAKEX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return kSafeCore;
#endif
    return {};
}

std::string blasCachePath() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/')
        return std::string(cache) + "/placewright/blas-core";
    const char* home = std::getenv("HOME");
    return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/placewright/blas-core" : std::string();
}

std::string cpuModelName() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown";
}

std::string checkedBlasCore(const std::string& wanted, const std::string& cpuModel, const std::string& cachePath,
                            const std::function<bool(const std::string& core)>& check) {
    const std::string key = cacheKey(cpuModel, wanted);
    std::string core;
    if (!cachePath.empty() && readCached(cachePath, key, core))
        return core;
    core = wanted;
    if (!check(core))
        core = wanted != kSafeCore && check(kSafeCore) ? kSafeCore : "";
    if (!cachePath.empty())
        writeCached(cachePath, key, core);
    return core;
}

} // namespace pw::learn
