#include "core/base/text.h"
#include "core/formats/published.h"

#include <algorithm>
#include <optional>

/// nGraph's functions as JSON: a list of functions, each with ops that name their inputs.
namespace pw::formats {

namespace {

using Dims = std::vector<std::int64_t>;

std::string dtypeOf(const std::string& elementType) {
    static const std::unordered_map<std::string, std::string> kNames = {
        {"float", "f32"},    {"float32_t", "f32"}, {"double", "f64"},  {"float64_t", "f64"}, {"half", "f16"},
        {"float16", "f16"},  {"bfloat16", "bf16"}, {"char", "bool"},   {"bool", "bool"},     {"boolean", "bool"},
        {"int8_t", "i8"},    {"int16_t", "i16"},   {"int32_t", "i32"}, {"int64_t", "i64"},   {"uint8_t", "u8"},
        {"uint16_t", "u16"}, {"uint32_t", "u32"},  {"uint64_t", "u64"}};
    const auto found = kNames.find(elementType);
    return found == kNames.end() ? elementType : found->second;
}

Result<Dims> dimsFrom(const Json& list, const std::string& path) {
    if (!list.is_array())
        return fail(ErrorCode::Parse, "expected an array, found " + jsonKind(list), path);
    Dims dims;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string where = path + "[" + std::to_string(i) + "]";
        PW_TRY(const std::int64_t dim, jsonInteger(list[i], where));
        if (dim < 0)
            return fail(ErrorCode::Invalid, "must be 0 or more, found " + std::to_string(dim), where);
        dims.push_back(dim);
    }
    return dims;
}

Result<Dims> dimsUnder(const JsonObject& op, const char* key) {
    PW_TRY(const Json* const list, op.array(key));
    return dimsFrom(*list, op.pathOf(key));
}

/// What is known of an op's output.
struct Shape {
    std::string dtype;
    Dims dims;
};

/// Shapes are written only where they do not follow from the inputs; the others follow here. Nothing where they do not.
class ShapeRules {
public:
    ShapeRules(const JsonObject& op, std::string type, std::vector<const Shape*> inputs)
        : m_op(op)
        , m_type(std::move(type))
        , m_inputs(std::move(inputs)) {}

