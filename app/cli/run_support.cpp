#include "app/cli/run_support.h"

#include <charconv>

namespace pw::cli {

RunSpec placementSpec(const PlacementProblem& problem, const std::string& method, const PlaceOptions& options) {
    RunSpec spec;
    spec.kind = "place";
    spec.method = method;
    spec.graphHashes = {problem.graph().hash()};
    spec.graphName = problem.graph().name();
    spec.deviceSetHash = problem.devices().hash();
    spec.deviceSetName = problem.devices().name();
    spec.grouping = problem.groupingOptions();
    spec.sim = problem.options();
    spec.seed = options.seed;
    spec.maxEvaluations = options.maxEvaluations;
    spec.maxSeconds = options.maxSeconds;
    spec.parameters = options.parameters;
    return spec;
}

Result<PlaceResult> runPlacer(const Cli& cli, const ProblemPtr& problem, const Placer& placer, const PlaceOptions& options,
                              const RepositoryPtr& repository) {
    JobContext context = cli.jobContext();
    const RunSpec spec = placementSpec(*problem, placer.name(), options);
    PW_TRY(RunOutcome outcome, runPlacement(spec, problem, placer, repository, nullptr, context));
    return std::move(outcome.results.front());
}

Result<RunRecord> findRun(const RunRepository& repository, const std::string& text) {
    RowId id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error == std::errc() && end == text.data() + text.size())
        return repository.run(id);
    PW_TRY(const auto runs, repository.runs({}));
    const RunRecord* found = nullptr;
    for (const RunRecord& run : runs) {
        const bool newer = found == nullptr || run.id > found->id;
        if ((text == "last" || run.name == text) && newer)
            found = &run;
    }
    if (found == nullptr)
        return fail(ErrorCode::NotFound, "no run '" + text + "' in this project", "", repository.path());
    return *found;
}

} // namespace pw::cli
