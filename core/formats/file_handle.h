#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace pw::formats {

/// Owns a file descriptor.
class FileHandle {
public:
    explicit FileHandle(int fd = -1)
        : m_fd(fd) {}
    ~FileHandle();
    FileHandle(FileHandle&& other) noexcept
        : m_fd(std::exchange(other.m_fd, -1)) {}
    FileHandle& operator=(FileHandle&& other) noexcept {
        std::swap(m_fd, other.m_fd);
        return *this;
    }

    bool isOpen() const { return m_fd >= 0; }
    int fd() const { return m_fd; }

private:
    int m_fd;
};

struct OpenFile {
    FileHandle handle;
    std::int64_t size = 0;
};

/// Fails on directories, pipes, devices and missing files, never waits.
Result<OpenFile> openRegularFile(const std::string& path);

/// The first `maxBytes` (fewer if the file is shorter).
Result<std::string> readUpTo(const OpenFile& file, std::size_t maxBytes, const std::string& path);

/// As writeFileAtomically(), for what is not held in memory: `write` gets the file to fill from its start on.
Status writeAtomically(const std::string& path, const std::function<Status(int fd)>& write);
/// All of `content`, however often the system takes less.
Status writeAll(int fd, std::string_view content, const std::string& path);

} // namespace pw::formats
