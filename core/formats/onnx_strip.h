#pragma once

#include "core/formats/file_handle.h"

#include <stop_token>
#include <string>

namespace pw::formats {

/// Reads a ModelProto and copies it without large payloads, documentation and fields this program does not know. The
/// copy is again a ModelProto. Weights are jumped over in the file: they are never read, let alone held.
///
/// Kept are payloads of at most 64 KB for integers (they carry shapes) and 1 KB for others, 64 MB in all. Files beyond
/// 2 GB are fine. Errors name the byte.
Result<std::string> readOnnxWithoutWeights(const OpenFile& file, const std::string& path, std::stop_token stop);

} // namespace pw::formats
