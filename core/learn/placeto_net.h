#pragma once

#include "core/base/rng.h"
#include "core/learn/placeto_graph.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace pw::learn {

/// One affine layer inside the flat weight vector: weights row-major [in][out], then the bias.
struct Layer {
    std::size_t in = 0;
    std::size_t out = 0;
    std::size_t weight = 0; ///< offsets
    std::size_t bias = 0;
};

/// Agg of Placeto's released code: y = relu(g(sum of relu(f(x)))), both with one hidden layer.
struct AggregatorLayers {
    std::array<Layer, 2> f;
    std::array<Layer, 2> g;
};

/// Where every layer of a network lies in the flat weight vector. The order is that of Placeto's released code.
struct NetLayout {
    explicit NetLayout(const NetShape& shape);

    NetShape shape;
    AggregatorLayers forward;  ///< messages from parents; Full only, like `backward` and `transform`
    AggregatorLayers backward; ///< messages from children
    std::array<Layer, 3> transform;
    std::array<AggregatorLayers, 3> pools; ///< ancestors, descendants, parallel; only the first in SimpleAggregator
    std::array<Layer, 3> head;
    std::vector<Layer> layers; ///< all of them, in order
    std::size_t parameterCount = 0;
    std::size_t embeddingSize = 0; ///< of one node, before the pools: 2d, d without messages
    std::size_t pooledSize = 0;    ///< of z
};

/// Glorot-uniform weights, zero biases.
std::vector<float> initialWeights(const NetLayout& layout, Rng& rng);

/// Factor on a sum over `count` terms.
double aggregationScale(NetShape::Aggregation aggregation, std::size_t count);

/// "placeto full radial k=8 sqrt", for people.
std::string architectureName(const NetShape& shape);

/// The forward pass for one step, by hand: sampling an episode runs it once per node, and there the fixed cost of a
/// tensor library's small calls would dominate. Keeps its buffers; one per thread. The gradient is taken by
/// placeto_gradient.h on whole episodes; a test compares the two.
template<class Real>
class PlacetoForward {
public:
    PlacetoForward(const NetLayout& layout, const Topology& topology);

    /// `features`: value c of node n at [c * nodeCount + n]. Writes one logit per device.
    void run(std::span<const Real> weights, std::span<const Real> features, std::size_t node, std::span<Real> logits);

    /// Of the last run, [c * nodeCount + n]: the embedding H (the features where there are no messages).
    std::span<const Real> embedding() const { return m_embedding; }
    /// Of the last run: the head's input z.
    std::span<const Real> pooled() const { return m_pooled; }

private:
    void radial(const Real* weights);
    void sweep(const Real* weights);
    void messages(const Real* weights, const AggregatorLayers& agg, const IndexRows& senders, Real* x);
    void sweepLevels(const Real* weights, const AggregatorLayers& agg, const IndexRows& levels, const IndexRows& senders,
                     Real* x);
    void pool(const Real* weights, const AggregatorLayers& agg, std::span<const std::uint32_t> members, Real* out);
    void head(const Real* weights, std::span<Real> logits);

    const NetLayout& m_layout;
    const Topology& m_topology;
    std::size_t m_n;
    std::vector<std::uint32_t> m_everyNode;
    std::vector<Real> m_transformed; ///< T
    std::vector<Real> m_embedding;
    std::vector<Real> m_sent; ///< relu(f(x)) of every node
    std::vector<Real> m_sum;
    std::vector<Real> m_a; ///< scratch
    std::vector<Real> m_b;
    std::vector<Real> m_pooled;
};

} // namespace pw::learn
