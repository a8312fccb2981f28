#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pw::test {

/// Small TorchScript files, made by LibTorch. The header knows no LibTorch, so that any test may write them.
enum class TorchModel {
    ConvNet,     ///< net(x): layer1.0 = conv + batch norm + relu in place, then pooling and a linear layer
    Lstm,        ///< aten::lstm, two layers, both directions
    Control,     ///< an If on a tensor's value that holds weights, and a Loop of three rounds
    TwoInputs,   ///< x and ids: embedding, attention; a buffer and an unused parameter
    Shared,      ///< one linear layer called twice
    ShapeBranch, ///< an If on the rank of the input, asserts, sizes used for a reshape
    InPlace,     ///< writes through a view, then reads the base
    Transposed,  ///< _convolution with transposed = true, addmm
    Prints,      ///< prints text to stdout
    Endless,     ///< never comes back
    Wide,        ///< 25 million parameters in four linear layers: 100 MB
};

/// Writes the model and returns `path`.
std::string writeTorchModel(TorchModel model, const std::string& path);

/// What torch.save writes for a dictionary of weights.
std::string writeStateDict(const std::string& path);

} // namespace pw::test
