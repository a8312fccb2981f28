#include "viz/graph/scene_chunks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <queue>

namespace pw::viz {

namespace {

struct Adjacency {
    std::vector<std::uint32_t> start;
    std::vector<std::uint32_t> targets;
};

Adjacency successorsOf(const ItemGraph& items) {
    Adjacency out;
    out.start.assign(items.count + 1, 0);
    for (const auto& [from, to] : items.edges)
        ++out.start[from + 1];
    for (std::size_t i = 0; i < items.count; ++i)
        out.start[i + 1] += out.start[i];
    out.targets.resize(items.edges.size());
    std::vector<std::uint32_t> next(out.start.begin(), out.start.end() - 1);
    for (const auto& [from, to] : items.edges)
        out.targets[next[from]++] = to;
    return out;
}

/// Free items in the order in which they are taken: smallest first, or the one that became free last (`depthFirst`),
/// which keeps a branch together where the file does not.
class FreeItems {
public:
    explicit FreeItems(bool depthFirst) : m_depthFirst(depthFirst) {}
    bool empty() const { return m_depthFirst ? m_stack.empty() : m_heap.empty(); }
    void push(std::uint32_t item) {
        if (m_depthFirst)
            m_stack.push_back(item);
        else
            m_heap.push(item);
    }
    std::uint32_t pop() {
        std::uint32_t item = 0;
        if (m_depthFirst) {
            item = m_stack.back();
            m_stack.pop_back();
        } else {
            item = m_heap.top();
            m_heap.pop();
        }
        return item;
    }

private:
    bool m_depthFirst;
    std::vector<std::uint32_t> m_stack;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> m_heap;
};

std::vector<std::uint32_t> order(const ItemGraph& items, bool depthFirst) {
    const Adjacency out = successorsOf(items);
    std::vector<std::uint32_t> waiting(items.count, 0);
    for (const auto& [from, to] : items.edges)
        waiting[to] += from != to ? 1 : 0;
    FreeItems free(depthFirst);
    std::vector<bool> queued(items.count, false);
    for (std::size_t i = items.count; i-- > 0;) { // why: backwards, so that the stack yields the first one first
        if (waiting[i] == 0) {
            free.push(static_cast<std::uint32_t>(i));
            queued[i] = true;
        }
    }
    std::vector<std::uint32_t> result;
    result.reserve(items.count);
    std::size_t smallestLeft = 0;
    while (result.size() < items.count) {
        if (free.empty()) { // a cycle: break it at the smallest item
            while (queued[smallestLeft])
                ++smallestLeft;
            free.push(static_cast<std::uint32_t>(smallestLeft));
            queued[smallestLeft] = true;
        }
        const std::uint32_t item = free.pop();
        result.push_back(item);
        for (std::uint32_t i = out.start[item + 1]; i-- > out.start[item];) {
            const std::uint32_t target = out.targets[i];
            if (target != item && --waiting[target] == 0 && !queued[target]) {
                free.push(target);
                queued[target] = true;
            }
        }
    }
    return result;
}

std::vector<std::uint32_t> positionsOf(const std::vector<std::uint32_t>& items) {
    std::vector<std::uint32_t> positions(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        positions[items[i]] = static_cast<std::uint32_t>(i);
    return positions;
}

std::int64_t totalLength(const ItemGraph& items, const std::vector<std::uint32_t>& positions) {
    std::int64_t sum = 0;
    for (const auto& [from, to] : items.edges)
        sum += std::abs(static_cast<std::int64_t>(positions[to]) - static_cast<std::int64_t>(positions[from]));
    return sum;
}

} // namespace

std::vector<std::uint32_t> topologicalItems(const ItemGraph& items) {
    return order(items, false);
}

std::vector<std::vector<std::uint32_t>> cutIntoBands(const ItemGraph& items) {
    std::vector<std::uint32_t> sequence = order(items, false);
    std::vector<std::uint32_t> positions = positionsOf(sequence);
    std::vector<std::uint32_t> deep = order(items, true);
    std::vector<std::uint32_t> deepPositions = positionsOf(deep);
    if (totalLength(items, deepPositions) * 2 < totalLength(items, positions)) { // why 2: the file's order wins ties
        sequence.swap(deep);
        positions.swap(deepPositions);
    }
    // crossing[i]: edges over the boundary before position i.
    std::vector<std::int64_t> crossing(items.count + 1, 0);
    for (const auto& [from, to] : items.edges) {
        const auto [low, high] = std::minmax(positions[from], positions[to]);
        ++crossing[low + 1];
        --crossing[high + 1];
    }
    for (std::size_t i = 1; i <= items.count; ++i)
        crossing[i] += crossing[i - 1];

    const auto target = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(items.count)))), 12, 120);
    const std::size_t least = target * 6 / 10;
    const std::size_t most = target * 14 / 10;
    std::vector<std::vector<std::uint32_t>> bands;
    for (std::size_t at = 0; at < items.count;) {
        std::size_t cut = items.count;
        if (items.count - at > most) {
            cut = at + least;
            const auto cost = [&](std::size_t i) { // among equal cuts the one nearest to the target
                const auto off = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(at + target);
                return std::pair(crossing[i], std::abs(off));
            };
            for (std::size_t i = cut + 1; i <= at + most; ++i) {
                if (cost(i) < cost(cut))
                    cut = i;
            }
        }
        bands.emplace_back(sequence.begin() + static_cast<std::ptrdiff_t>(at),
                           sequence.begin() + static_cast<std::ptrdiff_t>(cut));
        at = cut;
    }
    return bands;
}

} // namespace pw::viz
