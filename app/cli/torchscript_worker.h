#pragma once

namespace pw::cli {

/// `--worker torchscript`: opens a TorchScript file through LibTorch, see core/formats/torchscript_worker.h.
int runTorchScriptWorker();

} // namespace pw::cli
