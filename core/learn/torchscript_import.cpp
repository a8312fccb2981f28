#include "core/learn/torchscript_import.h"

#include "core/learn/torch_device.h"
#include "core/learn/torchscript_graph.h"
#include "core/learn/torchscript_module.h"

#include <torch/csrc/jit/runtime/print_handler.h>

namespace pw::learn {

namespace {

/// "models/resnet.pt" -> "resnet"
std::string baseName(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const auto dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

Warning shapesMissing(const TorchModule& module) {
    const std::string inputs = forwardInputs(module.module);
    return {"unknown_shape", "",
            "TorchScript holds no shapes, so sizes and FLOPs are unknown. Describe the inputs of forward, in order: "
            "--input 1x3x224x224:f32" + (inputs.empty() ? std::string() : " (there are: " + inputs + ")")};
}

Result<GraphPtr> importLoaded(const TorchModule& module, const TorchScriptSpec& spec) {
    std::vector<Warning> warnings;
    if (spec.inputs.empty()) {
        warnings.push_back(shapesMissing(module));
    } else if (const Status run = recordShapes(module, spec); !run) {
        if (run.error().code == ErrorCode::Invalid) // the description itself is wrong
            return fail(run.error());
        warnings.push_back({"unknown_shape", "forward", "the model does not run on the described inputs, so that sizes after that are unknown: " + run.error().message});
    }
    if (spec.stop.stop_requested())
        return fail(ErrorCode::Busy, "cancelled");
    return emitTorchGraph(module, baseName(spec.path), std::move(warnings), spec.stop);
}

} // namespace

Result<GraphPtr> importTorchScript(const TorchScriptSpec& spec) {
    useOneThread();
    torch::jit::setPrintHandler([](const std::string&) {}); // what a model prints is not for our output
    try {
        PW_TRY(const TorchModule module, loadTorchModule(spec.path));
        return importLoaded(module, spec);
    } catch (const std::exception& error) {
        return fail(ErrorCode::Parse, "LibTorch cannot read it: " + torchReason(error));
    } catch (...) {
        return fail(ErrorCode::External, "LibTorch failed without a reason");
    }
}

} // namespace pw::learn
