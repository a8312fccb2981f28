#include "tests/formats/published_examples.h"

#include <cstdio>

namespace pw::test {

const char* const kWorkload = R"({"maxSizePerFPGA": 1000.0, "maxFPGAs": 2, "maxCPUs": 1,
 "nodes": [
  {"id": 7, "name": "a/MatMul_1", "supportedOnFpga": 1, "cpuLatency": 20.5, "fpgaLatency": 2.25, "isBackwardNode": 0,
   "colorClass": 3, "layerId": 9, "size": 400.0},
  {"id": 8, "name": "Relu8", "supportedOnFpga": false, "cpuLatency": 3, "fpgaLatency": 1, "isBackwardNode": false,
   "colorClass": null, "size": 0},
  {"id": 9, "name": "a/MatMul_1grad", "supportedOnFpga": true, "cpuLatency": 40, "fpgaLatency": 4,
   "isBackwardNode": true, "colorClass": 3, "size": 100}],
 "edges": [
  {"sourceId": 7, "destId": 8, "cost": 0.5, "size": 1024.0},
  {"sourceId": 7, "destId": 9, "cost": 0.5, "size": 1024.0},
  {"sourceId": 8, "destId": 9, "cost": 0.25, "size": 512}]})";

const char* const kSplit = R"({"fpgas": [{"load": 1, "nodes": [7, 9]}, {"load": 0, "nodes": []}],
 "cpus": [{"load": 2, "nodes": [8]}], "maxLoad": 5})";

const char* const kPipeDream =
    "node2 -- Conv2d(3, 64, kernel_size=(3, 3), padding=(1, 1)) -- forward_compute_time=1.500, "
    "backward_compute_time=2.250, activation_size=[100.0; 20.0; 4.0], parameter_size=7168.000 -- stage_id=1\n"
    "node1 -- Input -- with -- dashes -- forward_compute_time=0.000, backward_compute_time=0.000, "
    "activation_size=602112.0, parameter_size=0.000 -- stage_id=0\n"
    "\tnode1 -- node2\n";

const char* const kDagBench = R"({"name": "w.tiny", "task_graph": {
  "tasks": [{"name": "load_0", "cost": 3.0}, {"name": "work_1_2", "cost": 1.5}, {"name": "end", "cost": 0}],
  "dependencies": [{"source": "load_0", "target": "work_1_2", "size": 0.25},
                   {"source": "load_0", "target": "end", "size": 8},
                   {"source": "work_1_2", "target": "end", "size": 2}]},
 "network": {"nodes": [{"name": "N0", "speed": 2.0}, {"name": "N1", "speed": 0.5}, {"name": "N2", "speed": 2}],
  "edges": [{"source": "N0", "target": "N0", "speed": 1e9}, {"source": "N0", "target": "N1", "speed": 500.0},
            {"source": "N1", "target": "N2", "speed": 10}, {"source": "N2", "target": "N1", "speed": 20},
            {"source": "N0", "target": "N2", "speed": 0}]}})";

const char* const kStg = "# a comment\n  3 2\n"
                         "  0   0   0\n"
                         "  1   5   1   0\n"
                         "  2   7   1   0\n"
                         "  3   2   2   1  2\n"
                         "  4   0   1   3\n"
                         "# trailing words\n";

const char* const kNGraph = R"([{"name": "Function_0", "parameters": ["Parameter_0"], "result": ["Result_6"], "ops": [
  {"element_type": "float", "inputs": [], "name": "Parameter_0", "op": "Parameter", "outputs": ["Parameter_0_0"],
   "shape": [2, 8]},
  {"element_type": "float", "inputs": [], "name": "Constant_1", "op": "Constant", "outputs": ["Constant_1_0"],
   "shape": [8, 3]},
  {"inputs": ["Parameter_0", "Constant_1_0"], "name": "Dot_2", "op": "Dot", "outputs": ["Dot_2_0"],
   "reduction_axes_count": 1},
  {"inputs": ["Dot_2"], "name": "Tanh_3", "op": "Tanh", "outputs": ["Tanh_3_0"]},
  {"inputs": ["Tanh_3"], "name": "Slice_4", "op": "Slice", "outputs": ["Slice_4_0"], "lower_bounds": [0, 1],
   "upper_bounds": [2, 3], "strides": [1, 1]},
  {"inputs": ["Tanh_3", "Slice_4"], "name": "Concat_5", "op": "Concat", "axis": 1, "outputs": ["Concat_5_0"]},
  {"inputs": ["Concat_5"], "name": "Result_6", "op": "Result", "outputs": ["Result_6_0"]}]},
 {"name": "Inner", "parameters": [], "result": [], "ops": []}])";