    Result<std::optional<Shape>> output() const {
        const bool isSource = m_type == "Parameter" || m_type == "Constant";
        if (isSource || m_type == "Broadcast")
            return withDims("shape");
        if (m_type == "Reshape")
            return withDims("output_shape");
        if (m_inputs.empty() || m_inputs.front() == nullptr)
            return std::optional<Shape>();
        if (m_type == "Slice")
            return slice();
        if (m_type == "Concat")
            return concat();
        if (m_type == "Dot")
            return dot();
        if (m_type == "Sum" || m_type == "Product" || m_type == "Max" || m_type == "Min")
            return reduced();
        // Elementwise ops: all inputs alike. Anything else with inputs of different shapes stays unknown.
        const bool areAlike = std::all_of(m_inputs.begin(), m_inputs.end(), [&](const Shape* input) {
            return input != nullptr && input->dims == m_inputs.front()->dims;
        });
        return areAlike && isElementwise() ? std::optional<Shape>(*m_inputs.front()) : std::optional<Shape>();
    }

private:
    bool isElementwise() const {
        static constexpr const char* kTypes[] = {
            "Abs",      "Acos",    "Add",      "And",     "Asin",    "Atan",         "Ceiling",      "Cos",
            "Cosh",     "Divide",  "Erf",      "Exp",     "Floor",   "Log",          "Maximum",      "Minimum",
            "Multiply", "Negative", "Not",     "Or",      "Power",   "Relu",         "ReluBackprop", "Result",
            "Reverse",  "ReverseSequence",     "Sigmoid", "Sign",    "SigmoidBackprop", "Sin",       "Sinh",
            "Softmax",  "Sqrt",    "StopGradient",        "Subtract", "Tan",         "Tanh"};
        return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const char* type) { return m_type == type; });
    }

    Result<std::optional<Shape>> withDims(const char* key) const {
        Shape shape;
        PW_TRY(std::string elementType, m_op.text("element_type"));
        if (elementType.empty() && m_op.find("value_type") != nullptr) {
            PW_TRY(const JsonObject valueType, JsonObject::of(*m_op.find("value_type"), m_op.pathOf("value_type")));
            PW_TRY(elementType, valueType.text("element_type"));
            if (m_op.find(key) == nullptr) {
                PW_TRY(shape.dims, dimsUnder(valueType, "shape"));
                shape.dtype = dtypeOf(elementType);
                return std::optional<Shape>(std::move(shape));
            }
        }
        if (m_op.find(key) == nullptr)
            return std::optional<Shape>();
        PW_TRY(shape.dims, dimsUnder(m_op, key));
        shape.dtype = dtypeOf(elementType);
        if (shape.dtype.empty() && !m_inputs.empty() && m_inputs.front() != nullptr)
            shape.dtype = m_inputs.front()->dtype;
        return std::optional<Shape>(std::move(shape));
    }

    Result<std::optional<Shape>> slice() const {
        PW_TRY(const Dims lower, dimsUnder(m_op, "lower_bounds"));
        PW_TRY(const Dims upper, dimsUnder(m_op, "upper_bounds"));
        PW_TRY(const Dims strides, dimsUnder(m_op, "strides"));
        Shape shape{m_inputs.front()->dtype, {}};
        for (std::size_t i = 0; i < upper.size(); ++i) {
            const std::int64_t from = i < lower.size() ? lower[i] : 0;
            const std::int64_t step = i < strides.size() ? std::max<std::int64_t>(1, strides[i]) : 1;
            if (from > upper[i])
                return fail(ErrorCode::Invalid, "a lower bound is above its upper bound", m_op.pathOf("lower_bounds"));
            shape.dims.push_back((upper[i] - from) / step + ((upper[i] - from) % step != 0 ? 1 : 0));
        }
        return std::optional<Shape>(std::move(shape));
    }

    Result<std::optional<Shape>> concat() const {
        PW_TRY(const std::int64_t axis, m_op.integer("axis", 0));
        Shape shape = *m_inputs.front();
        if (axis < 0 || axis >= static_cast<std::int64_t>(shape.dims.size()))
            return std::optional<Shape>();
        const auto at = static_cast<std::size_t>(axis);
        for (std::size_t i = 1; i < m_inputs.size(); ++i) {
            if (m_inputs[i] == nullptr || m_inputs[i]->dims.size() != shape.dims.size() ||
                __builtin_add_overflow(shape.dims[at], m_inputs[i]->dims[at], &shape.dims[at]))
                return std::optional<Shape>();
        }
        return std::optional<Shape>(std::move(shape));
    }

    /// The last axes of the first input against the first axes of the second.
    Result<std::optional<Shape>> dot() const {
        if (m_inputs.size() != 2 || m_inputs[1] == nullptr)
            return std::optional<Shape>();
        const Dims& a = m_inputs[0]->dims;
        const Dims& b = m_inputs[1]->dims;
        const bool hasScalar = a.empty() || b.empty();
        PW_TRY(const std::int64_t reduced, m_op.integer("reduction_axes_count", hasScalar ? 0 : 1));
        if (reduced < 0 || reduced > static_cast<std::int64_t>(std::min(a.size(), b.size())))
            return std::optional<Shape>();
        Shape shape{m_inputs[0]->dtype, Dims(a.begin(), a.end() - reduced)};
        shape.dims.insert(shape.dims.end(), b.begin() + reduced, b.end());
        return std::optional<Shape>(std::move(shape));
    }

    Result<std::optional<Shape>> reduced() const {
        PW_TRY(const Dims axes, dimsUnder(m_op, "reduction_axes"));
        Shape shape{m_inputs.front()->dtype, {}};
        for (std::size_t i = 0; i < m_inputs.front()->dims.size(); ++i) {
            if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
                shape.dims.push_back(m_inputs.front()->dims[i]);
        }
        return std::optional<Shape>(std::move(shape));
    }

    const JsonObject& m_op;
    std::string m_type;
    std::vector<const Shape*> m_inputs;
};

class FunctionReader {
public:
    FunctionReader(std::string name, const LoadOptions& options)
        : m_builder(std::move(name), "ngraph")
        , m_options(options) {}

