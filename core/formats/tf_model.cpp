#include "core/formats/tf_model.h"

#include "core/graph/op_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace pw::formats::tf {

namespace {

constexpr int kRefOffset = 100;
constexpr std::size_t kMaxRank = 254; ///< TensorFlow's own limit [C]
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMaxIntegers = 8192;

template<class Integer>
Dims unpacked(const std::string& bytes) {
    Dims values(bytes.size() / sizeof(Integer));
    for (std::size_t i = 0; i < values.size(); ++i) {
        Integer value;
        std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
        values[i] = static_cast<std::int64_t>(value);
    }
    return values;
}

/// Short lists stand for tensors whose last value repeats.
template<class List>
Dims repeated(const List& list, std::int64_t count) {
    Dims values(list.begin(), list.end());
    values.resize(static_cast<std::size_t>(count), values.empty() ? 0 : values.back());
    return values;
}

} // namespace

int withoutRef(int dtype) {
    return dtype > kRefOffset ? dtype - kRefOffset : dtype;
}

std::string_view dtypeName(int dtype) {
    static constexpr std::array<std::string_view, 31> kNames = {
        "",    "f32", "f64",    "i32",  "u8",  "i16", "i8",  "string", "c64",  "i64", "bool", "i8",  "u8", "i32", "bf16", "i16",
        "u16", "u16", "c128",   "f16",  "resource", "variant", "u32", "u64", "f8", "f8", "",  "",  "",   "i4",  "u4"};
    const int base = withoutRef(dtype);
    return base < 0 || base >= static_cast<int>(kNames.size()) ? std::string_view()
                                                               : kNames[static_cast<std::size_t>(base)];
}

int dtypeNumber(std::string_view name) {
    tensorflow::DataType type = tensorflow::DT_INVALID;
    return tensorflow::DataType_Parse(std::string(name), &type) ? type : 0;
}

std::optional<Dims> dimsOf(const tensorflow::TensorShapeProto& shape) {
    if (shape.unknown_rank() || shape.dim_size() > static_cast<int>(kMaxRank))
        return std::nullopt;
    Dims dims;
    dims.reserve(static_cast<std::size_t>(shape.dim_size()));
    for (const auto& dim : shape.dim())
        dims.push_back(std::max<std::int64_t>(-1, dim.size()));
    return dims;
}

const tensorflow::AttrValue* findAttr(const tensorflow::NodeDef& node, std::string_view key) {
    for (const auto& entry : node.attr()) {
        if (entry.key() == key)
            return &entry.value();
    }
    return nullptr;
}

std::optional<std::int64_t> tensorBytes(int dtype, const Dims& dims) {
    const auto count = elementCount(dims);
    const std::int64_t item = dtypeBytes(dtypeName(dtype));
    if (!count || (item > 0 && *count > kMaxBytes / item))
        return std::nullopt;
    return *count * item;
}

std::optional<std::int64_t> tensorBytes(const tensorflow::TensorProto& tensor) {
    if (withoutRef(tensor.dtype()) == tensorflow::DT_STRING) {
        std::int64_t bytes = std::max<std::int64_t>(0, tensor.string_bytes());
        for (const auto& value : tensor.string_val())
            bytes += static_cast<std::int64_t>(value.size());
        return bytes < kMaxBytes ? std::optional(bytes) : std::nullopt;
    }
    Dims dims;
    for (const auto& dim : tensor.tensor_shape().dim())
        dims.push_back(dim.size());
    return tensorBytes(tensor.dtype(), dims);
}

std::optional<Dims> tensorIntegers(const tensorflow::TensorProto& tensor) {
    const auto dims = dimsOf(tensor.tensor_shape());
    const auto count = dims ? elementCount(*dims) : std::nullopt;
    if (!count || *count > kMaxIntegers)
        return std::nullopt;
    const int dtype = withoutRef(tensor.dtype());
    const bool isWide = dtype == tensorflow::DT_INT64;
    if (!isWide && dtype != tensorflow::DT_INT32)
        return std::nullopt;
    const std::string& content = tensor.tensor_content();
    if (!content.empty()) {
        const std::size_t item = isWide ? 8 : 4;
        if (content.size() != static_cast<std::size_t>(*count) * item)
            return std::nullopt;
        return isWide ? unpacked<std::int64_t>(content) : unpacked<std::int32_t>(content);
    }
    const int stored = isWide ? tensor.int64_val_size() : tensor.int_val_size();
    if (*count > 0 && (stored == 0 || stored > *count))
        return std::nullopt;
    return isWide ? repeated(tensor.int64_val(), *count) : repeated(tensor.int_val(), *count);
}

InputName splitInput(std::string_view input) {
    InputName name;
    if (input.starts_with('^')) {
        name.node = input.substr(1);
        name.isControl = true;
        return name;
    }
    name.node = input;
    const auto colon = input.rfind(':');
    if (colon == std::string_view::npos)
        return name;
    int index = 0;
    const char* const last = input.data() + input.size();
    const auto [end, error] = std::from_chars(input.data() + colon + 1, last, index);
    if (error != std::errc() || end != last || index < 0)
        return name;
    name.index = index;
    name.node = input.substr(0, colon);
    if (const auto before = name.node.rfind(':'); before != std::string_view::npos) {
        name.output = name.node.substr(before + 1);
        name.node = name.node.substr(0, before);
    }
    return name;
}

} // namespace pw::formats::tf
