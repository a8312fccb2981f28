#include "app/cli/run_support.h"

#include "core/base/text.h"
#include "storage/project_file.h"

#include <CLI/CLI.hpp>

#include <ctime>
#include <filesystem>
#include <iostream>

namespace pw::cli {

namespace {

struct RunsOptions {
    std::string run;
    std::string filter;
    std::string policyFile;
    std::string placementFile;
    std::string metricsFile;
    std::vector<std::string> tags;
    std::string note;
};

std::string localTime(std::int64_t seconds) {
    const std::time_t time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    localtime_r(&time, &parts);
    char buffer[32];
    std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S", &parts);
    return buffer;
}

Json runJson(const RunRecord& run) {
    return {{"run", run.id},
            {"name", run.name},
            {"kind", run.spec.kind},
            {"method", run.spec.method},
            {"graph", run.spec.graphName},
            {"devices", run.spec.deviceSetName},
            {"status", runStatusName(run.status)},
            {"started_at", run.startedAt},
            {"seconds", run.seconds},
            {"evaluations", run.evaluations},
            {"steps", run.steps},
            {"best_step_time_us", run.bestStepTimeUs ? Json(*run.bestStepTimeUs) : Json(nullptr)},
            {"valid", run.valid},
            {"tags", run.tags},
            {"note", run.note},
            {"error", run.error}};
}

/// An existing project. One that may not be written is opened for reading; what would change it then fails.
Result<RepositoryPtr> needRepository(const Cli& cli) {
    if (cli.project.empty())
        return fail(ErrorCode::Invalid, "name the project with --project FILE");
    std::error_code error;
    const bool isThere = std::filesystem::exists(cli.project, error) && !error;
    if (!isThere)
        return fail(ErrorCode::NotFound, "there is no such project", "", cli.project);
    auto repository = cli.repository();
    if (!repository && repository.error().code == ErrorCode::Io)
        return storage::openProjectReadOnly(cli.project);
    return repository;
}

Result<int> runList(const Cli& cli, const RunsOptions& options) {
    PW_TRY(const RepositoryPtr repository, needRepository(cli));
    RunFilter filter;
    filter.text = options.filter;
    PW_TRY(const auto runs, repository->runs(filter));
    if (cli.json) {
        Json list = Json::array();
        for (const RunRecord& run : runs)
            list.push_back(runJson(run));
        printJson({{"runs", list}});
        return kDone;
    }
    if (runs.empty()) {
        std::cout << "no runs" << (options.filter.empty() ? "" : " match") << "\n";
        return kDone;
    }
    Table table({"run", "name", "method", "graph", "devices", "status", "started", "seconds", "best step ms", "tags"});
    for (const RunRecord& run : runs) {
        char seconds[32], best[32] = "-";
        std::snprintf(seconds, sizeof seconds, "%.1f", run.seconds);
        if (run.bestStepTimeUs)
            std::snprintf(best, sizeof best, "%.2f", *run.bestStepTimeUs / 1e3);
        std::string tags;
        for (const std::string& tag : run.tags)
            tags += (tags.empty() ? "" : ",") + tag;
        table.add({std::to_string(run.id), run.name, run.spec.method, run.spec.graphName, run.spec.deviceSetName,
                   runStatusName(run.status), localTime(run.startedAt), seconds, best, tags});
    }
    table.print();
    return kDone;
}

Result<int> runShow(const Cli& cli, const RunsOptions& options) {
    PW_TRY(const RepositoryPtr repository, needRepository(cli));
    PW_TRY(const RunRecord run, findRun(*repository, options.run));
    Json json = runJson(run);
    json["spec"] = Json::parse(run.spec.toJson());
    if (cli.json) {
        printJson(json);
        return kDone;
    }
    for (const auto& [key, value] : json.items()) {
        if (key != "spec")
            std::cout << key << std::string(key.size() < 18 ? 18 - key.size() : 1, ' ')
                      << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
    }
    std::cout << "spec\n" << json["spec"].dump(2) << "\n";
    return kDone;
}

std::string metricsCsv(const std::vector<MetricSample>& samples) {
    std::string csv = "step,seconds,key,value\n";
    for (const MetricSample& sample : samples) {
        for (const auto& [key, value] : sample.values)
            csv += std::to_string(sample.step) + "," + text::number(sample.seconds) + "," + key + "," + text::number(value) + "\n";
    }
    return csv;
}

Result<int> runMetrics(const Cli& cli, const RunsOptions& options) {
    PW_TRY(const RepositoryPtr repository, needRepository(cli));
    PW_TRY(const RunRecord run, findRun(*repository, options.run));
    PW_TRY(const auto samples, repository->metrics(run.id, 0));
    if (!cli.json) {
        std::cout << metricsCsv(samples);
        return kDone;
    }
    Json list = Json::array();
    for (const MetricSample& sample : samples)
        list.push_back({{"step", sample.step}, {"seconds", sample.seconds}, {"values", sample.values}});
    printJson({{"run", run.id}, {"samples", list}});
    return kDone;
}

Result<int> runExport(const Cli& cli, const RunsOptions& options) {
    PW_TRY(const RepositoryPtr repository, needRepository(cli));
    PW_TRY(const RunRecord run, findRun(*repository, options.run));
    if (options.policyFile.empty() && options.placementFile.empty() && options.metricsFile.empty())
        return fail(ErrorCode::Invalid, "say what to write: --policy, --placement or --metrics FILE");
    Json files = Json::array();
    if (!options.policyFile.empty()) {
        PW_TRY(const auto policy, repository->policy(run.id));
        PW_CHECK(formats::writeFileAtomically(options.policyFile,
                                              {reinterpret_cast<const char*>(policy.data()), policy.size()}));
        files.push_back(options.policyFile);
    }
    if (!options.placementFile.empty()) {
        if (!run.bestPlacementId)
            return fail(ErrorCode::NotFound, "run " + std::to_string(run.id) + " has no placement", "", repository->path());
        PW_TRY(const PlacementRecord placement, repository->placement(*run.bestPlacementId));
        PW_TRY(const GraphPtr graph, repository->loadGraph(placement.graphId));
        PW_TRY(const DeviceSet devices, repository->loadDeviceSet(placement.deviceSetId));
        PW_CHECK(formats::savePlacement(
            formats::makePlacementFile(*graph, devices, placement.placement, placement.method, run.spec.seed),
            options.placementFile, &*graph));
        files.push_back(options.placementFile);
    }
    if (!options.metricsFile.empty()) {
        PW_TRY(const auto samples, repository->metrics(run.id, 0));
        PW_CHECK(formats::writeFileAtomically(options.metricsFile, metricsCsv(samples)));
        files.push_back(options.metricsFile);
    }
    if (cli.json)
        printJson({{"run", run.id}, {"files", files}});
    else if (!cli.quiet)
        std::cout << "run " << run.id << ": wrote " << files.size() << (files.size() == 1 ? " file\n" : " files\n");
    return kDone;
}

/// Finds the run, applies `change`, confirms.
Result<int> changeRun(const Cli& cli, const RunsOptions& options, const std::string& done,
                      const std::function<Status(RunRepository&, RowId)>& change) {
    PW_TRY(const RepositoryPtr repository, needRepository(cli));
    PW_TRY(const RunRecord run, findRun(*repository, options.run));
    PW_CHECK(change(*repository, run.id));
    if (cli.json)
        printJson({{"run", run.id}, {"done", done}});
    else if (!cli.quiet)
        std::cout << "run " << run.id << " " << done << "\n";
    return kDone;
}

} // namespace

void addRunsCommand(CLI::App& app, Cli& cli) {
    auto options = std::make_shared<RunsOptions>();
    CLI::App* command = app.add_subcommand("runs", "The runs of a project (needs --project)");
    command->require_subcommand(1);
    const auto sub = [&](const char* name, const char* help) {
        CLI::App* added = command->add_subcommand(name, help);
        added->add_option("run", options->run, "number, name, or 'last'")->required();
        return added;
    };
    CLI::App* list = command->add_subcommand("list", "One line per run");
    list->add_option("--filter", options->filter, "text in name, method, graph, tags or note");
    setBody(list, cli, [&cli, options] { return runList(cli, *options); });
    setExample(list, "runs list --project work.placewright",
               "  run                     name   method         graph  devices  status              started  seconds  best step ms\n"
               "  1    placeto on inception_v3  placeto  inception_v3    2xK80    done  2026-12-01 01:08:42      5.0       1017.05");

    setBody(sub("show", "Everything about one run"), cli, [&cli, options] { return runShow(cli, *options); });
    setBody(sub("metrics", "Its samples as CSV (or --json)"), cli, [&cli, options] { return runMetrics(cli, *options); });

    CLI::App* exported = sub("export", "Write its policy, best placement or metrics to files");
    exported->add_option("--policy", options->policyFile, "policy file to write (.policy)");
    exported->add_option("--placement", options->placementFile, "placement file to write (.placement.json, .csv, .tf.csv, .device_map.json, .ort.json)");
    exported->add_option("--metrics", options->metricsFile, "CSV file to write");
    setBody(exported, cli, [&cli, options] { return runExport(cli, *options); });

    CLI::App* tag = sub("tag", "Replace its tags");
    tag->add_option("tags", options->tags, "tags; none = remove all");
    setBody(tag, cli, [&cli, options] {
        return changeRun(cli, *options, "tagged",
                         [&](RunRepository& repository, RowId id) { return repository.setTags(id, options->tags); });
    });

    CLI::App* note = sub("note", "Replace its note");
    note->add_option("note", options->note, "the text; \"\" removes it")->required();
    setBody(note, cli, [&cli, options] {
        return changeRun(cli, *options, "noted",
                         [&](RunRepository& repository, RowId id) { return repository.setNote(id, options->note); });
    });

    setBody(sub("delete", "Delete it with its metrics, placements and checkpoints"), cli, [&cli, options] {
        return changeRun(cli, *options, "deleted", [](RunRepository& repository, RowId id) { return repository.deleteRun(id); });
    });
}

} // namespace pw::cli
