#pragma once

#include "app/cli/cli.h"
#include "core/formats/formats.h"
#include "core/sim/problem.h"

#include <optional>
#include <string>
#include <vector>

namespace pw::cli {

/// The inputs that many commands share, as options of a subcommand and as opened objects.
struct GraphInput {
    std::string spec;              ///< a path or "zoo:..."
    std::vector<std::string> dims; ///< NAME=N

    void addTo(CLI::App* app, const std::string& help = "model file, or zoo:NAME?key=value");
    void addDimsTo(CLI::App* app);
    Result<GraphPtr> open(const Cli& cli) const;
};

struct ProblemInput {
    std::string devices;
    std::string model = "links";
    double headroomPct = 0.0;
    std::size_t groups = kDefaultGroups;

    static constexpr std::size_t kDefaultGroups = 128;

    /// `withGroups`: also --groups.
    void addTo(CLI::App* app, bool withGroups);
    /// `graphFile`: what an error about the graph names.
    Result<ProblemPtr> compile(const GraphPtr& graph, const std::string& graphFile) const;
};

/// One graph by path or zoo name.
Result<GraphPtr> openGraph(const Cli& cli, const std::string& spec, const std::map<std::string, std::int64_t>& dims = {});
/// A placement file's devices for each op; errors name the file, misses become warnings.
Result<OpPlacement> applyPlacementFile(const formats::PlacementFile& file, const std::string& path, const OpGraph& graph,
                                       const DeviceSet& devices, std::vector<Warning>& warnings);
/// A preset name, "local", "file" (the set that the file of the graph, `graphFile`, carries), or the path of a device set
/// or of a graph file that carries one.
Result<DeviceSet> openDevices(const std::string& spec, const std::string& graphFile);
/// This machine as LibTorch sees it: the CPU and every CUDA device, links over the host.
Result<DeviceSet> localDevices();
Result<std::map<std::string, std::string>> parseSettings(const std::vector<std::string>& pairs);

/// "method" checked against the registry; the error lists what there is.
Result<const Placer*> findPlacer(const Cli& cli, const std::string& method);

/// The description of a place result that `place` and `infer` print.
Json placeResultJson(const PlacementProblem& problem, const std::string& method, const PlaceResult& result);
void printPlaceResult(const PlacementProblem& problem, const std::string& method, const PlaceResult& result);
/// Writes the result with -o and adds the `placement` key (the path, else the object).
Status addPlacementOutput(Json& json, const PlacementProblem& problem, const std::string& method, std::uint64_t seed,
                          const PlaceResult& result, const std::string& output);

} // namespace pw::cli
