#include "core/formats/onnx_model.h"

#include "core/base/text.h"
#include "core/graph/op_graph.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 50;
constexpr std::size_t kMaxIntegers = 8192; ///< the 64 KB that the reader keeps

template<class Value>
void appendRaw(const std::string& raw, std::vector<std::int64_t>& out) {
    for (std::size_t at = 0; at + sizeof(Value) <= raw.size(); at += sizeof(Value)) {
        Value value = {};
        std::memcpy(&value, raw.data() + at, sizeof value); // little-endian by the format, as this machine
        out.push_back(static_cast<std::int64_t>(value));
    }
}

void appendRaw(std::int32_t elemType, const std::string& raw, std::vector<std::int64_t>& out) {
    switch (elemType) {
    case 2:
    case 9:
        return appendRaw<std::uint8_t>(raw, out);
    case 3:
        return appendRaw<std::int8_t>(raw, out);
    case 4:
        return appendRaw<std::uint16_t>(raw, out);
    case 5:
        return appendRaw<std::int16_t>(raw, out);
    case 6:
        return appendRaw<std::int32_t>(raw, out);
    case 7:
        return appendRaw<std::int64_t>(raw, out);
    case 12:
        return appendRaw<std::uint32_t>(raw, out);
    case 13:
        return appendRaw<std::uint64_t>(raw, out);
    default:
        return;
    }
}

} // namespace

bool ValueType::isStatic() const {
    return shapeKnown && std::all_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim >= 0; });
}

std::string_view onnxDtype(std::int32_t elemType) {
    static constexpr std::array<std::string_view, 24> kNames = {
        "",    "f32", "u8",  "i8",   "u16",  "i16", "i32", "i64", "string", "bool", "f16", "f64",
        "u32", "u64", "c64", "c128", "bf16", "f8",  "f8",  "f8",  "f8",     "u4",   "i4",  "",
    };
    return elemType >= 0 && static_cast<std::size_t>(elemType) < kNames.size()
               ? kNames[static_cast<std::size_t>(elemType)]
               : std::string_view();
}

std::optional<std::int64_t> onnxTensorBytes(const onnx::TensorProto& tensor) {
    const auto count = elementCount(std::span(tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())));
    if (!count || *count > kMaxTensorBytes / 16)
        return std::nullopt;
    return *count * dtypeBytes(onnxDtype(tensor.data_type()));
}

std::optional<std::int64_t> onnxTensorBytes(const onnx::SparseTensorProto& tensor) {
    const auto values = onnxTensorBytes(tensor.values());
    const auto indices = onnxTensorBytes(tensor.indices());
    if (!values || !indices)
        return std::nullopt;
    return *values + *indices;
}

std::optional<std::vector<std::int64_t>> onnxIntegers(const onnx::TensorProto& tensor) {
    std::vector<std::int64_t> values;
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
        return std::nullopt;
    const auto count = elementCount(std::span(tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())));
    if (!count || static_cast<std::size_t>(*count) > kMaxIntegers)
        return std::nullopt;
    if (tensor.has_raw_data())
        appendRaw(tensor.data_type(), tensor.raw_data(), values);
    else if (tensor.int64_data_size() > 0)
        values.assign(tensor.int64_data().begin(), tensor.int64_data().end());
    else
        values.assign(tensor.int32_data().begin(), tensor.int32_data().end());
    if (values.size() != static_cast<std::size_t>(*count))
        return std::nullopt;
    return values;
}

const onnx::AttributeProto* findAttribute(const onnx::NodeProto& node, std::string_view name) {
    for (const auto& attribute : node.attribute()) {
        if (attribute.name() == name)
            return &attribute;
    }
    return nullptr;
}

std::int64_t attributeInt(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback) {
    const auto* attribute = findAttribute(node, name);
    return attribute != nullptr && attribute->has_i() ? attribute->i() : fallback;
}

ValueType typeOf(const onnx::TypeProto& type) {
    ValueType value;
    if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET)
        return value;
    const auto& tensor = type.has_tensor_type() ? type.tensor_type() : type.sparse_tensor_type();
    value.elemType = tensor.elem_type();
    value.shapeKnown = tensor.has_shape();
    for (const auto& dim : tensor.shape().dim())
        value.dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
    return value;
}

ValueType typeOf(const onnx::TensorProto& tensor) {
    ValueType value{tensor.data_type(), true, {}};
    for (const std::int64_t dim : tensor.dims())
        value.dims.push_back(std::max<std::int64_t>(dim, -1));
    return value;
}

std::string onnxTypeName(std::string_view domain, std::string_view opType) {
    return text::toValidUtf8(isDefaultDomain(domain) ? std::string(opType)
                                                     : std::string(domain) + "::" + std::string(opType));
}

bool isDefaultDomain(std::string_view domain) {
    return domain.empty() || domain == "ai.onnx";
}

bool isDefaultDomain(const onnx::NodeProto& node) {
    return isDefaultDomain(node.domain());
}

} // namespace pw::formats
