#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Writes ONNX models byte by byte, so that the tests do not lean on the parser's own message classes.
namespace pw::test::wire {

inline std::string varint(std::uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>((value & 0x7fU) | 0x80U);
    return out + static_cast<char>(value);
}
inline std::string number(unsigned field, std::uint64_t value) {
    return varint(field << 3U) + varint(value);
}
inline std::string bytes(unsigned field, std::string_view payload) {
    return varint((field << 3U) | 2U) + varint(payload.size()) + std::string(payload);
}

inline std::string shape(const std::vector<std::string>& dims) {
    std::string out;
    for (const auto& dim : dims) {
        const bool isNumber = !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
        out += bytes(1, isNumber ? number(1, std::stoull(dim)) : dim.empty() ? std::string() : bytes(2, dim));
    }
    return out;
}
inline std::string valueInfo(std::string_view name, int elemType, const std::vector<std::string>& dims) {
    return bytes(1, name) + bytes(2, bytes(1, number(1, static_cast<std::uint64_t>(elemType)) + bytes(2, shape(dims))));
}
/// TensorProto without data.
inline std::string tensor(std::string_view name, int elemType, const std::vector<std::int64_t>& dims) {
    std::string out;
    for (const std::int64_t dim : dims)
        out += number(1, static_cast<std::uint64_t>(dim));
    return out + number(2, static_cast<std::uint64_t>(elemType)) + bytes(8, name);
}
inline std::string int64Tensor(std::string_view name, const std::vector<std::int64_t>& values) {
    std::string raw;
    for (const std::int64_t value : values)
        raw.append(reinterpret_cast<const char*>(&value), sizeof value);
    return tensor(name, 7, {static_cast<std::int64_t>(values.size())}) + bytes(9, raw);
}
inline std::string node(std::string_view type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, std::string_view name = {},
                        std::string_view more = {}) {
    std::string out;
    for (const auto& input : inputs)
        out += bytes(1, input);
    for (const auto& output : outputs)
        out += bytes(2, output);
    if (!name.empty())
        out += bytes(3, name);
    return out + bytes(4, type) + std::string(more);
}
inline std::string graphAttribute(std::string_view name, std::string_view graph) {
    return bytes(5, bytes(1, name) + bytes(6, graph) + number(20, 5));
}
inline std::string intAttribute(std::string_view name, std::int64_t value) {
    return bytes(5, bytes(1, name) + number(3, static_cast<std::uint64_t>(value)) + number(20, 2));
}
inline std::string model(std::string_view graph, int opset = 13) {
    return number(1, 8) + bytes(7, graph) + bytes(8, bytes(1, "") + number(2, static_cast<std::uint64_t>(opset)));
}

} // namespace pw::test::wire
