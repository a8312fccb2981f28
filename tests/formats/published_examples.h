#pragma once

#include <string>
#include <vector>

namespace pw::test {

// One small file of each published format. They stand apart from the tests because moc loses its way in raw strings.
extern const char* const kWorkload;
extern const char* const kSplit;
extern const char* const kPipeDream;
extern const char* const kDagBench;
extern const char* const kStg;
extern const char* const kNGraph;
extern const char* const kPiper;
extern const char* const kModelExplorer;

struct Example {
    const char* format; ///< as OpGraph::format()
    const char* text;
};
/// Those of them that are graphs.
const std::vector<Example>& publishedExamples();

/// A chain of `count` ops in one of the formats.
std::string publishedChain(const std::string& format, int count);

/// A dnn-partitioning workload whose edges have costs but no sizes: a chain, one edge per cost.
std::string workloadWithCosts(const std::vector<double>& costs);
/// Workloads whose telling keys come late: edges first, then nodes or the other way round, the limits last.
std::vector<std::string> workloadsWithLateKeys(int edges);
/// A task graph behind a long network.
std::string dagBenchWithLateTasks();

} // namespace pw::test
