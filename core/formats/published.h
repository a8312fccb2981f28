#pragma once

#include "core/devices/device_set.h"
#include "core/formats/importers.h"
#include "core/formats/json_util.h"
#include "core/graph/graph_builder.h"

#include <string>
#include <unordered_map>

/// What the readers of published placement workloads share.
namespace pw::formats {

/// An entry of a list on its way through a reader, with its path in the file ("nodes[3]").
Result<JsonObject> entryOf(const Json& list, std::size_t index, const std::string& listPath);
/// The array under `key`, which must be there.
Result<const Json*> requiredArray(const JsonObject& object, const char* key);
/// A number that must be there, finite and 0 or more: a time, a size, a rate.
Result<double> requiredAmount(const JsonObject& object, const char* key);
Result<double> amount(const JsonObject& object, const char* key, double fallback);
/// The same in whole bytes, rounded; refuses more than 2^50.
Result<std::int64_t> byteAmount(const JsonObject& object, const char* key, std::int64_t fallback);
Result<std::int64_t> wholeBytes(double bytes, const std::string& path);
/// true, false, 0 or 1.
Result<bool> flag(const JsonObject& object, const char* key, bool fallback);
/// A node's id, a whole number or a text, as text.
Result<std::string> requiredId(const JsonObject& object, const char* key);

/// The ids of a file's nodes and the ops they became.
class NodeTable {
public:
    /// Fails if the id was there before.
    Status add(const std::string& id, OpId op, const std::string& where);
    /// Fails if there is no such node.
    Result<OpId> find(const std::string& id, const std::string& where) const;
    Result<OpId> find(const JsonObject& object, const char* key) const; ///< the id under `key`

private:
    std::unordered_map<std::string, OpId> m_ops;
};

/// Outputs of ops where the file says what each edge moves: edges of one producer that move the same amount read the
/// same tensor, another amount is another tensor.
class EdgeTensors {
public:
    explicit EdgeTensors(GraphBuilder& builder)
        : m_builder(builder) {}
    TensorId tensorOf(OpId producer, std::int64_t bytes);

private:
    GraphBuilder& m_builder;
    std::unordered_map<OpId, std::unordered_map<std::int64_t, TensorId>> m_tensors;
};

/// The whole file as JSON.
Result<Json> parseSource(const Source& source);

// The device sets of the files that carry one.
Result<DeviceSet> dnnPartitioningDevices(const Json& document, const std::string& name);
Result<DeviceSet> dagBenchDevices(const Json& document, const std::string& name);
Result<DeviceSet> piperDevices(const Json& document, const std::string& name);

/// A split of a dnn-partitioning workload, or the stages of a partitioned PipeDream graph.
Result<PlacementFile> readDnnPartitioningSplit(const JsonObject& document);
Result<PlacementFile> readPipeDreamStages(std::string_view text);

} // namespace pw::formats