const char* const kPiper = R"({"maxDevices": 3, "maxMemoryPerDevice": 8e9, "bandwidth": 25000000000.0, "mbsInBatch": 8,
 "nodes": [
  {"id": 0, "name": "node4", "TMPCs": {
    "2": [{"id": "vanilla", "timePerSample": 1.0, "parameterSize": 50.0}],
    "1": [{"id": "activation recomp", "timePerSample": 9.0, "parameterSize": 100.0},
          {"id": "vanilla", "timePerSample": 6.5, "parameterSize": 100.0, "memoryUsageA": 11.0, "memoryUsageB": 22.0,
           "syncTimeFw": {}, "syncTimeBw": {"1": 0.5}}]}},
  {"id": 1, "TMPCs": {"1": [{"id": "other", "timePerSample": 2, "parameterSize": 0}]}}],
 "edges": [{"sourceId": 0, "destId": 1, "communicationCost": 4096.0}]})";

const char* const kModelExplorer = R"({"label": "all", "graphs": [{"id": "main", "nodes": [
  {"id": "in", "label": "input", "namespace": "", "attrs": [{"key": "shape", "value": "1x3"}]},
  {"id": "n1", "label": "conv", "namespace": "net/block", "incomingEdges": [
    {"sourceNodeId": "in", "sourceNodeOutputId": "0", "targetNodeInputId": "1"},
    {"sourceNodeId": "w", "sourceNodeOutputId": "0", "targetNodeInputId": "0"}]},
  {"id": "w", "label": "const", "namespace": "net"},
  {"id": "n2", "label": "split", "namespace": "net/block", "incomingEdges": [
    {"sourceNodeId": "n1", "sourceNodeOutputId": "65000"}]}
 ]}, {"id": "second", "nodes": []}]})";

const std::vector<Example>& publishedExamples() {
    static const std::vector<Example> kExamples = {{"dnn-partitioning", kWorkload},
                                                   {"pipedream", kPipeDream},
                                                   {"dagbench", kDagBench},
                                                   {"stg", kStg},
                                                   {"ngraph", kNGraph},
                                                   {"piper", kPiper},
                                                   {"model-explorer", kModelExplorer}};
    return kExamples;
}

