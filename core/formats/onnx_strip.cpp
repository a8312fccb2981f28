#include "core/formats/onnx_strip.h"

#include "core/formats/graph_json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <unistd.h>
#include <vector>

namespace pw::formats {

namespace {

constexpr std::uint64_t kMaxIntegerPayload = 64 << 10;
constexpr std::uint64_t kMaxOtherPayload = 1 << 10; ///< why: scales of Resize are a few floats
constexpr std::uint64_t kMaxAllPayloads = 64 << 20;
/// A record costs a few hundred bytes in memory but may take two in the file. Honest models have more than this many
/// bytes per record; the free ones are for small files.
constexpr std::int64_t kBytesPerRecord = 6;
constexpr std::int64_t kFreeRecords = 100'000;
constexpr int kLengthBytes = 5; ///< a length is written before it is known, padded to this many bytes

/// Forward-only reader of a file with 64-bit positions. Skipping does not read.
class FileReader {
public:
    FileReader(const OpenFile& file, const std::string& path)
        : m_file(file)
        , m_path(path)
        , m_buffer(256 << 10) {}

    std::uint64_t position() const { return m_position; }

    Status readVarint(std::uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            unsigned char byte = 0;
            PW_CHECK(read(reinterpret_cast<char*>(&byte), 1));
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80)
                return {};
        }
        return damaged("a number is longer than 64 bits");
    }

    Status append(std::string& out, std::uint64_t count) {
        const std::size_t before = out.size();
        out.resize(before + static_cast<std::size_t>(count));
        return read(out.data() + before, static_cast<std::size_t>(count));
    }

    void skip(std::uint64_t count) { m_position += count; }

    tl::unexpected<Error> damaged(const std::string& reason) const {
        return fail(ErrorCode::Parse, "not a readable ONNX model: " + reason, "byte " + std::to_string(m_position),
                    m_path);
    }

private:
    Status read(char* into, std::size_t count) {
        while (count > 0) {
            if (m_position < m_bufferStart || m_position >= m_bufferStart + m_filled)
                PW_CHECK(fill());
            const auto offset = static_cast<std::size_t>(m_position - m_bufferStart);
            const std::size_t step = std::min(count, m_filled - offset);
            std::memcpy(into, m_buffer.data() + offset, step);
            into += step;
            count -= step;
            m_position += step;
        }
        return {};
    }

    Status fill() {
        ssize_t got = 0;
        do {
            got = ::pread(m_file.handle.fd(), m_buffer.data(), m_buffer.size(), static_cast<off_t>(m_position));
        } while (got < 0 && errno == EINTR);
        if (got < 0)
            return fail(ErrorCode::Io, std::string("cannot read: ") + std::strerror(errno), {}, m_path);
        if (got == 0)
            return damaged("the file ends too early");
        m_bufferStart = m_position;
        m_filled = static_cast<std::size_t>(got);
        return {};
    }

    const OpenFile& m_file;
    const std::string& m_path;
    std::vector<char> m_buffer;
    std::uint64_t m_bufferStart = 0;
    std::size_t m_filled = 0;
    std::uint64_t m_position = 0;
};

enum class Kind { Model, Graph, Node, Attribute, Tensor, SparseTensor, Function, Plain };

