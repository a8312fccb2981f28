/// How fast a placement is evaluated (step time and peaks), on one core: layered graphs, random placements, both models.
/// Prints the median over rounds of ops simulated per second and ns per op, in CPU time of the thread, so that other
/// programs on the machine disturb little.
///
/// usage: bench_simulator [seconds per row, default 0.3]

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/graph/graph_builder.h"
#include "core/sim/simulator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace pw;

/// `ops` ops in layers of 32 to 64, one to three inputs each from the layer before.
GraphPtr layered(std::size_t ops) {
    const std::size_t width = ops >= 10000 ? 64 : 32;
    Rng rng(ops);
    GraphBuilder builder("layered", "bench");
    for (std::size_t i = 0; i < ops; ++i) {
        Op op;
        op.name = "n" + std::to_string(i);
        op.costs = {{"", 10.0 + static_cast<double>(rng.below(300))}};
        const OpId id = builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = 4000 + static_cast<std::int64_t>(rng.below(400000));
        builder.addOutput(id, std::move(tensor));
        const std::size_t layer = i / width;
        for (std::size_t k = layer == 0 ? 0 : 1 + rng.below(3); k > 0; --k)
            builder.addInput(id, builder.output(OpId((layer - 1) * width + rng.below(width)), 0));
    }
    return std::move(builder).build().value();
}

DeviceSet equalDevices(std::size_t count) {
    std::vector<Device> devices;
    std::vector<Link> links;
    for (std::size_t i = 0; i < count; ++i) {
        devices.push_back({"gpu:" + std::to_string(i), "gpu", "bench", 12'000'000'000, 4.37e6, 240000.0, 5.7});
        for (std::size_t j = 0; j < count; ++j) {
            if (i != j)
                links.push_back({DeviceId(i), DeviceId(j), 7600.0, 25.0, ""});
        }
    }
    return DeviceSet::create("bench", std::move(devices), std::move(links)).value();
}

double threadSeconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Median ns per op of repeated evaluations of a few random placements.
double measure(const ProblemPtr& problem, double seconds) {
    Simulator simulator(problem);
    Rng rng(1);
    std::vector<OpPlacement> placements(4, OpPlacement(problem->opCount()));
    for (OpPlacement& placement : placements) {
        for (DeviceId& device : placement)
            device = DeviceId(rng.below(problem->deviceCount()));
        simulator.evaluate(placement);
    }
    std::vector<double> nsPerOp;
    double checksum = 0.0;
    const Stopwatch total;
    while (total.seconds() < seconds || nsPerOp.size() < 5) {
        const double before = threadSeconds();
        for (const OpPlacement& placement : placements)
            checksum += simulator.evaluate(placement).stepTimeUs;
        nsPerOp.push_back((threadSeconds() - before) * 1e9 / static_cast<double>(placements.size() * problem->opCount()));
    }
    if (checksum <= 0.0)
        std::puts("no time passed in the simulation");
    std::nth_element(nsPerOp.begin(), nsPerOp.begin() + static_cast<std::ptrdiff_t>(nsPerOp.size() / 2), nsPerOp.end());
    return nsPerOp[nsPerOp.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 0.3;
    std::printf("%-10s %8s %8s %14s %9s\n", "model", "ops", "devices", "Mops/s", "ns/op");
    for (const SimModel model : {SimModel::Links, SimModel::Reference}) {
        for (const std::size_t ops : {std::size_t{1000}, std::size_t{10000}, std::size_t{50000}}) {
            const GraphPtr graph = layered(ops);
            for (const std::size_t devices : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
                const Grouping grouping = trivialGrouping(*graph);
                const auto problem = PlacementProblem::compile(graph, equalDevices(devices), grouping, {model, 0.0});
                if (!problem) {
                    std::fprintf(stderr, "%s\n", problem.error().toString().c_str());
                    return 1;
                }
                const double ns = measure(*problem, seconds);
                std::printf("%-10s %8zu %8zu %14.2f %9.1f\n", simModelName(model), ops, devices, 1e3 / ns, ns);
            }
        }
    }
    return 0;
}
