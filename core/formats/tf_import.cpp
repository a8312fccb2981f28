#include "core/formats/importers.h"

#include "core/formats/tf_graph_importer.h"
#include "core/formats/tf_read.h"
#include "core/formats/tf_text.h"

namespace pw::formats {

namespace {

Result<GraphPtr> importBinary(const Source& source, const tf::FoundGraph& found, std::string format,
                              std::vector<Warning> warnings, const LoadOptions& options) {
    PW_TRY(const tensorflow::GraphDef graph,
           tf::readGraphDef(source.file, source.path, found.ranges, options.stop, options.progress));
    return importTfGraph(graph, {source.baseName, std::move(format), std::move(warnings)}, options);
}

template<class Message>
Result<Message> parsed(const Source& source, const std::string& what) {
    PW_TRY(const std::string content, source.text());
    Message message;
    PW_CHECK(tf::parseText(content, what, message));
    return message;
}

std::vector<Warning> severalGraphs(std::size_t count, const char* which) {
    if (count < 2)
        return {};
    return {{"several_graphs", "", "the file holds " + std::to_string(count) + " graphs; this is the " + which + " one"}};
}

} // namespace

Result<GraphPtr> importTfGraphDef(const Source& source, const LoadOptions& options) {
    return importBinary(source, tf::wholeFile(source.file), "graphdef", {}, options);
}

Result<GraphPtr> importTfMetaGraph(const Source& source, const LoadOptions& options) {
    PW_TRY(const tf::FoundGraph found, tf::findInMetaGraph(source.file, source.path));
    return importBinary(source, found, "metagraph", {}, options);
}

Result<GraphPtr> importTfSavedModel(const Source& source, const LoadOptions& options) {
    PW_TRY(const tf::FoundGraph found, tf::findInSavedModel(source.file, source.path));
    return importBinary(source, found, "savedmodel", severalGraphs(found.graphsInFile, "first"), options);
}

Result<GraphPtr> importTfEvents(const Source& source, const LoadOptions& options) {
    PW_TRY(const tf::FoundGraph found, tf::findInEvents(source.file, source.path));
    std::vector<Warning> warnings = severalGraphs(found.graphsInFile, "last");
    if (found.isCutOff)
        warnings.push_back({"truncated", "", "the last record of the event file is not complete and is left out"});
    return importBinary(source, found, "tfevents", std::move(warnings), options);
}

Result<GraphPtr> importTfGraphDefText(const Source& source, const LoadOptions& options) {
    PW_TRY(const auto graph, parsed<tensorflow::GraphDef>(source, "GraphDef"));
    return importTfGraph(graph, {source.baseName, "graphdef", {}}, options);
}

Result<GraphPtr> importTfMetaGraphText(const Source& source, const LoadOptions& options) {
    PW_TRY(const auto meta, parsed<tensorflow::MetaGraphDef>(source, "MetaGraphDef"));
    return importTfGraph(meta.graph_def(), {source.baseName, "metagraph", {}}, options);
}

Result<GraphPtr> importTfSavedModelText(const Source& source, const LoadOptions& options) {
    PW_TRY(const auto model, parsed<tensorflow::SavedModel>(source, "SavedModel"));
    if (model.meta_graphs_size() == 0)
        return fail(ErrorCode::Parse, "is a SavedModel without a graph");
    auto warnings = severalGraphs(static_cast<std::size_t>(model.meta_graphs_size()), "first");
    return importTfGraph(model.meta_graphs(0).graph_def(), {source.baseName, "savedmodel", std::move(warnings)}, options);
}

} // namespace pw::formats
