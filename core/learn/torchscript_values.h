#pragma once

// What single values and nodes of a TorchScript graph say about themselves.

#include "core/learn/torchscript_module.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pw::learn {

/// A parameter, buffer or constant tensor of a module.
struct TorchWeight {
    std::string path; ///< "layer1/0/conv1/weight"
    std::vector<std::int64_t> dims;
    std::int64_t bytes = 0;
    const void* storage = nullptr; ///< tells shared weights
    std::int64_t offset = 0;
};

/// All weights by the value of the graph that reads them, and who was the first to.
class TorchWeights {
public:
    explicit TorchWeights(const TorchModule& module);

    const TorchWeight* find(const torch::jit::Value& value) const;
    /// Empty for the first reader, which owns the weight; else that reader's name.
    std::string claim(const TorchWeight& weight, const std::string& reader);
    /// Parameters and buffers that nothing has claimed.
    std::int64_t unclaimedBytes() const;

private:
    using Identity = std::pair<const void*, std::int64_t>;
    struct IdentityHash {
        std::size_t operator()(const Identity& identity) const;
    };
    void collect(const torch::jit::Block& block);
    void addAttribute(const torch::jit::Node& node);
    void add(const torch::jit::Value& value, std::string path, const at::Tensor& tensor);

    struct Object {
        c10::IValue value;
        std::string path;
    };
    const TorchModule& m_module;
    std::unordered_map<const torch::jit::Value*, Object> m_objects;
    std::unordered_map<const torch::jit::Value*, TorchWeight> m_weights;
    std::unordered_map<Identity, std::string, IdentityHash> m_firstReader;
};

/// What becomes of a node.
enum class Folding {
    Nothing, ///< constants, attribute reads, constructs: seen through where they are used
    Alias,   ///< its output is its input
    Unpack,
    Op,
};
Folding foldingOf(const torch::jit::Node& node);

/// A list, tuple or dictionary made of values.
bool isTorchConstruct(const torch::jit::Node& node);
/// A call that inlining left: nothing is known about what it does.
bool isOpaque(const torch::jit::Node& node);
/// The ListUnpack or TupleUnpack that is all that reads the value, else nullptr.
const torch::jit::Node* onlyUnpackOf(const torch::jit::Value& value);

/// Path of the module whose code the node comes from, "layer1/0/conv1".
std::string torchScope(const torch::jit::Node& node);
/// Inputs that are data: tensors and what holds them first, in order, then numbers that ops compute.
std::vector<const torch::jit::Value*> torchOperands(const torch::jit::Node& node);
/// Constant arguments, under the names that the cost model reads (kernel_shape, strides, pads, dilations, group).
std::vector<std::pair<std::string, std::string>> torchAttributes(const torch::jit::Node& node);
/// Rounds of a prim::Loop: as counted, else as its constant bound says; negative where unknown.
double torchTripCount(const torch::jit::Node& node);
/// Size and type, as far as the value's type says them.
Tensor torchTensor(const torch::jit::Value& value);

/// "1x3x224x224", "?" for unknown dims, "1" for a scalar, "" where nothing is known.
std::string shapeText(const std::vector<std::int64_t>& dims);
std::string shapeText(const c10::Type& type);

} // namespace pw::learn
