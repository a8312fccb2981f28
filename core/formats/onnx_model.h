#pragma once

#include "core/formats/pw_onnx.pb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pw::formats {

/// Type and shape of an ONNX value. `dims` holds -1 for what is unknown or symbolic.
struct ValueType {
    std::int32_t elemType = 0; ///< TensorProto.DataType, 0 = unknown
    bool shapeKnown = false;   ///< rank is known
    std::vector<std::int64_t> dims;

    bool isStatic() const;
};
using TypeTable = std::unordered_map<std::string, ValueType>;

std::string_view onnxDtype(std::int32_t elemType); ///< "f32"; "" if unknown, "string" for text

/// Bytes of a tensor by its dims, whatever its storage. Nothing for sizes that cannot be (negative, beyond 2^50).
std::optional<std::int64_t> onnxTensorBytes(const onnx::TensorProto& tensor);
/// Bytes of the dense values that a sparse tensor stores, plus their indices.
std::optional<std::int64_t> onnxTensorBytes(const onnx::SparseTensorProto& tensor);

/// Values of an integer or bool tensor whose data is at hand and complete.
std::optional<std::vector<std::int64_t>> onnxIntegers(const onnx::TensorProto& tensor);

const onnx::AttributeProto* findAttribute(const onnx::NodeProto& node, std::string_view name);
std::int64_t attributeInt(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback);

ValueType typeOf(const onnx::TypeProto& type);
ValueType typeOf(const onnx::TensorProto& tensor);

/// Key of the node metadata that holds an op's device: ONNX Runtime's session.layer_assignment_settings maps it to one.
inline constexpr std::string_view kOnnxDeviceKey = "layer_ann";

/// "MatMul", with the domain if it is not the default one: "com.microsoft::Gelu".
std::string onnxTypeName(std::string_view domain, std::string_view opType);

/// True for ai.onnx, under either of its spellings.
bool isDefaultDomain(std::string_view domain);
bool isDefaultDomain(const onnx::NodeProto& node);

} // namespace pw::formats
