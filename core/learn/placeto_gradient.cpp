#include "core/learn/placeto_gradient.h"

#include "core/learn/torch_device.h"

#include <ATen/ATen.h>

#include <map>

namespace pw::learn {

namespace {

/// Matrices of one topology, on the compute device.
struct GraphTensors {
    at::Tensor fromParents;  ///< [N, N]: row = receiver, scaled by the aggregation
    at::Tensor fromChildren;
    at::Tensor hasParents; ///< [N, 1, 1]
    at::Tensor hasChildren;
    std::array<at::Tensor, 3> pools; ///< [N, N]: row = node being placed
};

/// One level of the sweep form: who is in it and which of its nodes send to whom.
struct LevelTensors {
    at::Tensor nodes;
    at::Tensor senders;   ///< positions within the level, one per arc that leaves it
    at::Tensor receivers; ///< nodes
};

struct SweepTensors {
    std::vector<LevelTensors> levels;
    at::Tensor scale; ///< [N, 1, 1]
};

template<class Real>
constexpr at::ScalarType scalarType() {
    return sizeof(Real) == sizeof(float) ? at::kFloat : at::kDouble;
}

at::Tensor indexTensor(const std::vector<std::int64_t>& values, const at::Device& device) {
    return at::tensor(at::ArrayRef<std::int64_t>(values), at::TensorOptions(at::kLong)).to(device);
}

} // namespace

template<class Real>
struct PlacetoGradient<Real>::Impl {
    Impl(const NetLayout& netLayout, at::Device computeDevice) : layout(netLayout), device(computeDevice) {}

    at::Tensor upload(const Real* values, at::IntArrayRef sizes) const {
        return at::from_blob(const_cast<Real*>(values), sizes, at::TensorOptions(scalarType<Real>())) // only read
            .to(device, scalarType<Real>(), false, true);
    }

    /// [rows, N] with 1/scale entries for the listed members of each row.
    at::Tensor matrixOf(const IndexRows& rows, std::size_t n) const {
        std::vector<Real> values(n * n, Real(0));
        for (std::size_t v = 0; v < n; ++v)
            for (const auto u : rows[v])
                values[v * n + u] = static_cast<Real>(aggregationScale(layout.shape.aggregation, rows[v].size()));
        return upload(values.data(), {static_cast<std::int64_t>(n), static_cast<std::int64_t>(n)});
    }

    at::Tensor flagsOf(const IndexRows& rows, std::size_t n, bool scaled) const {
        std::vector<Real> values(n);
        for (std::size_t v = 0; v < n; ++v)
            values[v] = scaled ? static_cast<Real>(aggregationScale(layout.shape.aggregation, rows[v].size()))
                               : static_cast<Real>(rows[v].empty() ? 0 : 1);
        return upload(values.data(), {static_cast<std::int64_t>(n), 1, 1});
    }

    const GraphTensors& tensorsOf(const Topology& topology) {
        const auto found = graphs.find(&topology);
        if (found != graphs.end())
            return found->second;
        const std::size_t n = topology.nodeCount;
        GraphTensors tensors;
        if (layout.shape.variant == NetShape::Variant::Full && layout.shape.messages == NetShape::Messages::Radial) {
            tensors.fromParents = matrixOf(topology.parents, n);
            tensors.fromChildren = matrixOf(topology.children, n);
            tensors.hasParents = flagsOf(topology.parents, n, false);
            tensors.hasChildren = flagsOf(topology.children, n, false);
        }
        if (layout.shape.variant == NetShape::Variant::SimpleAggregator) {
            tensors.pools[0] = at::full({static_cast<std::int64_t>(n), static_cast<std::int64_t>(n)},
                                        aggregationScale(layout.shape.aggregation, n),
                                        at::TensorOptions(scalarType<Real>()).device(device));
        } else {
            tensors.pools = {matrixOf(topology.ancestors, n), matrixOf(topology.descendants, n),
                             matrixOf(topology.parallel, n)};
        }
        return graphs.emplace(&topology, std::move(tensors)).first->second;
    }

