#include "tests/support/random_problem.h"

#include "core/graph/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pw::test {

namespace {

template<class T>
T pick(Rng& rng, std::initializer_list<T> values) {
    return values.begin()[rng.below(values.size())];
}

bool chance(Rng& rng, double probability) {
    return rng.uniform() < probability;
}

void connect(Rng& rng, GraphBuilder& builder, OpId from, OpId to) {
    if (chance(rng, 0.2) || builder.outputCount(from) == 0) {
        builder.addControl(from, to);
        return;
    }
    const TensorId tensor = builder.output(from, rng.below(builder.outputCount(from)));
    builder.addInput(to, tensor);
    if (chance(rng, 0.1))
        builder.addInput(to, tensor);
    if (chance(rng, 0.2))
        builder.addInput(to, builder.output(from, rng.below(builder.outputCount(from))));
}

} // namespace

GraphPtr randomGraph(Rng& rng, std::size_t maxOps) {
    GraphBuilder builder("random", "test");
    const std::size_t n = 1 + rng.below(maxOps);
    for (std::size_t i = 0; i < n; ++i) {
        Op op;
        op.name = "op" + std::to_string(rng.below(1000)); // why: name order differs from graph order
        op.type = "Op";
        const auto cost = [&] { return chance(rng, 0.25) ? 0.0 : static_cast<double>(1 + rng.below(12)); };
        op.costs = chance(rng, 0.5) ? std::vector<MeasuredCost>{{"", cost()}}
                                    : std::vector<MeasuredCost>{{"gpu", cost()}, {"cpu", cost()}};
        op.paramBytes = pick<std::int64_t>(rng, {0, 0, 500, 4000});
        op.stateBytes = pick<std::int64_t>(rng, {0, 0, 1000});
        op.workspaceBytes = pick<std::int64_t>(rng, {0, 0, 300, 2500});
        const OpId id = builder.addOp(std::move(op));
        for (std::size_t k = rng.below(4); k > 0; --k) {
            Tensor tensor;
            tensor.bytes = pick<std::int64_t>(rng, {0, 100, 200, 400, 1000, 3000});
            builder.addOutput(id, std::move(tensor));
        }
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (chance(rng, 0.5)) {
        for (std::size_t i = n; i > 1; --i)
            std::swap(order[i - 1], order[rng.below(i)]);
    }
    const double density = pick(rng, {0.1, 0.25, 0.5});
    for (std::size_t j = 1; j < n; ++j) {
        for (std::size_t i = j > 5 ? j - 5 : 0; i < j; ++i) {
            if (chance(rng, density))
                connect(rng, builder, OpId(order[i]), OpId(order[j]));
        }
    }
    return std::move(builder).build().value();
}

DeviceSet randomDevices(Rng& rng, std::size_t maxDevices, bool sparse, bool capacities) {
    std::vector<Device> devices;
    const std::size_t count = 1 + rng.below(maxDevices);
    for (std::size_t i = 0; i < count; ++i) {
        Device device;
        device.kind = chance(rng, 0.3) ? "cpu" : "gpu";
        device.name = device.kind + ":" + std::to_string(i);
        device.flopsPerUs = 1.0e6;
        device.bytesPerUs = 1.0e5;
        device.launchUs = pick(rng, {0.0, 1.0, 2.0});
        device.memoryBytes = capacities ? pick<std::int64_t>(rng, {0, 2000, 6000, 20000}) : 0;
        devices.push_back(std::move(device));
    }
    std::vector<Link> links;
    for (std::size_t from = 0; from < count; ++from) {
        for (std::size_t to = 0; to < count; ++to) {
            if (from == to || (sparse && chance(rng, 0.3)))
                continue;
            Link link{DeviceId(from), DeviceId(to), pick(rng, {100.0, 200.0, 1000.0}), pick(rng, {0.0, 1.0, 5.0}), ""};
            if (chance(rng, 0.25))
                link.shared = pick<const char*>(rng, {"bus", "switch"});
            links.push_back(std::move(link));
        }
    }
    return DeviceSet::create("random", std::move(devices), std::move(links)).value();
}

DeviceSet equalDevices(std::size_t count, double launchUs, double latencyUs, double bytesPerUs) {
    std::vector<Device> devices;
    std::vector<Link> links;
    for (std::size_t i = 0; i < count; ++i) {
        devices.push_back({"gpu:" + std::to_string(i), "gpu", "test", 0, 4.37e6, 240000.0, launchUs});
        for (std::size_t j = 0; j < count; ++j) {
            if (i != j)
                links.push_back({DeviceId(i), DeviceId(j), bytesPerUs, latencyUs, ""});
        }
    }
    return DeviceSet::create("equal", std::move(devices), std::move(links)).value();
}

std::vector<DeviceId> randomPlacement(Rng& rng, std::size_t ops, std::size_t devices) {
    std::vector<DeviceId> placement(ops);
    for (DeviceId& device : placement)
        device = DeviceId(rng.below(devices));
    return placement;
}

GraphPtr layeredGraph(std::size_t ops, std::size_t width, std::uint64_t seed) {
    Rng rng = Rng::derive(seed, "layered");
    GraphBuilder builder("layered", "test");
    for (std::size_t i = 0; i < ops; ++i) {
        Op op;
        op.name = "n" + std::to_string(i);
        op.type = "Op";
        op.costs = {{"", 10.0 + std::floor(300.0 * rng.uniform() * rng.uniform())}};
        const OpId id = builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = 4000 + static_cast<std::int64_t>(rng.below(1000000));
        builder.addOutput(id, std::move(tensor));
        const std::size_t layer = i / width;
        for (std::size_t k = layer == 0 ? 0 : 1 + rng.below(3); k > 0; --k)
            builder.addInput(id, builder.output(OpId((layer - 1) * width + rng.below(width)), 0));
    }
    return std::move(builder).build().value();
}

} // namespace pw::test
