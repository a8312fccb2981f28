#pragma once

#include "core/learn/learn.h"

#include <exception>

namespace pw::learn {

/// "cpu" or "cuda:N" that LibTorch has; the error says what there is instead.
Status checkComputeDevice(const std::string& name);

/// The matrices here are small: more than one thread costs more than it gives. Sets LibTorch and OpenBLAS, once.
void useOneThread();

LocalInfo localInfo(bool measure);

/// Largest relative error of a 512 x 512 float32 product against double precision: tells a wrong BLAS kernel.
double blasError();

/// Runs `function`, which returns a Result; whatever LibTorch throws becomes an error.
template<class Function>
auto guarded(Function&& function) -> decltype(function()) {
    try {
        return function();
    } catch (const std::exception& e) {
        const std::string text = e.what();
        return fail(ErrorCode::External, "LibTorch: " + text.substr(0, text.find('\n')));
    } catch (...) {
        return fail(ErrorCode::External, "LibTorch failed without a reason");
    }
}

} // namespace pw::learn
