#pragma once

#include "core/formats/recognise.h"

namespace pw::formats {

/// The format of TensorFlow that a binary file has by its head; Unknown if it has none of them.
Format recogniseTensorFlow(std::string_view head, std::int64_t fileSize);

/// The same for protobuf's text form; names text protos that hold no graph.
Recognition recogniseTensorFlowText(std::string_view head);

} // namespace pw::formats
