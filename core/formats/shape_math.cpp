#include "core/formats/shape_math.h"

#include <algorithm>

namespace pw::formats::rules {

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
    Dims dims(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
        std::int64_t& out = dims[dims.size() - 1 - i];
        if (left == 1)
            out = right;
        else if (right == 1 || left == right)
            out = left;
        else if (left < 0 || right < 0)
            out = std::max(left, right); // the known one, if the unknown is not 1
        else
            return std::nullopt;
    }
    return dims;
}

} // namespace pw::formats::rules
