// Prints the size of every workload and how long its emission takes, median of five: bench_zoo [spec...]

#include "core/base/clock.h"
#include "core/graph/graph_stats.h"
#include "core/zoo/zoo.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

using namespace pw;

namespace {

void measure(const std::string& spec) {
    std::array<double, 5> seconds{};
    GraphPtr graph;
    for (double& value : seconds) {
        graph.reset();
        const Stopwatch watch;
        auto made = zoo::makeFromSpec(spec);
        value = watch.seconds();
        if (!made) {
            std::fprintf(stderr, "%s\n", made.error().toString().c_str());
            return;
        }
        graph = *made;
    }
    std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
    double forward = 0.0;
    double backward = 0.0;
    for (const Op& op : graph->ops()) {
        forward += op.phase == Phase::Forward ? op.flops : 0.0;
        backward += op.phase == Phase::Backward ? op.flops : 0.0;
    }
    const double parameters = static_cast<double>(computeStats(*graph).parameterBytes) / 4.0;
    std::printf("%-44s %7zu ops  %7.1f M params  %8.3f TFLOP forward  %8.3f backward  %7.3f s  %5.0f ns/op\n",
                spec.c_str(), graph->opCount(), parameters / 1e6, forward / 1e12, backward / 1e12, seconds[2],
                seconds[2] * 1e9 / static_cast<double>(graph->opCount()));
}

} // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        measure(argv[i]);
    if (argc > 1)
        return 0;
    for (const zoo::WorkloadInfo& info : zoo::workloads())
        measure("zoo:" + info.name);
    for (const char* spec : {"zoo:rnnlm?layers=8", "zoo:gnmt?layers=4", "zoo:gnmt?layers=8",
                             "zoo:gnmt?layers=8&level=L0", "zoo:gnmt?layers=8&level=L2"})
        measure(spec);
    return 0;
}
