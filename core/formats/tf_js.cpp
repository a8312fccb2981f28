#include "core/formats/importers.h"

#include "core/base/text.h"
#include "core/formats/json_tape.h"
#include "core/formats/tf_graph_importer.h"
#include "core/formats/tf_model.h"

#include <array>
#include <charconv>
#include <unordered_map>

namespace pw::formats {

namespace {

/// A record costs up to 100 bytes in memory; honest files have more than this many bytes for each, the free ones are for
/// small files.
constexpr std::size_t kBytesPerRecord = 12;
constexpr std::size_t kFreeRecords = 100'000;

std::string fromBase64(std::string_view text) {
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        int value = -1;
        if (c >= 'A' && c <= 'Z')
            value = c - 'A';
        else if (c >= 'a' && c <= 'z')
            value = c - 'a' + 26;
        else if (c >= '0' && c <= '9')
            value = c - '0' + 52;
        else if (c == '+' || c == '-')
            value = 62;
        else if (c == '/' || c == '_')
            value = 63;
        if (value < 0)
            continue; // padding
        bits = (bits << 6) | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>((bits >> count) & 0xffU);
        }
    }
    return out;
}

/// Keys of proto-JSON are written "tensorShape"; the field's own name "tensor_shape" is legal, too.
bool isKey(std::string_view key, std::string_view camel) {
    if (key == camel)
        return true;
    std::size_t at = 0;
    for (const char c : camel) {
        const bool isUpper = c >= 'A' && c <= 'Z';
        if (isUpper && (at >= key.size() || key[at++] != '_'))
            return false;
        if (at >= key.size() || key[at++] != (isUpper ? static_cast<char>(c - 'A' + 'a') : c))
            return false;
    }
    return at == key.size();
}

/// 64-bit numbers are texts in proto-JSON.
Result<std::int64_t> wholeNumber(JsonValue value, const JsonPath& path) {
    if (!value.isText())
        return jsonInteger(value, path);
    const std::string_view text = value.text();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return fail(ErrorCode::Parse, "expected a whole number, found \"" + text::toValidUtf8(text.substr(0, 40)) + "\"",
                    path.toString());
    return number;
}

Result<double> realNumber(JsonValue value, const JsonPath& path) {
    if (value.isText()) // "NaN", "Infinity"
        return 0.0;
    return jsonNumber(value, path);
}

class TopologyReader {
public:
    explicit TopologyReader(std::size_t fileSize)
        : m_recordsLeft(kFreeRecords + fileSize / kBytesPerRecord) {}

    Status readGraph(JsonValue value, const JsonPath& path, tensorflow::GraphDef& graph) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (isKey(key, "node"))
                return elements(member, at, [&](JsonValue node, const JsonPath& p) {
                    return readNode(node, p, *graph.add_node());
                });
            if (isKey(key, "library"))
                return readLibrary(member, at, *graph.mutable_library());
            if (isKey(key, "versions"))
                return members(member, at, [&](std::string_view name, JsonValue version, const JsonPath& p) -> Status {
                    if (name != "producer")
                        return {};
                    PW_TRY(const std::int64_t number, wholeNumber(version, p));
                    graph.mutable_versions()->set_producer(static_cast<std::int32_t>(number));
                    return {};
                });
            return {};
        });
    }

