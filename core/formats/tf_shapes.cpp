#include "core/formats/tf_shapes.h"

#include "core/formats/tf_shape_rules.h"

#include <algorithm>

namespace pw::formats::tf {

namespace {

/// Fills in what `from` knows and `into` does not. Where both know and disagree, `into` stays: it is the file's own word.
void complete(TensorType& into, const TensorType& from) {
    if (into.dtype == 0)
        into.dtype = from.dtype;
    if (!into.shapeKnown) {
        into.shapeKnown = from.shapeKnown;
        into.dims = from.dims;
        return;
    }
    if (!from.shapeKnown || from.dims.size() != into.dims.size())
        return;
    for (std::size_t d = 0; d < into.dims.size(); ++d) {
        if (into.dims[d] < 0)
            into.dims[d] = from.dims[d];
    }
}

int listedType(const tensorflow::NodeDef& node, const char* key, int output) {
    const auto* types = findAttr(node, key);
    return types != nullptr && output < types->list().type_size() ? withoutRef(types->list().type(output)) : 0;
}

class Inference {
public:
    explicit Inference(const TypeQuestion& question)
        : m_question(question)
        , m_values(static_cast<std::size_t>(question.nodes.size())) {}

    TypeTable run() {
        for (const TensorType& arg : m_question.args)
            m_args.push_back({arg, std::nullopt, std::nullopt});
        for (const auto& [key, size] : m_question.dims) {
            if (const auto bracket = key.rfind('['); bracket != std::string::npos)
                m_setDims[key.substr(0, bracket)].emplace_back(key.substr(bracket), size);
        }
        for (const std::int32_t node : m_question.wiring.evaluationOrder()) {
            if (m_question.stop.stop_requested())
                break;
            infer(node);
        }
        TypeTable table(m_values.size());
        for (std::size_t i = 0; i < m_values.size(); ++i) {
            table[i].resize(m_question.wiring.outputCount(static_cast<int>(i)));
            for (std::size_t o = 0; o < std::min(table[i].size(), m_values[i].size()); ++o)
                table[i][o] = std::move(m_values[i][o].type);
        }
        return table;
    }

private:
    void infer(std::int32_t index) {
        const tensorflow::NodeDef& node = m_question.nodes[index];
        auto& values = m_values[static_cast<std::size_t>(index)];
        values.resize(m_question.wiring.outputCount(index));
        takeDeclared(node, values);
        applyDims(node, values);
        if (m_question.useRules) {
            RuleContext rule(node, inputsOf(index), m_question.producerVersion);
            applyShapeRule(rule);
            for (std::size_t o = 0; o < std::min(values.size(), rule.outputs().size()); ++o) {
                complete(values[o].type, rule.outputs()[o].type);
                values[o].constant = std::move(rule.outputs()[o].constant);
                values[o].handle = std::move(rule.outputs()[o].handle);
            }
            applyDims(node, values);
        }
        for (std::size_t o = 0; o < values.size(); ++o) {
            if (values[o].type.dtype == 0)
                values[o].type.dtype = guessedType(node, static_cast<int>(o));
        }
    }

    static void takeDeclared(const tensorflow::NodeDef& node, std::vector<Value>& values) {
        const auto* shapes = findAttr(node, "_output_shapes");
        if (shapes == nullptr)
            return;
        const auto& list = shapes->list().shape();
        for (int o = 0; o < std::min<int>(list.size(), static_cast<int>(values.size())); ++o) {
            auto& type = values[static_cast<std::size_t>(o)].type;
            const auto dims = dimsOf(list[o]);
            type.shapeKnown = dims.has_value();
            type.dims = dims.value_or(Dims());
        }
    }

    /// Sizes that the user gives to open dimensions of output 0.
    void applyDims(const tensorflow::NodeDef& node, std::vector<Value>& values) const {
        const auto found = m_setDims.find(node.name());
        if (found == m_setDims.end() || values.empty())
            return;
        Dims& dims = values.front().type.dims;
        for (const auto& [axis, size] : found->second) {
            for (std::size_t d = 0; d < dims.size(); ++d) {
                if (dims[d] < 0 && size >= 0 && axis == "[" + std::to_string(d) + "]")
                    dims[d] = size;
            }
        }
    }

    /// The type by the attributes that most ops name it with.
    static int guessedType(const tensorflow::NodeDef& node, int output) {
        for (const char* key : {"Tout", "output_types", "component_types", "out_types"}) {
            if (const int type = listedType(node, key, output); type != 0)
                return type;
        }
        for (const char* key : {"dtype", "out_type", "DstT", "T"}) {
            if (const auto* type = findAttr(node, key); type != nullptr && type->type() != 0)
                return withoutRef(type->type());
        }
        return 0;
    }

    std::vector<const Value*> inputsOf(std::int32_t index) const {
        std::vector<const Value*> inputs;
        for (const Wire& wire : m_question.wiring.inputs(index)) {
            if (wire.isControl)
                continue;
            const Value* value = nullptr;
            if (wire.arg >= 0) {
                value = &m_args[static_cast<std::size_t>(wire.arg)];
            } else if (wire.node >= 0) {
                const auto& outputs = m_values[static_cast<std::size_t>(wire.node)];
                value = wire.output < outputs.size() ? &outputs[wire.output] : nullptr;
            }
            inputs.push_back(value);
        }
        return inputs;
    }

    const TypeQuestion& m_question;
    std::vector<std::vector<Value>> m_values;
    std::vector<Value> m_args;
    std::map<std::string, std::vector<std::pair<std::string, std::int64_t>>> m_setDims; ///< by op: "[axis]" and size
};

} // namespace

TypeTable findTypes(const TypeQuestion& question) {
    return Inference(question).run();
}

} // namespace pw::formats::tf