    SweepTensors sweepOf(const IndexRows& levels, const IndexRows& receivers, const IndexRows& senders) const {
        SweepTensors sweep;
        for (std::size_t level = 0; level < levels.size(); ++level) {
            std::vector<std::int64_t> nodes;
            std::vector<std::int64_t> from;
            std::vector<std::int64_t> to;
            for (const auto node : levels[level]) {
                for (const auto receiver : receivers[node]) {
                    from.push_back(static_cast<std::int64_t>(nodes.size()));
                    to.push_back(receiver);
                }
                nodes.push_back(node);
            }
            sweep.levels.push_back({indexTensor(nodes, device), indexTensor(from, device), indexTensor(to, device)});
        }
        sweep.scale = flagsOf(senders, senders.size(), true);
        return sweep;
    }

    /// x [.., in] through an affine layer of the flat weights.
    at::Tensor affine(const at::Tensor& x, const Layer& layer) const {
        const auto in = static_cast<std::int64_t>(layer.in);
        const auto out = static_cast<std::int64_t>(layer.out);
        const at::Tensor w = weights.narrow(0, static_cast<std::int64_t>(layer.weight), in * out).view({in, out});
        const at::Tensor b = weights.narrow(0, static_cast<std::int64_t>(layer.bias), out);
        auto sizes = x.sizes().vec();
        sizes.back() = out;
        return at::addmm(b, x.reshape({-1, in}), w).view(sizes);
    }
    at::Tensor twice(const at::Tensor& x, const std::array<Layer, 2>& layers) const {
        return affine(affine(x, layers[0]).relu_(), layers[1]).relu_();
    }

    at::Tensor messages(const at::Tensor& transformed, const at::Tensor& x, const AggregatorLayers& agg,
                        const at::Tensor& matrix, const at::Tensor& flags) const {
        const at::Tensor sent = twice(x, agg.f);
        const at::Tensor sum = at::mm(matrix, sent.view({sent.size(0), -1})).view(sent.sizes());
        return at::addcmul(transformed, flags, twice(sum, agg.g));
    }

    at::Tensor sweep(const at::Tensor& transformed, const AggregatorLayers& agg, const SweepTensors& tensors) const {
        at::Tensor sums = at::zeros_like(transformed);
        std::vector<at::Tensor> parts;
        std::vector<at::Tensor> nodes;
        for (std::size_t i = 0; i < tensors.levels.size(); ++i) {
            const auto& level = tensors.levels[i];
            at::Tensor x = transformed.index_select(0, level.nodes);
            if (i > 0)
                x = x + twice(sums.index_select(0, level.nodes) * tensors.scale.index_select(0, level.nodes), agg.g);
            if (level.senders.size(0) > 0)
                sums = sums.index_add(0, level.receivers, twice(x, agg.f).index_select(0, level.senders));
            parts.push_back(x);
            nodes.push_back(level.nodes);
        }
        return at::cat(parts, 0).index_select(0, at::argsort(at::cat(nodes, 0)));
    }

    /// H of every node and step, [N, S, embedding].
    at::Tensor embed(const at::Tensor& features, const Topology& topology) {
        if (layout.shape.variant != NetShape::Variant::Full)
            return features;
        const at::Tensor transformed = affine(
            affine(affine(features, layout.transform[0]).relu_(), layout.transform[1]).relu_(), layout.transform[2]);
        if (layout.shape.messages == NetShape::Messages::Sweep) {
            const auto forward = sweepOf(topology.forwardLevels, topology.children, topology.parents);
            const auto backward = sweepOf(topology.backwardLevels, topology.parents, topology.children);
            return at::cat({sweep(transformed, layout.forward, forward), sweep(transformed, layout.backward, backward)}, 2);
        }
        const auto& graph = tensorsOf(topology);
        at::Tensor up = transformed;
        at::Tensor down = transformed;
        for (std::size_t round = 0; round < layout.shape.rounds; ++round) {
            up = messages(transformed, up, layout.forward, graph.fromParents, graph.hasParents);
            down = messages(transformed, down, layout.backward, graph.fromChildren, graph.hasChildren);
        }
        return at::cat({up, down}, 2);
    }

