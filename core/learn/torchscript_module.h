#pragma once

// The part of the TorchScript import that talks to LibTorch's interpreter. Only torchscript_*.cpp may include this.

#include "core/learn/learn.h"

#include <torch/csrc/jit/api/module.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace pw::learn {

/// A loaded module and the graph of its forward method: calls inlined, what is fixed folded.
struct TorchModule {
    torch::jit::Module module;
    std::shared_ptr<torch::jit::Graph> graph;
};

/// Number of times a prim::Loop's body ran, as an attribute (float) of its node.
constexpr const char* kTripsAttribute = "pw_trips";

/// "f32", "i64"; "" for what the cost model does not know.
std::string torchDtype(at::ScalarType type);

/// One line of what LibTorch threw: the reason without C++ or TorchScript traceback.
std::string torchReason(const std::exception& error);

/// "x (Tensor), mask (Tensor)": what forward wants, without self.
std::string forwardInputs(const torch::jit::Module& module);

/// Loads the file onto the CPU. Throws what LibTorch throws.
Result<TorchModule> loadTorchModule(const std::string& path);

/// Runs forward once on made-up values of the described sizes. What it sees becomes the types of the graph's values
/// and the trip counts of its loops; answers to questions about shapes are folded, so that branches on them go away.
/// The error says why it did not run to its end; what was seen before that is kept.
Status recordShapes(const TorchModule& module, const TorchScriptSpec& spec);

} // namespace pw::learn
