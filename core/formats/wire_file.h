#pragma once

#include "core/formats/file_handle.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pw::formats {

/// A stretch of a file, in bytes.
struct FileRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

/// One field of a protobuf message.
struct WireField {
    std::uint32_t number = 0;
    std::uint32_t wire = 0;
    std::uint64_t value = 0; ///< of a varint; otherwise the bytes of the payload
};

void appendVarint(std::string& out, std::uint64_t value);

/// Reads protobuf's wire format from a file with 64-bit positions. Skipping does not read.
class WireFile {
public:
    /// `what` completes "not a readable ..." in errors. All references must outlive the reader.
    WireFile(const OpenFile& file, const std::string& path, std::string what);

    std::uint64_t size() const { return m_size; }
    std::uint64_t position() const { return m_position; }
    void seek(std::uint64_t position) { m_position = position; }

    Status readVarint(std::uint64_t& value);
    /// Fails where the field does not end before `end`.
    Result<WireField> readField(std::uint64_t end);
    void skip(const WireField& field) { m_position += field.wire == 0 ? 0 : field.value; }
    Status append(std::string& out, std::uint64_t count);
    /// Appends the field that readField() has just begun as it stands in the file.
    Status copyField(std::string& out, const WireField& field);

    tl::unexpected<Error> damaged(const std::string& reason) const;

private:
    Status read(char* into, std::size_t count);
    Status fill();

    const OpenFile& m_file;
    const std::string& m_path;
    std::string m_what;
    std::uint64_t m_size;
    std::vector<char> m_buffer;
    std::uint64_t m_bufferStart = 0;
    std::size_t m_filled = 0;
    std::uint64_t m_position = 0;
};

} // namespace pw::formats
