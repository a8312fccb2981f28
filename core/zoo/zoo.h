#pragma once

#include "core/graph/op_graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pw::zoo {

struct OptionInfo {
    std::string key;
    std::string defaultValue;
    std::string help;
};

struct WorkloadInfo {
    std::string name;  ///< "inception_v3"
    std::string title; ///< "Inception-v3"
    std::string help;  ///< one sentence
    std::vector<OptionInfo> options;
};

std::vector<WorkloadInfo> workloads();

/// Builds a workload. Deterministic. Fails on an unknown name, an unknown key, a value out of range.
Result<GraphPtr> make(std::string_view name, const std::map<std::string, std::string>& options = {});

/// "zoo:rnnlm?layers=2&level=L1" -> make(). `spec` starts with "zoo:".
Result<GraphPtr> makeFromSpec(std::string_view spec);

} // namespace pw::zoo
