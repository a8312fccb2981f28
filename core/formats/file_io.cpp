#include "core/formats/formats.h"

#include "core/base/text.h"
#include "core/formats/file_handle.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pw::formats {

namespace {

ErrorCode codeFor(int error) {
    return error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Io;
}

tl::unexpected<Error> systemError(const std::string& what, int error, const std::string& path) {
    return fail(codeFor(error), what + ": " + std::strerror(error), {}, path);
}

std::string folderOf(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Makes the rename durable. Not an error where the file system cannot do it.
void syncFolderOf(const std::string& path) {
    const FileHandle folder(::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.isOpen())
        (void)::fsync(folder.fd());
}

Status writeToStream(const std::string& path, const std::function<Status(int fd)>& write) {
    const FileHandle handle(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!handle.isOpen())
        return systemError("cannot write", errno, path);
    return write(handle.fd());
}

/// The file a link points to, so that saving through a link keeps the link.
std::string resolveLink(const std::string& path) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr)
        return path;
    std::string target(resolved);
    std::free(resolved);
    return target;
}

} // namespace

FileHandle::~FileHandle() {
    if (m_fd >= 0)
        ::close(m_fd);
}

Result<OpenFile> openRegularFile(const std::string& path) {
    // why O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
    OpenFile file;
    file.handle = FileHandle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.handle.isOpen())
        return systemError("cannot open", errno, path);
    struct stat info = {};
    if (::fstat(file.handle.fd(), &info) != 0)
        return systemError("cannot read", errno, path);
    if (S_ISDIR(info.st_mode))
        return fail(ErrorCode::Io, "is a directory, not a file", {}, path);
    if (!S_ISREG(info.st_mode))
        return fail(ErrorCode::Io, "is not a regular file", {}, path);
    file.size = info.st_size;
    return file;
}

Result<std::string> readUpTo(const OpenFile& file, std::size_t maxBytes, const std::string& path) {
    std::string content;
    content.resize(static_cast<std::size_t>(std::min<std::int64_t>(file.size, static_cast<std::int64_t>(maxBytes))));
    std::size_t filled = 0;
    while (filled < content.size()) {
        const ssize_t got =
            ::pread(file.handle.fd(), content.data() + filled, content.size() - filled, static_cast<off_t>(filled));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return systemError("cannot read", errno, path);
        if (got == 0)
            break; // it shrank meanwhile
        filled += static_cast<std::size_t>(got);
    }
    content.resize(filled);
    return content;
}

Result<std::string> readFile(const std::string& path, std::int64_t maxBytes) {
    PW_TRY(const OpenFile file, openRegularFile(path));
    if (file.size > maxBytes)
        return fail(ErrorCode::TooLarge,
                    "is " + text::bytes(static_cast<double>(file.size)) + ", more than the " +
                        text::bytes(static_cast<double>(maxBytes)) + " this format may have",
                    {}, path);
    return readUpTo(file, static_cast<std::size_t>(maxBytes), path);
}

Status writeAll(int fd, std::string_view content, const std::string& path) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return systemError("cannot write", errno, path);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Status writeFileAtomically(const std::string& path, std::string_view content) {
    return writeAtomically(path, [&](int fd) { return writeAll(fd, content, path); });
}

Status writeAtomically(const std::string& path, const std::function<Status(int fd)>& write) {
    struct stat old = {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return fail(ErrorCode::Io, "is a directory", {}, path);
    if (exists && !S_ISREG(old.st_mode))
        return writeToStream(path, write); // /dev/stdout, a named pipe: nothing to replace
    if (exists && ::access(path.c_str(), W_OK) != 0)
        return systemError("cannot write", errno, path);

    const std::string target = resolveLink(path);
    static std::atomic<unsigned> counter{0};
    const std::string temporary =
        folderOf(target) + "/.placewright-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    const FileHandle handle(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!handle.isOpen())
        return systemError("cannot write into its folder", errno, path);
    Status written = write(handle.fd());
    if (written && exists && ::fchmod(handle.fd(), old.st_mode & 07777U) != 0)
        written = systemError("cannot keep its permissions", errno, path);
    if (written && ::fsync(handle.fd()) != 0)
        written = systemError("cannot write", errno, path);
    if (written && ::rename(temporary.c_str(), target.c_str()) != 0)
        written = systemError("cannot replace the file", errno, path);
    if (!written) {
        ::unlink(temporary.c_str());
        return written;
    }
    syncFolderOf(target);
    return {};
}

} // namespace pw::formats
