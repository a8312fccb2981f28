#include "core/formats/tf_recognise.h"

#include "core/formats/wire_head.h"

#include <algorithm>

namespace pw::formats {

namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// "key {", "key{", "key: {", "key <" somewhere in the text, as a word of its own.
bool hasMessage(std::string_view text, std::string_view key) {
    for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        const bool isWord = at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
        std::string_view rest = text.substr(at + key.size());
        rest = rest.substr(std::min(rest.find_first_not_of(" \t\r\n:"), rest.size()));
        if (isWord && (rest.starts_with('{') || rest.starts_with('<')))
            return true;
    }
    return false;
}

bool hasText(std::string_view text, std::string_view key) {
    for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        const bool isWord = at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
        std::string_view rest = text.substr(at + key.size());
        if (!isWord || !rest.starts_with(':'))
            continue;
        rest = rest.substr(std::min(rest.find_first_not_of(" \t\r\n:"), rest.size()));
        if (rest.starts_with('"') || rest.starts_with('\''))
            return true;
    }
    return false;
}

bool isPrintable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20; });
}

/// Name, then op; or (in a graph of costs) name, perhaps a device, then a number or a message.
Format formatOfNode(std::string_view message) {
    FieldWalk walk(message);
    if (!walk.next() || walk.wire != 2 || walk.field != 1 || walk.payload.empty() || !isPrintable(walk.payload))
        return Format::Unknown;
    if (!walk.next())
        return Format::Unknown;
    if (walk.wire == 2 && walk.field == 2 && !walk.payload.empty() && isPrintable(walk.payload)) {
        const bool isDevice = walk.payload.starts_with('/');
        if (!isDevice)
            return Format::TfGraphDef;
        return Format::TfCostGraph;
    }
    const bool isCost = (walk.field == 3 && walk.wire == 0) || (walk.field == 5 && walk.wire == 2);
    return isCost ? Format::TfCostGraph : Format::Unknown;
}

bool startsWithGraphDef(std::string_view message) {
    FieldWalk walk(message);
    return walk.next() && walk.wire == 2 && walk.field == 1 && formatOfNode(walk.payload) == Format::TfGraphDef;
}

/// meta_info_def: the ops (2), tags (4), versions (1, 5, 6).
bool looksLikeMetaInfo(std::string_view message) {
    FieldWalk info(message);
    while (info.next()) {
        if (info.field > 8 || (info.field == 7 ? info.wire != 0 : info.wire != 2))
            return false;
    }
    return true;
}

/// Fields 1 to 7 are messages and stand in any order; the graph is 2. `needGraph`: its beginning must be in the head,
/// unless a description of the ops fills that.
bool looksLikeMetaGraph(std::string_view head, bool needGraph) {
    FieldWalk walk(head);
    std::size_t seen = 0;
    while (walk.next()) {
        if (walk.wire != 2 || walk.field > 7 || (walk.field == 1 && !looksLikeMetaInfo(walk.payload)))
            return false;
        if (walk.field == 2)
            return startsWithGraphDef(walk.payload);
        if (walk.field == 1 && walk.length > walk.payload.size() && walk.payload.starts_with("\x12"))
            return true;
        ++seen;
    }
    return seen > 0 && !needGraph;
}

/// A record of length, checksum, data: the first event of a log has a time (fixed64) and the file's version.
bool looksLikeEvents(std::string_view head) {
    return head.size() > 24 && head.substr(4, 4) == std::string_view("\0\0\0\0", 4) && head[12] == '\x09' &&
           contains(head.substr(12, 64), "brain.Event:");
}

} // namespace

Format recogniseTensorFlow(std::string_view head, std::int64_t fileSize) {
    if (looksLikeEvents(head))
        return Format::TfEvents;
    FieldWalk walk(head);
    if (!walk.next())
        return Format::Unknown;
    const bool hasVersion = walk.field == 1 && walk.wire == 0 && walk.value <= 1;
    if ((!hasVersion || walk.next()) && walk.field == 2 && walk.wire == 2 && !startsWithGraphDef(walk.payload) &&
        looksLikeMetaGraph(walk.payload, !hasVersion))
        return Format::TfSavedModel;
    FieldWalk first(head);
    if (!first.next() || first.wire != 2)
        return Format::Unknown;
    if (first.field == 1 && static_cast<std::int64_t>(first.start) < fileSize) {
        // Nodes without an input, device or cost look alike: the first few are asked.
        for (int node = 0; node < 8; ++node) {
            if (const Format format = formatOfNode(first.payload); format != Format::Unknown)
                return format;
            FieldWalk onlyName(first.payload);
            if (!onlyName.next() || onlyName.field != 1 || onlyName.wire != 2 || onlyName.next() || !first.next() ||
                first.field != 1 || first.wire != 2)
                break;
        }
    }
    return looksLikeMetaGraph(head, true) ? Format::TfMetaGraph : Format::Unknown;
}

Recognition recogniseTensorFlowText(std::string_view head) {
    if (hasMessage(head, "meta_graphs") || contains(head, "saved_model_schema_version:"))
        return {Format::TfSavedModelText, {}};
    if (hasMessage(head, "meta_info_def") || hasMessage(head, "graph_def"))
        return {Format::TfMetaGraphText, {}};
    if (hasMessage(head, "node")) {
        if (contains(head, "compute_cost:") || contains(head, "preceding_node:") || hasMessage(head, "output_info"))
            return {Format::TfCostGraphText, {}};
        if (hasText(head, "op"))
            return {Format::TfGraphDefText, {}};
    }
    if (hasMessage(head, "library") && hasMessage(head, "node_def"))
        return {Format::TfGraphDefText, {}};
    if (hasMessage(head, "item") && (contains(head, "id:") || contains(head, "id :")))
        return {Format::Unknown, "a label map (protobuf text), not a graph"};
    if (hasMessage(head, "instance_group") || (hasText(head, "platform") && contains(head, "max_batch_size")) ||
        (hasText(head, "backend") && contains(head, "max_batch_size")))
        return {Format::Unknown, "a Triton model configuration (protobuf text), not a graph"};
    return {};
}

} // namespace pw::formats
