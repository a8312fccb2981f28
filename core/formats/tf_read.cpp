#include "core/formats/tf_read.h"

#include "core/base/text.h"

#include <array>
#include <optional>

namespace pw::formats::tf {

namespace {

constexpr const char* kWhat = "TensorFlow graph";
constexpr std::uint64_t kMaxIntegerPayload = 64 << 10;
constexpr std::uint64_t kMaxOtherPayload = 1 << 10;
constexpr std::uint64_t kMaxText = 4 << 10; ///< why: some ops carry whole programs in a text attribute
constexpr std::uint64_t kMaxNode = 256 << 20;
/// A record costs up to 100 bytes in memory but may take two in the file. Honest graphs have more than this many bytes
/// per record; the free ones are for small files.
constexpr std::int64_t kBytesPerRecord = 6;
constexpr std::int64_t kFreeRecords = 100'000;
constexpr int kLengthBytes = 5; ///< a length is written before it is known, padded to this many bytes
constexpr unsigned kStringBytesField = 1000;

enum class Kind { Node, AttrEntry, AttrValue, AttrList, Function, Tensor, Text, Plain };

/// What to do with a field of a message: descend, copy as it is, or leave out (nothing).
std::optional<Kind> childKind(Kind parent, std::uint32_t field) {
    struct Rule {
        Kind parent;
        std::uint32_t field;
        Kind child;
    };
    static constexpr std::array<Rule, 27> kRules = {{
        {Kind::Node, 1, Kind::Plain},      {Kind::Node, 2, Kind::Plain},      {Kind::Node, 3, Kind::Plain},
        {Kind::Node, 4, Kind::Plain},      {Kind::Node, 5, Kind::AttrEntry},  {Kind::AttrEntry, 1, Kind::Plain},
        {Kind::AttrEntry, 2, Kind::AttrValue}, {Kind::AttrValue, 1, Kind::AttrList}, {Kind::AttrValue, 2, Kind::Text},
        {Kind::AttrValue, 3, Kind::Plain}, {Kind::AttrValue, 4, Kind::Plain}, {Kind::AttrValue, 5, Kind::Plain},
        {Kind::AttrValue, 6, Kind::Plain}, {Kind::AttrValue, 7, Kind::Plain}, {Kind::AttrValue, 8, Kind::Tensor},
        {Kind::AttrValue, 10, Kind::Plain}, {Kind::AttrList, 2, Kind::Text},  {Kind::AttrList, 3, Kind::Plain},
        {Kind::AttrList, 4, Kind::Plain},  {Kind::AttrList, 5, Kind::Plain},  {Kind::AttrList, 6, Kind::Plain},
        {Kind::AttrList, 7, Kind::Plain},  {Kind::AttrList, 8, Kind::Tensor}, {Kind::AttrList, 9, Kind::Plain},
        {Kind::Function, 1, Kind::Plain},  {Kind::Function, 3, Kind::Node},   {Kind::Function, 5, Kind::AttrEntry},
    }};
    for (const Rule& rule : kRules) {
        if (rule.parent == parent && rule.field == field)
            return rule.child;
    }
    return std::nullopt;
}

bool isPayload(std::uint32_t field) {
    return (field >= 4 && field <= 8) || field == 10 || field == 11 || field == 16 || field == 17;
}

std::uint64_t maxPayload(std::uint64_t dtype) {
    return dtype == tensorflow::DT_INT32 || dtype == tensorflow::DT_INT64 ? kMaxIntegerPayload + 16 : kMaxOtherPayload;
}

class GraphReader {
public:
    GraphReader(const OpenFile& file, const std::string& path, std::stop_token stop,
                const std::function<void(double)>& progress)
        : m_file(file, path, kWhat)
        , m_path(path)
        , m_stop(std::move(stop))
        , m_progress(progress)
        , m_recordsLeft(kFreeRecords + file.size / kBytesPerRecord) {}

    Result<tensorflow::GraphDef> read(const GraphRanges& ranges) {
        for (const FileRange& range : ranges) {
            m_file.seek(range.start);
            PW_CHECK(readGraph(range.end));
        }
        return std::move(m_graph);
    }

private:
    Status readGraph(std::uint64_t end) {
        while (m_file.position() < end) {
            PW_TRY(const WireField field, m_file.readField(end));
            if (field.wire != 2) {
                m_file.skip(field);
                continue;
            }
            const std::uint64_t fieldEnd = m_file.position() + field.value;
            if (field.number == 1)
                PW_CHECK(readMessage(Kind::Node, fieldEnd, *m_graph.add_node()));
            else if (field.number == 2)
                PW_CHECK(readLibrary(fieldEnd));
            else if (field.number == 4 && field.value < kMaxText)
                PW_CHECK(readVersions(field));
            else
                m_file.skip(field);
            if (m_progress && m_graph.node_size() % 4096 == 0)
                m_progress(static_cast<double>(m_file.position()) / static_cast<double>(m_file.size()));
        }
        return {};
    }

