// Prints how long it takes to emit, cost and group large graphs: bench_grouping [spec...]

#include "core/base/clock.h"
#include "core/devices/cost_model.h"
#include "core/graph/grouping.h"
#include "core/zoo/zoo.h"

#include <cstdio>
#include <string>
#include <vector>

using namespace pw;

namespace {

void measure(const std::string& spec, std::size_t target) {
    Stopwatch watch;
    const auto graph = zoo::makeFromSpec(spec);
    if (!graph) {
        std::fprintf(stderr, "%s\n", graph.error().toString().c_str());
        return;
    }
    const double emitSeconds = watch.seconds();
    const auto devices = devicePreset("2xP100");
    watch.restart();
    const CostTable costs = computeCosts(**graph, *devices);
    const double costSeconds = watch.seconds();
    std::vector<double> opCostUs;
    for (std::size_t i = 0; i < (*graph)->opCount(); ++i)
        opCostUs.push_back(costs.at(OpId(i), DeviceId(0)));
    GroupingOptions options;
    options.targetGroups = target;
    watch.restart();
    const auto grouping = makeGrouping(**graph, opCostUs, options);
    std::printf("%-34s %7zu ops  emit %7.1f ms  cost %6.1f ms  %4zu groups %7.1f ms\n", spec.c_str(),
                (*graph)->opCount(), emitSeconds * 1e3, costSeconds * 1e3, grouping ? grouping->groupCount() : 0,
                watch.seconds() * 1e3);
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        for (int i = 1; i < argc; ++i)
            measure(argv[i], 200);
        return 0;
    }
    measure("zoo:inception_v3", 128);
    measure("zoo:rnnlm", 128);
    measure("zoo:rnnlm?layers=20", 200);
    measure("zoo:layered?n=1000&width=50", 200);
    measure("zoo:chain?n=50000", 200);
    measure("zoo:crown?n=200&width=250", 200);
    return 0;
}
