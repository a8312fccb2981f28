#include "core/experiment/run_problems.h"

#include <algorithm>

namespace pw {

Result<std::vector<ProblemPtr>> problemsOf(const RunSpec& spec, const RunRepository& repository) {
    PW_TRY(const auto deviceSets, repository.deviceSets());
    const auto set = std::find_if(deviceSets.begin(), deviceSets.end(),
                                  [&](const DeviceSetRecord& record) { return record.hash == spec.deviceSetHash; });
    if (set == deviceSets.end())
        return fail(ErrorCode::NotFound, "the device set of the run (" + spec.deviceSetName + ") is not in the project", "",
                    repository.path());
    PW_TRY(const DeviceSet devices, repository.loadDeviceSet(set->id));
    PW_TRY(const auto graphs, repository.graphs());
    GroupingOptions grouping;
    grouping.targetGroups = spec.groups;
    std::vector<ProblemPtr> problems;
    for (const std::string& hash : spec.graphHashes) {
        const auto record =
            std::find_if(graphs.begin(), graphs.end(), [&](const GraphRecord& graph) { return graph.hash == hash; });
        if (record == graphs.end())
            return fail(ErrorCode::NotFound, "a graph of the run (" + spec.graphName + ") is not in the project", "",
                        repository.path());
        PW_TRY(const GraphPtr graph, repository.loadGraph(record->id));
        PW_TRY(ProblemPtr problem, PlacementProblem::compile(graph, devices, grouping, spec.sim));
        problems.push_back(std::move(problem));
    }
    return problems;
}

} // namespace pw
