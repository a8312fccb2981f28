#pragma once

#include "core/formats/file_handle.h"
#include "core/formats/formats.h"

namespace pw::formats {

/// A graph file on its way to its importer.
struct Source {
    const OpenFile& file;
    const std::string& path;
    std::string baseName; ///< without folder and known endings: the name of a graph that has none

    /// The whole file, for formats that are text; refuses more than 512 MB.
    Result<std::string> text() const;
};

// One importer per graph format. Errors carry the place; the file is filled in by loadGraph().
Result<GraphPtr> importOnnx(const Source& source, const LoadOptions& options);
Result<GraphPtr> importOnnxText(const Source& source, const LoadOptions& options);
Result<GraphPtr> importDot(const Source& source, const LoadOptions& options);
Result<GraphPtr> importGraphJson(const Source& source, const LoadOptions& options);
Result<GraphPtr> importDnnPartitioning(const Source& source, const LoadOptions& options);
Result<GraphPtr> importPipeDream(const Source& source, const LoadOptions& options);
Result<GraphPtr> importDagBench(const Source& source, const LoadOptions& options);
Result<GraphPtr> importStg(const Source& source, const LoadOptions& options);
Result<GraphPtr> importNGraph(const Source& source, const LoadOptions& options);
Result<GraphPtr> importPiper(const Source& source, const LoadOptions& options);
Result<GraphPtr> importModelExplorer(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfGraphDef(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfGraphDefText(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfMetaGraph(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfMetaGraphText(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfSavedModel(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfSavedModelText(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfEvents(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfJs(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfCostGraph(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTfCostGraphText(const Source& source, const LoadOptions& options);
Result<GraphPtr> importTorchScript(const Source& source, const LoadOptions& options);

} // namespace pw::formats
