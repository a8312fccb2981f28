#include "core/formats/tf_edits.h"

#include "core/formats/wire_file.h"

#include <algorithm>

namespace pw::formats::tf {

namespace {

constexpr std::uint32_t kDeviceField = 4;
constexpr char kDeviceTag = '\x22'; ///< field 4, length-delimited

/// A field of a message in memory.
struct Field {
    std::uint32_t number = 0;
    std::uint32_t wire = 0;
    std::size_t start = 0;    ///< of its tag
    std::size_t lengthAt = 0; ///< of the length, for wire type 2
    std::size_t payload = 0;
    std::size_t end = 0;
};


class BinaryEditor {
public:
    BinaryEditor(std::string_view content, const WantedDevices& wanted)
        : m_content(content)
        , m_wanted(wanted) {}

    Result<std::vector<Edit>> run(Wrapping wrapping) {
        PW_TRY(const std::int64_t ignored, editMessage(wrapping, 0, m_content.size()));
        static_cast<void>(ignored);
        if (m_node != m_wanted.size())
            return fail(ErrorCode::Invalid, "the original has " + std::to_string(m_node) + " nodes, the graph " +
                                                std::to_string(m_wanted.size()));
        std::sort(m_edits.begin(), m_edits.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
        return std::move(m_edits);
    }

private:
    bool readVarint(std::size_t& at, std::size_t end, std::uint64_t& value) const {
        value = 0;
        for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
            const auto byte = static_cast<unsigned char>(m_content[at++]);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80)
                return true;
        }
        return false;
    }

    Result<Field> readField(std::size_t at, std::size_t end) const {
        const auto damaged = [at] {
            return fail(ErrorCode::Parse, "the original is damaged", "byte " + std::to_string(at));
        };
        Field field;
        field.start = at;
        std::uint64_t tag = 0;
        std::uint64_t length = 0;
        if (!readVarint(at, end, tag))
            return damaged();
        field.number = static_cast<std::uint32_t>(tag >> 3);
        field.wire = static_cast<std::uint32_t>(tag & 7U);
        field.lengthAt = at;
        if ((field.wire == 0 || field.wire == 2) && !readVarint(at, end, length))
            return damaged();
        if (field.wire == 0)
            length = 0;
        else if (field.wire == 1 || field.wire == 5)
            length = field.wire == 1 ? 8 : 4;
        else if (field.wire != 2)
            return damaged();
        field.payload = at;
        if (length > end - at)
            return damaged();
        field.end = at + static_cast<std::size_t>(length);
        return field;
    }

    /// All edit...() return by how many bytes the stretch grows.
    Result<std::int64_t> editMessage(Wrapping wrapping, std::size_t begin, std::size_t end) {
        std::int64_t growth = 0;
        bool isFirst = true;
        for (std::size_t at = begin; at < end;) {
            PW_TRY(const Field field, readField(at, end));
            at = field.end;
            const std::uint32_t wantedField = wrapping == Wrapping::GraphDef ? 1 : 2;
            if (field.number != wantedField || field.wire != 2 || (wrapping == Wrapping::SavedModel && !isFirst))
                continue;
            isFirst = false;
            const Wrapping inner = wrapping == Wrapping::SavedModel ? Wrapping::MetaGraphDef : Wrapping::GraphDef;
            PW_TRY(const std::int64_t more, wrapping == Wrapping::GraphDef ? editNode(field)
                                                                           : editMessage(inner, field.payload, field.end));
            growth += more + editLength(field, more);
        }
        return growth;
    }

    std::int64_t editLength(const Field& field, std::int64_t growth) {
        if (growth == 0)
            return 0;
        const std::size_t before = field.payload - field.lengthAt;
        const auto length = static_cast<std::int64_t>(field.end - field.payload) + growth;
        Edit edit{field.lengthAt, before, {}};
        appendVarint(edit.inserted, static_cast<std::uint64_t>(length));
        const auto change = static_cast<std::int64_t>(edit.inserted.size()) - static_cast<std::int64_t>(before);
        m_edits.push_back(std::move(edit));
        return change;
    }

    /// The device stands before the first field with a higher number, as protobuf writes it, or where it stood.
    Result<std::int64_t> editNode(const Field& node) {
        const std::size_t index = m_node++;
        if (index >= m_wanted.size() || !m_wanted[index])
            return 0;
        std::size_t place = node.end;
        std::int64_t growth = 0;
        std::vector<Edit> removals;
        for (std::size_t at = node.payload; at < node.end;) {
            PW_TRY(const Field field, readField(at, node.end));
            at = field.end;
            if (field.number == kDeviceField && field.wire == 2) {
                removals.push_back({field.start, field.end - field.start, {}});
                growth -= static_cast<std::int64_t>(field.end - field.start);
            } else if (field.number > kDeviceField && place == node.end) {
                place = field.start;
            }
        }
        const std::string& device = *m_wanted[index];
        std::string record;
        if (!device.empty()) {
            record += kDeviceTag;
            appendVarint(record, device.size());
            record += device;
        }
        growth += static_cast<std::int64_t>(record.size());
        if (!removals.empty())
            removals.back().inserted = std::move(record); // why the last: that is the one that counts
        else if (!record.empty())
            removals.push_back({place, 0, std::move(record)});
        m_edits.insert(m_edits.end(), std::make_move_iterator(removals.begin()), std::make_move_iterator(removals.end()));
        return growth;
    }

    std::string_view m_content;
    const WantedDevices& m_wanted;
    std::size_t m_node = 0;
    std::vector<Edit> m_edits;
};

} // namespace

std::string applied(std::string_view content, std::vector<Edit> edits) {
    std::size_t size = content.size();
    for (const Edit& edit : edits)
        size = size - edit.removed + edit.inserted.size();
    std::string out;
    out.reserve(size);
    std::size_t at = 0;
    for (const Edit& edit : edits) {
        out += content.substr(at, edit.at - at);
        out += edit.inserted;
        at = edit.at + edit.removed;
    }
    return out += content.substr(at);
}

Result<std::vector<Edit>> binaryEdits(std::string_view content, Wrapping wrapping, const WantedDevices& wanted) {
    return BinaryEditor(content, wanted).run(wrapping);
}

} // namespace pw::formats::tf
