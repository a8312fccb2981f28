#include "app/cli/comparison.h"
#include "app/cli/numbers.h"

#include "core/base/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace pw::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> graphs;
    GraphInput graph; ///< options of all of them
    ProblemInput problem;
    std::string methods;
    std::int64_t budgetEvaluations = 0;
    double budgetSeconds = 0.0;
    int seeds = 1;
    std::string csv;
    std::string latex;
};

Result<int> runCompare(const Cli& cli, const CompareOptions& options) {
    ComparisonPlan plan;
    for (const std::string_view method : text::split(options.methods, ','))
        plan.methods.emplace_back(text::trim(method));
    for (const std::string& method : plan.methods) {
        PW_TRY([[maybe_unused]] const Placer* placer, findPlacer(cli, method));
    }
    plan.place.maxEvaluations = options.budgetEvaluations;
    plan.place.maxSeconds = options.budgetSeconds;
    plan.seeds = options.seeds;
    PW_TRY(const RepositoryPtr repository, cli.repository());
    std::vector<ComparisonRow> rows;
    for (const std::string& spec : options.graphs) {
        PW_TRY(const GraphPtr graph, options.graph.with(spec).open(cli));
        PW_TRY(const ProblemPtr problem, options.problem.compile(graph, spec));
        PW_TRY(const auto more, compareMethods(cli, problem, plan, repository));
        rows.insert(rows.end(), more.begin(), more.end());
    }
    if (!options.csv.empty())
        PW_CHECK(formats::writeFileAtomically(options.csv, comparisonCsv(rows)));
    if (!options.latex.empty())
        PW_CHECK(formats::writeFileAtomically(options.latex, comparisonLatex(rows)));
    if (cli.json)
        printJson({{"rows", comparisonJson(rows)}});
    else
        printComparison(rows);
    const bool anyValid = std::any_of(rows.begin(), rows.end(), [](const ComparisonRow& row) { return row.valid; });
    return anyValid ? kDone : kHonestNo;
}

} // namespace

void addCompareCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command = app.add_subcommand("compare", "Run several methods under one budget and print a table");
    command->add_option("graphs", options->graphs, "model files or zoo names")->required();
    options->graph.addOptionsTo(command);
    options->problem.addTo(command, true);
    command->add_option("--methods,-m", options->methods, "comma-separated, as in single,metis; there are: " + methodNames(cli))->required();
    command->add_option("--budget-evals", options->budgetEvaluations, "simulations per run at most; 0 = each method's default")
        ->check(nonNegative());
    command->add_option("--budget-seconds", options->budgetSeconds, "wall time per run at most; 0 = no limit")
        ->check(nonNegative());
    command->add_option("--seeds", options->seeds, "runs per method, seeds 1..K")->check(CLI::Range(1, 1000))->capture_default_str();
    command->add_option("--csv", options->csv, "also write the table as CSV");
    command->add_option("--latex", options->latex, "also write the table as LaTeX");
    setBody(command, cli, [&cli, options] { return runCompare(cli, *options); });
    setExample(command, "compare zoo:inception_v3 -d 2xK80 -m single,metis,local_search",
               "  graph               method  step ms      min      max  vs best  vs bound  evaluations  seconds  valid\n"
               "  inception_v3        single  1119.81  1119.81  1119.81    1.219     2.000            1     0.00    yes\n"
               "  inception_v3         metis  1103.07  1103.07  1103.07    1.201     1.970            1     0.00    yes\n"
               "  inception_v3  local_search   918.45   918.45   918.45    1.000     1.640        1,000     0.11    yes");
}

} // namespace pw::cli
