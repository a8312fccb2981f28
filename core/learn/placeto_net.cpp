#include "core/learn/placeto_net.h"

#include "core/learn/placeto_kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pw::learn {

namespace {

class LayoutBuilder {
public:
    explicit LayoutBuilder(NetLayout& layout) : m_layout(layout) {}

    Layer add(std::size_t in, std::size_t out) {
        const Layer layer{in, out, m_layout.parameterCount, m_layout.parameterCount + in * out};
        m_layout.parameterCount += in * out + out;
        m_layout.layers.push_back(layer);
        return layer;
    }
    AggregatorLayers aggregator(std::size_t width) {
        AggregatorLayers agg;
        for (auto& layer : agg.f)
            layer = add(width, width);
        for (auto& layer : agg.g)
            layer = add(width, width);
        return agg;
    }

private:
    NetLayout& m_layout;
};

/// Rows of x through an affine layer.
template<class Real>
void apply(const Real* weights, const Layer& layer, const Real* x, Real* y, std::size_t n, bool relu) {
    affineRows(weights + layer.weight, weights + layer.bias, layer.in, layer.out, x, y, n, relu);
}

template<class Real>
void gather(const Real* from, std::size_t width, std::size_t n, std::span<const std::uint32_t> nodes, Real* to) {
    for (std::size_t c = 0; c < width; ++c)
        for (std::size_t i = 0; i < nodes.size(); ++i)
            to[c * nodes.size() + i] = from[c * n + nodes[i]];
}

} // namespace

NetLayout::NetLayout(const NetShape& netShape) : shape(netShape) {
    const std::size_t d = shape.featureCount();
    const bool full = shape.variant == NetShape::Variant::Full;
    const bool single = shape.variant == NetShape::Variant::SimpleAggregator;
    LayoutBuilder builder(*this);
    if (full) {
        forward = builder.aggregator(d);
        backward = builder.aggregator(d);
        for (auto& layer : transform)
            layer = builder.add(d, d);
    }
    embeddingSize = full ? 2 * d : d;
    for (std::size_t i = 0; i < (single ? 1U : 3U); ++i)
        pools[i] = builder.aggregator(embeddingSize);
    pooledSize = single ? d : 4 * embeddingSize;
    // 8d -> [16d, 8d] -> D in the full network (Placeto); the same proportions elsewhere.
    head = {builder.add(pooledSize, 2 * pooledSize), builder.add(2 * pooledSize, pooledSize),
            builder.add(pooledSize, shape.deviceCount)};
}

std::vector<float> initialWeights(const NetLayout& layout, Rng& rng) {
    std::vector<float> weights(layout.parameterCount, 0.0F);
    for (const auto& layer : layout.layers) {
        const double limit = std::sqrt(6.0 / static_cast<double>(layer.in + layer.out));
        for (std::size_t i = 0; i < layer.in * layer.out; ++i)
            weights[layer.weight + i] = static_cast<float>((2.0 * rng.uniform() - 1.0) * limit);
    }
    return weights;
}

double aggregationScale(NetShape::Aggregation aggregation, std::size_t count) {
    if (count == 0 || aggregation == NetShape::Aggregation::Sum)
        return 1.0;
    const auto n = static_cast<double>(count);
    return aggregation == NetShape::Aggregation::Mean ? 1.0 / n : 1.0 / std::sqrt(n);
}

std::string architectureName(const NetShape& shape) {
    constexpr const char* kVariants[] = {"full", "no_message_passing", "simple_aggregator"};
    constexpr const char* kAggregations[] = {"sum", "sqrt", "mean"};
    std::string name = std::string("placeto ") + kVariants[static_cast<int>(shape.variant)];
    if (shape.variant == NetShape::Variant::Full)
        name += shape.messages == NetShape::Messages::Sweep ? " sweep" : " radial k=" + std::to_string(shape.rounds);
    return name + " " + kAggregations[static_cast<int>(shape.aggregation)];
}

