// The child's side of shape inference: a plugin of its own, because it is the only code that links the ONNX library.
// Reads a request on stdin, answers on stdout, see onnx_worker_client.h. It may crash or hang on a hostile model: the
// parent survives that.

#include "core/formats/onnx_worker_client.h"

#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <google/protobuf/io/coded_stream.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>

namespace {

// Address space: what the library itself maps, and what inference takes per byte of a model without its weights.
constexpr rlim_t kFreeMemory = rlim_t{512} << 20;
constexpr rlim_t kMemoryPerByte = 64;
constexpr rlim_t kMaxMemory = rlim_t{4} << 30;
constexpr rlim_t kMaxCpuSeconds = 20; ///< if the parent is gone, nobody else ends a loop

void limit(auto resource, rlim_t value) {
    const rlimit both = {value, value};
    (void)::setrlimit(resource, &both);
}

void limitMemory([[maybe_unused]] rlim_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // their shadow memory is larger than any limit
    limit(RLIMIT_AS, bytes);
#endif
}

void limitResources() {
    limitMemory(kMaxMemory);
    limit(RLIMIT_CPU, kMaxCpuSeconds);
    limit(RLIMIT_CORE, 0);
}

bool readAll(std::string& request) {
    char buffer[65536];
    while (true) {
        const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (count == 0)
            return !request.empty();
        if (count > 0)
            request.append(buffer, static_cast<std::size_t>(count));
        else if (errno != EINTR)
            return false;
    }
}

bool writeAll(const std::string& answer) {
    std::size_t sent = 0;
    while (sent < answer.size()) {
        const ssize_t count = ::write(STDOUT_FILENO, answer.data() + sent, answer.size() - sent);
        if (count > 0)
            sent += static_cast<std::size_t>(count);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

/// Only types travel back.
void dropTensors(onnx::GraphProto& graph) {
    graph.clear_initializer();
    graph.clear_sparse_initializer();
    graph.clear_input();
    for (auto& node : *graph.mutable_node()) {
        node.clear_input();
        node.clear_output();
        for (auto& attribute : *node.mutable_attribute()) {
            attribute.clear_t();
            attribute.clear_tensors();
            attribute.clear_sparse_tensor();
            if (attribute.has_g())
                dropTensors(*attribute.mutable_g());
            for (auto& body : *attribute.mutable_graphs())
                dropTensors(body);
        }
    }
}

std::string infer(const std::string& request) {
    onnx::ModelProto model;
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(request.data()) + 1,
                                                  static_cast<int>(request.size()) - 1);
    stream.SetRecursionLimit(1000);
    if (!model.ParseFromCodedStream(&stream))
        return std::string(1, pw::formats::kWorkerFailed) + "the ONNX library cannot read the model";
    // Arguments: check_type off, strict off, data propagation as asked: the library's defaults otherwise.
    const onnx::ShapeInferenceOptions options(false, 0, request.front() == pw::formats::kWorkerPropagate);
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
    dropTensors(*model.mutable_graph());
    model.clear_functions();
    return std::string(1, pw::formats::kWorkerOk) + model.SerializePartialAsString();
}

} // namespace

extern "C" __attribute__((visibility("default"))) int pwInferOnnxShapes() {
    limitResources();
    std::string request;
    if (!readAll(request))
        return 2;
    limitMemory(std::min<rlim_t>(kMaxMemory, kFreeMemory + kMemoryPerByte * request.size()));
    std::string answer;
    try {
        answer = infer(request);
    } catch (const std::exception& error) {
        answer = std::string(1, pw::formats::kWorkerFailed) + error.what();
    }
    return writeAll(answer) ? 0 : 2;
}