    Result<GraphPtr> read(const JsonObject& function, std::size_t others) {
        PW_TRY(const Json* const ops, requiredArray(function, "ops"));
        for (std::size_t i = 0; i < ops->size(); ++i) {
            if (m_options.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            PW_TRY(const JsonObject op, entryOf(*ops, i, function.pathOf("ops")));
            PW_CHECK(addOp(op));
        }
        PW_CHECK(addInputs());
        PW_CHECK(inferShapes());
        if (others > 0)
            m_builder.addWarning("functions", "",
                                 "the file holds " + std::to_string(others) +
                                     " more functions; the one with most ops is opened");
        return std::move(m_builder).build();
    }

private:
    struct Pending {
        JsonObject object;
        std::vector<TensorId> inputs; ///< as far as they are known
    };

    Status addOp(const JsonObject& object) {
        Op op;
        PW_TRY(op.name, object.requiredText("name"));
        PW_TRY(op.type, object.requiredText("op"));
        for (const auto& [key, value] : object.value().items()) {
            static constexpr const char* kKnown[] = {"name", "op", "inputs", "outputs", "element_type", "value_type"};
            const bool isKnown = std::find(std::begin(kKnown), std::end(kKnown), key) != std::end(kKnown);
            if (isKnown || (value.is_array() && value.size() > 64))
                continue;
            op.attributes.emplace_back(key, value.is_string()
                                                ? value.get<std::string>()
                                                : value.dump(-1, ' ', false, Json::error_handler_t::replace));
        }
        const std::string name = op.name;
        const OpId id = m_builder.addOp(std::move(op));
        PW_CHECK(m_ops.add(name, id, object.pathOf("name")));
        PW_TRY(const Json* const outputs, object.array("outputs"));
        for (std::size_t i = 0; i < outputs->size(); ++i) {
            const std::string where = object.pathOf("outputs") + "[" + std::to_string(i) + "]";
            Tensor tensor;
            PW_TRY(tensor.name, jsonText((*outputs)[i], where));
            const std::string output = tensor.name;
            if (!m_tensors.emplace(output, m_builder.addOutput(id, std::move(tensor))).second)
                return fail(ErrorCode::Invalid, "a second op makes \"" + output + "\"", where);
        }
        if (outputs->empty())
            m_builder.addOutput(id);
        m_pending.push_back({object, {}});
        return {};
    }

    /// An input names an op (its first output) or an output.
    Status addInputs() {
        for (std::size_t i = 0; i < m_pending.size(); ++i) {
            const JsonObject& object = m_pending[i].object;
            PW_TRY(const Json* const inputs, object.array("inputs"));
            for (std::size_t slot = 0; slot < inputs->size(); ++slot) {
                const std::string where = object.pathOf("inputs") + "[" + std::to_string(slot) + "]";
                PW_TRY(const std::string name, jsonText((*inputs)[slot], where));
                TensorId tensor;
                if (const auto output = m_tensors.find(name); output != m_tensors.end()) {
                    tensor = output->second;
                } else {
                    PW_TRY(const OpId producer, m_ops.find(name, where));
                    tensor = m_builder.output(producer, 0);
                }
                m_builder.addInput(OpId(i), tensor);
                m_pending[i].inputs.push_back(tensor);
            }
        }
        return {};
    }

    /// Ops stand in the file behind what they read; an op that reads a later one stays without a shape.
    Status inferShapes() {
        std::unordered_map<TensorId, Shape> known;
        for (std::size_t i = 0; i < m_pending.size(); ++i) {
            std::vector<const Shape*> inputs;
            for (const TensorId input : m_pending[i].inputs) {
                const auto found = known.find(input);
                inputs.push_back(found == known.end() ? nullptr : &found->second);
            }
            Op& op = m_builder.op(OpId(i));
            PW_TRY(std::optional<Shape> shape, ShapeRules(m_pending[i].object, op.type, std::move(inputs)).output());
            if (!shape || m_builder.outputCount(OpId(i)) != 1)
                continue;
            const TensorId output = m_builder.output(OpId(i), 0);
            Tensor& tensor = m_builder.tensor(output);
            PW_TRY(tensor.bytes, bytesOf(*shape, m_pending[i].object.path()));
            tensor.shapeKnown = true;
            tensor.dtype = shape->dtype;
            tensor.dims = shape->dims;
            // The format does not tell weights from the data that a function is called with: both are parameters.
            if (op.type == "Parameter" || op.type == "Constant")
                op.paramBytes = tensor.bytes;
            known.emplace(output, std::move(*shape));
        }
        return {};
    }

    static Result<std::int64_t> bytesOf(const Shape& shape, const std::string& path) {
        const auto elements = static_cast<double>(elementCount(shape.dims).value_or(0));
        return wholeBytes(elements * static_cast<double>(dtypeBytes(shape.dtype)), path + ", its output");
    }

    GraphBuilder m_builder;
    const LoadOptions& m_options;
    NodeTable m_ops;
    std::unordered_map<std::string, TensorId> m_tensors;
    std::vector<Pending> m_pending;
};

} // namespace

Result<GraphPtr> importNGraph(const Source& source, const LoadOptions& options) {
    PW_TRY(const Json document, parseSource(source));
    const Json list = document.is_array() ? Json() : Json::array({document});
    const Json& functions = document.is_array() ? document : list;
    std::optional<JsonObject> largest;
    std::size_t most = 0;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        PW_TRY(const JsonObject function, JsonObject::of(functions[i], "[" + std::to_string(i) + "]"));
        PW_TRY(const Json* const ops, requiredArray(function, "ops"));
        if (!largest || ops->size() > most) {
            largest = function;
            most = ops->size();
        }
    }
    if (!largest)
        return fail(ErrorCode::Parse, "holds no function");
    PW_TRY(const std::string name, largest->text("name"));
    const std::string title = functions.size() > 1 && !name.empty() ? source.baseName + "/" + name : source.baseName;
    return FunctionReader(title, options).read(*largest, functions.size() - 1);
}

} // namespace pw::formats
