#pragma once

#include "core/formats/onnx_model.h"

#include <functional>

namespace pw::formats {

/// Stands in constant vectors for an element that is not known (a symbolic dimension taken by Shape).
constexpr std::int64_t kUnknownValue = INT64_MIN;
using Constants = std::unordered_map<std::string, std::vector<std::int64_t>>;

/// One node seen by a shape rule: types and constant values of its inputs, its attributes, places for its outputs.
class RuleContext {
public:
    using FindType = std::function<const ValueType*(const std::string&)>;
    using FindConstant = std::function<const std::vector<std::int64_t>*(const std::string&)>;

    RuleContext(const onnx::NodeProto& node, const FindType& findType, const FindConstant& findConstant);

    const onnx::NodeProto& node() const { return m_node; }
    int inputCount() const { return m_node.input_size(); }
    bool hasInput(int i) const { return i < m_node.input_size() && !m_node.input(i).empty(); }
    /// Type of input i; an empty one if unknown or absent.
    const ValueType& type(int i) const;
    /// Shape of input i, or nullptr if its rank is not known.
    const std::vector<std::int64_t>* shape(int i) const;
    const std::vector<std::int64_t>* constant(int i) const;

    std::int64_t integer(std::string_view name, std::int64_t fallback) const {
        return attributeInt(m_node, name, fallback);
    }
    std::string text(std::string_view name, std::string_view fallback) const;
    std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;

    void setOutput(int i, std::int32_t elemType, std::vector<std::int64_t> dims);
    void setOutputType(int i, std::int32_t elemType); ///< rank unknown
    void setConstant(std::vector<std::int64_t> values);

    std::vector<ValueType> outputs;
    std::optional<std::vector<std::int64_t>> constantOutput; ///< of output 0

private:
    const onnx::NodeProto& m_node;
    std::vector<const ValueType*> m_types;
    std::vector<const std::vector<std::int64_t>*> m_constants;
};

/// Applies the rule of the node's type, if there is one.
void applyShapeRule(RuleContext& context);

} // namespace pw::formats
