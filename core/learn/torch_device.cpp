#include "core/learn/torch_device.h"

#include "core/base/clock.h"
#include "core/base/rng.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <charconv>
#include <cmath>
#include <dlfcn.h>
#include <fstream>
#include <mutex>
#include <unistd.h>

namespace pw::learn {

namespace {

template<class Function>
Function symbol(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

int cudaDeviceCount() {
    return at::hasCUDA() ? static_cast<int>(torch::cuda::device_count()) : 0;
}

/// Name and memory from the CUDA driver itself, which LibTorch's CPU-side headers do not give.
LocalDevice cudaDevice(int index) {
    LocalDevice device{"cuda:" + std::to_string(index), "CUDA device", 0};
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr)
        return device;
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
    const auto name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
    const auto memory = reinterpret_cast<int (*)(std::size_t*, int)>(dlsym(driver, "cuDeviceTotalMem_v2"));
    int handle = 0;
    if (init != nullptr && get != nullptr && name != nullptr && memory != nullptr && init(0) == 0 &&
        get(&handle, index) == 0) {
        char text[256] = {};
        std::size_t bytes = 0;
        if (name(text, sizeof text, handle) == 0)
            device.model = text;
        if (memory(&bytes, handle) == 0)
            device.memoryBytes = static_cast<std::int64_t>(bytes);
    }
    return device;
}

LocalDevice cpuDevice() {
    LocalDevice device{"cpu", "CPU", 0};
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) {
            const auto colon = line.find(": ");
            if (colon != std::string::npos)
                device.model = line.substr(colon + 2);
            break;
        }
    }
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long pageBytes = sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && pageBytes > 0)
        device.memoryBytes = static_cast<std::int64_t>(pages) * pageBytes;
    return device;
}

/// On as many threads as training uses (one).
double measureGflops() {
    constexpr std::int64_t kSize = 1024;
    const at::Tensor a = at::ones({kSize, kSize});
    at::mm(a, a); // warm-up
    const Stopwatch watch;
    int count = 0;
    while (count == 0 || watch.seconds() < 0.1) {
        at::mm(a, a);
        ++count;
    }
    return 2e-9 * static_cast<double>(kSize * kSize * kSize) * count / watch.seconds();
}

} // namespace

Status checkComputeDevice(const std::string& name) {
    if (name == "cpu")
        return {};
    const int count = cudaDeviceCount();
    int index = -1;
    if (name.starts_with("cuda:"))
        std::from_chars(name.data() + 5, name.data() + name.size(), index);
    if (index >= 0 && index < count && name == "cuda:" + std::to_string(index))
        return {};
    if (name != "cuda:" + std::to_string(index))
        return fail(ErrorCode::Invalid, "\"" + name + "\" is no device: \"cpu\" or \"cuda:0\"", "device");
    return fail(ErrorCode::NotFound, "there is no " + name + ": this LibTorch sees " + std::to_string(count) +
                                         " CUDA devices" + (at::hasCUDA() ? "" : " (it was built without CUDA)"), "device");
}

void useOneThread() {
    static std::once_flag once;
    std::call_once(once, [] {
        at::set_num_threads(1);
        if (const auto set = symbol<void (*)(int)>("openblas_set_num_threads"))
            set(1);
    });
}

LocalInfo localInfo(bool measure) {
    LocalInfo info;
    info.torchVersion = TORCH_VERSION;
    info.blas = "reference or unknown BLAS";
    if (const auto config = symbol<char* (*)()>("openblas_get_config")) {
        const std::string text = config(); // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
        info.blas = text.substr(0, text.find(' ', text.find(' ') + 1));
    } else if (at::hasMKL()) {
        info.blas = "MKL";
    }
    if (const auto core = symbol<char* (*)()>("openblas_get_corename"))
        info.core = core();
    useOneThread();
    try {
        if (measure)
            info.gflops = measureGflops();
        info.devices.push_back(cpuDevice());
        if (at::hasCUDA()) {
            int version = 0;
            if (const auto get = symbol<int (*)(int*)>("cudaRuntimeGetVersion"); get != nullptr && get(&version) == 0)
                info.cuda = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
            else
                info.cuda = "unknown version";
        }
        for (int i = 0; i < cudaDeviceCount(); ++i)
            info.devices.push_back(cudaDevice(i));
    } catch (const std::exception&) {
        // What was found so far is still true; a broken CUDA driver shows as no CUDA device.
    }
    return info;
}

double blasError() {
    constexpr std::size_t kSize = 512;
    Rng rng(1);
    std::vector<float> a(kSize * kSize);
    std::vector<float> b(kSize * kSize);
    for (auto* values : {&a, &b})
        for (auto& value : *values)
            value = static_cast<float>(rng.uniform() + 0.5);
    constexpr auto kSide = static_cast<std::int64_t>(kSize);
    const at::Tensor product = at::mm(at::from_blob(a.data(), {kSide, kSide}), at::from_blob(b.data(), {kSide, kSide}));
    const float* values = product.data_ptr<float>();
    double worst = 0.0;
    std::vector<double> row(kSize);
    for (std::size_t i = 0; i < kSize; ++i) {
        std::fill(row.begin(), row.end(), 0.0);
        for (std::size_t k = 0; k < kSize; ++k)
            for (std::size_t j = 0; j < kSize; ++j)
                row[j] += static_cast<double>(a[i * kSize + k]) * static_cast<double>(b[k * kSize + j]);
        for (std::size_t j = 0; j < kSize; ++j) {
            const double error = std::abs(static_cast<double>(values[i * kSize + j]) - row[j]) / row[j];
            worst = std::isfinite(error) ? std::max(worst, error) : std::numeric_limits<double>::infinity();
        }
    }
    return worst;
}

} // namespace pw::learn
