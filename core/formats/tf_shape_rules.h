#pragma once

#include "core/formats/tf_model.h"

#include <span>

namespace pw::formats::tf {

/// Stands in constant vectors for an element that is not known.
constexpr std::int64_t kUnknownValue = INT64_MIN;

/// What is known about one output while shapes are inferred.
struct Value {
    TensorType type;
    std::optional<Dims> constant; ///< elements of a small integer tensor
    std::optional<TensorType> handle; ///< of a resource: the type of the variable behind it
};

/// One node seen by a shape rule: its inputs, its attributes, places for its outputs.
class RuleContext {
public:
    RuleContext(const tensorflow::NodeDef& node, std::vector<const Value*> inputs, int producerVersion)
        : m_node(node)
        , m_inputs(std::move(inputs))
        , m_producerVersion(producerVersion) {}

    const tensorflow::NodeDef& node() const { return m_node; }
    int producerVersion() const { return m_producerVersion; }
    std::size_t inputCount() const { return m_inputs.size(); }
    /// Value of an input; an empty one if unknown or absent.
    const Value& input(std::size_t i) const;
    int dtype(std::size_t i) const { return input(i).type.dtype; }
    /// Shape of an input, or nullptr if its rank is not known.
    const Dims* shape(std::size_t i) const;
    const Dims* constant(std::size_t i) const;
    std::optional<std::int64_t> scalar(std::size_t i) const; ///< an input that is one known integer

    std::int64_t integer(std::string_view key, std::int64_t fallback) const;
    Dims integers(std::string_view key) const;
    std::string_view text(std::string_view key) const;
    bool flag(std::string_view key) const;
    int type(std::string_view key, int fallback = 0) const;

    void setOutput(std::size_t i, int dtype, Dims dims);
    void setType(std::size_t i, int dtype); ///< rank unknown
    void setConstant(Dims values); ///< of output 0

    std::vector<Value>& outputs() { return m_outputs; }

private:
    Value& output(std::size_t i);

    const tensorflow::NodeDef& m_node;
    std::vector<const Value*> m_inputs;
    int m_producerVersion;
    std::vector<Value> m_outputs;
};

/// Applies the rule of the node's type, if there is one.
void applyShapeRule(RuleContext& context);

} // namespace pw::formats::tf
