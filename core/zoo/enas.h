#pragma once

#include "core/base/rng.h"
#include "core/zoo/layers.h"

namespace pw::zoo {

/// The networks that ENAS builds for CIFAR-10. Private to enas_*.cpp.
struct EnasShape {
    std::int64_t layers = 6;
    std::int64_t channels = 20;
    std::int64_t batch = 160;
    std::int64_t classes = 10;
    bool auxiliary = true; ///< micro alone
};

/// The child of the macro search space: an op per layer and any earlier layers added to it, both drawn evenly.
TensorId buildEnasMacroChild(Net& net, const EnasShape& shape, Rng& rng);

} // namespace pw::zoo
