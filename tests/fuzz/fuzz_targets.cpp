#include "tests/fuzz/fuzz_targets.h"

#include "core/devices/cost_model.h"
#include "core/formats/groups_csv.h"
#include "core/formats/importers.h"
#include "core/formats/profile.h"
#include "core/graph/graph_stats.h"

#include <functional>
#include <iterator>

namespace pw::test {

namespace {

using Read = std::function<void(const std::string& path)>;

/// Reads a graph and does to it what opening a file does: statistics and costs.
Read graph(Result<GraphPtr> (*import)(const formats::Source&, const formats::LoadOptions&)) {
    return [import](const std::string& path) {
        const auto file = formats::openRegularFile(path);
        if (!file)
            return;
        const auto opened = import(formats::Source{*file, path, "fuzz"}, {});
        if (!opened)
            return;
        static_cast<void>(computeStats(**opened));
        static_cast<void>(computeCosts(**opened, *devicePreset("CPU+1xP100")));
        static_cast<void>(formats::fromGraphJson(formats::toGraphJson(**opened)).value()); // what is written can be read
    };
}

struct Target {
    const char* name;
    Read read;
};

/// One line per reader of core/formats; tests/arch checks that none is missing.
const Target kTargets[] = {
    {"onnx", graph(formats::importOnnx)},
    {"onnx_text", graph(formats::importOnnxText)},
    {"dot", graph(formats::importDot)},
    {"graph_json", graph(formats::importGraphJson)},
    {"dnn_partitioning", graph(formats::importDnnPartitioning)},
    {"pipedream", graph(formats::importPipeDream)},
    {"dagbench", graph(formats::importDagBench)},
    {"stg", graph(formats::importStg)},
    {"ngraph", graph(formats::importNGraph)},
    {"piper", graph(formats::importPiper)},
    {"model_explorer", graph(formats::importModelExplorer)},
    {"tf_graph_def", graph(formats::importTfGraphDef)},
    {"tf_graph_def_text", graph(formats::importTfGraphDefText)},
    {"tf_meta_graph", graph(formats::importTfMetaGraph)},
    {"tf_meta_graph_text", graph(formats::importTfMetaGraphText)},
    {"tf_saved_model", graph(formats::importTfSavedModel)},
    {"tf_saved_model_text", graph(formats::importTfSavedModelText)},
    {"tf_events", graph(formats::importTfEvents)},
    {"tf_js", graph(formats::importTfJs)},
    {"tf_cost_graph", graph(formats::importTfCostGraph)},
    {"tf_cost_graph_text", graph(formats::importTfCostGraphText)},
    {"any_graph", [](const std::string& path) { static_cast<void>(formats::loadGraph(path)); }},
    {"placement", [](const std::string& path) { static_cast<void>(formats::loadPlacement(path)); }},
    {"devices",
     [](const std::string& path) {
         static_cast<void>(formats::loadDeviceSet(path));
         static_cast<void>(formats::loadDevicesOfGraph(path));
     }},
    {"profile", [](const std::string& path) { static_cast<void>(formats::loadProfile(path)); }},
    {"groups", [](const std::string& path) { static_cast<void>(formats::loadGroups(path)); }},
};

} // namespace

bool fuzzOnce(std::string_view target, const std::string& path) {
    for (const Target& known : kTargets) {
        if (target == known.name) {
            known.read(path);
            return true;
        }
    }
    return false;
}

} // namespace pw::test
