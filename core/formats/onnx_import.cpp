#include "core/formats/importers.h"

#include "core/base/text.h"
#include "core/formats/graph_json.h"
#include "core/formats/onnx_graph_importer.h"
#include "core/formats/onnx_strip.h"
#include "core/formats/onnx_worker_client.h"
#include "core/formats/proto_text.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <set>

namespace pw::formats {

namespace {

/// Each body is three messages down (node, attribute, graph); the rest is for what stands in them.
constexpr int kProtobufRecursion = 3 * kMaxBodyDepth + 32;
constexpr std::size_t kMaxListedDims = 8;

/// Calls `visit` for a graph and all graphs in its attributes.
template<class Visit>
void forEachGraph(onnx::GraphProto& graph, const Visit& visit) {
    visit(graph);
    for (auto& node : *graph.mutable_node()) {
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_g())
                forEachGraph(*attribute.mutable_g(), visit);
            for (auto& body : *attribute.mutable_graphs())
                forEachGraph(body, visit);
        }
    }
}

/// "batch", or "input[0]" for a dimension that has no name.
std::string dimName(const onnx::ValueInfoProto& info, int axis) {
    const auto& dim = info.type().tensor_type().shape().dim(axis);
    return dim.has_dim_param() && !dim.dim_param().empty() ? dim.dim_param()
                                                           : info.name() + "[" + std::to_string(axis) + "]";
}

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const auto& name : names)
        list += (list.empty() ? "" : ", ") + text::toValidUtf8(name);
    return list;
}

/// Calls `visit` for each dimension that has no size, of everything whose type the model declares.
template<class Visit>
void forEachOpenDim(onnx::GraphProto& graph, const Visit& visit) {
    forEachGraph(graph, [&](onnx::GraphProto& at) {
        for (auto* list : {at.mutable_input(), at.mutable_output(), at.mutable_value_info()}) {
            for (auto& info : *list) {
                for (int d = 0; d < info.type().tensor_type().shape().dim_size(); ++d) {
                    const auto& dim = info.type().tensor_type().shape().dim(d);
                    if (!dim.has_dim_value() || dim.dim_value() < 0)
                        visit(info, d, *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(d));
                }
            }
        }
    });
}

/// Exporters write -1 for a dimension they do not know; for the format that is a size, and inference would count with
/// it.
void openNegativeDims(onnx::GraphProto& graph) {
    forEachOpenDim(graph, [](const onnx::ValueInfoProto&, int, onnx::TensorShapeProto::Dimension& dim) {
        if (dim.has_dim_value())
            dim.clear_dim_value();
    });
}

/// Gives symbolic dimensions their values, everywhere in the model.
void applyDims(onnx::GraphProto& graph, const std::map<std::string, std::int64_t>& dims,
               std::vector<Warning>& warnings) {
    std::set<std::string> used;
    std::vector<std::string> known;
    forEachOpenDim(graph, [&](const onnx::ValueInfoProto& info, int axis, onnx::TensorShapeProto::Dimension& dim) {
        const std::string name = dimName(info, axis);
        if (known.size() < kMaxListedDims && std::find(known.begin(), known.end(), name) == known.end())
            known.push_back(name);
        const auto found = dims.find(name);
        if (found == dims.end())
            return;
        dim.set_dim_value(found->second);
        used.insert(found->first);
    });
    for (const auto& [name, value] : dims) {
        if (used.count(name) != 0)
            continue;
        warnings.push_back({"unknown_dim", name,
                            known.empty() ? "the model has no dimension that is not fixed"
                                          : "the model has no dimension of this name (there are: " + listed(known) + ")"});
    }
}

/// Takes over the types that the worker found. Both graphs have the same nodes, or the answer is not used.
void takeTypes(onnx::GraphProto& graph, onnx::GraphProto& answer) {
    if (graph.node_size() != answer.node_size())
        return;
    graph.mutable_value_info()->Swap(answer.mutable_value_info());
    if (graph.output_size() == answer.output_size())
        graph.mutable_output()->Swap(answer.mutable_output());
    for (int n = 0; n < graph.node_size(); ++n) {
        auto& attributes = *graph.mutable_node(n)->mutable_attribute();
        auto& answered = *answer.mutable_node(n)->mutable_attribute();
        for (int a = 0; a < std::min(attributes.size(), answered.size()); ++a) {
            if (attributes[a].has_g() && answered[a].has_g())
                takeTypes(*attributes[a].mutable_g(), *answered[a].mutable_g());
            for (int g = 0; g < std::min(attributes[a].graphs_size(), answered[a].graphs_size()); ++g)
                takeTypes(*attributes[a].mutable_graphs(g), *answered[a].mutable_graphs(g));
        }
    }
}

