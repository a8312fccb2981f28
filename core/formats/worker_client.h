#pragma once

#include "core/formats/formats.h"

namespace pw::formats {

// The first byte of every worker's answer.
constexpr char kWorkerOk = 'O';
constexpr char kWorkerFailed = 'E'; ///< the reason follows

/// A hidden verb of the command-line program, run for work that may die.
struct WorkerCall {
    const std::string& program;
    const char* verb; ///< "onnx-shapes"
    /// What the child finds on its standard input: two parts, so that the large one is not copied.
    std::string_view requestHead;
    std::string_view requestBody;
    double timeoutSeconds;
    std::size_t maxAnswerBytes;
};

/// What came of a call that reached its end.
struct WorkerAnswer {
    bool isOk = false;
    std::string text; ///< what was asked for, or the reason why not
};

/// Runs `<program> --worker <verb>`. The child may crash, hang or talk nonsense: that is an error of code External. A
/// stop request kills it at once and fails with Busy.
Result<WorkerAnswer> callWorker(const WorkerCall& call, const std::stop_token& stop);

} // namespace pw::formats
