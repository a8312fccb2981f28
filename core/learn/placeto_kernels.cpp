#include "core/learn/placeto_kernels.h"

// On x86 with glibc each kernel is compiled twice and the loader picks by processor, so that a portable build uses AVX2
// where it is. In the definition only: a declaration with it would make every caller look for the clones.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define PW_KERNEL __attribute__((target_clones("arch=haswell", "default")))
#else
#define PW_KERNEL
#endif

namespace pw::learn {

namespace {

/// Inlined into the clones below, so that it is compiled for their target.
template<class Real>
[[gnu::always_inline]] inline void affine(const Real* w, const Real* bias, std::size_t in, std::size_t out,
                                          const Real* x, Real* y, std::size_t n, bool relu) {
    for (std::size_t j = 0; j < out; ++j) {
        Real* __restrict row = y + j * n;
        for (std::size_t i = 0; i < n; ++i)
            row[i] = bias[j];
        std::size_t r = 0;
        for (; r + 4 <= in; r += 4) {
            const Real w0 = w[r * out + j];
            const Real w1 = w[(r + 1) * out + j];
            const Real w2 = w[(r + 2) * out + j];
            const Real w3 = w[(r + 3) * out + j];
            const Real* __restrict x0 = x + r * n;
            const Real* __restrict x1 = x0 + n;
            const Real* __restrict x2 = x1 + n;
            const Real* __restrict x3 = x2 + n;
            for (std::size_t i = 0; i < n; ++i)
                row[i] += w0 * x0[i] + w1 * x1[i] + w2 * x2[i] + w3 * x3[i];
        }
        for (; r < in; ++r) {
            const Real w0 = w[r * out + j];
            const Real* __restrict x0 = x + r * n;
            for (std::size_t i = 0; i < n; ++i)
                row[i] += w0 * x0[i];
        }
        if (relu)
            for (std::size_t i = 0; i < n; ++i)
                row[i] = row[i] > Real(0) ? row[i] : Real(0);
    }
}

} // namespace

PW_KERNEL void affineRows(const float* w, const float* bias, std::size_t in, std::size_t out, const float* x, float* y,
                          std::size_t n, bool relu) {
    affine(w, bias, in, out, x, y, n, relu);
}

PW_KERNEL void affineRows(const double* w, const double* bias, std::size_t in, std::size_t out, const double* x, double* y,
                          std::size_t n, bool relu) {
    affine(w, bias, in, out, x, y, n, relu);
}

} // namespace pw::learn