template<class Real>
PlacetoForward<Real>::PlacetoForward(const NetLayout& layout, const Topology& topology)
    : m_layout(layout), m_topology(topology), m_n(topology.nodeCount), m_everyNode(topology.nodeCount),
      m_embedding(layout.embeddingSize * topology.nodeCount), m_pooled(layout.pooledSize) {
    std::iota(m_everyNode.begin(), m_everyNode.end(), 0U);
    const std::size_t rows = std::max(layout.embeddingSize * m_n, 2 * layout.pooledSize);
    for (auto* buffer : {&m_transformed, &m_sent, &m_sum, &m_a, &m_b})
        buffer->resize(rows);
}

template<class Real>
void PlacetoForward<Real>::run(std::span<const Real> weights, std::span<const Real> features, std::size_t node,
                               std::span<Real> logits) {
    const Real* w = weights.data();
    if (m_layout.shape.variant == NetShape::Variant::Full) {
        apply(w, m_layout.transform[0], features.data(), m_a.data(), m_n, true);
        apply(w, m_layout.transform[1], m_a.data(), m_b.data(), m_n, true);
        apply(w, m_layout.transform[2], m_b.data(), m_transformed.data(), m_n, false);
        m_layout.shape.messages == NetShape::Messages::Radial ? radial(w) : sweep(w);
    } else {
        std::copy(features.begin(), features.end(), m_embedding.begin());
    }
    const std::size_t width = m_layout.embeddingSize;
    if (m_layout.shape.variant == NetShape::Variant::SimpleAggregator) {
        pool(w, m_layout.pools[0], m_everyNode, m_pooled.data());
    } else {
        pool(w, m_layout.pools[0], m_topology.ancestors[node], m_pooled.data());
        pool(w, m_layout.pools[1], m_topology.descendants[node], m_pooled.data() + width);
        pool(w, m_layout.pools[2], m_topology.parallel[node], m_pooled.data() + 2 * width);
        for (std::size_t c = 0; c < width; ++c)
            m_pooled[3 * width + c] = m_embedding[c * m_n + node];
    }
    head(w, logits);
}

template<class Real>
void PlacetoForward<Real>::radial(const Real* weights) {
    const std::size_t size = m_layout.shape.featureCount() * m_n;
    Real* up = m_embedding.data();
    Real* down = m_embedding.data() + size;
    std::copy_n(m_transformed.data(), size, up);
    std::copy_n(m_transformed.data(), size, down);
    for (std::size_t round = 0; round < m_layout.shape.rounds; ++round) {
        messages(weights, m_layout.forward, m_topology.parents, up);
        messages(weights, m_layout.backward, m_topology.children, down);
    }
}

/// One round: x = T + Agg(x) where there are senders, T elsewhere.
template<class Real>
void PlacetoForward<Real>::messages(const Real* weights, const AggregatorLayers& agg, const IndexRows& senders, Real* x) {
    const std::size_t d = m_layout.shape.featureCount();
    apply(weights, agg.f[0], x, m_a.data(), m_n, true);
    apply(weights, agg.f[1], m_a.data(), m_sent.data(), m_n, true);
    for (std::size_t v = 0; v < m_n; ++v) {
        const auto from = senders[v];
        const auto scale = static_cast<Real>(aggregationScale(m_layout.shape.aggregation, from.size()));
        for (std::size_t c = 0; c < d; ++c) {
            const Real* row = m_sent.data() + c * m_n;
            Real sum = 0;
            for (const auto u : from)
                sum += row[u];
            m_sum[c * m_n + v] = sum * scale;
        }
    }
    apply(weights, agg.g[0], m_sum.data(), m_a.data(), m_n, true);
    apply(weights, agg.g[1], m_a.data(), m_b.data(), m_n, true);
    for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t v = 0; v < m_n; ++v) {
            const std::size_t i = c * m_n + v;
            x[i] = m_transformed[i] + (senders[v].empty() ? Real(0) : m_b[i]);
        }
    }
}

