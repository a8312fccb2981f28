#pragma once

#include "core/learn/torchscript_module.h"

namespace pw::learn {

/// The module's forward graph as ops, edges and scopes.
Result<GraphPtr> emitTorchGraph(const TorchModule& module, const std::string& name, std::vector<Warning> warnings,
                                const std::stop_token& stop);

} // namespace pw::learn
