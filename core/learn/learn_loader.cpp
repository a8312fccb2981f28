#include "core/learn/learn_loader.h"

#include "core/learn/blas_core.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace pw::learn {

namespace {

constexpr const char* kLibraryName = "libplacewright_learn.so";
constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";
constexpr const char* kBareVariable = "PLACEWRIGHT_BLAS_UNCHECKED"; ///< set in the checking child: do not check again
constexpr unsigned kCheckSeconds = 60;
constexpr double kLargestError = 1e-4; ///< of 512 float32 terms of like sign, in any order: a few 1e-6

struct LoaderState {
    std::mutex mutex;
    std::optional<Result<const Library*>> answer;
    std::string workerProgram;
    std::string chosenCore; ///< by chooseBlasCore; "" = the user's choice or none
    std::atomic<bool> loaded = false;
};

LoaderState& loader() {
    static LoaderState state;
    return state;
}

std::filesystem::path programFolder() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::path() : program.parent_path();
}

/// Runs the check in a child: a kernel that the processor does not know kills the process that tries it.
bool checkInChild(const std::string& program, const std::string& core) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (!std::string_view(*entry).starts_with(std::string(kCoreVariable) + "="))
            environment.emplace_back(*entry);
    environment.push_back(std::string(kCoreVariable) + "=" + core);
    environment.push_back(std::string(kBareVariable) + "=1");
    std::vector<char*> pointers;
    for (auto& entry : environment)
        pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    std::string name = program;
    std::string worker = "--worker";
    std::string verb = "blas-check";
    char* arguments[] = {name.data(), worker.data(), verb.data(), nullptr};

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {0, 1, 2})
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", stream == 0 ? 0 : 1 /* O_WRONLY */, 0);
    pid_t child = 0;
    const int failed = posix_spawn(&child, name.c_str(), &actions, nullptr, arguments, pointers.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return false;
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Before the library is loaded, since OpenBLAS reads the variable then and only then.
void settleBlasCore(LoaderState& state) {
    if (state.chosenCore.empty() || std::getenv(kBareVariable) != nullptr)
        return;
    std::string program = state.workerProgram;
    if (program.empty())
        program = (programFolder() / "placewright-cli").string();
    std::string core = "HASWELL"; // why: without a program that could check, the kernel with the longest record
    if (access(program.c_str(), X_OK) == 0)
        core = checkedBlasCore(state.chosenCore, cpuModelName(), blasCachePath(),
                               [&program](const std::string& candidate) { return checkInChild(program, candidate); });
    if (core.empty())
        unsetenv(kCoreVariable);
    else
        setenv(kCoreVariable, core.c_str(), 1);
}

std::vector<std::string> candidateFiles() {
    std::vector<std::string> files;
    if (const char* given = std::getenv("PLACEWRIGHT_LEARN_LIBRARY"); given != nullptr && *given != '\0')
        return {given};
    const auto folder = programFolder();
    if (!folder.empty()) {
        files.push_back((folder / ".." / "lib" / kLibraryName).lexically_normal().string());
        files.push_back((folder / kLibraryName).string());
    }
    files.emplace_back(kLibraryName); // rpath and the system's folders
    return files;
}

Result<const Library*> openFile(const std::string& file) {
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        return fail(ErrorCode::External, dlerror(), {}, file);
    const auto entry = reinterpret_cast<const Library* (*)()>(dlsym(handle, "pwLearnLibrary"));
    if (entry == nullptr)
        return fail(ErrorCode::External, "has no pwLearnLibrary: not a library of this program", {}, file);
    return entry();
}

Result<const Library*> openLibrary() {
    if (PW_WITH_TORCH == 0)
        return fail(ErrorCode::Unsupported, "this program was built without LibTorch, so there are no learned placers");
    std::string tried;
    for (const auto& file : candidateFiles()) {
        auto library = openFile(file);
        if (library)
            return library;
        // A file that is there but does not load is the reason to tell; the others are simply not there.
        if (std::filesystem::exists(file))
            return library;
        tried += (tried.empty() ? "" : ", ") + file;
    }
    return fail(ErrorCode::NotFound, "the learned placers are not installed; looked for " + tried);
}

} // namespace

Result<const Library*> load() {
    auto& state = loader();
    const std::lock_guard lock(state.mutex);
    if (!state.answer) {
        settleBlasCore(state);
        state.answer = openLibrary();
        state.loaded = state.answer->has_value();
    }
    return *state.answer;
}

bool isLoaded() {
    return loader().loaded;
}

std::string chooseBlasCore() {
    if (const char* given = std::getenv(kCoreVariable); given != nullptr && *given != '\0')
        return given;
    auto& state = loader();
    const std::lock_guard lock(state.mutex);
    state.chosenCore = blasCoreForCpu();
    if (!state.chosenCore.empty())
        setenv(kCoreVariable, state.chosenCore.c_str(), 1);
    return state.chosenCore;
}

void setWorkerProgram(std::string path) {
    auto& state = loader();
    const std::lock_guard lock(state.mutex);
    state.workerProgram = std::move(path);
}

int runBlasCheck() {
    alarm(kCheckSeconds); // why: a wrong kernel may as well hang
    const auto library = load();
    if (!library)
        return 2;
    return (*library)->blasError() < kLargestError ? 0 : 1;
}

} // namespace pw::learn
