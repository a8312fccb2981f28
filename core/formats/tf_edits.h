#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Puts device strings into a TensorFlow file and leaves every other byte as it is.
namespace pw::formats::tf {

/// Device per node in the order of the file: nothing = leave the node as it is, "" = no device.
using WantedDevices = std::vector<std::optional<std::string>>;

/// How deep the GraphDef lies in its file.
enum class Wrapping { GraphDef, MetaGraphDef, SavedModel };

/// One stretch of a content and what comes in its place.
struct Edit {
    std::size_t at = 0;
    std::size_t removed = 0;
    std::string inserted;
};

std::string applied(std::string_view content, std::vector<Edit> edits);

/// Rewrites NodeDef.device (field 4) and the lengths around it.
Result<std::vector<Edit>> binaryEdits(std::string_view content, Wrapping wrapping, const WantedDevices& wanted);
/// Rewrites or adds the line `device: "..."` of each node.
Result<std::vector<Edit>> textEdits(std::string_view content, Wrapping wrapping, const WantedDevices& wanted);

} // namespace pw::formats::tf
