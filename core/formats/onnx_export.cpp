#include "core/formats/exporters.h"

#include "core/base/text.h"
#include "core/formats/importers.h"
#include "core/formats/onnx_model.h"
#include "core/formats/recognise.h"
#include "core/formats/wire_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace pw::formats {

namespace {

constexpr std::uint32_t kGraphField = 7;    ///< of ModelProto
constexpr std::uint32_t kNodeField = 1;     ///< of GraphProto
constexpr std::uint32_t kMetadataField = 9; ///< of NodeProto
constexpr std::size_t kCopyBytes = 1 << 20;

/// One stretch of the original and what comes in its place.
struct Edit {
    std::uint64_t at = 0;
    std::uint64_t removed = 0;
    std::string inserted;
};

std::string record(std::uint32_t field, std::string_view payload) {
    std::string out;
    appendVarint(out, (std::uint64_t{field} << 3) | 2U);
    appendVarint(out, payload.size());
    return out += payload;
}

std::string deviceRecord(const std::string& device) {
    return record(kMetadataField, record(1, kOnnxDeviceKey) + record(2, device));
}

/// Finds what to change in a model so that its nodes carry devices. Reads the records around the nodes only; memory is
/// a few bytes per node, whatever the weights take.
class DeviceEditor {
public:
    DeviceEditor(const OpenFile& file, const std::string& path, const OpGraph& graph, const DeviceNames& deviceOf)
        : m_reader(file, path, "ONNX model")
        , m_graph(graph)
        , m_deviceOf(deviceOf) {}

    Result<std::vector<Edit>> run() {
        while (m_reader.position() < m_reader.size()) {
            PW_TRY(const Record field, next(m_reader.size()));
            if (field.number == kGraphField && field.wire == 2)
                PW_CHECK(editGraph(field));
            m_reader.seek(field.end);
        }
        if (m_node != m_graph.opCount())
            return otherGraph("it has " + std::to_string(m_node) + " nodes, the graph " +
                              std::to_string(m_graph.opCount()) + " ops");
        std::sort(m_edits.begin(), m_edits.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
        return std::move(m_edits);
    }

private:
    /// A field of the file; the reader stands at its payload.
    struct Record {
        std::uint32_t number = 0;
        std::uint32_t wire = 0;
        std::uint64_t start = 0;    ///< of its tag
        std::uint64_t lengthAt = 0; ///< of its length
        std::uint64_t payload = 0;
        std::uint64_t end = 0;
    };

    static tl::unexpected<Error> otherGraph(const std::string& reason, std::string where = {}) {
        return fail(ErrorCode::Invalid, "is another graph than the one to write: " + reason, std::move(where));
    }

    Result<Record> next(std::uint64_t end) {
        Record field;
        field.start = m_reader.position();
        std::uint64_t tag = 0;
        PW_CHECK(m_reader.readVarint(tag));
        field.lengthAt = m_reader.position();
        m_reader.seek(field.start);
        PW_TRY(const WireField read, m_reader.readField(end));
        field.number = read.number;
        field.wire = read.wire;
        field.payload = m_reader.position();
        field.end = field.payload + (read.wire == 0 ? 0 : read.value);
        return field;
    }

    Status editGraph(const Record& graph) {
        std::int64_t growth = 0;
        while (m_reader.position() < graph.end) {
            PW_TRY(const Record field, next(graph.end));
            if (field.number == kNodeField && field.wire == 2) {
                PW_TRY(const std::int64_t more, editNode(field));
                growth += more + editLength(field, more);
            }
            m_reader.seek(field.end);
        }
        editLength(graph, growth);
        return {};
    }

    /// Returns by how much the length itself grows.
    std::int64_t editLength(const Record& field, std::int64_t growth) {
        if (growth == 0)
            return 0;
        Edit edit{field.lengthAt, field.payload - field.lengthAt, {}};
        appendVarint(edit.inserted,
                     static_cast<std::uint64_t>(static_cast<std::int64_t>(field.end - field.payload) + growth));
        const auto change = static_cast<std::int64_t>(edit.inserted.size()) - static_cast<std::int64_t>(edit.removed);
        m_edits.push_back(std::move(edit));
        return change;
    }

    /// What of a node tells which op it is, and its entries for the device.
    struct Node {
        std::string name;
        std::string output; ///< first one
        std::string type;
        std::string domain;
        std::vector<Record> entries;
        std::string device;      ///< of the last entry
        std::uint64_t place = 0; ///< where a new entry belongs: in front of the fields with higher numbers
    };

    Result<Node> readNode(const Record& node) {
        Node found;
        found.place = node.end;
        bool hasOutput = false;
        while (m_reader.position() < node.end) {
            PW_TRY(const Record field, next(node.end));
            if (field.number > kMetadataField && found.place == node.end)
                found.place = field.start;
            std::string* text = field.number == 3                                      ? &found.name
                                : field.number == 4                                    ? &found.type
                                : field.number == 7                                    ? &found.domain
                                : field.number == 2 && !std::exchange(hasOutput, true) ? &found.output
                                                                                       : nullptr;
            if (text != nullptr && field.wire == 2) {
                text->clear();
                PW_CHECK(m_reader.append(*text, field.end - field.payload));
            } else if (field.number == kMetadataField && field.wire == 2) {
                PW_CHECK(readEntry(field, found));
            }
            m_reader.seek(field.end);
        }
        return found;
    }

    Status readEntry(const Record& entry, Node& node) {
        std::string key;
        std::string value;
        while (m_reader.position() < entry.end) {
            PW_TRY(const Record field, next(entry.end));
            std::string* text = field.wire != 2     ? nullptr
                                : field.number == 1 ? &key
                                : field.number == 2 ? &value
                                                    : nullptr;
            if (text != nullptr) {
                text->clear();
                PW_CHECK(m_reader.append(*text, field.end - field.payload));
            }
            m_reader.seek(field.end);
        }
        if (key == kOnnxDeviceKey) {
            node.entries.push_back(entry);
            node.device = std::move(value);
        }
        return {};
    }

    /// An op is called like its node or, where that has no name, its first output; "#2" follows where a name was there
    /// before.
    static bool isOpOf(const Op& op, const Node& node) {
        const std::string name = text::toValidUtf8(node.name.empty() ? node.output : node.name);
        return op.type == onnxTypeName(node.domain, node.type) &&
               (name.empty() || op.name == name || op.name.starts_with(name + "#"));
    }

    /// Returns by how many bytes the node grows.
    Result<std::int64_t> editNode(const Record& record) {
        PW_TRY(const Node node, readNode(record));
        const std::size_t index = m_node++;
        if (index >= m_graph.opCount())
            return 0; // the count is complained about at the end
        const Op& op = m_graph.op(OpId(index));
        if (!isOpOf(op, node)) {
            return otherGraph("its node " + std::to_string(index) + " is \"" +
                                  text::toValidUtf8(node.name.empty() ? node.output : node.name) + "\" (" +
                                  onnxTypeName(node.domain, node.type) + ")",
                              "op \"" + op.name + "\" (" + op.type + ")");
        }
        const std::string& device = m_deviceOf.empty() ? op.device : m_deviceOf[index];
        const bool isAsWanted =
            device.empty() ? node.entries.empty() : node.entries.size() == 1 && node.device == device;
        if (isAsWanted)
            return 0;
        std::vector<Edit> edits;
        for (const Record& entry : node.entries)
            edits.push_back({entry.start, entry.end - entry.start, {}});
        if (edits.empty())
            edits.push_back({node.place, 0, {}});
        if (!device.empty())
            edits.back().inserted = deviceRecord(device); // why the last: that is the one that counts
        std::int64_t growth = 0;
        for (Edit& edit : edits) {
            growth += static_cast<std::int64_t>(edit.inserted.size()) - static_cast<std::int64_t>(edit.removed);
            m_edits.push_back(std::move(edit));
        }
        return growth;
    }

    WireFile m_reader;
    const OpGraph& m_graph;
    const DeviceNames& m_deviceOf;
    std::size_t m_node = 0;
    std::vector<Edit> m_edits;
};

/// Copies a stretch of the original, in the kernel where it can.
class Copier {
public:
    Copier(const OpenFile& from, const std::string& fromPath, int to, const std::string& toPath)
        : m_from(from)
        , m_fromPath(fromPath)
        , m_to(to)
        , m_toPath(toPath) {}

