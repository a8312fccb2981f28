#include "app/cli/comparison.h"
#include "app/cli/pictures.h"

#include "core/base/text.h"
#include "core/learn/learn_loader.h"
#include "core/zoo/zoo.h"
#include "storage/project_file.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>

namespace pw::cli {

namespace {

struct DemoOptions {
    std::string folder = "placewright-demo";
    double seconds = 60.0;
};

/// Share of the budget that training gets; the rest is for opening, METIS and the pictures.
constexpr double kTrainingShare = 0.75;

struct Story {
    ProblemPtr problem;
    RepositoryPtr repository;
    std::vector<ComparisonRow> rows;
    PlaceResult metis;
    PlaceResult placeto;
    double singleUs = 0.0;
    std::vector<MetricSample> curve;
};

ComparisonRow rowOf(const PlacementProblem& problem, const std::string& method, const PlaceResult& result) {
    ComparisonRow row{.graph = problem.graph().name(), .method = method};
    row.meanUs = row.minUs = row.maxUs = result.evaluation.stepTimeUs;
    row.evaluations = result.evaluations;
    row.seconds = result.seconds;
    row.valid = result.evaluation.valid;
    return row;
}

Result<PlaceResult> placeWith(const Cli& cli, Story& story, const std::string& method) {
    PW_TRY(const Placer* placer, findPlacer(cli, method));
    PW_TRY(PlaceResult result,
           runPlacer(cli, story.problem, *placer, {}, story.repository));
    story.rows.push_back(rowOf(*story.problem, method, result));
    return result;
}

Status trainPlaceto(const Cli& cli, Story& story, double seconds) {
    PW_TRY(const learn::Library* library, learn::load());
    PlaceOptions options;
    options.maxSeconds = seconds;
    RunSpec spec = placementSpec(*story.problem, "placeto", options);
    spec.kind = "train";
    JobContext context = cli.jobContext();
    PW_TRY(RunOutcome outcome,
           runTraining(spec, {story.problem}, *library, story.repository, 0, nullptr, context));
    story.placeto = std::move(outcome.results.front());
    story.rows.push_back(rowOf(*story.problem, "placeto", story.placeto));
    PW_TRY(story.curve, story.repository->metrics(outcome.run, 0));
    return {};
}

Result<std::vector<std::string>> writeFiles(const Story& story, const std::string& folder) {
    const auto path = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
    const DeviceSet& devices = story.problem->devices();
    std::vector<std::string> files = {story.repository->path()};
    PW_CHECK(renderRewardCurve({{"Placeto", story.curve}},
                               {{"single device", story.singleUs}, {"METIS", story.metis.evaluation.stepTimeUs}},
                               path("reward.png")));
    files.push_back(path("reward.png"));
    const auto draw = [&](const char* name, const std::string& title, const PlaceResult& result) -> Status {
        PictureOptions picture;
        picture.title = title + ", " + text::duration(result.evaluation.stepTimeUs) + " per step (simulated)";
        PW_CHECK(renderPicture(story.problem->graphPtr(), &devices, &result.placement, picture, path(name)));
        files.push_back(path(name));
        return {};
    };
    PW_CHECK(draw("metis.png", "Inception-v3 by METIS", story.metis));
    PW_CHECK(draw("placeto.png", "Inception-v3 by Placeto", story.placeto));
    PW_CHECK(formats::savePlacement(formats::makePlacementFile(story.problem->graph(), devices, story.placeto.placement, "placeto", 1),
                                    path("placeto.placement.json")));
    files.push_back(path("placeto.placement.json"));
    return files;
}

Result<int> runDemo(const Cli& cli, const DemoOptions& options) {
    std::error_code error;
    std::filesystem::create_directories(options.folder, error);
    if (error)
        return fail(ErrorCode::Io, "cannot make this folder: " + error.message(), "", options.folder);
    if (!cli.quiet && !cli.json)
        std::cout << "Inception-v3 (batch 64, training) on 2 x K80, three methods, about " << options.seconds << " s.\n";
    Story story;
    PW_TRY(const GraphPtr graph, zoo::make("inception_v3"));
    ProblemInput input;
    input.devices = "2xK80";
    PW_TRY(story.problem, input.compile(graph, graph->name()));
    PW_TRY(story.repository,
           storage::openProject((std::filesystem::path(options.folder) / "demo.placewright").string()));
    PW_TRY(const PlaceResult single, placeWith(cli, story, "single"));
    story.singleUs = single.evaluation.stepTimeUs;
    PW_TRY(story.metis, placeWith(cli, story, "metis"));
    PW_CHECK(trainPlaceto(cli, story, options.seconds * kTrainingShare));
    rankRows(story.rows, lowerBounds(*story.problem).best());
    PW_TRY(const auto files, writeFiles(story, options.folder));
    if (cli.json) {
        printJson({{"table", comparisonJson(story.rows)}, {"files", files}});
        return kDone;
    }
    printComparison(story.rows);
    std::cout << "Step times are simulated (links model). On one graph local search is often better still\n"
                 "(place -m local_search); a policy pays on graphs it never saw (infer).\n";
    for (const std::string& file : files)
        std::cout << "wrote " << file << "\n";
    return kDone;
}

} // namespace

void addDemoCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<DemoOptions>();
    CLI::App* command = app.add_subcommand("demo", "The five-minute story in one: place, train, compare, draw");
    command->add_option("--out", options->folder, "folder for the project and pictures")->capture_default_str();
    command->add_option("--seconds", options->seconds, "time for all of it")->check(CLI::Range(2.0, 1e6))->capture_default_str();
    setBody(command, cli, [&cli, options] { return runDemo(cli, *options); });
    setExample(command, "demo",
               "  graph          method  step ms      min      max  vs best  vs bound  evaluations  seconds  valid\n"
               "  inception_v3   single  1119.81  1119.81  1119.81    1.193     2.000            1     0.00    yes\n"
               "  inception_v3    metis  1103.07  1103.07  1103.07    1.175     1.970            1     0.00    yes\n"
               "  inception_v3  placeto   938.70   938.70   938.70    1.000     1.677       26,846    45.00    yes\n"
               "  Step times are simulated (links model). On one graph local search is often better still\n"
               "  (place -m local_search); a policy pays on graphs it never saw (infer).\n"
               "  wrote placewright-demo/demo.placewright\n"
               "  ...");
}

} // namespace pw::cli