    /// Logits of every step, [S, D].
    at::Tensor network(const Topology& topology, const StepBatch<Real>& batch) {
        const auto n = static_cast<std::int64_t>(topology.nodeCount);
        const auto s = static_cast<std::int64_t>(batch.steps);
        const at::Tensor features =
            upload(batch.features.data(), {n, s, static_cast<std::int64_t>(layout.shape.featureCount())});
        const at::Tensor h = embed(features, topology);
        const at::Tensor nodes = indexTensor({batch.nodes.begin(), batch.nodes.end()}, device);
        const auto& graph = tensorsOf(topology);
        const bool single = layout.shape.variant == NetShape::Variant::SimpleAggregator;
        std::vector<at::Tensor> parts;
        for (std::size_t i = 0; i < (single ? 1U : 3U); ++i) {
            const at::Tensor sent = twice(h, layout.pools[i].f);
            const at::Tensor mask = graph.pools[i].index_select(0, nodes).t().unsqueeze(2); // [N, S, 1]
            parts.push_back(twice((sent * mask).sum(0), layout.pools[i].g));
        }
        if (!single)
            parts.push_back(h.gather(0, nodes.view({1, s, 1}).expand({1, s, h.size(2)})).squeeze(0));
        const at::Tensor z = at::cat(parts, 1);
        return affine(affine(affine(z, layout.head[0]).relu_(), layout.head[1]).relu_(), layout.head[2]);
    }

    at::Tensor loss(const at::Tensor& logits, const StepBatch<Real>& batch, double entropyWeight) const {
        const auto s = static_cast<std::int64_t>(batch.steps);
        std::vector<Real> forbidden(batch.allowed.size());
        for (std::size_t i = 0; i < forbidden.size(); ++i)
            forbidden[i] = batch.allowed[i] != 0 ? Real(0) : Real(-1e30); // why not infinity: 0 * inf in the gradient
        const at::Tensor masked = logits + upload(forbidden.data(), logits.sizes());
        const at::Tensor logProbability = masked.log_softmax(1);
        const at::Tensor probability = logProbability.exp();
        const at::Tensor entropy = -(probability * (probability + kEntropyEpsilon).log()).sum();
        const at::Tensor actions = indexTensor({batch.actions.begin(), batch.actions.end()}, device).view({s, 1});
        const at::Tensor advantages = upload(batch.advantages.data(), {s});
        return -(advantages * logProbability.gather(1, actions).squeeze(1)).sum() - entropyWeight * entropy;
    }

    const NetLayout& layout;
    at::Device device;
    std::map<const Topology*, GraphTensors> graphs;
    at::Tensor weights;
};

template<class Real>
Result<PlacetoGradient<Real>> PlacetoGradient<Real>::create(const NetLayout& layout, const std::string& device) {
    PW_CHECK(checkComputeDevice(device));
    useOneThread();
    return guarded([&]() -> Result<PlacetoGradient<Real>> {
        return PlacetoGradient(std::make_unique<Impl>(layout, at::Device(device)));
    });
}

template<class Real>
PlacetoGradient<Real>::PlacetoGradient(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
template<class Real>
PlacetoGradient<Real>::~PlacetoGradient() = default;
template<class Real>
PlacetoGradient<Real>::PlacetoGradient(PlacetoGradient&&) noexcept = default;

template<class Real>
Result<double> PlacetoGradient<Real>::addGradient(std::span<const Real> weights, const Topology& topology,
                                                  const StepBatch<Real>& batch, double entropyWeight,
                                                  std::span<Real> gradient) {
    return guarded([&]() -> Result<double> {
        const auto size = static_cast<std::int64_t>(weights.size());
        m_impl->weights = m_impl->upload(weights.data(), {size}).requires_grad_(true);
        const at::Tensor loss = m_impl->loss(m_impl->network(topology, batch), batch, entropyWeight);
        loss.backward();
        const at::Tensor result = m_impl->weights.grad().to(at::kCPU).contiguous();
        const Real* values = result.data_ptr<Real>();
        for (std::size_t i = 0; i < gradient.size(); ++i)
            gradient[i] += values[i];
        return loss.item().toDouble();
    });
}

template<class Real>
Result<std::vector<Real>> PlacetoGradient<Real>::logits(std::span<const Real> weights, const Topology& topology,
                                                        const StepBatch<Real>& batch) {
    return guarded([&]() -> Result<std::vector<Real>> {
        m_impl->weights = m_impl->upload(weights.data(), {static_cast<std::int64_t>(weights.size())});
        const at::Tensor result = m_impl->network(topology, batch).to(at::kCPU).contiguous();
        const Real* values = result.data_ptr<Real>();
        return std::vector<Real>(values, values + result.numel());
    });
}

template class PlacetoGradient<float>;
template class PlacetoGradient<double>;

} // namespace pw::learn
