#include "core/formats/tf_attributes.h"

#include "core/base/text.h"

#include <charconv>

namespace pw::formats::tf {

namespace {

constexpr int kMaxListedElements = 64;
constexpr std::size_t kMaxText = 256;

std::string floatText(float value) {
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string typeText(int type) {
    const std::string_view name = dtypeName(type);
    return name.empty() ? "type " + std::to_string(type) : std::string(name);
}

std::string shapeText(const tensorflow::TensorShapeProto& shape) {
    const auto dims = dimsOf(shape);
    if (!dims)
        return "?";
    std::string out;
    for (const std::int64_t dim : *dims)
        out += (out.empty() ? "" : "x") + (dim < 0 ? std::string("?") : std::to_string(dim));
    return out.empty() ? "scalar" : out;
}

template<class List, class ToText>
std::string joined(const List& list, ToText toText) {
    std::string out;
    for (const auto& item : list)
        out += (out.empty() ? "" : ",") + toText(item);
    return out;
}

std::string listText(const tensorflow::AttrValue::ListValue& list) {
    if (list.i_size() > kMaxListedElements || list.f_size() > kMaxListedElements || list.b_size() > kMaxListedElements ||
        list.type_size() > kMaxListedElements || list.s_size() > kMaxListedElements ||
        list.shape_size() > kMaxListedElements)
        return {};
    if (list.i_size() > 0)
        return joined(list.i(), [](std::int64_t value) { return std::to_string(value); });
    if (list.f_size() > 0)
        return joined(list.f(), floatText);
    if (list.b_size() > 0)
        return joined(list.b(), [](bool value) { return std::string(value ? "true" : "false"); });
    if (list.type_size() > 0)
        return joined(list.type(), typeText);
    if (list.s_size() > 0)
        return joined(list.s(), [](const std::string& value) { return text::toValidUtf8(value); });
    return joined(list.shape(), shapeText);
}

std::string valueText(const tensorflow::AttrValue& value) {
    switch (value.value_case()) {
    case tensorflow::AttrValue::kS: return value.s().size() <= kMaxText ? text::toValidUtf8(value.s()) : std::string();
    case tensorflow::AttrValue::kI: return std::to_string(value.i());
    case tensorflow::AttrValue::kF: return floatText(value.f());
    case tensorflow::AttrValue::kB: return value.b() ? "true" : "false";
    case tensorflow::AttrValue::kType: return typeText(value.type());
    case tensorflow::AttrValue::kShape: return shapeText(value.shape());
    case tensorflow::AttrValue::kList: return listText(value.list());
    default: return {};
    }
}

} // namespace

std::string attributeText(const tensorflow::AttrEntry& entry) {
    if (entry.key() == "_class" || entry.key() == "_output_shapes") // they are the colocation and the tensors' shapes
        return {};
    std::string out = valueText(entry.value());
    return out.size() <= kMaxText ? out : std::string();
}

} // namespace pw::formats::tf
