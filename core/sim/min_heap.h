#pragma once

#include <cstdint>
#include <utility>

namespace pw {

/// Binary min-heap on memory that somebody else owns: several heaps can live in slices of one array, and nothing is
/// allocated. T has operator<. The hole is moved instead of swapping.
template<class T>
struct MinHeap {
    T* data = nullptr;
    std::uint32_t size = 0;

    bool empty() const { return size == 0; }
    const T& top() const { return data[0]; }

    void push(const T& value) {
        std::uint32_t hole = size++;
        while (hole > 0) {
            const std::uint32_t parent = (hole - 1) / 2;
            if (!(value < data[parent]))
                break;
            data[hole] = data[parent];
            hole = parent;
        }
        data[hole] = value;
    }

    T pop() {
        const T result = data[0];
        const T last = data[--size];
        std::uint32_t hole = 0;
        for (std::uint32_t child = 1; child < size; child = 2 * hole + 1) {
            if (child + 1 < size)
                child += data[child + 1] < data[child] ? 1U : 0U;
            if (!(data[child] < last))
                break;
            data[hole] = data[child];
            hole = child;
        }
        data[hole] = last;
        return result;
    }
};

} // namespace pw
