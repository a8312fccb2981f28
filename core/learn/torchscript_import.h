#pragma once

#include "core/learn/learn.h"

namespace pw::learn {

/// See Library::importTorchScript. Knows no LibTorch, so that the library's door may include it.
Result<GraphPtr> importTorchScript(const TorchScriptSpec& spec);

} // namespace pw::learn
