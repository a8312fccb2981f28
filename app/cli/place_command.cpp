#include "app/cli/numbers.h"
#include "app/cli/run_support.h"

#include <CLI/CLI.hpp>

namespace pw::cli {

namespace {

struct PlaceCommandOptions {
    GraphInput graph;
    ProblemInput problem;
    std::string method;
    PlaceOptions place;
    std::vector<std::string> settings;
    std::string output;
};

Result<int> runPlace(const Cli& cli, const PlaceCommandOptions& options) {
    PW_TRY(const Placer* placer, findPlacer(cli, options.method));
    PW_TRY(const RepositoryPtr repository, cli.repository());
    PW_TRY(const GraphPtr graph, options.graph.open(cli));
    PW_TRY(const ProblemPtr problem, options.problem.compile(graph, options.graph.spec));
    PlaceOptions place = options.place;
    PW_TRY(place.parameters, parseSettings(options.settings));
    PW_TRY(const PlaceResult result,
           runPlacer(cli, problem, *placer, place, repository));
    Json json = placeResultJson(*problem, options.method, result);
    PW_CHECK(addPlacementOutput(cli, json, *problem, options.method, place.seed, result, options.output));
    if (cli.json)
        printJson(json);
    else
        printPlaceResult(*problem, options.method, result);
    return result.evaluation.valid ? kDone : kHonestNo;
}

} // namespace

void addPlaceCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<PlaceCommandOptions>();
    CLI::App* command = app.add_subcommand("place", "Find a placement with one method");
    options->graph.addTo(command);
    options->problem.addTo(command, true);
    command->add_option("--method,-m", options->method, methodNames(cli))
        ->required();
    command->add_option("--budget-evals", options->place.maxEvaluations, "simulations at most; 0 = the method's own default")
        ->check(nonNegative());
    command->add_option("--budget-seconds", options->place.maxSeconds, "wall time at most; 0 = no limit")
        ->check(nonNegative());
    command->add_option("--seed", options->place.seed, "random seed")->capture_default_str();
    command->add_option("--set", options->settings, "method parameter, key=value; may be repeated")->allow_extra_args(false);
    command->add_option("-o,--output", options->output, "write the placement (.placement.json, .csv, .tf.csv, .device_map.json, .ort.json)");
    setBody(command, cli, [&cli, options] { return runPlace(cli, *options); });
    setExample(command, "place zoo:inception_v3 -d 2xK80 -m metis -o metis.placement.json",
               "  method       metis\n"
               "  step time    1,103.1 ms (simulated, links model)\n"
               "  lower bound  559.9 ms\n"
               "  groups       128 of 2273 ops\n"
               "  evaluations  1 in 0.002 s\n"
               "  peak memory  gpu:0  4.1 GB of 12.0 GB\n"
               "  peak memory  gpu:1  2.6 GB of 12.0 GB");
}

} // namespace pw::cli
