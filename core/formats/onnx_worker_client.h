#pragma once

#include "core/formats/worker_client.h"

namespace pw::formats {

/// What travels to the child: a flag byte, then a ModelProto. Back comes kWorkerOk and the model with its value_info
/// filled in, or kWorkerFailed and the reason.
constexpr char kWorkerPlain = 'p';
constexpr char kWorkerPropagate = 'd'; ///< with data propagation: values of shape tensors are followed

constexpr double kWorkerTimeoutSeconds = 10.0;

/// Runs `<program> --worker onnx-shapes`. The child may crash, hang or talk nonsense: that is an error of code
/// External. A stop request kills it at once and fails with Busy.
Result<std::string> askShapeWorker(const std::string& program, char mode, std::string_view model, std::stop_token stop,
                                   double timeoutSeconds = kWorkerTimeoutSeconds);

} // namespace pw::formats
