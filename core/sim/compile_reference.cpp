#include "core/sim/compiled.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace pw {

namespace {

using Reference = PlacementProblem::Compiled::Reference;
constexpr std::uint32_t kNone = PlacementProblem::Compiled::kNone;

/// One (parent, child) pair; of several output indices the last one listed wins, a control edge counts as index 0.
struct Dependency {
    std::uint32_t parent = 0;
    std::uint32_t child = 0;
    std::uint32_t outputIndex = 0;
    TensorId tensor;
};

std::vector<Dependency> collectDependencies(const OpGraph& graph) {
    std::vector<Dependency> found;
    std::vector<std::uint32_t> slotOf(graph.opCount(), kNone); // why: the parent's entry among those of the current child
    for (std::size_t c = 0; c < graph.opCount(); ++c) {
        const std::size_t first = found.size();
        for (const Edge& edge : graph.inEdges(OpId(c))) {
            Dependency now{edge.producer.value(), static_cast<std::uint32_t>(c), 0, edge.tensor};
            if (edge.tensor.isValid() && edge.kind != EdgeKind::Control)
                now.outputIndex = graph.tensor(edge.tensor).outputIndex;
            else
                now.tensor = graph.outputs(edge.producer).empty() ? TensorId() : graph.outputs(edge.producer)[0];
            std::uint32_t& slot = slotOf[now.parent];
            if (slot == kNone || slot < first) {
                slot = static_cast<std::uint32_t>(found.size());
                found.push_back(now);
            } else {
                found[slot] = now;
            }
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Dependency& a, const Dependency& b) { return a.parent < b.parent; });
    return found;
}

template<class NameAt>
std::vector<std::uint32_t> ranksByName(std::size_t count, NameAt nameAt) {
    std::vector<std::uint32_t> sorted(count);
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return nameAt(a) < nameAt(b); });
    std::vector<std::uint32_t> rank(count);
    for (std::size_t i = 0; i < count; ++i)
        rank[sorted[i]] = static_cast<std::uint32_t>(i);
    return rank;
}

/// Children of one parent: graph order first, then a copy in name order; broadcasts numbered by first appearance.
void compileParent(const OpGraph& graph, std::span<const Dependency> children, double bytesPerUs, Reference& out) {
    const std::size_t firstBroadcast = out.broadcasts.size();
    std::vector<std::uint32_t> indices;
    for (const Dependency& child : children) {
        const auto known = std::find(indices.begin(), indices.end(), child.outputIndex);
        const auto slot = static_cast<std::uint32_t>(known - indices.begin());
        if (known == indices.end()) {
            indices.push_back(child.outputIndex);
            const std::int64_t bytes = child.tensor.isValid() ? graph.tensor(child.tensor).bytes : 0;
            out.broadcasts.push_back({bytes, child.tensor, static_cast<double>(bytes) / bytesPerUs, child.parent});
        }
        out.childrenByIndex.push_back({child.child, static_cast<std::uint32_t>(firstBroadcast) + slot});
    }
    const auto begin = out.childrenByIndex.end() - static_cast<std::ptrdiff_t>(children.size());
    out.childrenByName.insert(out.childrenByName.end(), begin, out.childrenByIndex.end());
    std::sort(out.childrenByName.end() - static_cast<std::ptrdiff_t>(children.size()), out.childrenByName.end(),
              [&](const Reference::Child& a, const Reference::Child& b) {
                  return out.nameRank[a.op] < out.nameRank[b.op];
              });
}

} // namespace

void compileReference(const OpGraph& graph, const DeviceSet& devices, const CostTable& costs, Reference& out) {
    const std::size_t n = graph.opCount();
    out.nameRank = ranksByName(n, [&](std::uint32_t i) -> const std::string& { return graph.op(OpId(i)).name; });
    out.deviceRank = ranksByName(devices.count(), [&](std::uint32_t d) -> const std::string& {
        return devices.device(DeviceId(d)).name;
    });
    out.gapUs = devices.device(DeviceId(0)).launchUs;
    const double bytesPerUs = devices.links().empty() ? 1.0 : devices.links()[0].bytesPerUs;
    out.busGapUs = devices.links().empty() ? 0.0 : devices.links()[0].latencyUs;

    const std::vector<Dependency> all = collectDependencies(graph);
    out.waits.assign(n, 0);
    out.firstChild.resize(n + 1);
    out.broadcastCount.resize(n);
    std::size_t at = 0;
    for (std::size_t i = 0; i < n; ++i) {
        out.firstChild[i] = static_cast<std::uint32_t>(at);
        std::size_t end = at;
        for (; end < all.size() && all[end].parent == i; ++end)
            ++out.waits[all[end].child];
        const std::size_t before = out.broadcasts.size();
        compileParent(graph, std::span(all).subspan(at, end - at), bytesPerUs, out);
        out.broadcastCount[i] = static_cast<std::uint32_t>(out.broadcasts.size() - before);
        at = end;
        out.costUs.push_back(costs.at(OpId(i), DeviceId(0)));
        std::int64_t bytes = 0;
        for (const TensorId tensor : graph.outputs(OpId(i)))
            bytes += graph.tensor(tensor).bytes;
        out.outputBytes.push_back(bytes);
    }
    out.firstChild[n] = static_cast<std::uint32_t>(at);
    for (std::size_t i = 0; i < n; ++i) {
        if (out.waits[i] == 0)
            out.sources.push_back(static_cast<std::uint32_t>(i));
    }
}

} // namespace pw