private:
    /// Calls `visit(key, value, path)` for the members of an object; null stands for absent.
    template<class Visit>
    Status members(JsonValue value, const JsonPath& path, const Visit& visit) {
        if (!value.isObject())
            return fail(ErrorCode::Parse, "expected an object, found " + jsonKind(value), path.toString());
        return value.forEachMember([&](std::string_view key, JsonValue member) -> Status {
            return member.isNull() ? Status() : visit(key, member, path.member(key));
        });
    }

    template<class Visit>
    Status elements(JsonValue value, const JsonPath& path, const Visit& visit) {
        if (!value.isArray())
            return fail(ErrorCode::Parse, "expected an array, found " + jsonKind(value), path.toString());
        std::size_t index = 0;
        return value.forEachElement([&](JsonValue element) -> Status {
            if (m_recordsLeft-- == 0)
                return fail(ErrorCode::TooLarge, "holds more records than a file of its size can mean");
            return visit(element, path.element(index++));
        });
    }

    Status readText(JsonValue value, const JsonPath& path, std::string* into) {
        PW_TRY(const std::string_view text, jsonText(value, path));
        into->assign(text);
        return {};
    }

    /// Base64, or (by an older converter) an array of numbers.
    Status readBytes(JsonValue value, const JsonPath& path, std::string* into) {
        if (value.isArray()) {
            return value.forEachElement([&](JsonValue element) -> Status {
                PW_TRY(const std::int64_t byte, jsonInteger(element, path));
                *into += static_cast<char>(byte);
                return {};
            });
        }
        PW_TRY(const std::string_view text, jsonText(value, path));
        *into = fromBase64(text);
        return {};
    }

    Result<tensorflow::DataType> readType(JsonValue value, const JsonPath& path) {
        if (value.isText())
            return static_cast<tensorflow::DataType>(tf::dtypeNumber(value.text()));
        PW_TRY(const std::int64_t number, wholeNumber(value, path));
        return static_cast<tensorflow::DataType>(number < 0 || number > 1000 ? 0 : number);
    }

    Status readNode(JsonValue value, const JsonPath& path, tensorflow::NodeDef& node) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (key == "name")
                return readText(member, at, node.mutable_name());
            if (key == "op")
                return readText(member, at, node.mutable_op());
            if (key == "device")
                return readText(member, at, node.mutable_device());
            if (key == "input")
                return elements(member, at, [&](JsonValue input, const JsonPath& p) {
                    return readText(input, p, node.add_input());
                });
            return key == "attr" ? readAttributes(member, at, *node.mutable_attr()) : Status();
        });
    }

    Status readAttributes(JsonValue value, const JsonPath& path,
                          google::protobuf::RepeatedPtrField<tensorflow::AttrEntry>& attributes) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            tensorflow::AttrEntry& entry = *attributes.Add();
            entry.set_key(std::string(key));
            return readValue(member, at, *entry.mutable_value());
        });
    }

    Status readValue(JsonValue value, const JsonPath& path, tensorflow::AttrValue& into) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (key == "s")
                return readBytes(member, at, into.mutable_s());
            if (key == "shape")
                return readShape(member, at, *into.mutable_shape());
            if (key == "tensor")
                return readTensor(member, at, *into.mutable_tensor());
            if (key == "list")
                return readList(member, at, *into.mutable_list());
            if (key == "func")
                return readFunctionName(member, at, *into.mutable_func());
            if (key == "i") {
                PW_TRY(const std::int64_t number, wholeNumber(member, at));
                into.set_i(number);
            } else if (key == "f") {
                PW_TRY(const double number, realNumber(member, at));
                into.set_f(static_cast<float>(number));
            } else if (key == "b") {
                into.set_b(member.kind() == JsonValue::Kind::True);
            } else if (key == "type") {
                PW_TRY(const tensorflow::DataType type, readType(member, at));
                into.set_type(type);
            }
            return {};
        });
    }

    Status readList(JsonValue value, const JsonPath& path, tensorflow::AttrValue::ListValue& list) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            return elements(member, at, [&](JsonValue element, const JsonPath& p) -> Status {
                if (key == "s")
                    return readBytes(element, p, list.add_s());
                if (key == "shape")
                    return readShape(element, p, *list.add_shape());
                if (key == "tensor")
                    return readTensor(element, p, *list.add_tensor());
                if (key == "func")
                    return readFunctionName(element, p, *list.add_func());
                if (key == "i") {
                    PW_TRY(const std::int64_t number, wholeNumber(element, p));
                    list.add_i(number);
                } else if (key == "f") {
                    PW_TRY(const double number, realNumber(element, p));
                    list.add_f(static_cast<float>(number));
                } else if (key == "b") {
                    list.add_b(element.kind() == JsonValue::Kind::True);
                } else if (key == "type") {
                    PW_TRY(const tensorflow::DataType type, readType(element, p));
                    list.add_type(type);
                }
                return {};
            });
        });
    }

    Status readFunctionName(JsonValue value, const JsonPath& path, tensorflow::NameAttrList& into) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) {
            return key == "name" ? readText(member, at, into.mutable_name()) : Status();
        });
    }

    Status readShape(JsonValue value, const JsonPath& path, tensorflow::TensorShapeProto& shape) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (isKey(key, "unknownRank"))
                shape.set_unknown_rank(member.kind() == JsonValue::Kind::True);
            if (key != "dim")
                return {};
            return elements(member, at, [&](JsonValue dim, const JsonPath& p) {
                auto& into = *shape.add_dim();
                return members(dim, p, [&](std::string_view name, JsonValue size, const JsonPath& where) -> Status {
                    if (name != "size")
                        return {};
                    PW_TRY(const std::int64_t number, wholeNumber(size, where));
                    into.set_size(number);
                    return {};
                });
            });
        });
    }

    Status readTensor(JsonValue value, const JsonPath& path, tensorflow::TensorProto& tensor) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (key == "dtype") {
                PW_TRY(const tensorflow::DataType type, readType(member, at));
                tensor.set_dtype(type);
            } else if (isKey(key, "tensorShape")) {
                return readShape(member, at, *tensor.mutable_tensor_shape());
            } else if (isKey(key, "tensorContent")) {
                return readBytes(member, at, tensor.mutable_tensor_content());
            } else if (isKey(key, "stringVal")) {
                return elements(member, at, [&](JsonValue text, const JsonPath& p) {
                    return readBytes(text, p, tensor.add_string_val());
                });
            } else if (isKey(key, "intVal") || isKey(key, "int64Val")) {
                return elements(member, at, [&](JsonValue element, const JsonPath& p) -> Status {
                    PW_TRY(const std::int64_t number, wholeNumber(element, p));
                    if (isKey(key, "intVal"))
                        tensor.add_int_val(static_cast<std::int32_t>(number));
                    else
                        tensor.add_int64_val(number);
                    return {};
                });
            }
            return {};
        });
    }

    Status readLibrary(JsonValue value, const JsonPath& path, tensorflow::FunctionDefLibrary& library) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (key != "function")
                return {};
            return elements(member, at, [&](JsonValue function, const JsonPath& p) {
                return readFunction(function, p, *library.add_function());
            });
        });
    }

    Status readFunction(JsonValue value, const JsonPath& path, tensorflow::FunctionDef& function) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (key == "signature")
                return readSignature(member, at, *function.mutable_signature());
            if (key == "attr")
                return readAttributes(member, at, *function.mutable_attr());
            if (!isKey(key, "nodeDef"))
                return {};
            return elements(member, at, [&](JsonValue node, const JsonPath& p) {
                return readNode(node, p, *function.add_node_def());
            });
        });
    }

    Status readSignature(JsonValue value, const JsonPath& path, tensorflow::OpDef& signature) {
        return members(value, path, [&](std::string_view key, JsonValue member, const JsonPath& at) -> Status {
            if (key == "name")
                return readText(member, at, signature.mutable_name());
            if (!isKey(key, "inputArg"))
                return {};
            return elements(member, at, [&](JsonValue arg, const JsonPath& p) {
                auto& into = *signature.add_input_arg();
                return members(arg, p, [&](std::string_view name, JsonValue field, const JsonPath& where) -> Status {
                    if (name == "name")
                        return readText(field, where, into.mutable_name());
                    if (name != "type")
                        return {};
                    PW_TRY(const tensorflow::DataType type, readType(field, where));
                    into.set_type(type);
                    return {};
                });
            });
        });
    }

    std::size_t m_recordsLeft;
};

