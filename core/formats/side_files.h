#pragma once

#include "core/formats/recognise.h"

namespace pw::formats {

// How files that belong to a graph, profiles and device maps, are told from graphs and from each other.

/// JSON: events of a profiler, a device map, an assignment of ONNX Runtime; Unknown if it is none of them.
Format recogniseSideJson(std::string_view head);
/// Tables: `op,us` is a profile, `op,device` a placement, with or without a header.
Format recogniseTable(std::string_view head);
/// TensorFlow's step statistics in wire format.
bool looksLikeStepStats(std::string_view head);
/// The same as protobuf text.
bool looksLikeStepStatsText(std::string_view head);

} // namespace pw::formats
