#pragma once

#include "app/cli/run_support.h"

namespace pw::cli {

/// One line of the comparison table: a method on a graph over several seeds. Times in us.
struct ComparisonRow {
    std::string graph;
    std::string method;
    double meanUs = 0.0;
    double minUs = 0.0;
    double maxUs = 0.0;
    std::int64_t evaluations = 0; ///< mean over seeds
    double seconds = 0.0;         ///< mean over seeds
    bool valid = false;           ///< for every seed
    double vsBest = 0.0;          ///< mean / best mean of that graph
    double vsLowerBound = 0.0;    ///< mean / lower bound
};

struct ComparisonPlan {
    std::vector<std::string> methods;
    PlaceOptions place;
    int seeds = 1;
};

/// Runs every method on `problem`. Methods that fail for lack of a part of the program are errors.
Result<std::vector<ComparisonRow>> compareMethods(const Cli& cli, const ProblemPtr& problem, const ComparisonPlan& plan,
                                                  const RepositoryPtr& repository);
/// Fills vsBest among rows of one graph; call once all rows of the graph are there.
void rankRows(std::vector<ComparisonRow>& rows, double lowerBoundUs);

Json comparisonJson(const std::vector<ComparisonRow>& rows);
void printComparison(const std::vector<ComparisonRow>& rows);
std::string comparisonCsv(const std::vector<ComparisonRow>& rows);
std::string comparisonLatex(const std::vector<ComparisonRow>& rows);

} // namespace pw::cli
