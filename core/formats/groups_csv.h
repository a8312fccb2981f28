#pragma once

#include "core/graph/grouping.h"

#include <string>
#include <vector>

namespace pw::formats {

/// Groups as a file `op,group`: op names by group, in order of first appearance. What GroupingOptions::byHand takes.
Result<std::vector<std::vector<std::string>>> loadGroups(const std::string& path);

/// Every op and the name of its group.
Status saveGroups(const OpGraph& graph, const Grouping& grouping, const std::string& path);

} // namespace pw::formats
