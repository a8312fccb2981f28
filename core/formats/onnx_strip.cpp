#include "core/formats/onnx_strip.h"

#include "core/formats/graph_json.h"
#include "core/formats/wire_file.h"

#include <algorithm>
#include <array>
#include <optional>

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

enum class Kind { Model, Graph, Node, Attribute, Tensor, SparseTensor, Function, Entry, Plain };

/// What to do with a field of a message: descend, copy as it is, or leave out (nothing).
std::optional<Kind> childKind(Kind parent, std::uint32_t field) {
    struct Rule {
        Kind parent;
        std::uint32_t field;
        Kind child;
    };
    static constexpr std::array<Rule, 16> kNested = {{
        {Kind::Model, 7, Kind::Graph},
        {Kind::Model, 25, Kind::Function},
        {Kind::Graph, 1, Kind::Node},
        {Kind::Graph, 5, Kind::Tensor},
        {Kind::Graph, 15, Kind::SparseTensor},
        {Kind::Node, 5, Kind::Attribute},
        {Kind::Node, 9, Kind::Entry},
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
    static const std::array<Copied, 8> kCopied = {{
        {Kind::Model, bits({1, 2, 3, 4, 5, 8})},
        {Kind::Graph, bits({2, 11, 12, 13})},
        {Kind::Node, bits({1, 2, 3, 4, 7})},
        {Kind::Attribute, bits({1, 2, 3, 4, 7, 8, 9, 14, 15, 20, 21})},
        {Kind::Tensor, bits({1, 2, 3, 8, 13, 14})},
        {Kind::SparseTensor, bits({3})},
        {Kind::Function, bits({1, 4, 5, 6, 9, 10})},
        {Kind::Entry, bits({1, 2})},
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

class Stripper {
public:
    Stripper(const OpenFile& file, const std::string& path, std::stop_token stop)
        : m_reader(file, path, "ONNX model")
        , m_path(path)
        , m_stop(std::move(stop))
        , m_fileSize(static_cast<std::uint64_t>(file.size))
        , m_recordsLeft(kFreeRecords + file.size / kBytesPerRecord) {}

    Result<std::string> run() {
        PW_CHECK(copyMessage(Kind::Model, m_fileSize, 0));
        return std::move(m_out);
    }

private:
    Status copyMessage(Kind kind, std::uint64_t end, int bodyDepth) {
        if (m_stop.stop_requested())
            return fail(ErrorCode::Busy, "cancelled", {}, m_path);
        if (--m_recordsLeft < 0)
            return fail(ErrorCode::TooLarge, "holds more records than a file of its size can mean", {}, m_path);
        if (kind == Kind::Tensor)
            return copyTensor(end);
        while (m_reader.position() < end) {
            PW_TRY(const WireField field, m_reader.readField(end));
            const auto child = childKind(kind, field.number);
            if (!child) {
                m_reader.skip(field);
            } else if (*child == Kind::Plain || field.wire != 2) {
                PW_CHECK(m_reader.copyField(m_out, field));
            } else {
                const bool isBody = kind == Kind::Attribute && *child == Kind::Graph;
                PW_CHECK(copyChild(*child, field, bodyDepth + (isBody ? 1 : 0)));
            }
        }
        return {};
    }

    Status copyChild(Kind child, const WireField& field, int bodyDepth) {
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

    /// A payload that turns out too large is left out completely, also what came before in the same tensor.
    Status copyTensor(std::uint64_t end) {
        std::string payload;
        std::uint64_t dataType = 0;
        bool dropped = false;
        while (m_reader.position() < end) {
            PW_TRY(const WireField field, m_reader.readField(end));
            if (field.number == 2 && field.wire == 0)
                dataType = field.value;
            if (!isPayload(field.number)) {
                if (childKind(Kind::Tensor, field.number))
                    PW_CHECK(m_reader.copyField(m_out, field));
                else
                    m_reader.skip(field);
                continue;
            }
            const std::uint64_t size = 12 + (field.wire == 0 ? 0 : field.value);
            dropped = dropped || payload.size() + size > maxPayload(dataType) ||
                      m_kept + payload.size() + size > kMaxAllPayloads;
            if (dropped)
                m_reader.skip(field);
            else
                PW_CHECK(m_reader.copyField(payload, field));
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

    WireFile m_reader;
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
