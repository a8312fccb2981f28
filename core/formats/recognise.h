#pragma once

#include "core/formats/formats.h"

namespace pw::formats {

/// How much of a file is looked at.
constexpr std::size_t kHeadBytes = 8192;

/// Every format that is told apart.
enum class Format {
    Unknown,
    Onnx,
    OnnxText,
    Dot,
    GraphJson,
    DnnPartitioning,
    DnnPartitioningSplit,
    PipeDream,
    DagBench,
    Stg,
    NGraph,
    Piper,
    ModelExplorer,
    TfGraphDef,
    TfGraphDefText,
    TfMetaGraph,
    TfMetaGraphText,
    TfSavedModel,
    TfSavedModelText,
    TfEvents,
    TfJs,
    TfCostGraph,
    TfCostGraphText,
    TorchScript,
    PlacementJson,
    PlacementCsv,
    DeviceMap,
    OrtAssignment,
    DevicesJson,
    TraceProfile,
    TfStepStats,
    TfStepStatsText,
    CsvProfile,
    Project,
    Policy,
};
FileKind kindOf(Format format);

struct Recognition {
    Format format = Format::Unknown;
    std::string foreign; ///< for Unknown: what it is instead, "" if that is not known either
};

/// Judges by content: `head` is the start of a file of `fileSize` bytes.
Recognition recognise(std::string_view head, std::int64_t fileSize);

} // namespace pw::formats
