#pragma once

#include "core/zoo/layers.h"

namespace pw::zoo {

struct LstmWeights {
    TensorId kernel; ///< [input + hidden, 4 hidden]
    TensorId bias;   ///< [4 hidden]
};

struct LstmState {
    TensorId c;
    TensorId h;
};

/// Variables of one cell, in the current scope.
LstmWeights lstmWeights(Net& net, std::int64_t input, std::int64_t hidden);
LstmState lstmZeroState(Net& net, std::int64_t batch, std::int64_t hidden);
/// One time step, TensorFlow's BasicLSTMCell: 14 ops, 19 in the backward pass.
LstmState lstmStep(Net& net, TensorId x, const LstmState& state, const LstmWeights& weights);

} // namespace pw::zoo
