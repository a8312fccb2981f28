#pragma once

#include "core/formats/formats.h"
#include "core/formats/json_util.h"

#include <set>
#include <string>
#include <unordered_map>

namespace pw::formats {

// Device maps of other programs.

/// One flat object: PyTorch's and Accelerate's `device_map` (module path -> number of a GPU, "cpu", "disk", "cuda:1"),
/// op -> device string of TensorFlow, or node -> execution provider of ONNX Runtime.
Result<PlacementFile> readDeviceMap(const JsonObject& document);
/// What ONNX Runtime's get_provider_graph_assignment_info() tells, as JSON: [{"ep_name", "device_id", "nodes":
/// [{"name"}]}].
Result<PlacementFile> readOrtAssignment(const Json& document);
/// Gives TensorFlow's device strings ("/job:worker/task:1/device:GPU:0") their short names; other names stay.
void shortenTfDevices(PlacementFile& file);

Result<std::string> toDeviceMap(const PlacementFile& file, const OpGraph* graph);
Result<std::string> toOrtAssignment(const PlacementFile& file);
Result<std::string> toTfCsv(const PlacementFile& file);

/// Finds the device of an op in a map from module paths. The op's own name counts first, then the longest path that
/// leads to the op by its name or its scope. "/", "." and "::" separate alike.
class ScopeMap {
public:
    explicit ScopeMap(const std::map<std::string, std::string>& scopes);

    /// nullptr if no path leads to it.
    const std::string* find(const OpGraph& graph, OpId op);
    std::size_t unusedCount() const { return m_scopes.size() - m_used.size(); }

private:
    using Entry = std::map<std::string, std::string>::const_iterator;
    struct Match {
        const Entry* entry = nullptr;
        std::size_t length = 0;
    };
    Match longest(const std::string& path) const;
    const Match& matchOfScope(const OpGraph& graph, ScopeId scope);

    const std::map<std::string, std::string>& m_scopes;
    std::unordered_map<std::string, Entry> m_byPath; ///< separators made one
    std::set<std::size_t> m_lengths;                 ///< of the paths
    std::unordered_map<ScopeId, Match> m_matchOfScope;
    std::set<const std::string*> m_used;
};

} // namespace pw::formats
