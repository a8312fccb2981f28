#include "app/cli/numbers.h"
#include "app/cli/run_support.h"

#include "core/base/clock.h"
#include "core/learn/learn_loader.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <limits>

namespace pw::cli {

namespace {

struct InferOptions {
    GraphInput graph;
    ProblemInput problem;
    std::string policy;
    std::string device = "cpu";
    std::uint64_t seed = 1;
    double polishSeconds = 0.0;
    std::string output;
};

/// A policy by file, or by run when a project is given.
Result<learn::Bytes> loadPolicy(const std::string& name, const RepositoryPtr& repository) {
    if (name == "bundled")
        return fail(ErrorCode::NotFound, "no policy is bundled with this version; train one, or name a run or a file", "--policy");
    const auto kind = formats::sniff(name);
    if (kind && *kind == formats::FileKind::Policy) {
        PW_TRY(const std::string content, formats::readFile(name, std::int64_t{1} << 30));
        return learn::Bytes(content.begin(), content.end());
    }
    if (!repository) {
        if (kind)
            return fail(ErrorCode::Parse, "not a policy file", "", name);
        return fail(ErrorCode::NotFound, "no such policy file; to use a run's policy give --project", "--policy", name);
    }
    PW_TRY(const RunRecord run, findRun(*repository, name));
    return repository->policy(run.id);
}

/// Local search from the zero-shot placement; the better of the two is kept.
Result<PlaceResult> polish(const Cli& cli, const ProblemPtr& problem, PlaceResult zeroShot, double seconds, std::uint64_t seed) {
    PW_TRY(const Placer* search, findPlacer(cli, "local_search"));
    PlaceOptions options;
    options.seed = seed;
    options.maxSeconds = seconds;
    options.maxEvaluations = std::numeric_limits<std::int64_t>::max() / 2;
    options.start = zeroShot.groups;
    JobContext context = cli.jobContext();
    PW_TRY(PlaceResult polished, search->place(problem, options, context, {}));
    polished.evaluations += zeroShot.evaluations;
    polished.seconds += zeroShot.seconds;
    polished.confidence = zeroShot.confidence;
    return polished;
}

Result<int> runInfer(const Cli& cli, const InferOptions& options) {
    PW_TRY(const RepositoryPtr repository, cli.repository());
    learn::InferSpec spec;
    spec.seed = options.seed;
    spec.device = options.device;
    PW_TRY(spec.policy, loadPolicy(options.policy, repository));
    PW_TRY(const GraphPtr graph, options.graph.open(cli));
    PW_TRY(spec.problem, options.problem.compile(graph, options.graph.spec));
    PW_TRY(const learn::Library* library, learn::load());
    PW_TRY(const learn::PolicyInfo info, library->inspect(spec.policy));
    JobContext context = cli.jobContext();
    const Stopwatch watch;
    PW_TRY(PlaceResult result, library->infer(spec, context));
    const double inferenceSeconds = watch.seconds();
    const double zeroShotUs = result.evaluation.stepTimeUs;
    if (options.polishSeconds > 0.0) {
        PW_TRY(result, polish(cli, spec.problem, std::move(result), options.polishSeconds, options.seed));
    }
    Json json = placeResultJson(*spec.problem, info.method, result);
    json["inference_seconds"] = inferenceSeconds;
    json["zero_shot_step_time_us"] = zeroShotUs;
    json["confidence"] = result.confidence;
    PW_CHECK(addPlacementOutput(cli, json, *spec.problem, info.method, options.seed, result, options.output));
    if (cli.json) {
        printJson(json);
    } else {
        printPlaceResult(*spec.problem, info.method, result);
        std::printf("inference    %.3f s, confidence %.3f\n", inferenceSeconds, result.confidence);
        if (options.polishSeconds > 0.0)
            std::printf("zero-shot    %.1f ms before the polish\n", zeroShotUs / 1e3);
    }
    return result.evaluation.valid ? kDone : kHonestNo;
}

} // namespace

void addInferCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<InferOptions>();
    CLI::App* command = app.add_subcommand("infer", "Place a graph with a trained policy, without training (zero-shot)");
    options->graph.addTo(command);
    options->problem.addTo(command, true);
    command->add_option("--policy", options->policy, "a run of --project (number, name, 'last'), a .policy file, or 'bundled'")
        ->required();
    command->add_option("--device", options->device, "where the network runs: cpu or cuda:N")->capture_default_str();
    command->add_option("--seed", options->seed, "random seed of the sampled sweeps")->capture_default_str();
    command->add_option("--polish", options->polishSeconds, "then this many seconds of local search from the result")
        ->check(nonNegative());
    command->add_option("-o,--output", options->output, "write the placement (.placement.json, .csv, .tf.csv, .device_map.json, .ort.json)");
    setBody(command, cli, [&cli, options] { return runInfer(cli, *options); });
    setExample(command, "infer zoo:inception_v3?batch=32 -d 2xK80 --policy last --project work.placewright",
               "  method       placeto\n"
               "  step time    514.8 ms (simulated, links model)\n"
               "  lower bound  284.3 ms\n"
               "  groups       128 of 2273 ops\n"
               "  evaluations  404 in 0.137 s\n"
               "  peak memory  gpu:0  2.5 GB of 12.0 GB\n"
               "  peak memory  gpu:1  1.2 GB of 12.0 GB\n"
               "  inference    0.137 s, confidence 0.760");
}

} // namespace pw::cli