int manifestType(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, int>, 6> kTypes = {{{"float32", tensorflow::DT_FLOAT},
                                                                              {"int32", tensorflow::DT_INT32},
                                                                              {"bool", tensorflow::DT_BOOL},
                                                                              {"string", tensorflow::DT_STRING},
                                                                              {"complex64", tensorflow::DT_COMPLEX64},
                                                                              {"int64", tensorflow::DT_INT64}}};
    for (const auto& [known, type] : kTypes) {
        if (known == name)
            return type;
    }
    return 0;
}

/// Types and shapes of the weights by the name of their Const node.
Status readManifest(JsonValue manifest, std::unordered_map<std::string, tensorflow::TensorProto>& weights) {
    if (!manifest.isArray())
        return {};
    const auto readWeight = [&weights](JsonValue weight) -> Status {
        std::string name;
        tensorflow::TensorProto tensor;
        if (!weight.isObject())
            return {};
        PW_CHECK(weight.forEachMember([&](std::string_view key, JsonValue value) -> Status {
            if (key == "name" && value.isText())
                name = value.text();
            if (key == "dtype" && value.isText())
                tensor.set_dtype(static_cast<tensorflow::DataType>(manifestType(value.text())));
            if (key != "shape" || !value.isArray())
                return {};
            return value.forEachElement([&tensor](JsonValue dim) -> Status {
                PW_TRY(const std::int64_t size, jsonInteger(dim, {nullptr, "weightsManifest"}));
                tensor.mutable_tensor_shape()->add_dim()->set_size(size);
                return {};
            });
        }));
        weights.emplace(std::move(name), std::move(tensor));
        return {};
    };
    return manifest.forEachElement([&](JsonValue group) -> Status {
        if (!group.isObject())
            return {};
        return group.forEachMember([&](std::string_view key, JsonValue value) -> Status {
            return key == "weights" && value.isArray() ? value.forEachElement(readWeight) : Status();
        });
    });
}