    Status readLibrary(std::uint64_t end) {
        while (m_file.position() < end) {
            PW_TRY(const WireField field, m_file.readField(end));
            const std::uint64_t fieldEnd = m_file.position() + field.value;
            if (field.number == 1 && field.wire == 2)
                PW_CHECK(readMessage(Kind::Function, fieldEnd, *m_graph.mutable_library()->add_function()));
            else
                m_file.skip(field);
        }
        return {};
    }

    Status readVersions(const WireField& field) {
        m_message.clear();
        PW_CHECK(m_file.append(m_message, field.value));
        if (!m_graph.mutable_versions()->MergeFromString(m_message))
            return m_file.damaged("the versions are no record of their kind");
        return {};
    }

    /// A node or function, without what is too large.
    template<class Message>
    Status readMessage(Kind kind, std::uint64_t end, Message& into) {
        const std::uint64_t start = m_file.position();
        m_message.clear();
        --m_recordsLeft;
        PW_CHECK(copyMessage(kind, end));
        if (m_message.size() > kMaxNode)
            return fail(ErrorCode::TooLarge, "one node takes more than " + text::bytes(kMaxNode), {}, m_path);
        if (into.ParseFromString(m_message))
            return {};
        m_file.seek(start);
        return m_file.damaged("the record of a node or function does not have the types it should");
    }

    Status copyMessage(Kind kind, std::uint64_t end) {
        if (m_stop.stop_requested())
            return fail(ErrorCode::Busy, "cancelled", {}, m_path);
        if (m_recordsLeft < 0)
            return fail(ErrorCode::TooLarge, "holds more records than a file of its size can mean", {}, m_path);
        while (m_file.position() < end) {
            if (--m_recordsLeft < 0)
                return fail(ErrorCode::TooLarge, "holds more records than a file of its size can mean", {}, m_path);
            PW_TRY(const WireField field, m_file.readField(end));
            const auto child = childKind(kind, field.number);
            if (!child || (*child == Kind::Text && field.wire == 2 && field.value > kMaxText))
                m_file.skip(field);
            else if (*child == Kind::Plain || *child == Kind::Text || field.wire != 2)
                PW_CHECK(m_file.copyField(m_message, field));
            else
                PW_CHECK(copyChild(*child, field));
        }
        return {};
    }

    Status copyChild(Kind child, const WireField& field) {
        appendVarint(m_message, (std::uint64_t{field.number} << 3) | field.wire);
        const std::size_t lengthAt = m_message.size();
        m_message.append(kLengthBytes, '\0');
        const std::uint64_t end = m_file.position() + field.value;
        PW_CHECK(child == Kind::Tensor ? copyTensor(end) : copyMessage(child, end));
        std::uint64_t length = m_message.size() - lengthAt - kLengthBytes;
        if (length > kMaxNode)
            return fail(ErrorCode::TooLarge, "one node takes more than " + text::bytes(kMaxNode), {}, m_path);
        for (int i = 0; i < kLengthBytes; ++i, length >>= 7)
            m_message[lengthAt + static_cast<std::size_t>(i)] =
                static_cast<char>((length & 0x7fU) | (i + 1 < kLengthBytes ? 0x80U : 0U));
        return {};
    }

    /// A payload that turns out too large is left out completely; of texts the bytes are counted.
    Status copyTensor(std::uint64_t end) {
        std::string payload;
        std::uint64_t dtype = 0;
        std::uint64_t stringBytes = 0;
        bool dropped = false;
        while (m_file.position() < end) {
            PW_TRY(const WireField field, m_file.readField(end));
            if (field.number == 8 && field.wire == 2)
                stringBytes += field.value;
            if (field.number == 1 && field.wire == 0)
                dtype = field.value;
            if (field.number <= 2) {
                PW_CHECK(m_file.copyField(m_message, field));
            } else if (!isPayload(field.number) || dropped) {
                m_file.skip(field);
            } else if (payload.size() + 12 + (field.wire == 0 ? 0 : field.value) > maxPayload(dtype)) {
                dropped = true;
                m_file.skip(field);
            } else {
                PW_CHECK(m_file.copyField(payload, field));
            }
        }
        if (!dropped) {
            m_message += payload;
        } else if (stringBytes > 0) {
            appendVarint(m_message, kStringBytesField << 3);
            appendVarint(m_message, stringBytes);
        }
        return {};
    }

