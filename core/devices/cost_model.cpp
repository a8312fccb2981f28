#include "core/devices/cost_model.h"

#include "core/base/text.h"
#include "core/devices/op_rules.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace pw {

namespace {

constexpr std::size_t kMaxBodyDepth = 64; ///< deeper bodies count nothing: a file must not exhaust the stack
constexpr double kMaxCostUs = 1e15;       ///< 30 years: sums over a graph stay finite whatever a file says

double measuredUs(const Op& op, std::string_view kind) {
    double us = -1.0;
    for (const MeasuredCost& cost : op.costs) {
        if (cost.kind == kind)
            return cost.us;
        if (cost.kind.empty())
            us = cost.us;
    }
    return us;
}

double rooflineUs(const OpWork& work, const Device& device, Efficiency efficiency) {
    // A rate of 0 says nothing about the device: that bound does not apply.
    const double compute = device.flopsPerUs > 0.0 ? work.flops / (efficiency.compute * device.flopsPerUs) : 0.0;
    const double memory = device.bytesPerUs > 0.0 ? work.bytesMoved / (efficiency.bandwidth * device.bytesPerUs) : 0.0;
    return std::max(compute, memory);
}

bool isBranch(const Op& op) {
    const std::string type = text::toLower(op.type);
    return type.size() >= 2 && (type.compare(type.size() - 2, 2, "if") == 0 || type == "case" || type == "statelesscase");
}

/// Costs of one graph and of the bodies in it. Bodies may be shared (TensorFlow functions), so that each is costed once.
class Coster {
public:
    explicit Coster(const DeviceSet& devices) : m_devices(devices) {}

    CostTable table(const OpGraph& graph, std::size_t depth) {
        CostTable costs;
        costs.deviceCount = m_devices.count();
        costs.costUs.resize(graph.opCount() * costs.deviceCount);
        costs.source.resize(graph.opCount());
        for (std::size_t i = 0; i < graph.opCount(); ++i)
            costs.source[i] = costOp(graph, OpId(i), depth, std::span(costs.costUs).subspan(i * costs.deviceCount,
                                                                                            costs.deviceCount));
        return costs;
    }

private:
    CostSource costOp(const OpGraph& graph, OpId id, std::size_t depth, std::span<double> us) {
        const CostSource source = costUnbounded(graph, id, depth, us);
        for (double& cost : us)
            cost = std::min(cost, kMaxCostUs);
        return source;
    }

    CostSource costUnbounded(const OpGraph& graph, OpId id, std::size_t depth, std::span<double> us) {
        const Op& op = graph.op(id);
        bool isMeasured = !op.costs.empty();
        for (std::size_t d = 0; d < us.size() && isMeasured; ++d) {
            us[d] = measuredUs(op, m_devices.device(DeviceId(d)).kind);
            isMeasured = us[d] >= 0.0;
        }
        if (isMeasured)
            return CostSource::Measured;
        if (!op.bodies.empty()) {
            const CostSource source = costContainer(op, depth, us);
            overrideMeasured(op, us);
            return op.costs.empty() ? source : CostSource::Measured;
        }
        const OpWork work = opWork(graph, id);
        for (std::size_t d = 0; d < us.size(); ++d) {
            const Device& device = m_devices.device(DeviceId(d));
            us[d] = rooflineUs(work, device, efficiencyFor(op.type, device.kind));
        }
        const bool used = overrideMeasured(op, us);
        return used ? CostSource::Measured : work.known ? CostSource::Formula : CostSource::Default;
    }

    /// Some kinds measured, others not. True if one applied.
    bool overrideMeasured(const Op& op, std::span<double> us) const {
        bool used = false;
        for (std::size_t d = 0; d < us.size() && !op.costs.empty(); ++d) {
            const double measured = measuredUs(op, m_devices.device(DeviceId(d)).kind);
            if (measured >= 0.0) {
                us[d] = measured;
                used = true;
            }
        }
        return used;
    }

    CostSource costContainer(const Op& op, std::size_t depth, std::span<double> us) {
        std::fill(us.begin(), us.end(), 0.0);
        if (depth >= kMaxBodyDepth)
            return CostSource::Default;
        const bool branch = isBranch(op);
        const double trips = op.tripCount >= 0.0 ? std::min(op.tripCount, kMaxCostUs) : 1.0;
        for (const Body& body : op.bodies) {
            const std::vector<double>& inside = bodyCost(*body.graph, depth + 1);
            for (std::size_t d = 0; d < us.size(); ++d)
                us[d] = branch ? std::max(us[d], inside[d]) : us[d] + inside[d] * trips;
        }
        return CostSource::Formula;
    }

    const std::vector<double>& bodyCost(const OpGraph& body, std::size_t depth) {
        if (const auto found = m_bodies.find(&body); found != m_bodies.end())
            return found->second;
        const CostTable costs = table(body, depth);
        std::vector<double> sum(m_devices.count(), 0.0);
        for (std::size_t i = 0; i < costs.costUs.size(); ++i)
            sum[i % costs.deviceCount] += costs.costUs[i];
        return m_bodies.emplace(&body, std::move(sum)).first->second;
    }

    const DeviceSet& m_devices;
    std::unordered_map<const OpGraph*, std::vector<double>> m_bodies;
};

} // namespace

Efficiency efficiencyFor(std::string_view opType, std::string_view deviceKind) {
    // GPU: starting values, chosen: 0.55 of peak for large products and convolutions,
    // 0.75 of bandwidth for elementwise ops. The others are chosen here: a host core streams less of its bandwidth but
    // gets closer to its peak in products; depthwise convolutions have little reuse.
    const bool isCpu = deviceKind == "cpu";
    switch (devices::classOf(devices::ruleFor(opType).rule)) {
    case devices::OpClass::Dense: return isCpu ? Efficiency{0.7, 0.6} : Efficiency{0.55, 0.75};
    case devices::OpClass::Depthwise: return isCpu ? Efficiency{0.4, 0.6} : Efficiency{0.25, 0.75};
    case devices::OpClass::Bandwidth: break;
    }
    return isCpu ? Efficiency{0.3, 0.6} : Efficiency{0.5, 0.75};
}

std::vector<double> CostTable::fastestUs() const {
    std::vector<double> fastest;
    if (deviceCount == 0)
        return fastest;
    fastest.reserve(source.size());
    for (auto row = costUs.begin(); row != costUs.end(); row += static_cast<std::ptrdiff_t>(deviceCount))
        fastest.push_back(*std::min_element(row, row + static_cast<std::ptrdiff_t>(deviceCount)));
    return fastest;
}

double totalFlops(const OpGraph& graph) {
    double total = 0.0;
    for (std::size_t i = 0; i < graph.opCount(); ++i)
        total += opWork(graph, OpId(i)).flops;
    return total;
}

bool isParameterHolder(const Op& op) {
    return op.paramBytes > 0 && devices::ruleFor(op.type).rule == devices::WorkRule::Metadata;
}

CostTable computeCosts(const OpGraph& graph, const DeviceSet& devices) {
    return Coster(devices).table(graph, 0);
}

} // namespace pw