/// What to do with a field of a message: descend, copy as it is, or leave out (nothing).
std::optional<Kind> childKind(Kind parent, std::uint32_t field) {
    struct Rule {
        Kind parent;
        std::uint32_t field;
        Kind child;
    };
    static constexpr std::array<Rule, 15> kNested = {{
        {Kind::Model, 7, Kind::Graph},
        {Kind::Model, 25, Kind::Function},
        {Kind::Graph, 1, Kind::Node},
        {Kind::Graph, 5, Kind::Tensor},
        {Kind::Graph, 15, Kind::SparseTensor},
        {Kind::Node, 5, Kind::Attribute},
        {Kind::Attribute, 5, Kind::Tensor},
        {Kind::Attribute, 6, Kind::Graph},
        {Kind::Attribute, 10, Kind::Tensor},
        {Kind::Attribute, 11, Kind::Graph},
        {Kind::Attribute, 22, Kind::SparseTensor},
        {Kind::Attribute, 23, Kind::SparseTensor},
        {Kind::SparseTensor, 1, Kind::Tensor},
        {Kind::SparseTensor, 2, Kind::Tensor},
        {Kind::Function, 7, Kind::Node},
    }};
    for (const Rule& rule : kNested) {
        if (rule.parent == parent && rule.field == field)
            return rule.child;
    }
    struct Copied {
        Kind parent;
        std::uint64_t fields; ///< bit per field number
    };
    const auto bits = [](std::initializer_list<unsigned> fields) {
        std::uint64_t mask = 0;
        for (const unsigned number : fields)
            mask |= std::uint64_t{1} << number;
        return mask;
    };
    static const std::array<Copied, 7> kCopied = {{
        {Kind::Model, bits({1, 2, 3, 4, 5, 8})},
        {Kind::Graph, bits({2, 11, 12, 13})},
        {Kind::Node, bits({1, 2, 3, 4, 7})},
        {Kind::Attribute, bits({1, 2, 3, 4, 7, 8, 9, 14, 15, 20, 21})},
        {Kind::Tensor, bits({1, 2, 3, 8, 13, 14})},
        {Kind::SparseTensor, bits({3})},
        {Kind::Function, bits({1, 4, 5, 6, 9, 10})},
    }};
    for (const Copied& rule : kCopied) {
        if (rule.parent == parent && field < 64 && ((rule.fields >> field) & 1U) != 0)
            return Kind::Plain;
    }
    return std::nullopt;
}

bool isPayload(std::uint32_t field) {
    return (field >= 4 && field <= 7) || (field >= 9 && field <= 11);
}

void appendVarint(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
        out += static_cast<char>((value & 0x7fU) | 0x80U);
        value >>= 7;
    }
    out += static_cast<char>(value);
}

class Stripper {
public:
    Stripper(const OpenFile& file, const std::string& path, std::stop_token stop)
        : m_reader(file, path)
        , m_path(path)
        , m_stop(std::move(stop))
        , m_fileSize(static_cast<std::uint64_t>(file.size))
        , m_recordsLeft(kFreeRecords + file.size / kBytesPerRecord) {}

    Result<std::string> run() {
        PW_CHECK(copyMessage(Kind::Model, m_fileSize, 0));
        return std::move(m_out);
    }

private:
    struct Field {
        std::uint32_t number = 0;
        std::uint32_t wire = 0;
        std::uint64_t value = 0; ///< of a varint; length of a length-delimited one
    };

    Result<Field> readField(std::uint64_t end) {
        std::uint64_t tag = 0;
        PW_CHECK(m_reader.readVarint(tag));
        Field field{static_cast<std::uint32_t>(tag >> 3), static_cast<std::uint32_t>(tag & 7U), 0};
        if (tag >> 32 != 0 || field.number == 0)
            return m_reader.damaged("there is no such field");
        if (field.wire == 0 || field.wire == 2)
            PW_CHECK(m_reader.readVarint(field.value));
        else if (field.wire == 1 || field.wire == 5)
            field.value = field.wire == 1 ? 8 : 4;
        else
            return m_reader.damaged("unknown wire type " + std::to_string(field.wire));
        const std::uint64_t length = field.wire == 0 ? 0 : field.value;
        if (m_reader.position() > end || length > end - m_reader.position()) {
            return m_reader.damaged("field " + std::to_string(field.number) + " ends after its record: the file has " +
                                    std::to_string(m_fileSize) + " bytes and is cut off or damaged");
        }
        return field;
    }

    /// Appends a field that `readField` has just begun, as it is.
    Status copyField(std::string& out, const Field& field) {
        appendVarint(out, (std::uint64_t{field.number} << 3) | field.wire);
        if (field.wire == 0 || field.wire == 2)
            appendVarint(out, field.value);
        return field.wire == 0 ? Status() : m_reader.append(out, field.value);
    }