std::string publishedChain(const std::string& format, int count) {
    std::string nodes;
    std::string edges;
    for (int i = 0; i < count; ++i) {
        const std::string id = std::to_string(i);
        const std::string before = std::to_string(i - 1);
        const std::string comma = i > 0 ? "," : "";
        const std::string edgeComma = i > 1 ? "," : "";
        const auto edge = [&](const std::string& text) { edges += i > 0 ? edgeComma + text : ""; };
        if (format == "dnn-partitioning") {
            nodes += comma + R"({"id":)" + id + R"(,"cpuLatency":1,"fpgaLatency":1,"size":8})";
            edge(R"({"sourceId":)" + before + R"(,"destId":)" + id + R"(,"cost":0.)" + id + "}");
        } else if (format == "pipedream") {
            nodes += "node" + id +
                     " -- ReLU() -- forward_compute_time=1.0, backward_compute_time=1.0, "
                     "activation_size=4.0, parameter_size=0.0\n";
            edges += i > 0 ? "\tnode" + before + " -- node" + id + "\n" : "";
        } else if (format == "dagbench") {
            nodes += comma + R"({"name":"t)" + id + R"(","cost":1})";
            edge(R"({"source":"t)" + before + R"(","target":"t)" + id + R"(","size":0.)" + id + "}");
        } else if (format == "stg") {
            nodes += id + " 1 " + (i > 0 ? "1 " + before : "0") + "\n";
        } else if (format == "ngraph") {
            nodes += comma + R"({"name":"o)" + id + R"(","op":")" + (i > 0 ? "Tanh" : "Parameter") +
                     R"(","element_type":"float","shape":[4],"inputs":[)" + (i > 0 ? "\"o" + before + "\"" : "") +
                     R"(],"outputs":["o)" + id + R"(_0"]})";
        } else if (format == "piper") {
            nodes += comma + R"({"id":)" + id + R"(,"TMPCs":{"1":[{"id":"vanilla","timePerSample":1}]}})";
            edge(R"({"sourceId":)" + before + R"(,"destId":)" + id + R"(,"communicationCost":4})");
        } else {
            nodes += comma + R"({"id":"n)" + id + R"(","label":"x","namespace":"a/b","incomingEdges":[)" +
                     (i > 0 ? R"({"sourceNodeId":"n)" + before + R"("})" : "") + "]}";
        }
    }
    if (format == "pipedream")
        return nodes + edges;
    if (format == "stg")
        return std::to_string(count) + "\n" + nodes;
    if (format == "dagbench")
        return R"({"task_graph":{"tasks":[)" + nodes + R"(],"dependencies":[)" + edges + "]}}";
    if (format == "ngraph")
        return R"([{"name":"f","ops":[)" + nodes + "]}]";
    if (format == "model-explorer")
        return R"({"graphs":[{"id":"g","nodes":[)" + nodes + "]}]}";
    return R"({"nodes":[)" + nodes + R"(],"edges":[)" + edges + "]}";
}

std::string workloadWithCosts(const std::vector<double>& costs) {
    std::string text = R"({"maxSizePerFPGA": 1, "maxFPGAs": 1, "maxCPUs": 2, "nodes": [)";
    std::string edges;
    for (std::size_t i = 0; i <= costs.size(); ++i) {
        const std::string comma = i > 0 ? "," : "";
        text += comma + R"({"id":)" + std::to_string(i) + R"(,"cpuLatency":1,"fpgaLatency":1})";
        if (i == costs.size())
            break;
        char cost[32];
        std::snprintf(cost, sizeof cost, "%.17g", costs[i]);
        edges += comma + R"({"sourceId":)" + std::to_string(i) + R"(,"destId":)" + std::to_string(i + 1) +
                 R"(,"cost":)" + cost + "}";
    }
    return text + R"(],"edges":[)" + edges + "]}";
}

std::vector<std::string> workloadsWithLateKeys(int count) {
    std::string edges;
    std::string nodes;
    for (int i = 0; i <= count; ++i) {
        const std::string id = std::to_string(i);
        const std::string comma = i > 0 ? "," : "";
        nodes += comma + R"({"id":)" + id + R"(,"cpuLatency":1,"fpgaLatency":1,"supportedOnFpga":1})";
        if (i < count)
            edges += comma + R"({"sourceId":)" + id + R"(,"destId":)" + std::to_string(i + 1) + R"(,"cost":1})";
    }
    const std::string limits = R"("maxFPGAs":1,"maxCPUs":1,"maxSizePerFPGA":9)";
    return {R"({"edges":[)" + edges + R"(],"nodes":[)" + nodes + "]," + limits + "}",
            R"({"nodes":[)" + nodes + R"(],"edges":[)" + edges + "]," + limits + "}"};
}

std::string dagBenchWithLateTasks() {
    std::string loops;
    for (int i = 0; i < 300; ++i)
        loops += std::string(i > 0 ? "," : "") + R"({"source":"N","target":"N","speed":1000000000.0})";
    return R"({"network":{"nodes":[{"name":"N","speed":1}],"edges":[)" + loops +
           R"(]},"task_graph":{"tasks":[{"name":"a","cost":1}],"dependencies":[]}})";
}

} // namespace pw::test