template<class Real>
void PlacetoForward<Real>::sweep(const Real* weights) {
    const std::size_t size = m_layout.shape.featureCount() * m_n;
    sweepLevels(weights, m_layout.forward, m_topology.forwardLevels, m_topology.parents, m_embedding.data());
    sweepLevels(weights, m_layout.backward, m_topology.backwardLevels, m_topology.children, m_embedding.data() + size);
}

/// One pass in topological order: every node hears the final values of its senders.
template<class Real>
void PlacetoForward<Real>::sweepLevels(const Real* weights, const AggregatorLayers& agg, const IndexRows& levels,
                                       const IndexRows& senders, Real* x) {
    const std::size_t d = m_layout.shape.featureCount();
    std::copy_n(m_transformed.data(), d * m_n, x);
    for (std::size_t level = 0; level < levels.size(); ++level) {
        const auto nodes = levels[level];
        const std::size_t n = nodes.size();
        if (level > 0) {
            for (std::size_t c = 0; c < d; ++c) {
                for (std::size_t i = 0; i < n; ++i) {
                    Real sum = 0;
                    for (const auto u : senders[nodes[i]])
                        sum += m_sent[c * m_n + u];
                    m_sum[c * n + i] = sum * static_cast<Real>(aggregationScale(m_layout.shape.aggregation,
                                                                                senders[nodes[i]].size()));
                }
            }
            apply(weights, agg.g[0], m_sum.data(), m_a.data(), n, true);
            apply(weights, agg.g[1], m_a.data(), m_b.data(), n, true);
            for (std::size_t c = 0; c < d; ++c)
                for (std::size_t i = 0; i < n; ++i)
                    x[c * m_n + nodes[i]] += m_b[c * n + i];
        }
        gather(x, d, m_n, nodes, m_sum.data());
        apply(weights, agg.f[0], m_sum.data(), m_a.data(), n, true);
        apply(weights, agg.f[1], m_a.data(), m_b.data(), n, true);
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t i = 0; i < n; ++i)
                m_sent[c * m_n + nodes[i]] = m_b[c * n + i];
    }
}

/// An empty set gives the response of g to zero, not zero (Placeto).
template<class Real>
void PlacetoForward<Real>::pool(const Real* weights, const AggregatorLayers& agg, std::span<const std::uint32_t> members,
                                Real* out) {
    const std::size_t width = m_layout.embeddingSize;
    const std::size_t n = members.size();
    gather(m_embedding.data(), width, m_n, members, m_sum.data());
    apply(weights, agg.f[0], m_sum.data(), m_a.data(), n, true);
    apply(weights, agg.f[1], m_a.data(), m_b.data(), n, true);
    const auto scale = static_cast<Real>(aggregationScale(m_layout.shape.aggregation, n));
    for (std::size_t c = 0; c < width; ++c)
        m_sum[c] = scale * std::accumulate(m_b.begin() + static_cast<std::ptrdiff_t>(c * n),
                                           m_b.begin() + static_cast<std::ptrdiff_t>((c + 1) * n), Real(0));
    apply(weights, agg.g[0], m_sum.data(), m_a.data(), 1, true);
    apply(weights, agg.g[1], m_a.data(), out, 1, true);
}

template<class Real>
void PlacetoForward<Real>::head(const Real* weights, std::span<Real> logits) {
    apply(weights, m_layout.head[0], m_pooled.data(), m_a.data(), 1, true);
    apply(weights, m_layout.head[1], m_a.data(), m_b.data(), 1, true);
    apply(weights, m_layout.head[2], m_b.data(), logits.data(), 1, false);
}

template class PlacetoForward<float>;
template class PlacetoForward<double>;

} // namespace pw::learn
