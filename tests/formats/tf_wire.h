#pragma once

#include "tests/formats/onnx_wire.h"

/// Writes TensorFlow's messages byte by byte, so that the tests do not lean on the parser's own message classes.
namespace pw::test::tfwire {

using wire::bytes;
using wire::number;
using wire::varint;

constexpr int kFloat = 1, kInt32 = 3, kString = 7, kResource = 20;

inline std::string shape(const std::vector<std::int64_t>& dims) {
    std::string out;
    for (const std::int64_t dim : dims)
        out += bytes(2, number(1, static_cast<std::uint64_t>(dim)));
    return out;
}
inline std::string attr(std::string_view key, std::string_view value) {
    return bytes(5, bytes(1, key) + bytes(2, value));
}
inline std::string typeAttr(std::string_view key, int type) {
    return attr(key, number(6, static_cast<std::uint64_t>(type)));
}
inline std::string textAttr(std::string_view key, std::string_view value) {
    return attr(key, bytes(2, value));
}
inline std::string intAttr(std::string_view key, std::int64_t value) {
    return attr(key, number(3, static_cast<std::uint64_t>(value)));
}
inline std::string boolAttr(std::string_view key, bool value) {
    return attr(key, number(5, value ? 1 : 0));
}
inline std::string intsAttr(std::string_view key, const std::vector<std::int64_t>& values) {
    std::string packed;
    for (const std::int64_t value : values)
        packed += varint(static_cast<std::uint64_t>(value));
    return attr(key, bytes(1, bytes(3, packed)));
}
inline std::string shapeAttr(std::string_view key, const std::vector<std::int64_t>& dims) {
    return attr(key, bytes(7, shape(dims)));
}
inline std::string funcAttr(std::string_view key, std::string_view name) {
    return attr(key, bytes(10, bytes(1, name)));
}
/// `_class` "loc:@op".
inline std::string locAttr(std::string_view op) {
    return attr("_class", bytes(1, bytes(2, "loc:@" + std::string(op))));
}
/// TensorProto without values.
inline std::string tensor(int type, const std::vector<std::int64_t>& dims) {
    return number(1, static_cast<std::uint64_t>(type)) + bytes(2, shape(dims));
}
inline std::string intTensor(const std::vector<std::int32_t>& values, bool isScalar = false) {
    std::string content(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t));
    return tensor(kInt32, isScalar ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{std::int64_t(values.size())}) +
           bytes(4, content);
}
inline std::string nodeBody(std::string_view type, std::string_view name, const std::vector<std::string>& inputs = {},
                            std::string_view more = {}, std::string_view device = {}) {
    std::string out = bytes(1, name) + bytes(2, type);
    for (const auto& input : inputs)
        out += bytes(3, input);
    if (!device.empty())
        out += bytes(4, device);
    return out + std::string(more);
}
/// A node of a GraphDef.
inline std::string node(std::string_view type, std::string_view name, const std::vector<std::string>& inputs = {},
                        std::string_view more = {}, std::string_view device = {}) {
    return bytes(1, nodeBody(type, name, inputs, more, device));
}
inline std::string constant(std::string_view name, std::string_view tensor) {
    return node("Const", name, {}, attr("value", bytes(8, tensor)));
}
inline std::string placeholder(std::string_view name, const std::vector<std::int64_t>& dims) {
    return node("Placeholder", name, {}, typeAttr("dtype", kFloat) + shapeAttr("shape", dims));
}
/// The library of a GraphDef with one function.
inline std::string function(std::string_view name, const std::vector<std::string>& args, const std::string& nodeDefs) {
    std::string signature = bytes(1, name);
    for (const auto& arg : args)
        signature += bytes(2, bytes(1, arg) + number(3, kFloat));
    return bytes(2, bytes(1, bytes(1, signature) + nodeDefs));
}
inline std::string metaGraph(std::string_view graph) {
    return bytes(1, bytes(2, bytes(1, bytes(1, "Add"))) + bytes(5, "2.0")) + bytes(2, graph);
}
inline std::string savedModel(const std::vector<std::string>& graphs) {
    std::string out = number(1, 1);
    for (const auto& graph : graphs)
        out += bytes(2, metaGraph(graph));
    return out;
}
/// A record of an event file; the checksums are not read.
inline std::string record(std::string_view event) {
    std::string out(8, '\0');
    for (std::size_t i = 0; i < 8; ++i)
        out[i] = static_cast<char>((event.size() >> (8 * i)) & 0xffU);
    return out + "crc1" + std::string(event) + "crc2";
}
inline std::string logEvent(std::string_view payload) {
    return "\x09" + std::string(8, '\x01') + std::string(payload);
}

} // namespace pw::test::tfwire
