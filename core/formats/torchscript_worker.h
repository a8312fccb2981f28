#pragma once

#include "core/formats/formats.h"

#include <functional>

namespace pw::formats {

/// What opens a TorchScript file once LibTorch is there.
using ProgramImporter =
    std::function<Result<GraphPtr>(const std::string& path, const std::vector<SampleInput>& inputs)>;

/// The child's side of opening TorchScript, behind `--worker torchscript`: reads a request on stdin, answers on stdout,
/// and returns the exit code. `load` brings LibTorch in; after it, memory is limited to a few times the file, so
/// that a hostile file can only end this process.
int runTorchScriptWorker(const std::function<Result<ProgramImporter>()>& load);

} // namespace pw::formats
