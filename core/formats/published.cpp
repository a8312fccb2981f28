#include "core/formats/published.h"

#include <cmath>

namespace pw::formats {

namespace {

constexpr double kMaxBytes = 1125899906842624.0; ///< 2^50, so that sums over thousands of ops stay within 64 bits

Result<double> checkedAmount(const Json& value, const std::string& path) {
    PW_TRY(const double number, jsonNumber(value, path));
    if (!std::isfinite(number) || number < 0.0)
        return fail(ErrorCode::Invalid, "must be finite and 0 or more, found " + value.dump(), path);
    return number;
}

} // namespace

Result<JsonObject> entryOf(const Json& list, std::size_t index, const std::string& listPath) {
    return JsonObject::of(list[index], listPath + "[" + std::to_string(index) + "]");
}

Result<const Json*> requiredArray(const JsonObject& object, const char* key) {
    if (object.find(key) == nullptr)
        return fail(ErrorCode::Parse, "missing", object.pathOf(key));
    return object.array(key);
}

Result<double> requiredAmount(const JsonObject& object, const char* key) {
    const Json* const value = object.find(key);
    if (value == nullptr)
        return fail(ErrorCode::Parse, "missing", object.pathOf(key));
    return checkedAmount(*value, object.pathOf(key));
}

Result<double> amount(const JsonObject& object, const char* key, double fallback) {
    const Json* const value = object.find(key);
    return value != nullptr ? checkedAmount(*value, object.pathOf(key)) : Result<double>(fallback);
}

Result<std::int64_t> wholeBytes(double bytes, const std::string& path) {
    if (!(bytes >= 0.0 && bytes <= kMaxBytes))
        return fail(ErrorCode::TooLarge, "is more than 2^50 bytes", path);
    return std::llround(bytes);
}

Result<std::int64_t> byteAmount(const JsonObject& object, const char* key, std::int64_t fallback) {
    PW_TRY(const double bytes, amount(object, key, static_cast<double>(fallback)));
    return wholeBytes(bytes, object.pathOf(key));
}

Result<bool> flag(const JsonObject& object, const char* key, bool fallback) {
    const Json* const value = object.find(key);
    if (value == nullptr)
        return fallback;
    if (value->is_boolean())
        return value->get<bool>();
    if (value->is_number() && (*value == 0 || *value == 1))
        return *value == 1;
    return fail(ErrorCode::Parse,
                "expected true, false, 0 or 1, found " + (value->is_number() ? value->dump() : jsonKind(*value)),
                object.pathOf(key));
}

Result<std::string> requiredId(const JsonObject& object, const char* key) {
    const Json* const value = object.find(key);
    if (value == nullptr)
        return fail(ErrorCode::Parse, "missing", object.pathOf(key));
    if (value->is_string())
        return value->get<std::string>();
    PW_TRY(const std::int64_t number, jsonInteger(*value, object.pathOf(key)));
    return std::to_string(number);
}

Status NodeTable::add(const std::string& id, OpId op, const std::string& where) {
    if (!m_ops.emplace(id, op).second)
        return fail(ErrorCode::Invalid, "a second node has the id \"" + id + "\"", where);
    return {};
}

Result<OpId> NodeTable::find(const std::string& id, const std::string& where) const {
    const auto found = m_ops.find(id);
    if (found == m_ops.end())
        return fail(ErrorCode::Invalid, "there is no node \"" + id + "\"", where);
    return found->second;
}

Result<OpId> NodeTable::find(const JsonObject& object, const char* key) const {
    PW_TRY(const std::string id, requiredId(object, key));
    return find(id, object.pathOf(key));
}

TensorId EdgeTensors::tensorOf(OpId producer, std::int64_t bytes) {
    const auto [entry, isNew] = m_tensors[producer].try_emplace(bytes);
    if (isNew) {
        Tensor tensor;
        tensor.bytes = bytes;
        entry->second = m_builder.addOutput(producer, std::move(tensor));
    }
    return entry->second;
}

Result<Json> parseSource(const Source& source) {
    PW_TRY(const std::string text, source.text());
    return parseJson(text, source.path);
}

} // namespace pw::formats
