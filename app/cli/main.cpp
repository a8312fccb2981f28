#include "app/cli/cli.h"
#include "app/cli/numbers.h"
#include "app/cli/torchscript_worker.h"

#include "core/formats/formats.h"
#include "core/jobs/job.h"
#include "core/learn/learn_loader.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace {

using namespace pw;

/// Ctrl-C and SIGTERM become a stop request: the command keeps its best result and exits with 130. A second one kills.
/// A thread waits for the signals, because a handler itself may hardly do anything. What is disposable gets a moment to
/// stop by itself (and to end its worker processes).
void watchSignals(std::stop_source stop, std::shared_ptr<std::atomic<int>> disposable) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([signals, stop, disposable]() mutable {
        int number = 0;
        sigwait(&signals, &number);
        stop.request_stop();
        constexpr timespec kMoment{0, 20'000'000};
        while (sigtimedwait(&signals, nullptr, &kMoment) < 0 && *disposable == 0) {
        }
        std::_Exit(cli::kInterrupted);
    }).detach();
}

/// A standard stream that the caller closed would lend its number to the next file opened, and our output would land
/// in that file.
void openStandardStreams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
            static_cast<void>(open("/dev/null", O_RDWR)); // why: takes the lowest free number, which is this one
    }
}

/// Output that did not arrive (a full disk) is a failure of the command, whatever it computed.
int flushOutput(const cli::Cli& cli, int code) {
    errno = 0;
    if (std::cout.flush())
        return code;
    const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : std::string();
    return cli::reportError(cli, {ErrorCode::Io, "cannot write" + reason, "", "standard output"});
}

std::string ownPath() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::string() : path.string();
}

/// Hidden verbs that the program runs itself with, for work that may die. Never returns to the normal command line.
int runWorker(const std::string& verb) {
    if (verb == "onnx-shapes")
        return formats::runOnnxShapeWorker();
    if (verb == "torchscript")
        return cli::runTorchScriptWorker();
    if (verb == "blas-check")
        return learn::runBlasCheck();
    std::fprintf(stderr, "placewright-cli: no worker '%s'\n", verb.c_str());
    return cli::kBadInput;
}

void addCommonOptions(CLI::App& app, cli::Cli& cli) {
    app.add_flag("--json", cli.json, "one JSON document on stdout, nothing else there");
    app.add_flag("--quiet,-q", cli.quiet, "no progress, no warnings");
    app.add_option("--threads", cli.threads, "threads for parallel work; 0 = choose")->check(CLI::Range(0, 4096));
    app.add_option("--project", cli.project, "project file to record runs in, made if new (.placewright)");
}

/// Also where the command line does not parse, an error has the form that was asked for.
bool asksForJson(int argc, char** argv) {
    return std::any_of(argv, argv + argc, [](const char* argument) { return std::strcmp(argument, "--json") == 0; });
}

int runCommandLine(int argc, char** argv, cli::Cli& cli) {
    cli.program = ownPath();
    learn::setWorkerProgram(cli.program);
    addClassicPlacers(cli.placers);
    cli.placers.add(learn::makePlacetoPlacer());

    CLI::App app("Placewright: decide which device runs each op of a neural network's graph.", "placewright-cli");
    app.set_version_flag("--version", std::string("placewright-cli " PW_VERSION));
    app.require_subcommand(1);
    app.fallthrough();
    addCommonOptions(app, cli);
    addInfoCommand(app, cli);
    addConvertCommand(app, cli);
    addGroupsCommand(app, cli);
    addZooCommand(app, cli);
    addDevicesCommand(app, cli);
    addSimulateCommand(app, cli);
    addPlaceCommand(app, cli);
    addCompareCommand(app, cli);
    addTrainCommand(app, cli);
    addInferCommand(app, cli);
    addRunsCommand(app, cli);
    addRenderCommand(app, cli);
    addDemoCommand(app, cli);
    app.footer("Exit codes: 0 done, 1 the answer is no (no valid placement), 2 bad usage or input, 3 internal error,\n"
               "130 stopped with Ctrl-C (the best so far is kept). Each command's --help has an example.");
    cli::refuseBentNumbers(app);
    watchSignals(cli.stop, cli.disposable);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& e) {
        return app.exit(e);
    } catch (const CLI::CallForVersion& e) {
        return app.exit(e);
    } catch (const CLI::CallForAllHelp& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        const std::string hint = cli.json ? "" : " (--help shows the usage)";
        return cli::reportError(cli, {ErrorCode::Invalid, e.what() + hint, "", "command line"});
    }
    return cli.exitCode;
}

} // namespace

int main(int argc, char** argv) {
    openStandardStreams();
    learn::chooseBlasCore(); // why: read once when OpenBLAS loads; the environment may only change before any thread
    cli::Cli cli;
    cli.json = asksForJson(argc, argv);
    try {
        if (argc == 3 && std::string_view(argv[1]) == "--worker")
            return runWorker(argv[2]);
        const int code = runCommandLine(argc, argv, cli);
        joinAllJobs();
        return flushOutput(cli, code);
    } catch (const std::bad_alloc&) {
        return cli::reportError(cli, {ErrorCode::TooLarge, "there is not enough memory for this", "", ""});
    } catch (const std::exception& e) {
        return cli::reportError(cli, {ErrorCode::Internal, std::string("internal error: ") + e.what(), "", ""});
    }
}
