#pragma once

#include "core/base/result.h"

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace pw::formats::tf {

/// Parses protobuf's text form, unknown fields left aside. `what` completes "not a readable ...". Nesting and the number
/// of messages are limited first, since each of them costs memory that its few bytes do not show.
Status parseText(std::string_view content, const std::string& what, google::protobuf::Message& into);

/// "line 3, column 14" of a byte.
std::string placeInText(std::string_view content, std::size_t byte);

} // namespace pw::formats::tf
