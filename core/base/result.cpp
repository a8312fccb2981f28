#include "core/base/result.h"

namespace pw {

const char* errorCodeName(ErrorCode code) {
    switch (code) {
    case ErrorCode::NotFound: return "not_found";
    case ErrorCode::Parse: return "parse";
    case ErrorCode::Invalid: return "invalid";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::Io: return "io";
    case ErrorCode::Busy: return "busy";
    case ErrorCode::TooLarge: return "too_large";
    case ErrorCode::External: return "external";
    case ErrorCode::Internal: return "internal";
    }
    return "internal";
}

std::string Error::toString() const {
    std::string text;
    for (const std::string* part : {&file, &where}) {
        if (!part->empty())
            text += *part + ": ";
    }
    return text + message;
}

} // namespace pw
