// Opens TorchScript files: LibTorch reads them in a child process, which hands the graph over.

#include "core/formats/importers.h"
#include "core/formats/torchscript_protocol.h"
#include "core/formats/worker_client.h"
#include "core/formats/zip_directory.h"

#include <algorithm>

namespace pw::formats {

namespace {

constexpr double kTimeoutSeconds = 60.0;
constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 30; ///< a million ops; weights are not in it

/// What PyTorch wrote into the archive: a program, or only weights.
Status checkIsProgram(const std::vector<std::string>& names) {
    const auto any = [&](auto&& isIt) { return std::any_of(names.begin(), names.end(), isIt); };
    const auto ends = [](std::string_view ending) {
        return [ending](const std::string& name) { return std::string_view(name).ends_with(ending); };
    };
    if (any(ends("/constants.pkl")) ||
        any([](const std::string& name) { return name.find("/code/") != std::string::npos; }))
        return {};
    if (any(ends("/archive_format")) || any(ends("serialized_exported_program.json")))
        return fail(ErrorCode::Unsupported, "is a program of torch.export (.pt2), not TorchScript; save one with "
                                            "torch.jit.trace(model, inputs).save(...)");
    if (any(ends("/data.pkl")))
        return fail(ErrorCode::Unsupported,
                    "holds weights or Python objects only (torch.save, such as a state_dict): there is no program in "
                    "it. Save one with torch.jit.script(model).save(...) or torch.jit.trace(model, inputs).save(...)");
    return fail(ErrorCode::Unsupported, "is a ZIP archive of PyTorch without a program in it");
}

} // namespace

Result<GraphPtr> importTorchScript(const Source& source, const LoadOptions& options) {
    PW_TRY(const auto names, zipEntryNames(source.file));
    PW_CHECK(checkIsProgram(names));
    if (options.workerProgram.empty())
        return fail(ErrorCode::Unsupported, "is TorchScript, which is opened by placewright-cli; it was not found");
    const std::string request = toText(TorchScriptRequest{source.path, options.sampleInputs});
    const WorkerCall call{options.workerProgram, "torchscript", request, {}, kTimeoutSeconds, kMaxAnswerBytes};
    auto answer = callWorker(call, options.stop);
    if (!answer && answer.error().code == ErrorCode::Busy)
        return fail(answer.error());
    if (!answer)
        return fail(ErrorCode::External, "LibTorch, in a process of its own, did not open it: " + answer.error().message);
    if (!answer->isOk)
        return fail(errorFromText(answer->text));
    auto graph = graphFromText(answer->text);
    if (!graph)
        return fail(ErrorCode::Internal, "the graph handed over cannot be read: " + graph.error().toString());
    return graph;
}

} // namespace pw::formats
