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
    std::vector<std::string> dims;     ///< NAME=N
    std::vector<std::string> inputs;   ///< SHAPE[:DTYPE], "1x3x224x224:f32"
    std::vector<std::string> profiles; ///< files with measured times, laid over the graph one after the other

    void addTo(CLI::App* app, const std::string& help = "model file, or zoo:NAME?key=value");
    /// The options only, for commands that take several graphs.
    void addOptionsTo(CLI::App* app);
    /// Opens and lays the profiles over it. What fitted is told on stderr and added to `profilesJson`.
    Result<GraphPtr> open(const Cli& cli, Json* profilesJson = nullptr) const;
    /// The same options for another graph.
    GraphInput with(const std::string& otherSpec) const;
};

/// How ops become groups.
struct GroupInput {
    std::size_t target = 128; ///< 0 = no merging
    std::size_t scopeDepth = 0;
    bool coplacement = false;
    bool ignoreColocation = false;
    std::string file; ///< op,group: groups made by hand

    void addTo(CLI::App* app);
    Result<GroupingOptions> options() const;
};

struct ProblemInput {
    std::string devices;
    std::string model = "links";
    double headroomPct = 0.0;
    GroupInput groups;

    /// `withGroups`: also --groups and what belongs to it.
    void addTo(CLI::App* app, bool withGroups);
    /// `graphFile`: what an error about the graph names.
    Result<ProblemPtr> compile(const GraphPtr& graph, const std::string& graphFile) const;
};

/// One graph by path or zoo name.
Result<GraphPtr> openGraph(const Cli& cli, const std::string& spec, formats::LoadOptions options = {});
/// A placement by file, or with "file" the devices that the graph's own file gives its ops.
Result<formats::PlacementFile> openPlacement(const std::string& spec, const OpGraph& graph, const std::string& graphFile);
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
/// The placers that --method takes, for help and messages.
std::string methodNames(const Cli& cli);
Result<const Placer*> findPlacer(const Cli& cli, const std::string& method);

/// The description of a place result that `place` and `infer` print.
Json placeResultJson(const PlacementProblem& problem, const std::string& method, const PlaceResult& result);
void printPlaceResult(const PlacementProblem& problem, const std::string& method, const PlaceResult& result);
/// Writes the result with -o and adds the `placement` key (the path, else with --json the object).
Status addPlacementOutput(const Cli& cli, Json& json, const PlacementProblem& problem, const std::string& method, std::uint64_t seed,
                          const PlaceResult& result, const std::string& output);

} // namespace pw::cli
