#pragma once

#include "core/formats/file_handle.h"
#include "core/formats/formats.h"

namespace pw::formats {

/// Binary ModelProto, weights skipped in the stream. `fallbackName` names a graph without a name.
Result<GraphPtr> importOnnx(const OpenFile& file, const std::string& path, const std::string& fallbackName,
                            const LoadOptions& options);

/// Protobuf text form of the same.
Result<GraphPtr> importOnnxText(const std::string& content, const std::string& path, const std::string& fallbackName,
                                const LoadOptions& options);

} // namespace pw::formats
