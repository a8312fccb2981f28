#include "core/graph/op_graph.h"

#include <algorithm>
#include <array>
#include <limits>

namespace pw {

const char* phaseName(Phase phase) {
    switch (phase) {
    case Phase::Forward: return "forward";
    case Phase::Backward: return "backward";
    case Phase::Optimizer: return "optimizer";
    case Phase::Auxiliary: return "auxiliary";
    }
    return "forward";
}

std::optional<Phase> phaseFromName(std::string_view name) {
    for (const Phase phase : {Phase::Forward, Phase::Backward, Phase::Optimizer, Phase::Auxiliary}) {
        if (name == phaseName(phase))
            return phase;
    }
    return std::nullopt;
}

std::string OpGraph::scopePath(ScopeId id) const {
    std::string path;
    for (; id.isValid() && scope(id).parent.isValid(); id = scope(id).parent)
        path = path.empty() ? scope(id).name : scope(id).name + "/" + path;
    return path;
}

std::vector<OpId> OpGraph::cycle() const {
    if (!isCyclic())
        return {};
    std::vector<bool> ordered(opCount(), false);
    for (const OpId id : m_order)
        ordered[id.index()] = true;
    // Every op outside the order has a predecessor outside it: walking backwards must meet an op twice.
    OpId at;
    for (std::size_t i = 0; i < opCount() && !at.isValid(); ++i) {
        if (!ordered[i])
            at = OpId(i);
    }
    std::vector<std::size_t> seenAt(opCount(), std::numeric_limits<std::size_t>::max());
    std::vector<OpId> walk;
    while (seenAt[at.index()] == std::numeric_limits<std::size_t>::max()) {
        seenAt[at.index()] = walk.size();
        walk.push_back(at);
        for (const Edge& edge : inEdges(at)) {
            if (!ordered[edge.producer.index()]) {
                at = edge.producer;
                break;
            }
        }
    }
    std::vector<OpId> result(walk.begin() + static_cast<std::ptrdiff_t>(seenAt[at.index()]), walk.end());
    std::reverse(result.begin(), result.end());
    return result;
}

std::optional<OpId> OpGraph::findOp(std::string_view name) const {
    const auto found = std::lower_bound(m_byName.begin(), m_byName.end(), name,
                                        [this](OpId id, std::string_view value) { return op(id).name < value; });
    if (found == m_byName.end() || op(*found).name != name)
        return std::nullopt;
    return *found;
}

std::int64_t dtypeBytes(std::string_view dtype) {
    static constexpr std::array<std::pair<std::string_view, std::int64_t>, 16> kSizes = {{
        {"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}, {"i8", 1}, {"u8", 1}, {"i16", 2}, {"u16", 2},
        {"i32", 4}, {"u32", 4}, {"i64", 8}, {"u64", 8}, {"bool", 1}, {"c64", 8}, {"c128", 16}, {"f8", 1},
    }};
    for (const auto& [name, size] : kSizes) {
        if (name == dtype)
            return size;
    }
    return dtype == "i4" || dtype == "u4" ? 1 : 0;
}

std::optional<std::int64_t> elementCount(std::span<const std::int64_t> dims) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 16; // why: room for the item size
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) {
        if (dim < 0)
            return std::nullopt;
        if (dim == 0)
            return 0;
        count = count > kMax / dim ? kMax : count * dim;
    }
    return count;
}

} // namespace pw
