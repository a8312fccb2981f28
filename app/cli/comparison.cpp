#include "app/cli/comparison.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace pw::cli {

namespace {

std::string fixed(double value, int decimals) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
    return buffer;
}

ComparisonRow summarise(const std::string& graph, const std::string& method, const std::vector<PlaceResult>& results) {
    ComparisonRow row{.graph = graph, .method = method, .minUs = results.front().evaluation.stepTimeUs, .valid = true};
    const double n = static_cast<double>(results.size());
    double evaluations = 0.0;
    for (const PlaceResult& result : results) {
        const double us = result.evaluation.stepTimeUs;
        row.meanUs += us / n;
        row.minUs = std::min(row.minUs, us);
        row.maxUs = std::max(row.maxUs, us);
        evaluations += static_cast<double>(result.evaluations) / n;
        row.seconds += result.seconds / n;
        row.valid = row.valid && result.evaluation.valid;
    }
    row.evaluations = static_cast<std::int64_t>(evaluations + 0.5);
    return row;
}

} // namespace

Result<std::vector<ComparisonRow>> compareMethods(const Cli& cli, const ProblemPtr& problem, const ComparisonPlan& plan,
                                                  const RepositoryPtr& repository) {
    std::vector<ComparisonRow> rows;
    for (const std::string& method : plan.methods) {
        PW_TRY(const Placer* placer, findPlacer(cli, method));
        std::vector<PlaceResult> results;
        for (int seed = 0; seed < plan.seeds && !(cli.interrupted() && !results.empty()); ++seed) {
            PlaceOptions options = plan.place;
            options.seed = plan.place.seed + static_cast<std::uint64_t>(seed);
            PW_TRY(PlaceResult result, runPlacer(cli, problem, *placer, options, repository));
            results.push_back(std::move(result));
        }
        rows.push_back(summarise(problem->graph().name(), method, results));
    }
    rankRows(rows, lowerBounds(*problem).best());
    return rows;
}

void rankRows(std::vector<ComparisonRow>& rows, double lowerBoundUs) {
    double best = std::numeric_limits<double>::infinity();
    for (const ComparisonRow& row : rows) {
        if (row.valid)
            best = std::min(best, row.meanUs);
    }
    for (ComparisonRow& row : rows) {
        row.vsBest = row.meanUs / best;
        row.vsLowerBound = lowerBoundUs > 0.0 ? row.meanUs / lowerBoundUs : 0.0;
    }
}

Json comparisonJson(const std::vector<ComparisonRow>& rows) {
    Json list = Json::array();
    for (const ComparisonRow& row : rows) {
        list.push_back({{"graph", row.graph},
                        {"method", row.method},
                        {"step_time_us", {{"mean", row.meanUs}, {"min", row.minUs}, {"max", row.maxUs}}},
                        {"evaluations", row.evaluations},
                        {"seconds", row.seconds},
                        {"valid", row.valid},
                        {"vs_best", row.vsBest},
                        {"vs_lower_bound", row.vsLowerBound}});
    }
    return list;
}

void printComparison(const std::vector<ComparisonRow>& rows) {
    Table table({"graph", "method", "step ms", "min", "max", "vs best", "vs bound", "evaluations", "seconds", "valid"});
    for (const ComparisonRow& row : rows) {
        table.add({row.graph, row.method, fixed(row.meanUs / 1e3, 2), fixed(row.minUs / 1e3, 2), fixed(row.maxUs / 1e3, 2),
                   fixed(row.vsBest, 3), fixed(row.vsLowerBound, 3), text::grouped(row.evaluations),
                   fixed(row.seconds, 2), row.valid ? "yes" : "no"});
    }
    table.print();
}

std::string comparisonCsv(const std::vector<ComparisonRow>& rows) {
    std::string csv = "graph,method,step_time_us_mean,step_time_us_min,step_time_us_max,vs_best,vs_lower_bound,evaluations,"
                      "seconds,valid\n";
    for (const ComparisonRow& row : rows) {
        csv += "\"" + row.graph + "\"," + row.method + "," + text::number(row.meanUs) + "," + text::number(row.minUs) + "," +
               text::number(row.maxUs) + "," + text::number(row.vsBest) + "," + text::number(row.vsLowerBound) + "," +
               std::to_string(row.evaluations) + "," + text::number(row.seconds) + "," + (row.valid ? "1" : "0") + "\n";
    }
    return csv;
}

std::string comparisonLatex(const std::vector<ComparisonRow>& rows) {
    const auto escaped = [](const std::string& text) {
        std::string out;
        for (const char c : text) {
            if (std::string_view("_%&#$").find(c) != std::string_view::npos)
                out += '\\';
            out += c;
        }
        return out;
    };
    std::string latex = "\\begin{tabular}{llrrrr}\n\\hline\ngraph & method & step (ms) & vs best & vs bound & evaluations "
                        "\\\\\n\\hline\n";
    for (const ComparisonRow& row : rows) {
        latex += escaped(row.graph) + " & " + escaped(row.method) + " & " + fixed(row.meanUs / 1e3, 2) + " & " +
                 fixed(row.vsBest, 3) + " & " + fixed(row.vsLowerBound, 3) + " & " + std::to_string(row.evaluations) +
                 (row.valid ? "" : " (invalid)") + " \\\\\n";
    }
    return latex + "\\hline\n\\end{tabular}\n";
}

} // namespace pw::cli
