#include "app/cli/torchscript_worker.h"

#include "core/formats/torchscript_worker.h"
#include "core/learn/learn_loader.h"

namespace pw::cli {

namespace {

Result<formats::ProgramImporter> loadLibTorch() {
    const auto library = learn::load();
    if (!library)
        return fail(ErrorCode::Unsupported, "is TorchScript, which only LibTorch reads: " + library.error().toString());
    return [library = *library](const std::string& path, const std::vector<formats::SampleInput>& inputs) {
        learn::TorchScriptSpec spec;
        spec.path = path;
        for (const formats::SampleInput& input : inputs)
            spec.inputs.push_back({input.dims, input.dtype});
        return library->importTorchScript(spec);
    };
}

} // namespace

int runTorchScriptWorker() {
    return formats::runTorchScriptWorker(loadLibTorch);
}

} // namespace pw::cli
