#include "storage/blobs.h"

namespace pw::storage {

std::vector<std::uint8_t> packPlacement(std::span<const DeviceId> placement) {
    std::vector<std::uint8_t> blob;
    blob.reserve(placement.size() * 2);
    for (const DeviceId device : placement) {
        blob.push_back(static_cast<std::uint8_t>(device.value() & 0xff));
        blob.push_back(static_cast<std::uint8_t>((device.value() >> 8) & 0xff));
    }
    return blob;
}

Result<OpPlacement> unpackPlacement(std::span<const std::uint8_t> blob) {
    if (blob.size() % 2 != 0)
        return fail(ErrorCode::Parse, "a stored placement has an odd number of bytes");
    OpPlacement placement;
    placement.reserve(blob.size() / 2);
    for (std::size_t i = 0; i < blob.size(); i += 2)
        placement.push_back(DeviceId(static_cast<std::size_t>(blob[i]) | (static_cast<std::size_t>(blob[i + 1]) << 8)));
    return placement;
}

} // namespace pw::storage
