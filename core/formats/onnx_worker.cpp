#include "core/formats/formats.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

namespace pw::formats {

namespace {

/// Folder of the running program, "" if it cannot be told.
std::string programFolder() {
    std::array<char, 4096> buffer;
    const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
    if (length <= 0)
        return {};
    const std::string path(buffer.data(), static_cast<std::size_t>(length));
    return path.substr(0, path.rfind('/'));
}

} // namespace

// The ONNX library is a plugin that is loaded here, on demand: a program that only starts must not pay for it, and a
// process that will load LibTorch never has it from us.
int runOnnxShapeWorker() {
    const std::string folder = programFolder();
    void* plugin = nullptr;
    for (const char* place :
         {"/../lib/placewright/pw_onnx_shapes.so", "/../lib/pw_onnx_shapes.so", "/pw_onnx_shapes.so"}) {
        plugin = ::dlopen((folder + place).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (plugin != nullptr)
            break;
    }
    using Entry = int (*)();
    const auto entry = plugin != nullptr ? reinterpret_cast<Entry>(::dlsym(plugin, "pwInferOnnxShapes")) : nullptr;
    if (entry == nullptr) {
        std::fputs("Ethis build has no ONNX shape inference (pw_onnx_shapes.so)", stdout);
        return 3;
    }
    return entry();
}

} // namespace pw::formats
