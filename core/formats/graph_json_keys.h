#pragma once

#include <array>
#include <cstddef>
#include <string_view>

/// The keys of graph JSON, sorted, and their places. The schema (resources/schema/graph.schema.json) names the same ones.
namespace pw::formats::graph_json {

inline constexpr std::array<std::string_view, 5> kGraphKeys = {
    "format", "name", "ops", "unattached_param_bytes", "version",
};
namespace GraphKey {
enum : std::size_t { Format, Name, Ops, UnattachedParamBytes, Version };
}

inline constexpr std::array<std::string_view, 18> kOpKeys = {
    "attributes", "bodies", "bytes_moved", "colocation", "cost_us",     "device",     "devices", "flops",
    "inputs",     "name",   "outputs",     "param_bytes", "phase",      "scope",      "state_bytes",
    "trip_count", "type",   "workspace_bytes",
};
namespace OpKey {
enum : std::size_t {
    Attributes, Bodies, BytesMoved, Colocation, CostUs, Device, Devices, Flops,
    Inputs, Name, Outputs, ParamBytes, Phase, Scope, StateBytes,
    TripCount, Type, WorkspaceBytes,
};
}

inline constexpr std::array<std::string_view, 4> kOutputKeys = {"bytes", "dtype", "name", "shape"};
namespace OutputKey {
enum : std::size_t { Bytes, Dtype, Name, Shape };
}

inline constexpr std::array<std::string_view, 5> kInputKeys = {"capture", "control", "op", "out", "slot"};
namespace InputKey {
enum : std::size_t { Capture, Control, Op, Out, Slot };
}

inline constexpr std::array<std::string_view, 2> kBodyKeys = {"graph", "name"};
namespace BodyKey {
enum : std::size_t { Graph, Name };
}

} // namespace pw::formats::graph_json
