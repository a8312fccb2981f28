#include "core/formats/onnx_worker_client.h"

namespace pw::formats {

Result<std::string> askShapeWorker(const std::string& program, char mode, std::string_view model, std::stop_token stop,
                                   double timeoutSeconds) {
    const std::size_t maxAnswer = 4 * model.size() + (64U << 20);
    const WorkerCall call{program, "onnx-shapes", {&mode, 1}, model, timeoutSeconds, maxAnswer};
    PW_TRY(WorkerAnswer answer, callWorker(call, stop));
    if (!answer.isOk)
        return fail(ErrorCode::External, std::move(answer.text));
    return std::move(answer.text);
}

} // namespace pw::formats
