#include "app/cli/chrome_trace.h"
#include "app/cli/inputs.h"

#include "core/base/clock.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace pw::cli {

namespace {

struct SimulateOptions {
    GraphInput graph;
    ProblemInput problem;
    std::string placement;
    std::string trace;
    int repeat = 0;
};

Json criticalPathJson(const PlacementProblem& problem, const Schedule& schedule) {
    Json path = Json::array();
    for (const PathStep& step : schedule.criticalPath) {
        Json entry;
        if (step.op.isValid()) {
            entry["op"] = problem.graph().op(step.op).name;
        } else {
            const Transfer& transfer = schedule.transfers[step.transfer];
            entry["transfer"] = problem.graph().op(transfer.producer).name + " to " +
                                problem.devices().device(transfer.to).name;
        }
        entry["start_us"] = step.startUs;
        entry["end_us"] = step.endUs;
        path.push_back(std::move(entry));
    }
    return path;
}

/// Evaluates (step time and peaks only) `repeat` times, or until Ctrl-C, and gives simulated ops per second.
double measureOpsPerSecond(const Cli& cli, const ProblemPtr& problem, const OpPlacement& placement, int repeat) {
    Simulator simulator(problem);
    simulator.evaluate(placement); // why: the first call warms caches and allocates
    const Stopwatch watch;
    int done = 0;
    for (; done < repeat && !cli.interrupted(); ++done)
        simulator.evaluate(placement);
    return static_cast<double>(problem->opCount()) * done / watch.seconds();
}

void printSchedule(const PlacementProblem& problem, const Schedule& schedule) {
    std::cout << "step time      " << text::duration(schedule.stepTimeUs) << " (simulated, "
              << simModelName(problem.options().model) << " model)\n"
              << "valid          " << (schedule.valid ? "yes" : "no: " + describeFault(problem, schedule.fault)) << "\n"
              << "lower bound    " << text::duration(lowerBounds(problem).best()) << "\n"
              << "transfers      " << text::bytes(static_cast<double>(schedule.transferBytes)) << " in "
              << text::grouped(static_cast<std::int64_t>(schedule.transfers.size())) << "\n"
              << "critical path  " << schedule.criticalPath.size() << " steps\n";
    Table table({"device", "busy", "share", "peak memory", "capacity"});
    for (std::size_t d = 0; d < problem.deviceCount(); ++d) {
        const Device& device = problem.devices().device(DeviceId(d));
        char share[16];
        std::snprintf(share, sizeof share, "%.1f %%",
                      schedule.stepTimeUs > 0.0 ? 100.0 * schedule.busyUs[d] / schedule.stepTimeUs : 0.0);
        table.add({device.name, text::duration(schedule.busyUs[d]), share,
                   text::bytes(static_cast<double>(schedule.peakBytes[d])),
                   device.memoryBytes > 0 ? text::bytes(static_cast<double>(device.memoryBytes)) : "no limit"});
    }
    table.print();
}

Result<int> runSimulate(const Cli& cli, const SimulateOptions& options) {
    PW_TRY(const GraphPtr graph, options.graph.open(cli));
    ProblemInput input = options.problem;
    PW_TRY(const ProblemPtr problem, input.compile(graph, options.graph.spec));
    PW_TRY(const auto file, openPlacement(options.placement, *graph, options.graph.spec));
    std::vector<Warning> warnings;
    PW_TRY(const OpPlacement placement, applyPlacementFile(file, options.placement, *graph, problem->devices(), warnings));
    reportWarnings(cli, warnings);

    const Schedule schedule = Simulator(problem).schedule(placement);
    if (!options.trace.empty())
        PW_CHECK(formats::writeFileAtomically(options.trace, toChromeTrace(*problem, schedule)));
    Json json;
    json["graph"] = graph->name();
    json["devices"] = problem->devices().name();
    json["model"] = options.problem.model;
    json["step_time_us"] = schedule.stepTimeUs;
    json["valid"] = schedule.valid;
    json["invalid_reason"] = schedule.valid ? Json(nullptr) : Json(describeFault(*problem, schedule.fault));
    json["peak_bytes"] = schedule.peakBytes;
    json["busy_us"] = schedule.busyUs;
    json["transfer_bytes"] = schedule.transferBytes;
    json["transfers"] = schedule.transfers.size();
    json["critical_path"] = criticalPathJson(*problem, schedule);
    json["lower_bound_us"] = lowerBounds(*problem).best();
    if (options.repeat > 0)
        json["ops_per_s"] = measureOpsPerSecond(cli, problem, placement, options.repeat);
    if (cli.json) {
        printJson(json);
    } else {
        printSchedule(*problem, schedule);
        if (options.repeat > 0)
            std::cout << "speed          " << text::grouped(static_cast<std::int64_t>(json["ops_per_s"].get<double>()))
                      << " simulated ops/s (" << options.repeat << " evaluations, one core)\n";
    }
    return schedule.valid ? kDone : kHonestNo;
}

} // namespace

void addSimulateCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<SimulateOptions>();
    CLI::App* command = app.add_subcommand("simulate", "Simulate one step of a placement");
    options->graph.addTo(command);
    options->problem.addTo(command, false);
    command->add_option("--placement,-p", options->placement, "placement file (JSON, CSV op,device, device_map, ...), or 'file': the devices in the graph's own file")->required();
    command->add_option("--trace", options->trace, "write the schedule as Chrome trace JSON (opens in Perfetto)");
    command->add_option("--repeat", options->repeat, "also time this many evaluations (step time and peaks only)")
        ->check(CLI::Range(0, 1000000000));
    setBody(command, cli, [&cli, options] { return runSimulate(cli, *options); });
    setExample(command, "simulate zoo:inception_v3 -d 2xK80 -p metis.placement.json",
               "  step time      1,103.1 ms (simulated, links model)\n"
               "  valid          yes\n"
               "  lower bound    559.9 ms\n"
               "  transfers      198.2 MB in 53\n"
               "  critical path  1736 steps\n"
               "  device      busy   share  peak memory  capacity\n"
               "  gpu:0   547.3 ms  49.6 %       4.1 GB   12.0 GB\n"
               "  gpu:1   572.5 ms  51.9 %       2.6 GB   12.0 GB");
}

} // namespace pw::cli
