#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace pw {

/// A 32-bit index that cannot be mixed up with an index of another kind. Ids are dense: they run from 0 to count - 1
/// within the object that made them, so `index()` may index a vector. A default-constructed id is invalid.
template<class Tag>
class StrongId {
public:
    using Value = std::uint32_t;
    static constexpr Value kInvalid = std::numeric_limits<Value>::max();

    constexpr StrongId() = default;
    constexpr explicit StrongId(std::size_t value) : m_value(static_cast<Value>(value)) {}

    constexpr bool isValid() const { return m_value != kInvalid; }
    constexpr std::size_t index() const { return m_value; }
    constexpr Value value() const { return m_value; }

    friend constexpr auto operator<=>(StrongId, StrongId) = default;

private:
    Value m_value = kInvalid;
};

using OpId = StrongId<struct OpTag>;
using TensorId = StrongId<struct TensorTag>;
using EdgeId = StrongId<struct EdgeTag>;
using ScopeId = StrongId<struct ScopeTag>;
using GroupId = StrongId<struct GroupTag>;
using DeviceId = StrongId<struct DeviceTag>;
using LinkId = StrongId<struct LinkTag>;

} // namespace pw

template<class Tag>
struct std::hash<pw::StrongId<Tag>> {
    std::size_t operator()(pw::StrongId<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value()); }
};
