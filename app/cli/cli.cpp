#include "app/cli/cli.h"

#include "core/base/text.h"
#include "storage/project_file.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <unistd.h>

namespace pw::cli {

namespace {

/// One line on the terminal, overwritten in place.
void showProgress(const Progress& progress) {
    std::string line = progress.stage;
    if (progress.fraction >= 0.0)
        line += " " + std::to_string(static_cast<int>(progress.fraction * 100.0)) + " %";
    if (progress.rate > 0.0)
        line += ", " + text::grouped(static_cast<std::int64_t>(progress.rate)) + " " + progress.unit + "s/s";
    if (progress.bestStepTimeUs >= 0.0)
        line += ", best " + text::duration(progress.bestStepTimeUs);
    if (progress.etaSeconds >= 0.0)
        line += ", " + std::to_string(static_cast<int>(progress.etaSeconds)) + " s left";
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    if (progress.fraction >= 1.0)
        std::fprintf(stderr, "\r\033[K");
}

std::size_t displayWidth(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// One line, whatever names files and ops have: control characters as \n or \x1b, so that they cannot drive a terminal.
std::string oneLine(const std::string& text) {
    std::string line;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
            line += c;
        } else if (c == '\n') {
            line += "\\n";
        } else {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            line += escaped;
        }
    }
    return line;
}

} // namespace

JobContext Cli::jobContext() const {
    const bool show = !quiet && isatty(STDERR_FILENO) == 1;
    return {stop.get_token(), std::stop_token(), show ? JobContext::ProgressSink(showProgress) : JobContext::ProgressSink()};
}

Result<RepositoryPtr> Cli::repository() const {
    if (project.empty())
        return RepositoryPtr();
    return storage::openProject(project);
}

int reportError(const Cli& cli, const Error& error) {
    if (cli.json) {
        printJson({{"error",
                    {{"code", errorCodeName(error.code)},
                     {"message", error.message},
                     {"file", error.file},
                     {"where", error.where}}}});
    } else {
        std::fprintf(stderr, "placewright-cli: error: %s\n", oneLine(error.toString()).c_str());
    }
    return error.code == ErrorCode::Internal ? kInternal : kBadInput;
}

void reportWarnings(const Cli& cli, const std::vector<Warning>& warnings) {
    if (cli.quiet)
        return;
    for (const Warning& warning : warnings) {
        const std::string text = warning.where + (warning.where.empty() ? "" : ": ") + warning.detail;
        std::fprintf(stderr, "warning: %s\n", oneLine(text).c_str());
    }
}

void printNote(const std::string& line) {
    std::fprintf(stderr, "%s\n", oneLine(line).c_str());
}

void printJson(const Json& json) {
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

void setBody(CLI::App* app, Cli& cli, Body body) {
    app->callback([&cli, body = std::move(body)] {
        const Result<int> result = body();
        cli.exitCode = result ? *result : reportError(cli, result.error());
        if (cli.interrupted())
            cli.exitCode = kInterrupted;
    });
}

void setExample(CLI::App* app, const std::string& command, const std::string& output) {
    app->footer("Example:\n  $ placewright-cli " + command + "\n" + output);
}

void Table::print() const {
    std::vector<std::size_t> widths;
    for (const auto& row : m_rows) {
        widths.resize(std::max(widths.size(), row.size()), 0);
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], displayWidth(row[i]));
    }
    for (const auto& row : m_rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string pad(widths[i] - displayWidth(row[i]), ' ');
            const bool isLeft = i == 0 || (m_textAtEnd && i + 1 == row.size());
            line += (i > 0 ? "  " : "") + (isLeft ? row[i] + pad : pad + row[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::cout << line << "\n";
    }
}

} // namespace pw::cli
