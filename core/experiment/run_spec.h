#pragma once

#include "core/sim/problem.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pw {

/// All that decides the outcome of a run. Its hash names it; two runs with one hash give the same numbers.
struct RunSpec {
    std::string kind = "place"; ///< "place", "train", "infer"
    std::string method;
    std::vector<std::string> graphHashes;
    std::string graphName; ///< of the first graph, for people; not hashed
    std::string deviceSetHash;
    std::string deviceSetName; ///< not hashed
    GroupingOptions grouping;
    SimOptions sim;
    std::uint64_t seed = 1;
    std::int64_t maxEvaluations = 0;
    std::int64_t maxEpisodes = 0;
    double maxSeconds = 0.0;
    std::string device = "cpu";
    std::map<std::string, std::string> parameters;
    std::map<std::string, std::string> pins; ///< op name -> device name that its group must have (placement only)

    bool operator==(const RunSpec&) const = default;
    std::string hash() const; ///< over everything but the two names
    std::string toJson() const; ///< every field, stable order
    /// Missing keys take their defaults, unknown ones are left alone (a newer program wrote them); a value of the wrong
    /// type or out of range is an error that names the key.
    static Result<RunSpec> fromJson(std::string_view json);
};

} // namespace pw
