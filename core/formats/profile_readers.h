#pragma once

#include "core/formats/file_handle.h"
#include "core/formats/profile.h"

namespace pw::formats {

// One reader per kind of profile. Errors carry the place; the file is filled in by loadProfile().

/// Events in Chrome's JSON, as ONNX Runtime, PyTorch and TensorFlow's timeline write them; read in the stream.
Result<Profile> readTraceProfile(const OpenFile& file, const std::string& path);
/// TensorFlow's RunMetadata or StepStats in wire format; read in the stream.
Result<Profile> readTfStepStats(const OpenFile& file, const std::string& path);
/// The same as protobuf text.
Result<Profile> readTfStepStatsText(const std::string& content);
/// `op,us[,device_kind]`.
Result<Profile> readCsvProfile(std::string_view content);

} // namespace pw::formats
