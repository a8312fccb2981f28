#include "ui/project.h"

#include "ui/manual_text.h"
#include "ui/words.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <map>
#include <utility>

namespace pw::ui {

namespace {

constexpr int kManualDelayMs = 700; ///< edits by hand are written this long after the last one
const char* const kCurrentGraphKey = "session/graph";
const char* const kCurrentDevicesKey = "session/devices";

std::string manualKey(const std::string& graphHash, const std::string& deviceHash) {
    return "manual/" + graphHash + "/" + deviceHash;
}

} // namespace

/// Everything that is read when a project is opened.
struct Project::Contents {
    RepositoryPtr repository;
    QString path;
    std::vector<GraphRecord> graphs;
    std::vector<DeviceSet> deviceSets;
    std::vector<RunRecord> runs;
    std::string currentGraph;
    std::string currentDevices;
};

Project::Project(const AppServices& services, Document* document, QObject* parent)
    : QObject(parent), m_services(services), m_document(document) {
    m_manualTimer.setSingleShot(true);
    m_manualTimer.setInterval(kManualDelayMs);
    connect(&m_manualTimer, &QTimer::timeout, this, &Project::saveManual);
    connect(document, &Document::graphWanted, this, &Project::loadGraph);
    connect(document, &Document::currentGraphChanged, this, [this] {
        rememberCurrentGraph();
        loadPlacements();
    });
    connect(document, &Document::currentDevicesChanged, this, &Project::rememberCurrentGraph);
    connect(document, &Document::manualPlacementEdited, this, [this](int id) {
        m_editedManual.insert(id);
        m_manualTimer.start();
    });
}

QString Project::untitledPath() const {
    return QDir(words::fromUtf8(m_services.dataFolder)).filePath(QStringLiteral("untitled.placewright"));
}

void Project::openUntitled() {
    open(untitledPath());
}

void Project::open(const QString& path) {
    flush();
    m_openJob.start<Contents>(
        tr("Opening project"),
        [open = m_services.openProject, path](JobContext&) -> Result<Contents> {
            if (!open)
                return fail(ErrorCode::Unsupported, "this build keeps no projects");
            QDir().mkpath(QFileInfo(path).absolutePath());
            Contents contents;
            contents.path = path;
            PW_TRY(contents.repository, open(path.toStdString()));
            const RunRepository& repository = *contents.repository;
            PW_TRY(contents.graphs, repository.graphs());
            PW_TRY(const auto sets, repository.deviceSets());
            for (const auto& record : sets) {
                PW_TRY(DeviceSet set, repository.loadDeviceSet(record.id));
                contents.deviceSets.push_back(std::move(set));
            }
            PW_TRY(contents.runs, repository.runs({}));
            PW_TRY(const auto graph, repository.loadLayout(kCurrentGraphKey));
            PW_TRY(const auto devices, repository.loadLayout(kCurrentDevicesKey));
            contents.currentGraph = graph.value_or(std::string());
            contents.currentDevices = devices.value_or(std::string());
            return contents;
        },
        [this](Result<Contents> contents) {
            if (!contents) {
                Q_EMIT failed(contents.error());
                return;
            }
            adopt(std::move(*contents));
        });
}

void Project::adopt(Contents contents) {
    m_repository = nullptr; // why: clearing the document must not write into the old project
    m_loadedPlacementsOf.clear();
    m_document->clear();
    m_repository = std::move(contents.repository);
    m_path = contents.path;
    m_runs = std::move(contents.runs);
    for (const auto& set : contents.deviceSets)
        m_document->addDeviceSet(set);
    if (!contents.currentDevices.empty())
        m_document->setCurrentDevices(contents.currentDevices);
    int current = -1;
    for (const auto& record : contents.graphs) {
        GraphEntry entry;
        entry.name = words::graphTitle(words::fromUtf8(record.name), words::fromUtf8(record.source));
        entry.source = words::fromUtf8(record.source);
        entry.hash = record.hash;
        entry.ops = record.ops;
        entry.row = record.id;
        const int id = m_document->addGraph(std::move(entry));
        if (record.hash == contents.currentGraph || current < 0)
            current = id;
    }
    if (current >= 0)
        m_document->setCurrentGraph(current);
    Q_EMIT opened();
    Q_EMIT runsChanged();
}

void Project::saveAs(const QString& path) {
    if (!m_repository || !m_services.saveProjectAs || path == m_path)
        return;
    flush();
    write(
        tr("Saving"),
        [repository = m_repository, save = m_services.saveProjectAs, path] {
            return save(*repository, path.toStdString());
        },
        [this, path](const Status& status) {
            if (status)
                moveTo(path);
        });
}

void Project::moveTo(const QString& path) {
    m_openJob.start<RepositoryPtr>(
        tr("Opening project"),
        [open = m_services.openProject, path](JobContext&) { return open(path.toStdString()); },
        [this, path, wasUntitled = isUntitled()](Result<RepositoryPtr> repository) {
            if (!repository) {
                Q_EMIT failed(repository.error());
                return;
            }
            RepositoryPtr old = std::exchange(m_repository, std::move(*repository));
            m_path = path;
            Q_EMIT saved(); // first: whoever holds the old project lets go of it
            if (wasUntitled) // moved, not copied: the next untitled project begins empty
                write(tr("Clearing the untitled project"), [old = std::move(old), file = untitledPath()]() mutable -> Status {
                    old.reset();
                    for (const char* ending : {"", "-wal", "-shm"})
                        QFile::remove(file + QLatin1String(ending));
                    return {};
                });
        });
}

void Project::write(const QString& what, SerialJobs::Step step, SerialJobs::Done done) {
    m_writes.enqueue(what, std::move(step), [this, done = std::move(done)](const Status& status) {
        if (!status)
            Q_EMIT failed(status.error());
        if (done)
            done(status);
        if (isIdle())
            Q_EMIT idle();
    });
}

void Project::flush() {
    if (m_manualTimer.isActive()) {
        m_manualTimer.stop();
        saveManual();
    }
}

const RunRecord* Project::findRun(std::int64_t id) const {
    for (const auto& run : m_runs)
        if (run.id == id)
            return &run;
    return nullptr;
}

void Project::refreshRuns() {
    if (!m_repository)
        return;
    m_runsJob.start<std::vector<RunRecord>>(
        tr("Reading runs"), [repository = m_repository](JobContext&) { return repository->runs({}); },
        [this](Result<std::vector<RunRecord>> runs) {
            if (!runs) {
                Q_EMIT failed(runs.error());
                return;
            }
            m_runs = std::move(*runs);
            Q_EMIT runsChanged();
        });
}

void Project::setTags(std::int64_t run, const std::vector<std::string>& tags) {
    for (auto& record : m_runs)
        if (record.id == run)
            record.tags = tags;
    write(tr("Saving tags"), [repository = m_repository, run, tags] { return repository->setTags(run, tags); });
}

void Project::setNote(std::int64_t run, const std::string& note) {
    for (auto& record : m_runs)
        if (record.id == run)
            record.note = note;
    write(tr("Saving note"), [repository = m_repository, run, note] { return repository->setNote(run, note); });
}

void Project::deleteRun(std::int64_t run) {
    write(tr("Deleting run"), [repository = m_repository, run] { return repository->deleteRun(run); },
          [this](const Status&) { refreshRuns(); });
}

void Project::storeGraph(const GraphEntry& graph) {
    if (!m_repository || !graph.graph)
        return;
    auto row = std::make_shared<RowId>(0);
    write(
        tr("Storing graph"),
        [repository = m_repository, graph = graph.graph, source = graph.source.toStdString(), row]() -> Status {
            PW_TRY(*row, repository->putGraph(*graph, source));
            return {};
        },
        [this, row, hash = graph.hash](const Status& status) {
            if (status)
                m_document->setGraphRow(hash, *row);
        });
}

void Project::storeDeviceSet(const DeviceSet& devices) {
    if (!m_repository)
        return;
    write(tr("Storing device set"), [repository = m_repository, devices]() -> Status {
        PW_CHECK(repository->putDeviceSet(devices));
        return {};
    });
}

void Project::loadGraph(int id) {
    const GraphEntry* entry = m_document->findGraph(id);
    if (!m_repository || !entry || entry->row == 0)
        return;
    runAsync<GraphPtr>(
        this, tr("Reading %1").arg(entry->name),
        [repository = m_repository, row = entry->row](JobContext&) { return repository->loadGraph(row); },
        [this, id, repository = m_repository](Result<GraphPtr> graph) {
            if (!graph)
                Q_EMIT failed(graph.error());
            else if (repository == m_repository)
                m_document->setGraphLoaded(id, std::move(*graph));
        });
}

void Project::rememberCurrentGraph() {
    const GraphEntry* entry = m_document->currentGraph();
    if (!m_repository || !entry)
        return;
    write(tr("Storing session"),
          [repository = m_repository, graph = entry->hash, devices = m_document->devicesHash()]() -> Status {
              PW_CHECK(repository->saveLayout(kCurrentGraphKey, graph));
              return repository->saveLayout(kCurrentDevicesKey, devices);
          });
}

QString runTitle(const RunSpec& spec) {
    QString title = words::methodTitle(words::fromUtf8(spec.method));
    if (spec.kind == "infer")
        title += QObject::tr(", zero-shot");
    if (spec.kind == "train" || spec.seed != 1)
        title += QObject::tr(", seed %1").arg(spec.seed);
    return title;
}

namespace {

using Entries = std::vector<PlacementEntry>;

Status readManual(const RunRepository& repository, const OpGraph& graph, const std::vector<DeviceSet>& known,
                  Entries& entries) {
    for (const auto& set : known) {
        const std::string deviceHash = set.hash();
        PW_TRY(const auto text, repository.loadLayout(manualKey(graph.hash(), deviceHash)));
        auto manual = text ? manualFromText(*text, graph.opCount(), set.count()) : std::nullopt;
        if (!manual)
            continue;
        PlacementEntry entry;
        entry.name = words::fromUtf8(manual->name);
        entry.method = QStringLiteral("manual");
        entry.graphHash = graph.hash();
        entry.deviceHash = deviceHash;
        entry.ops = std::make_shared<const OpPlacement>(std::move(manual->ops));
        entry.pinned = std::move(manual->pinned);
        entries.push_back(std::move(entry));
    }
    return {};
}

Result<Entries> readPlacements(const RunRepository& repository, RowId graphRow, const OpGraph& graph,
                               const std::vector<DeviceSet>& known) {
    std::map<RowId, std::string> hashOf;
    PW_TRY(const auto sets, repository.deviceSets());
    for (const auto& set : sets)
        hashOf[set.id] = set.hash;
    std::map<RowId, RunRecord> runOf;
    PW_TRY(auto runs, repository.runs({}));
    for (auto& run : runs)
        runOf.emplace(run.id, std::move(run));
    Entries entries;
    PW_TRY(auto records, repository.placements(graphRow));
    for (auto& record : records) {
        if (record.placement.size() != graph.opCount())
            continue;
        const auto run = runOf.find(record.runId.value_or(0));
        if (run != runOf.end() && graph.hash() == run->second.spec.graphHashes.front() &&
            run->second.bestPlacementId != record.id)
            continue; // why: a run stores every better placement as it goes; people want its best
        PlacementEntry entry;
        entry.name = run != runOf.end() ? runTitle(run->second.spec) : words::methodTitle(words::fromUtf8(record.name));
        entry.method = words::fromUtf8(record.method);
        entry.graphHash = graph.hash();
        entry.deviceHash = hashOf[record.deviceSetId];
        entry.ops = std::make_shared<const OpPlacement>(std::move(record.placement));
        entry.stepTimeUs = record.stepTimeUs;
        entry.valid = record.valid;
        entry.evaluated = true;
        entry.run = record.runId.value_or(0);
        entry.row = record.id;
        entries.push_back(std::move(entry));
    }
    PW_CHECK(readManual(repository, graph, known, entries));
    return entries;
}

} // namespace

void Project::loadPlacements() {
    const GraphEntry* entry = m_document->currentGraph();
    if (!m_repository || !entry || entry->row == 0 || !entry->graph)
        return;
    if (!m_loadedPlacementsOf.insert(entry->row).second)
        return;
    runAsync<Entries>(
        this, tr("Reading placements"),
        [repository = m_repository, row = entry->row, graph = entry->graph, sets = m_document->deviceSets()](
            JobContext&) { return readPlacements(*repository, row, *graph, sets); },
        [this, repository = m_repository](Result<Entries> entries) {
            if (repository != m_repository)
                return;
            if (!entries) {
                Q_EMIT failed(entries.error());
                return;
            }
            m_document->adoptStored(std::move(*entries));
        });
}

void Project::saveManual() {
    const std::set<int> edited = std::exchange(m_editedManual, {});
    for (const int id : edited) {
        const PlacementEntry* entry = m_document->findPlacement(id);
        if (!m_repository || !entry || !entry->ops)
            continue;
        ManualPlacement manual{entry->name.toStdString(), *entry->ops, entry->pinned};
        write(tr("Storing placement"),
              [repository = m_repository, key = manualKey(entry->graphHash, entry->deviceHash),
               manual = std::move(manual)] { return repository->saveLayout(key, manualToText(manual)); });
    }
    if (edited.empty() && isIdle())
        Q_EMIT idle();
}

} // namespace pw::ui