    WireFile m_file;
    const std::string& m_path;
    std::stop_token m_stop;
    const std::function<void(double)>& m_progress;
    std::int64_t m_recordsLeft;
    std::string m_message;
    tensorflow::GraphDef m_graph;
};

/// The payloads of all length-delimited fields `number` between the file's position and `end`.
Result<GraphRanges> fieldsOf(WireFile& file, std::uint64_t end, std::uint32_t number) {
    GraphRanges ranges;
    while (file.position() < end) {
        PW_TRY(const WireField field, file.readField(end));
        if (field.number == number && field.wire == 2)
            ranges.push_back({file.position(), file.position() + field.value});
        file.skip(field);
    }
    return ranges;
}

} // namespace

FoundGraph wholeFile(const OpenFile& file) {
    return {{{0, static_cast<std::uint64_t>(file.size)}}, 1, false};
}

Result<FoundGraph> findInMetaGraph(const OpenFile& file, const std::string& path) {
    WireFile wire(file, path, "MetaGraphDef");
    PW_TRY(GraphRanges ranges, fieldsOf(wire, wire.size(), 2));
    if (ranges.empty())
        return fail(ErrorCode::Parse, "is a MetaGraphDef without a graph");
    return FoundGraph{std::move(ranges), 1, false};
}

Result<FoundGraph> findInSavedModel(const OpenFile& file, const std::string& path) {
    WireFile wire(file, path, "SavedModel");
    PW_TRY(const GraphRanges metaGraphs, fieldsOf(wire, wire.size(), 2));
    if (metaGraphs.empty())
        return fail(ErrorCode::Parse, "is a SavedModel without a graph");
    wire.seek(metaGraphs.front().start);
    PW_TRY(GraphRanges ranges, fieldsOf(wire, metaGraphs.front().end, 2));
    if (ranges.empty())
        return fail(ErrorCode::Parse, "is a SavedModel whose first MetaGraphDef has no graph");
    return FoundGraph{std::move(ranges), metaGraphs.size(), false};
}

namespace {

/// TFRecord framing: length (8 bytes, little endian), its checksum (4), the data, its checksum (4).
constexpr std::uint64_t kFrameHead = 12;
constexpr std::uint64_t kFrameTail = 4;

/// graph_def (4) or meta_graph_def (9) of an Event; empty if it has none.
Result<GraphRanges> graphOfEvent(WireFile& wire, std::uint64_t end) {
    GraphRanges found;
    while (wire.position() < end) {
        PW_TRY(const WireField field, wire.readField(end));
        const FileRange payload{wire.position(), wire.position() + field.value};
        if (field.wire == 2 && field.number == 4)
            found = {payload};
        if (field.wire == 2 && field.number == 9) {
            PW_TRY(found, fieldsOf(wire, payload.end, 2));
            wire.seek(payload.start);
        }
        wire.skip(field);
    }
    return found;
}

} // namespace

Result<FoundGraph> findInEvents(const OpenFile& file, const std::string& path) {
    WireFile wire(file, path, "event file");
    FoundGraph last;
    last.graphsInFile = 0;
    for (std::uint64_t at = 0; at < wire.size();) {
        std::string head;
        wire.seek(at);
        const std::uint64_t left = wire.size() - at;
        last.isCutOff = left < kFrameHead + kFrameTail;
        if (last.isCutOff)
            break;
        PW_CHECK(wire.append(head, kFrameHead));
        std::uint64_t length = 0;
        for (std::size_t i = 8; i-- > 0;)
            length = (length << 8) | static_cast<unsigned char>(head[i]);
        last.isCutOff = length > left - kFrameHead - kFrameTail;
        if (last.isCutOff)
            break;
        PW_TRY(GraphRanges ranges, graphOfEvent(wire, at + kFrameHead + length));
        if (!ranges.empty()) {
            last.ranges = std::move(ranges);
            ++last.graphsInFile;
        }
        at += kFrameHead + length + kFrameTail;
    }
    if (last.ranges.empty()) {
        return fail(ErrorCode::Parse, std::string("is a TensorBoard event file without a graph") +
                                          (last.isCutOff ? "; its last record is cut off" : ""));
    }
    return last;
}

Result<tensorflow::GraphDef> readGraphDef(const OpenFile& file, const std::string& path, const GraphRanges& ranges,
                                          std::stop_token stop, const std::function<void(double)>& progress) {
    return GraphReader(file, path, std::move(stop), progress).read(ranges);
}

} // namespace pw::formats::tf
