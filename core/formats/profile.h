#pragma once

#include "core/graph/op_graph.h"

#include <string>
#include <vector>

namespace pw::formats {

/// Measured op times, before they meet a graph.
struct Profile {
    struct Entry {
        std::string op;         ///< name as the profiler wrote it
        std::string deviceKind; ///< "gpu", "cpu", "" = not said
        double us = 0.0;        ///< mean over `samples`
        std::size_t samples = 1;
    };
    std::string format; ///< "ONNX Runtime profile", "Chrome trace", "TensorFlow StepStats", "CSV"
    std::vector<Entry> entries; ///< one per op and kind, in order of first appearance
    std::vector<Warning> warnings;
};

/// How a profile fitted a graph.
struct ProfileReport {
    std::size_t opsMatched = 0;
    std::size_t opsWithoutTime = 0;
    double matchedUs = 0.0;   ///< sum of the times used
    double unmatchedUs = 0.0; ///< sum of the times whose op the graph does not have
    std::vector<std::string> unmatchedEntries; ///< names in the profile that the graph does not have
    std::vector<Warning> warnings;             ///< names that fit more than one op
};

/// ONNX Runtime profile JSON, Chrome trace JSON, TensorFlow RunMetadata or StepStats (binary, text), CSV
/// `op,us[,device_kind]`.
Result<Profile> loadProfile(const std::string& path);

/// A graph with the profile's times as measured costs; everything else as it was. Fails where no op matches.
///
/// An entry belongs to the op of its name. If there is none, names are compared without what frameworks and profilers
/// add: a leading "/" or "fused ", an output number ":0", the endings "_kernel_time" and "_nchwc", a last component
/// "/fused...". What then fits several ops, or shares an op with another entry, is left out with a warning.
Result<GraphPtr> applyProfile(const OpGraph& graph, const Profile& profile, ProfileReport& report);

} // namespace pw::formats