    Status copyMessage(Kind kind, std::uint64_t end, int bodyDepth) {
        if (m_stop.stop_requested())
            return fail(ErrorCode::Busy, "cancelled", {}, m_path);
        if (--m_recordsLeft < 0)
            return fail(ErrorCode::TooLarge, "holds more records than a file of its size can mean", {}, m_path);
        if (kind == Kind::Tensor)
            return copyTensor(end);
        while (m_reader.position() < end) {
            PW_TRY(const Field field, readField(end));
            const auto child = childKind(kind, field.number);
            if (!child) {
                skip(field);
            } else if (*child == Kind::Plain || field.wire != 2) {
                PW_CHECK(copyField(m_out, field));
            } else {
                const bool isBody = kind == Kind::Attribute && *child == Kind::Graph;
                PW_CHECK(copyChild(*child, field, bodyDepth + (isBody ? 1 : 0)));
            }
        }
        return {};
    }

    Status copyChild(Kind child, const Field& field, int bodyDepth) {
        if (bodyDepth > kMaxBodyDepth)
            return fail(ErrorCode::TooLarge, "bodies nest more than " + std::to_string(kMaxBodyDepth) + " deep", {},
                        m_path);
        appendVarint(m_out, (std::uint64_t{field.number} << 3) | field.wire);
        const std::size_t lengthAt = m_out.size();
        m_out.append(kLengthBytes, '\0');
        PW_CHECK(copyMessage(child, m_reader.position() + field.value, bodyDepth));
        std::uint64_t length = m_out.size() - lengthAt - kLengthBytes;
        if (length > INT32_MAX)
            return fail(ErrorCode::TooLarge, "more than 2 GB without its weights", {}, m_path);
        for (int i = 0; i < kLengthBytes; ++i, length >>= 7)
            m_out[lengthAt + static_cast<std::size_t>(i)] =
                static_cast<char>((length & 0x7fU) | (i + 1 < kLengthBytes ? 0x80U : 0U));
        return {};
    }

    void skip(const Field& field) {
        if (field.wire != 0)
            m_reader.skip(field.value);
    }

    /// A payload that turns out too large is left out completely, also what came before in the same tensor.
    Status copyTensor(std::uint64_t end) {
        std::string payload;
        std::uint64_t dataType = 0;
        bool dropped = false;
        while (m_reader.position() < end) {
            PW_TRY(const Field field, readField(end));
            if (field.number == 2 && field.wire == 0)
                dataType = field.value;
            if (!isPayload(field.number)) {
                if (childKind(Kind::Tensor, field.number))
                    PW_CHECK(copyField(m_out, field));
                else
                    skip(field);
                continue;
            }
            const std::uint64_t size = 12 + (field.wire == 0 ? 0 : field.value);
            dropped = dropped || payload.size() + size > maxPayload(dataType) ||
                      m_kept + payload.size() + size > kMaxAllPayloads;
            if (dropped)
                skip(field);
            else
                PW_CHECK(copyField(payload, field));
        }
        if (!dropped) {
            m_out += payload;
            m_kept += payload.size();
        }
        return {};
    }

    static std::uint64_t maxPayload(std::uint64_t dataType) {
        const bool isOther = dataType == 1 || dataType == 8 || dataType == 10 || dataType == 11 || dataType >= 14;
        return isOther ? kMaxOtherPayload : kMaxIntegerPayload + 16;
    }

    FileReader m_reader;
    const std::string& m_path;
    std::stop_token m_stop;
    std::uint64_t m_fileSize;
    std::int64_t m_recordsLeft;
    std::uint64_t m_kept = 0;
    std::string m_out;
};

} // namespace

Result<std::string> readOnnxWithoutWeights(const OpenFile& file, const std::string& path, std::stop_token stop) {
    return Stripper(file, path, std::move(stop)).run();
}

} // namespace pw::formats
