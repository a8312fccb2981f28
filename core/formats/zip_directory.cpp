#include "core/formats/zip_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <unistd.h>

namespace pw::formats {

namespace {

// Sizes and offsets of the records, from the ZIP file format specification (PKWARE APPNOTE 4.3).
constexpr std::size_t kLocalHeaderBytes = 30;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64LocatorBytes = 20;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kMaxComment = 65535;
constexpr std::uint64_t kMaxDirectoryBytes = 64U << 20;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = width; i > 0; --i)
        value = value << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
    return value;
}

/// `count` bytes from `offset`; nothing if the file ends before.
std::optional<std::string> readAt(const OpenFile& file, std::uint64_t offset, std::uint64_t count) {
    const auto size = static_cast<std::uint64_t>(file.size);
    if (offset > size || count > size - offset)
        return std::nullopt;
    std::string bytes(static_cast<std::size_t>(count), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = ::pread(file.handle.fd(), bytes.data() + have, bytes.size() - have,
                                    static_cast<off_t>(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return std::nullopt;
        have += static_cast<std::size_t>(got);
    }
    return bytes;
}

struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// Where the directory is, as the record at the file's end says it; archives over 4 GB have a second one before it.
std::optional<Extent> findDirectory(const OpenFile& file) {
    const auto size = static_cast<std::uint64_t>(file.size);
    const std::uint64_t tailBytes = std::min<std::uint64_t>(size, kEndBytes + kMaxComment + kEnd64LocatorBytes);
    const auto tail = readAt(file, size - tailBytes, tailBytes);
    if (!tail || tail->size() < kEndBytes)
        return std::nullopt;
    const auto end = tail->rfind("PK\x05\x06", tail->size() - kEndBytes);
    if (end == std::string::npos)
        return std::nullopt;
    Extent found{number(*tail, end + 16, 4), number(*tail, end + 12, 4)};
    if (found.offset != UINT32_MAX && found.size != UINT32_MAX)
        return found;
    if (end < kEnd64LocatorBytes || tail->compare(end - kEnd64LocatorBytes, 4, "PK\x06\x07") != 0)
        return std::nullopt;
    const auto end64 = readAt(file, number(*tail, end - kEnd64LocatorBytes + 8, 8), kEnd64Bytes);
    if (!end64 || end64->compare(0, 4, "PK\x06\x06") != 0)
        return std::nullopt;
    return Extent{number(*end64, 48, 8), number(*end64, 40, 8)};
}

} // namespace

Recognition recogniseZip(std::string_view head) {
    std::string_view name;
    if (head.size() > kLocalHeaderBytes)
        name = head.substr(kLocalHeaderBytes, number(head, 26, 2));
    const auto endsWith = [&](std::initializer_list<std::string_view> endings) {
        return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
    };
    if (endsWith({"/data.pkl", "/constants.pkl", "/bytecode.pkl", "/version", "/.format_version", "/byteorder",
                  "/.storage_alignment", "/archive_format"}) ||
        name.find("/code/") != std::string_view::npos || name.find("/extra/") != std::string_view::npos ||
        name.find("/data/") != std::string_view::npos || name.find("/constants/") != std::string_view::npos)
        return {Format::TorchScript, {}};
    if (name == "metadata.json" || name == "config.json" || name == "model.weights.h5")
        return {Format::Unknown, "a Keras model (a ZIP archive)"};
    if (endsWith({".npy"}))
        return {Format::Unknown, "a NumPy archive (.npz)"};
    return {Format::Unknown, "a ZIP archive, but not one of PyTorch: unpack it first"};
}

Result<std::vector<std::string>> zipEntryNames(const OpenFile& file) {
    const auto extent = findDirectory(file);
    if (!extent)
        return fail(ErrorCode::Parse, "is a ZIP archive without its directory, which stands at the end: the file is cut off");
    if (extent->size > kMaxDirectoryBytes)
        return fail(ErrorCode::TooLarge, "the directory of the ZIP archive is too large");
    const auto directory = readAt(file, extent->offset, extent->size);
    if (!directory)
        return fail(ErrorCode::Parse, "is a ZIP archive whose directory lies outside the file");
    std::vector<std::string> names;
    const std::string_view bytes = *directory;
    for (std::size_t at = 0; at + kEntryBytes <= bytes.size() && bytes.substr(at, 4) == "PK\x01\x02";) {
        const std::size_t nameBytes = number(bytes, at + 28, 2);
        names.emplace_back(bytes.substr(at + kEntryBytes, nameBytes));
        at += kEntryBytes + nameBytes + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    }
    return names;
}

} // namespace pw::formats