bool parseModel(std::string_view bytes, onnx::ModelProto& model) {
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
    stream.SetRecursionLimit(kProtobufRecursion);
    return model.ParsePartialFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

/// Shape inference by the ONNX library in a child process.
Status inferInWorker(onnx::ModelProto& model, const LoadOptions& options) {
    std::string request;
    if (!model.SerializePartialToString(&request))
        return fail(ErrorCode::TooLarge, "the model is too large for it");
    const char mode = options.dims.empty() ? kWorkerPlain : kWorkerPropagate;
    PW_TRY(const std::string answer, askShapeWorker(options.workerProgram, mode, request, options.stop));
    onnx::ModelProto inferred;
    if (!parseModel(answer, inferred))
        return fail(ErrorCode::External, "its answer cannot be read");
    takeTypes(*model.mutable_graph(), *inferred.mutable_graph());
    return {};
}

/// Types of all values: what the file says, what the worker finds, what our own rules find where it could not.
Result<ShapeTables> findTypes(onnx::ModelProto& model, const LoadOptions& options, std::vector<Warning>& warnings) {
    bool ownRules = options.inferShapes;
    if (options.inferShapes && !options.workerProgram.empty()) {
        const Status inferred = inferInWorker(model, options);
        if (!inferred && inferred.error().code == ErrorCode::Busy)
            return fail(inferred.error());
        if (!inferred) {
            warnings.push_back({"shape_inference", "",
                                "the ONNX library's shape inference failed (" +
                                    text::toValidUtf8(inferred.error().message) + "); own rules are used"});
        }
        ownRules = !inferred || !options.dims.empty();
    }
    ShapeTables tables = declaredTypes(model.graph());
    if (ownRules)
        inferByOwnRules(model.graph(), tables, options.stop);
    return tables;
}

/// One warning for all sizes that are a guess: symbolic dimensions count as 1, unknown shapes as 0 bytes.
void warnAboutSizes(const onnx::GraphProto& graph, const TypeTable& types, std::vector<Warning>& warnings) {
    std::size_t dynamic = 0;
    std::size_t unknown = 0;
    for (const auto& node : graph.node()) {
        for (const auto& output : node.output()) {
            const auto found = types.find(output);
            if (output.empty())
                continue;
            if (found == types.end() || !found->second.shapeKnown)
                ++unknown;
            else if (!found->second.isStatic())
                ++dynamic;
        }
    }
    std::vector<std::string> names;
    for (const auto& input : graph.input()) {
        for (int d = 0; d < input.type().tensor_type().shape().dim_size() && names.size() < kMaxListedDims; ++d) {
            const std::string name = text::toValidUtf8(dimName(input, d));
            if (!input.type().tensor_type().shape().dim(d).has_dim_value() &&
                std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
        }
    }
    if (dynamic > 0) {
        warnings.push_back(
            {"dynamic_dims", "",
             std::to_string(dynamic) + " outputs have dimensions that are not fixed; they count as 1" +
                 (names.empty() ? std::string()
                                : ". Set them: --dim " + names.front() + "=N (there are: " + listed(names) + ")")});
    }
    if (unknown > 0)
        warnings.push_back(
            {"unknown_shape", "",
             "the shapes of " + std::to_string(unknown) + " outputs are not known; they count as 0 bytes"});
}

Result<GraphPtr> importModel(onnx::ModelProto& model, const Source& source, const LoadOptions& options) {
    if (!model.has_graph())
        return fail(ErrorCode::Parse, "is an ONNX model without a graph");
    std::vector<Warning> warnings;
    openNegativeDims(*model.mutable_graph());
    if (!options.dims.empty())
        applyDims(*model.mutable_graph(), options.dims, warnings);
    OnnxModelContext context;
    context.stop = options.stop;
    PW_TRY(context.tables, findTypes(model, options, warnings));
    google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>().Swap(model.mutable_graph()->mutable_value_info());
    warnAboutSizes(model.graph(), context.tables[&model.graph()], warnings); // the tables have all types now
    for (const auto& function : model.functions())
        context.functions.emplace(function.domain() + "::" + function.name(), &function);
    const std::string& name = model.graph().name().empty() ? source.baseName : model.graph().name();
    return importOnnxGraph(context, model.graph(), name, std::move(warnings));
}

} // namespace

Result<GraphPtr> importOnnx(const Source& source, const LoadOptions& options) {
    onnx::ModelProto model;
    {
        PW_TRY(const std::string bytes, readOnnxWithoutWeights(source.file, source.path, options.stop));
        if (!parseModel(bytes, model))
            return fail(ErrorCode::Parse, "not a readable ONNX model: its records do not have the types they should");
    }
    return importModel(model, source, options);
}

Result<GraphPtr> importOnnxText(const Source& source, const LoadOptions& options) {
    PW_TRY(const std::string content, source.text());
    onnx::ModelProto model;
    FirstError error;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&error);
    parser.AllowUnknownField(true);
    parser.AllowPartialMessage(true);
    parser.SetRecursionLimit(kProtobufRecursion);
    if (!parser.ParseFromString(content, &model))
        return fail(ErrorCode::Parse, "not a readable ONNX text: " + text::toValidUtf8(error.text), error.where);
    return importModel(model, source, options);
}

} // namespace pw::formats
