#pragma once

#include "core/base/result.h"
#include "core/experiment/run_repository.h"
#include "core/jobs/job_context.h"
#include "core/place/placer.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pw::cli {

using Json = nlohmann::ordered_json;

/// Exit codes, kept for scripts.
enum ExitCode { kDone = 0, kHonestNo = 1, kBadInput = 2, kInternal = 3, kInterrupted = 130 };

/// What every command shares: the common options, the registry, Ctrl-C. One per process, lives in main.
struct Cli {
    bool json = false;
    bool quiet = false;
    int threads = 0; ///< 0 = one
    std::string project;
    std::string program; ///< path of this program, for worker processes
    PlacerRegistry placers;
    std::stop_source stop; ///< requested by Ctrl-C
    int exitCode = kDone;

    /// How many Disposable there are now; shared with the thread that waits for signals.
    std::shared_ptr<std::atomic<int>> disposable = std::make_shared<std::atomic<int>>(0);

    bool interrupted() const { return stop.stop_requested(); }
    /// A context that Ctrl-C stops; shows progress on stderr when that is a terminal.
    JobContext jobContext() const;
    /// Opens --project (made if new); nullptr when none was given.
    Result<RepositoryPtr> repository() const;
};

/// While one lives, Ctrl-C ends the program within a tenth of a second, wherever it is: what it computes just now is of no use
/// in part. Not for code that writes files.
class Disposable {
public:
    explicit Disposable(const Cli& cli)
        : m_count(cli.disposable) {
        ++*m_count;
    }
    ~Disposable() { --*m_count; }
    Disposable(const Disposable&) = delete;
    Disposable& operator=(const Disposable&) = delete;

private:
    std::shared_ptr<std::atomic<int>> m_count;
};

/// Prints an error (with --json as {"error":{code,message,file,where}}) and gives the exit code for it.
int reportError(const Cli& cli, const Error& error);
/// Prints warnings to stderr unless --quiet.
void reportWarnings(const Cli& cli, const std::vector<Warning>& warnings);
/// A line on stderr; control characters are made visible.
void printNote(const std::string& line);
void printJson(const Json& json);

/// A command's body; its exit code or an error to report.
using Body = std::function<Result<int>()>;
/// Makes `app`'s callback run `body` and keep its exit code.
void setBody(CLI::App* app, Cli& cli, Body body);
/// Appends "Example:" with one real command and its output to the command's --help.
void setExample(CLI::App* app, const std::string& command, const std::string& output);

/// Text columns: the first is left-aligned, the others right-aligned.
class Table {
public:
    /// `textAtEnd`: the last column holds sentences, left-aligned too.
    explicit Table(std::vector<std::string> header, bool textAtEnd = false) : m_textAtEnd(textAtEnd) {
        m_rows.push_back(std::move(header));
    }
    void add(std::vector<std::string> row) { m_rows.push_back(std::move(row)); }
    void print() const;

private:
    std::vector<std::vector<std::string>> m_rows;
    bool m_textAtEnd;
};

void addInfoCommand(CLI::App& app, Cli& cli);
void addGroupsCommand(CLI::App& app, Cli& cli);
void addConvertCommand(CLI::App& app, Cli& cli);
void addZooCommand(CLI::App& app, Cli& cli);
void addDevicesCommand(CLI::App& app, Cli& cli);
void addSimulateCommand(CLI::App& app, Cli& cli);
void addPlaceCommand(CLI::App& app, Cli& cli);
void addCompareCommand(CLI::App& app, Cli& cli);
void addTrainCommand(CLI::App& app, Cli& cli);
void addInferCommand(CLI::App& app, Cli& cli);
void addRunsCommand(CLI::App& app, Cli& cli);
void addRenderCommand(CLI::App& app, Cli& cli);
void addDemoCommand(CLI::App& app, Cli& cli);

} // namespace pw::cli
