#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace pw {

/// What kind of failure it is, for decisions (exit codes, which dialog). Cancelling is not an error.
enum class ErrorCode {
    NotFound,    ///< a file, op, device, run that is not there
    Parse,       ///< the bytes are not what the format says
    Invalid,     ///< well-formed, but not a legal value (cycle where a DAG is needed, device set without devices)
    Unsupported, ///< legal, but this program cannot do it
    Io,          ///< reading or writing failed: read-only, disk full, permission
    Busy,        ///< somebody else holds it
    TooLarge,    ///< would need more memory or time than allowed
    External,    ///< a library or child process failed
    Internal,    ///< a bug here
};

/// Short stable name of a code ("not_found"), as printed in JSON.
const char* errorCodeName(ErrorCode code);

/// One failure: the code, the reason in the reporter's own terms, and where. `file` and `where` may be empty.
struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message; ///< the reason, one sentence without the file's name
    std::string file;    ///< path of the file at fault
    std::string where;   ///< place in it: line 12, op "conv1", key "devices[0].name"

    /// "file: where: message", leaving out what is empty.
    std::string toString() const;
};

template<class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {}, std::string file = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message), std::move(file), std::move(where)});
}

inline tl::unexpected<Error> fail(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

/// Something an importer noticed and went on. Same places as Error.
struct Warning {
    std::string kind;   ///< stable word: "missing_input", "unknown_shape"
    std::string where;
    std::string detail;
};

} // namespace pw

/// Evaluates an expression of type Result<T> or Status and returns its error from the enclosing function.
#define PW_CONCAT_(a, b) a##b
#define PW_CONCAT(a, b) PW_CONCAT_(a, b)
#define PW_TRY_IMPL_(tmp, decl, expr)                                                                                  \
    auto tmp = (expr);                                                                                                 \
    if (!tmp)                                                                                                          \
        return tl::unexpected<::pw::Error>(std::move(tmp).error());                                                    \
    decl = std::move(*tmp)
#define PW_TRY(decl, expr) PW_TRY_IMPL_(PW_CONCAT(pwTry_, __LINE__), decl, expr)
#define PW_CHECK(expr)                                                                                                 \
    do {                                                                                                               \
        if (auto pwStatus = (expr); !pwStatus)                                                                         \
            return tl::unexpected<::pw::Error>(std::move(pwStatus).error());                                           \
    } while (false)
