#include "core/formats/torchscript_worker.h"

#include "core/formats/torchscript_protocol.h"
#include "core/formats/worker_client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pw::formats {

namespace {

constexpr unsigned kMaxSeconds = 90;                      ///< in case that the parent is gone; it waits less
constexpr std::int64_t kLeastMemoryBytes = 4LL << 30;     ///< LibTorch and the activations of an ordinary model
constexpr std::int64_t kMemoryPerFileByte = 8;
constexpr std::size_t kMaxRequestBytes = 1U << 20;

std::string readRequest() {
    std::string request;
    std::array<char, 4096> buffer;
    while (request.size() < kMaxRequestBytes) {
        const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        request.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return request;
}

int answer(int out, char verdict, const std::string& text) {
    const std::string whole = verdict + text;
    for (std::size_t sent = 0; sent < whole.size();) {
        const ssize_t count = ::write(out, whole.data() + sent, whole.size() - sent);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return 1;
        sent += static_cast<std::size_t>(count);
    }
    return 0;
}

/// Beyond the address space in use now, LibTorch's own libraries included.
void limitMemory(const std::string& path) {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    struct stat file = {};
    const std::int64_t fileBytes = ::stat(path.c_str(), &file) == 0 ? std::int64_t{file.st_size} : 0;
    const std::int64_t more = std::max(kLeastMemoryBytes, std::min(fileBytes, INT64_MAX / 16) * kMemoryPerFileByte);
    const auto bytes = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + more);
    const rlimit limit = {bytes, bytes};
    static_cast<void>(::setrlimit(RLIMIT_AS, &limit)); // why: without it the answer is the same, only the guard is gone
    const rlimit noCore = {0, 0};
    static_cast<void>(::setrlimit(RLIMIT_CORE, &noCore));
}

} // namespace

int runTorchScriptWorker(const std::function<Result<ProgramImporter>()>& load) {
    ::alarm(kMaxSeconds);
    // What a library prints must not land in the answer.
    const int out = ::dup(STDOUT_FILENO);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0 || nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0)
        return 1;
    const auto request = requestFromText(readRequest());
    if (!request)
        return answer(out, kWorkerFailed, toText(request.error()));
    const auto import = load();
    if (!import)
        return answer(out, kWorkerFailed, toText(import.error()));
    limitMemory(request->path);
    try {
        const auto graph = (*import)(request->path, request->inputs);
        if (!graph)
            return answer(out, kWorkerFailed, toText(graph.error()));
        return answer(out, kWorkerOk, toText(**graph));
    } catch (const std::bad_alloc&) {
        return answer(out, kWorkerFailed, toText({ErrorCode::TooLarge, "needs more memory than it may have", "", ""}));
    } catch (const std::exception& error) {
        return answer(out, kWorkerFailed, toText({ErrorCode::Internal, error.what(), "", ""}));
    }
}

} // namespace pw::formats
