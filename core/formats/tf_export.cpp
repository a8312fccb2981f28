#include "core/formats/exporters.h"

#include "core/base/text.h"
#include "core/formats/importers.h"
#include "core/formats/recognise.h"
#include "core/formats/tf_devices.h"
#include "core/formats/tf_edits.h"
#include "core/formats/tf_graph_importer.h"
#include "core/formats/tf_read.h"
#include "core/formats/tf_text.h"

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxFile = 2LL << 30; ///< why: protobuf messages cannot be larger

/// A file that devices can be put into.
struct Original {
    bool isText = false;
    tf::Wrapping wrapping = tf::Wrapping::GraphDef;
    std::string_view ending; ///< of files like it
    const char* what = "";
};

std::optional<Original> originalOf(Format format) {
    switch (format) {
    case Format::TfGraphDef: return Original{false, tf::Wrapping::GraphDef, ".pb", "a binary GraphDef"};
    case Format::TfGraphDefText: return Original{true, tf::Wrapping::GraphDef, ".pbtxt", "a GraphDef in text form"};
    case Format::TfMetaGraph: return Original{false, tf::Wrapping::MetaGraphDef, ".meta", "a binary MetaGraphDef"};
    case Format::TfMetaGraphText: return Original{true, tf::Wrapping::MetaGraphDef, ".pbtxt", "a MetaGraphDef in text form"};
    case Format::TfSavedModel: return Original{false, tf::Wrapping::SavedModel, ".pb", "a binary SavedModel"};
    case Format::TfSavedModelText: return Original{true, tf::Wrapping::SavedModel, ".pbtxt", "a SavedModel in text form"};
    default: return std::nullopt;
    }
}

Result<tensorflow::GraphDef> readText(const Original& original, const std::string& content) {
    if (original.wrapping == tf::Wrapping::GraphDef) {
        tensorflow::GraphDef graph;
        PW_CHECK(tf::parseText(content, "GraphDef", graph));
        return graph;
    }
    tensorflow::SavedModel model;
    if (original.wrapping == tf::Wrapping::MetaGraphDef)
        PW_CHECK(tf::parseText(content, "MetaGraphDef", *model.add_meta_graphs()));
    else
        PW_CHECK(tf::parseText(content, "SavedModel", model));
    if (model.meta_graphs_size() == 0)
        return fail(ErrorCode::Parse, "is a SavedModel without a graph");
    return std::move(*model.mutable_meta_graphs(0)->mutable_graph_def());
}

Result<tensorflow::GraphDef> readBinary(const Original& original, const OpenFile& file, const std::string& path) {
    tf::FoundGraph found = tf::wholeFile(file);
    if (original.wrapping == tf::Wrapping::MetaGraphDef) {
        PW_TRY(found, tf::findInMetaGraph(file, path));
    } else if (original.wrapping == tf::Wrapping::SavedModel) {
        PW_TRY(found, tf::findInSavedModel(file, path));
    }
    return tf::readGraphDef(file, path, found.ranges, {}, {});
}

/// An imported op is called like its node, or "#2" behind it where the name was there before.
bool isOpOf(const Op& op, const tensorflow::NodeDef& node) {
    const std::string name = text::toValidUtf8(node.name());
    const bool isName = name.empty() || op.name == name || op.name.starts_with(name + "#");
    return isName && op.type == text::toValidUtf8(node.op());
}

/// What each node's device has to become; a string that means the wanted device already stays.
Result<tf::WantedDevices> wantedDevices(const OpGraph& graph, const DeviceNames& deviceOf,
                                        const tensorflow::GraphDef& original) {
    if (static_cast<std::size_t>(original.node_size()) != graph.opCount())
        return fail(ErrorCode::Invalid, "the graph has " + std::to_string(graph.opCount()) + " ops, the original " +
                                            std::to_string(original.node_size()) + " nodes: it is another graph");
    const TfDeviceNames names = deviceNamesOf(original);
    tf::WantedDevices wanted;
    for (int i = 0; i < original.node_size(); ++i) {
        const auto index = static_cast<std::size_t>(i);
        const Op& op = graph.op(OpId(index));
        if (!isOpOf(op, original.node(i)))
            return fail(ErrorCode::Invalid, "the original's node " + std::to_string(i) + " is \"" +
                                                text::toValidUtf8(original.node(i).name()) + "\": it is another graph",
                        "op \"" + op.name + "\"");
        const std::string& device = deviceOf.empty() ? op.device : deviceOf[index];
        if (names.nameOf(original.node(i).device()) == device) {
            wanted.emplace_back();
            continue;
        }
        const auto spelling = device.empty() ? std::optional(std::string()) : names.spellingOf(device);
        if (!spelling)
            return fail(ErrorCode::Invalid, "TensorFlow has no spelling for the device \"" + device +
                                                "\"; it knows names like gpu:0 and cpu:0",
                        "op \"" + op.name + "\"");
        wanted.push_back(*spelling);
    }
    return wanted;
}

Result<std::string> withDevices(const OpGraph& graph, const Target& target) {
    PW_TRY(const OpenFile file, openRegularFile(target.source));
    PW_TRY(const std::string head, readUpTo(file, kHeadBytes, target.source));
    const auto original = originalOf(recognise(head, file.size).format);
    if (!original)
        return fail(ErrorCode::Unsupported, "is no GraphDef, MetaGraphDef or SavedModel; devices are written into these only");
    if (!text::toLower(target.path).ends_with(original->ending))
        return fail(ErrorCode::Unsupported, std::string("is ") + original->what + "; its copy with devices must end in " +
                                                std::string(original->ending));
    PW_TRY(const std::string content, readFile(target.source, kMaxFile));
    tf::WantedDevices wanted;
    {
        PW_TRY(const tensorflow::GraphDef graphDef, original->isText ? readText(*original, content)
                                                                     : readBinary(*original, file, target.source));
        PW_TRY(wanted, wantedDevices(graph, target.deviceOf, graphDef));
    }
    PW_TRY(auto edits, original->isText ? tf::textEdits(content, original->wrapping, wanted)
                                        : tf::binaryEdits(content, original->wrapping, wanted));
    return tf::applied(content, std::move(edits));
}

} // namespace

Status exportTensorFlow(const OpGraph& graph, const Target& target) {
    if (target.source.empty())
        return fail(ErrorCode::Unsupported,
                    "TensorFlow graphs are written by putting devices into the file that the graph was opened from; there "
                    "is none",
                    {}, target.path);
    auto content = withDevices(graph, target);
    if (!content) {
        if (content.error().file.empty())
            content.error().file = target.source;
        return fail(std::move(content).error());
    }
    return writeFileAtomically(target.path, *content);
}

} // namespace pw::formats