/// Gives constants that carry no tensor the shape that the manifest has for them.
void completeConstants(tensorflow::GraphDef& graph, std::unordered_map<std::string, tensorflow::TensorProto>& weights) {
    for (auto& node : *graph.mutable_node()) {
        const auto* value = tf::findAttr(node, "value");
        const auto found = weights.find(node.name());
        if (node.op() != "Const" || found == weights.end() || (value != nullptr && value->tensor().dtype() != 0))
            continue;
        auto& entry = *node.add_attr();
        entry.set_key("value");
        *entry.mutable_value()->mutable_tensor() = std::move(found->second);
    }
}

bool isKerasTopology(JsonValue topology) {
    bool isKeras = false;
    const Status ignored = topology.forEachMember([&isKeras](std::string_view key, JsonValue) -> Status {
        isKeras = isKeras || key == "model_config" || key == "keras_version" || key == "class_name";
        return {};
    });
    return isKeras || !ignored;
}

} // namespace

Result<GraphPtr> importTfJs(const Source& source, const LoadOptions& options) {
    PW_TRY(const std::string content, source.text());
    PW_TRY(const JsonTape tape, JsonTape::parse(content, source.path));
    if (!tape.root().isObject())
        return fail(ErrorCode::Parse, "is a TensorFlow.js file without a model");
    JsonValue topology;
    JsonValue manifest;
    std::string format;
    PW_CHECK(tape.root().forEachMember([&](std::string_view key, JsonValue value) -> Status {
        if (key == "modelTopology")
            topology = value;
        if (key == "weightsManifest")
            manifest = value;
        if (key == "format" && value.isText())
            format = value.text();
        return {};
    }));
    const bool isObject = topology.isPresent() && topology.isObject();
    if (format == "layers-model" || (isObject && isKerasTopology(topology)))
        return fail(ErrorCode::Unsupported, "is a TensorFlow.js layers-model (a Keras model without a graph); convert it to "
                                            "a graph-model: tensorflowjs_converter --output_format=tfjs_graph_model");
    if (!isObject)
        return fail(ErrorCode::Parse, "is a TensorFlow.js file without a model topology", "modelTopology");
    tensorflow::GraphDef graph;
    PW_CHECK(TopologyReader(content.size()).readGraph(topology, {nullptr, "modelTopology"}, graph));
    if (manifest.isPresent()) {
        std::unordered_map<std::string, tensorflow::TensorProto> weights;
        PW_CHECK(readManifest(manifest, weights));
        completeConstants(graph, weights);
    }
    return importTfGraph(graph, {source.baseName, "tfjs", {}}, options);
}

} // namespace pw::formats
