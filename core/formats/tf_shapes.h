#pragma once

#include "core/formats/tf_wiring.h"

#include <map>
#include <stop_token>

namespace pw::formats::tf {

using TypeTable = std::vector<std::vector<TensorType>>; ///< per node, per output

/// What types are found from.
struct TypeQuestion {
    const Nodes& nodes;
    const Wiring& wiring;
    std::vector<TensorType> args; ///< of the function
    int producerVersion = 0;
    bool useRules = true;
    std::map<std::string, std::int64_t> dims; ///< sizes for open dimensions of an op's output 0, by "op[axis]"
    std::stop_token stop;
};

/// What the file says (`_output_shapes`, shapes of variables, placeholders and constants), completed by own rules where
/// it says nothing or leaves dimensions open.
TypeTable findTypes(const TypeQuestion& question);

} // namespace pw::formats::tf
