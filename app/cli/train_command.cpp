#include "app/cli/numbers.h"
#include "app/cli/run_support.h"

#include "core/base/text.h"
#include "core/experiment/run_driver.h"
#include "core/learn/learn_loader.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace pw::cli {

namespace {

struct TrainOptions {
    std::string method;
    std::vector<std::string> graphs;
    GraphInput graph; ///< options of all of them
    std::string family;
    ProblemInput problem;
    std::int64_t episodes = 0;
    double budgetSeconds = 0.0;
    std::uint64_t seed = 1;
    std::string device = "cpu";
    std::string resume;
    std::vector<std::string> settings;
};

struct Prepared {
    RunSpec spec;
    std::vector<ProblemPtr> problems;
    RowId resumeRun = 0;
};

Result<Prepared> prepareNew(const Cli& cli, const TrainOptions& options) {
    if (options.graphs.empty())
        return fail(ErrorCode::Invalid, "name at least one graph", "--graphs");
    if (options.problem.devices.empty())
        return fail(ErrorCode::Invalid, "name a device set", "--devices");
    Prepared prepared;
    for (const std::string& name : options.graphs) {
        PW_TRY(const GraphPtr graph, options.graph.with(name).open(cli));
        PW_TRY(ProblemPtr problem, options.problem.compile(graph, name));
        prepared.problems.push_back(std::move(problem));
    }
    PlaceOptions place;
    place.seed = options.seed;
    place.maxSeconds = options.budgetSeconds;
    PW_TRY(place.parameters, parseSettings(options.settings));
    RunSpec& spec = prepared.spec;
    spec = placementSpec(*prepared.problems.front(), options.method, place);
    spec.kind = "train";
    spec.maxEpisodes = options.episodes;
    spec.device = options.device;
    spec.graphHashes.clear();
    for (const ProblemPtr& problem : prepared.problems)
        spec.graphHashes.push_back(problem->graph().hash());
    return prepared;
}

/// Takes everything from the run; --episodes and --budget-seconds may set new limits.
Result<Prepared> prepareResume(const TrainOptions& options, const RunRepository& repository) {
    PW_TRY(const RunRecord run, findRun(repository, options.resume));
    if (run.spec.kind != "train")
        return fail(ErrorCode::Invalid, "run " + std::to_string(run.id) + " is not a training run", "--resume");
    Prepared prepared;
    prepared.spec = run.spec;
    prepared.resumeRun = run.id;
    if (options.episodes > 0 || options.budgetSeconds > 0.0) {
        prepared.spec.maxEpisodes = options.episodes;
        prepared.spec.maxSeconds = options.budgetSeconds;
    }
    PW_TRY(prepared.problems, loadProblems(run.spec, repository));
    return prepared;
}

Result<int> runTrain(const Cli& cli, const TrainOptions& options) {
    if (options.method != "placeto")
        return fail(ErrorCode::Invalid, "no trainable method '" + options.method + "'; there is: placeto", "METHOD");
    if (!options.family.empty())
        return fail(ErrorCode::Unsupported, "the zoo has no family '" + options.family + "'; name graphs with --graphs", "--family");
    if (options.resume.empty() && options.episodes == 0 && options.budgetSeconds == 0.0)
        return fail(ErrorCode::Invalid, "give a budget: --episodes N or --budget-seconds S");
    if (cli.project.empty())
        return fail(ErrorCode::Invalid, "training needs --project FILE (made if new) to keep the run and its policy");
    PW_TRY(const RepositoryPtr repository, cli.repository());
    PW_TRY(const Prepared prepared,
           options.resume.empty() ? prepareNew(cli, options) : prepareResume(options, *repository));
    PW_TRY(const learn::Library* library, learn::load());
    JobContext context = cli.jobContext();
    PW_TRY(const RunOutcome outcome, runTraining(prepared.spec, prepared.problems, *library, repository,
                                                 prepared.resumeRun, nullptr, context));
    const PlaceResult& best = outcome.results.front();
    if (cli.json) {
        printJson({{"run", outcome.run},
                   {"status", runStatusName(outcome.status)},
                   {"episodes", outcome.episodes},
                   {"evaluations", best.evaluations},
                   {"best_step_time_us", best.evaluation.stepTimeUs},
                   {"valid", best.evaluation.valid},
                   {"policy", std::to_string(outcome.run)}});
    } else {
        std::cout << "run " << outcome.run << " " << runStatusName(outcome.status) << ": " << outcome.episodes
                  << " episodes, best step time " << text::duration(best.evaluation.stepTimeUs) << " (simulated)\n"
                  << "use its policy: placewright-cli infer GRAPH --policy " << outcome.run << " --project "
                  << cli.project << " -d DEVICES\n";
    }
    return best.evaluation.valid ? kDone : kHonestNo;
}

} // namespace

void addTrainCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<TrainOptions>();
    CLI::App* command = app.add_subcommand("train", "Train a placement policy into the project (needs --project)");
    command->add_option("method", options->method, "placeto")->required();
    command->add_option("--graphs,-g", options->graphs, "graphs to train on: files or zoo names");
    command->add_option("--family", options->family, "a family of graphs of the zoo");
    options->graph.addOptionsTo(command);
    options->problem.addTo(command, true);
    command->get_option("--devices")->required(false);
    command->add_option("--episodes", options->episodes, "episodes at most")->check(nonNegative());
    command->add_option("--budget-seconds", options->budgetSeconds, "training time at most")->check(nonNegative());
    command->add_option("--seed", options->seed, "random seed")->capture_default_str();
    command->add_option("--device", options->device, "where the network runs: cpu or cuda:N")->capture_default_str();
    command->add_option("--resume", options->resume, "go on with this run (number, name or 'last') from its last checkpoint");
    command->add_option("--set", options->settings, "parameter of the method, key=value; may be repeated")
        ->allow_extra_args(false);
    setBody(command, cli, [&cli, options] { return runTrain(cli, *options); });
    setExample(command, "train placeto -g zoo:inception_v3 -d 2xK80 --budget-seconds 5 --project work.placewright",
               "  run 1 done: 75 episodes, best step time 1,017.1 ms (simulated)\n"
               "  use its policy: placewright-cli infer GRAPH --policy 1 --project work.placewright -d DEVICES");
}

} // namespace pw::cli
