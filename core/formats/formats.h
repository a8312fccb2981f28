#pragma once

#include "core/devices/device_set.h"
#include "core/graph/op_graph.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace pw::formats {

/// What a file is good for, by its content.
enum class FileKind { Graph, Placement, DeviceSet, Profile, Project, Policy, Unknown };

/// Reads at most the first few kB. Fails only where the file cannot be read at all; a file that is nothing of ours is Unknown.
Result<FileKind> sniff(const std::string& path);

/// One format as help texts and file dialogs name it.
struct FormatInfo {
    std::string title;                ///< "ONNX", "TensorFlow GraphDef"
    FileKind kind = FileKind::Graph;
    std::vector<std::string> endings; ///< usual ones, ".onnx"; files are recognised by content
    bool canRead = true;
    bool canWrite = false;
    bool needsSource = false; ///< written only by putting devices into the original (SaveOptions::source)
};
const std::vector<FormatInfo>& knownFormats();

/// What one input of a traced program (TorchScript) looks like.
struct SampleInput {
    std::vector<std::int64_t> dims;
    std::string dtype = "f32";
};

struct LoadOptions {
    std::map<std::string, std::int64_t> dims; ///< values for symbolic dimensions, by name
    std::vector<SampleInput> sampleInputs;    ///< in order; for formats that carry no shapes of their own
    bool inferShapes = true;
    /// The program whose hidden verbs `--worker ...` run what may die (the ONNX library's shape inference, LibTorch) in a
    /// process of its own; empty = own rules only, and no TorchScript.
    std::string workerProgram;
    std::stop_token stop;
    std::function<void(double fraction)> progress; ///< 0 to 1, on the calling thread; may be empty
};

/// Opens a graph of any supported format. Errors carry the file and the place. A stopped load fails with
/// ErrorCode::Busy and message "cancelled". Weights are skipped in the stream, never held in memory.
Result<GraphPtr> loadGraph(const std::string& path, const LoadOptions& options = {});

struct SaveOptions {
    std::span<const DeviceId> placement; ///< written as the ops' device; empty = as the graph has them
    const DeviceSet* devices = nullptr;  ///< the names; needed with a placement
    /// The file that the graph was opened from. Formats that are written by putting devices into the original (ONNX,
    /// GraphDef) need it.
    std::string source;
};
/// Writes by the longest known ending (knownFormats). Never leaves a half-written file.
Status saveGraph(const OpGraph& graph, const std::string& path, const SaveOptions& options = {});

std::string toGraphJson(const OpGraph& graph);
Result<GraphPtr> fromGraphJson(std::string_view json, const std::string& file = {});

/// A placement as its file says it, before it meets a graph.
struct PlacementFile {
    std::string graphName;
    std::string graphHash;
    std::vector<std::string> devices;
    std::optional<std::string> defaultDevice;
    std::map<std::string, std::string> assignment; ///< op name -> device name
    std::string nameAttribute; ///< the attribute of the graph's ops that `assignment` names them by; "" = by name
    /// Module path -> device: for the ops below it that `assignment` does not name; the longest path counts, "" is all.
    std::map<std::string, std::string> scopes;
    std::vector<std::string> deviceKinds; ///< of `devices`; empty = as their names say
    bool restOnFirstDevice = false;       ///< ops without a device take the set's first one, with a warning
    std::vector<std::string> pinned;
    std::string method;
    std::uint64_t seed = 0;
};

/// JSON, CSV `op,device`, device strings of TensorFlow in either, a device_map of PyTorch and Accelerate, an assignment of
/// ONNX Runtime, a split of a dnn-partitioning workload, the stages of a partitioned PipeDream graph.
Result<PlacementFile> loadPlacement(const std::string& path);
/// The devices that the graph's own file gives its ops (Op::device). Fails with NotFound where it gives none.
Result<PlacementFile> placementOfGraph(const OpGraph& graph);
/// Device per op, found by its name in the set, else "gpu:1" is the second of kind gpu. Fails on unknown names, on ops
/// without a device, when nothing matches. A different graph hash is applied by name with a warning counting the misses.
Result<std::vector<DeviceId>> applyPlacement(const PlacementFile& file, const OpGraph& graph, const DeviceSet& devices,
                                             std::vector<Warning>& warnings);
PlacementFile makePlacementFile(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement,
                                std::string method, std::uint64_t seed);
std::string toPlacementJson(const PlacementFile& file);
/// By ending: .csv; .tf.csv (device strings of TensorFlow); .device_map.json (of PyTorch and Accelerate; with `graph`, a
/// scope whose ops share a device is one entry); .ort.json (assignment of ONNX Runtime); .placement.json, .json.
Status savePlacement(const PlacementFile& file, const std::string& path, const OpGraph* graph = nullptr);
/// True for the endings that stand for placements and not for graphs.
bool isPlacementPath(const std::string& path);

Result<DeviceSet> loadDeviceSet(const std::string& path);
/// The device set that a graph's own file carries (published placement workloads do); NotFound where it has none.
Result<DeviceSet> loadDevicesOfGraph(const std::string& path);
Result<DeviceSet> fromDevicesJson(std::string_view json, const std::string& file = {});
std::string toDevicesJson(const DeviceSet& devices);
Status saveDeviceSet(const DeviceSet& devices, const std::string& path);

/// Whole file as text, refusing more than `maxBytes`. Directories, devices and missing files are clear errors.
Result<std::string> readFile(const std::string& path, std::int64_t maxBytes);
/// Writes beside the target and renames, so that a full disk leaves the old file.
Status writeFileAtomically(const std::string& path, std::string_view content);

/// The child's side of LoadOptions::workerProgram: reads a request on stdin, answers on stdout. Returns the exit code.
/// Lives in its own library (pw_onnx_worker) because it links the ONNX library.
int runOnnxShapeWorker();

} // namespace pw::formats