    Status copy(std::uint64_t begin, std::uint64_t end) {
        auto at = static_cast<off_t>(begin);
        while (m_inKernel && static_cast<std::uint64_t>(at) < end) {
            const ssize_t moved = ::copy_file_range(m_from.handle.fd(), &at, m_to, nullptr,
                                                    static_cast<std::size_t>(end - static_cast<std::uint64_t>(at)), 0);
            // Other file systems, pipes, a full disk: what it is, the plain way finds out.
            m_inKernel = moved > 0;
        }
        return copyByHand(static_cast<std::uint64_t>(at), end);
    }

private:
    Status copyByHand(std::uint64_t at, std::uint64_t end) {
        while (at < end) {
            m_buffer.resize(kCopyBytes);
            const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - at));
            const ssize_t got = ::pread(m_from.handle.fd(), m_buffer.data(), wanted, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                return fail(ErrorCode::Io,
                            got < 0 ? std::string("cannot read: ") + std::strerror(errno) : "became shorter meanwhile",
                            {}, m_fromPath);
            PW_CHECK(writeAll(m_to, std::string_view(m_buffer.data(), static_cast<std::size_t>(got)), m_toPath));
            at += static_cast<std::uint64_t>(got);
        }
        return {};
    }

    const OpenFile& m_from;
    const std::string& m_fromPath;
    int m_to;
    const std::string& m_toPath;
    bool m_inKernel = true;
    std::vector<char> m_buffer;
};

Status copyWithEdits(const OpenFile& original, const std::string& source, const std::vector<Edit>& edits, int to,
                     const std::string& path) {
    Copier copier(original, source, to, path);
    std::uint64_t at = 0;
    for (const Edit& edit : edits) {
        PW_CHECK(copier.copy(at, edit.at));
        PW_CHECK(writeAll(to, edit.inserted, path));
        at = edit.at + edit.removed;
    }
    return copier.copy(at, static_cast<std::uint64_t>(original.size));
}

} // namespace

Status exportOnnx(const OpGraph& graph, const Target& target) {
    if (target.source.empty()) {
        return fail(
            ErrorCode::Unsupported,
            "ONNX models are written by putting devices into the file that the graph was opened from; there is none",
            {}, target.path);
    }
    PW_TRY(const OpenFile original, openRegularFile(target.source));
    PW_TRY(const std::string head, readUpTo(original, kHeadBytes, target.source));
    if (recognise(head, original.size).format != Format::Onnx) {
        return fail(
            ErrorCode::Unsupported,
            "is no ONNX model in binary form; a model is written by putting devices into the one it was opened from",
            {}, target.source);
    }
    auto edits = DeviceEditor(original, target.source, graph, target.deviceOf).run();
    if (!edits) {
        if (edits.error().file.empty())
            edits.error().file = target.source;
        return fail(std::move(edits).error());
    }
    return writeAtomically(target.path,
                           [&](int fd) { return copyWithEdits(original, target.source, *edits, fd, target.path); });
}

} // namespace pw::formats
