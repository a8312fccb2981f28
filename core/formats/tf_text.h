#pragma once

#include "core/base/result.h"

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace pw::formats::tf {

/// Parses protobuf's text form, unknown fields left aside. `what` completes "not a readable ...". Nesting and the number
/// of messages are limited first, since each of them costs memory that its few bytes do not show.
Status parseText(std::string_view content, const std::string& what, google::protobuf::Message& into);

/// The byte after a quoted text or a comment that begins at `at`; `at` itself for anything else.
std::size_t skipQuoted(std::string_view content, std::size_t at);

/// "line 3, column 14" of a byte.
std::string placeInText(std::string_view content, std::size_t byte);

} // namespace pw::formats::tf
