#pragma once

#include "core/formats/tf_model.h"

#include <span>

namespace pw::formats::tf {

using Nodes = google::protobuf::RepeatedPtrField<tensorflow::NodeDef>;

/// One input of a node, resolved. Exactly one of `node` and `arg` is set, or none if the name is missing.
struct Wire {
    std::int32_t node = -1;  ///< index of the producer
    std::int32_t arg = -1;   ///< argument of the function
    std::uint32_t output = 0;
    std::uint32_t slot = 0;  ///< data inputs are numbered without the control inputs
    bool isControl = false;
};

/// What feeds what in one graph or function body.
class Wiring {
public:
    /// `signature` is the function's, nullptr for a main graph.
    Wiring(const Nodes& nodes, const tensorflow::OpDef* signature);

    std::span<const Wire> inputs(int node) const {
        const auto at = static_cast<std::size_t>(node);
        return std::span(m_wires).subspan(m_start[at], m_start[at + 1] - m_start[at]);
    }
    std::uint32_t outputCount(int node) const { return m_outputCount[static_cast<std::size_t>(node)]; }
    /// Inputs first, back edges of while loops left aside; ops on other cycles last, in the order of the file.
    std::vector<std::int32_t> evaluationOrder() const;

    std::size_t missingCount() const { return m_missingCount; }
    const std::vector<std::string>& missingNames() const { return m_missingNames; } ///< the first few, each once

private:
    void connect(const Nodes& nodes, const tensorflow::OpDef* signature);
    void countOutputs(const Nodes& nodes);
    void noteMissing(const std::string& input);

    std::vector<Wire> m_wires;
    std::vector<std::size_t> m_start;
    std::vector<std::uint32_t> m_outputCount;
    std::vector<bool> m_closesLoop; ///< per node: NextIteration, the back edge of a while loop
    std::size_t m_missingCount = 0;
    std::vector<std::string> m_missingNames;
};

} // namespace pw::formats::tf
