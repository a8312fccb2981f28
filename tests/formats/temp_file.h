#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace pw::test {

/// A folder of its own that goes away with the object. In memory where that is possible: some tests write thousands of
/// small files. Programs must lie on disk: memory may be mounted without the right to execute.
class TempFolder {
public:
    enum class Place { Memory, Disk };
    explicit TempFolder(Place place = Place::Memory) {
        const std::filesystem::path memory = "/dev/shm";
        const bool useMemory = place == Place::Memory && ::access(memory.c_str(), W_OK | X_OK) == 0;
        std::string pattern =
            ((useMemory ? memory : std::filesystem::temp_directory_path()) / "pw-formats-XXXXXX").string();
        m_path = ::mkdtemp(pattern.data());
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }

    std::string path(std::string_view name) const { return m_path + "/" + std::string(name); }
    std::string write(std::string_view name, std::string_view content) const {
        std::ofstream(path(name), std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
        return path(name);
    }
    static std::string read(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }

private:
    std::string m_path;
};

} // namespace pw::test
