#include "ui/file_opener.h"

#include "core/formats/formats.h"
#include "core/formats/profile.h"
#include "core/zoo/zoo.h"
#include "viz/theme/figures.h"

#include <QFileInfo>

#include <algorithm>

namespace pw::ui {

struct FileOpener::Loaded {
    formats::FileKind kind = formats::FileKind::Unknown;
    GraphPtr graph;
    std::optional<formats::PlacementFile> placement;
    std::optional<formats::Profile> profile;
    std::optional<DeviceSet> devices;
};

/// The graph with the times of a profile, and how the two fitted.
struct FileOpener::Overlaid {
    GraphPtr graph;
    formats::ProfileReport report;
    QString format;
    QStringList warnings;
};

namespace {

const QLatin1String kZoo("zoo:");

QStringList lines(const std::vector<Warning>& warnings) {
    QStringList list;
    for (const Warning& warning : warnings)
        list.append(words::fromUtf8(warning.where.empty() ? warning.detail : warning.where + ": " + warning.detail));
    return list;
}

Error withFile(Error error, const std::string& path) {
    if (error.file.empty() && !path.starts_with("zoo:"))
        error.file = path;
    return error;
}

} // namespace

FileOpener::FileOpener(const AppServices& services, Document* document, Project* project, JobList* jobs,
                       Experiments* experiments, QObject* parent)
    : QObject(parent), m_services(services), m_document(document), m_project(project), m_jobs(jobs),
      m_experiments(experiments) {}

void FileOpener::open(const QStringList& paths) {
    for (const QString& path : paths) {
        if (path.startsWith(kZoo))
            openSample(path, {});
        else
            openOne(QFileInfo(path).absoluteFilePath());
    }
}

void FileOpener::openOne(const QString& path) {
    start(path, QFileInfo(path).fileName(),
          [path = path.toStdString(), worker = m_services.workerProgram](JobContext& context) -> Result<Loaded> {
              Loaded content;
              PW_TRY(content.kind, formats::sniff(path));
              switch (content.kind) {
              case formats::FileKind::Placement: {
                  PW_TRY(content.placement, formats::loadPlacement(path));
                  return content;
              }
              case formats::FileKind::Profile: {
                  PW_TRY(content.profile, formats::loadProfile(path));
                  return content;
              }
              case formats::FileKind::DeviceSet: {
                  PW_TRY(content.devices, formats::loadDeviceSet(path));
                  return content;
              }
              case formats::FileKind::Project:
              case formats::FileKind::Policy: return content;
              default: break;
              }
              formats::LoadOptions options;
              options.workerProgram = worker;
              options.stop = context.abortToken();
              options.progress = [&context](double fraction) { context.report({"load", fraction, 0.0, {}, -1.0, -1.0}); };
              context.report({"load", -1.0, 0.0, {}, -1.0, -1.0});
              PW_TRY(content.graph, formats::loadGraph(path, options));
              return content;
          });
}

void FileOpener::start(const QString& source, const QString& name, Work work) {
    auto loaded = std::make_shared<std::optional<Result<Loaded>>>();
    JobHandle* handle = m_jobs->start(tr("Opening %1").arg(name), QStringLiteral("open"), false,
                                      [loaded, work = std::move(work)](JobContext& context) -> Status {
                                          loaded->emplace(work(context));
                                          if (!loaded->value())
                                              return fail(loaded->value().error());
                                          return {};
                                      });
    ++m_running;
    connect(handle, &JobHandle::finished, this, [this, loaded, source, handle](const JobEnd& end) {
        --m_running;
        // why the second: it was cancelled after the job had ended and before this call
        if (end.outcome != JobOutcome::Aborted && !handle->isStopRequested()) {
            if (end.error)
                Q_EMIT failed(withFile(*end.error, source.toStdString()));
            else
                arrived(source, std::move(loaded->value().value()));
        }
        if (m_running > 0)
            return;
        for (const auto& [path, content] : std::exchange(m_waiting, {}))
            take(path, std::move(*content));
    });
    Q_EMIT started(handle, name);
}

/// A placement or profile dropped together with its graph may be read first: it waits until all of them are there.
void FileOpener::arrived(const QString& source, Loaded loaded) {
    if ((loaded.placement || loaded.profile) && m_running > 0)
        m_waiting.emplace_back(source, std::make_shared<Loaded>(std::move(loaded)));
    else
        take(source, std::move(loaded));
}

void FileOpener::take(const QString& source, Loaded loaded) {
    if (!source.startsWith(kZoo))
        Q_EMIT opened(source);
    switch (loaded.kind) {
    case formats::FileKind::Project: m_project->open(source); return;
    case formats::FileKind::Policy: m_experiments->inferFile(source); return;
    default: break;
    }
    if (loaded.devices) {
        m_document->addDeviceSet(*loaded.devices);
        m_project->storeDeviceSet(*loaded.devices);
        m_document->setCurrentDevices(loaded.devices->hash());
    } else if (loaded.placement) {
        takePlacement(source, loaded);
    } else if (loaded.profile) {
        takeProfile(source, loaded);
    } else if (loaded.graph) {
        takeGraph(source, std::move(loaded.graph));
    }
}

void FileOpener::takeGraph(const QString& source, GraphPtr graph) {
    GraphEntry entry;
    entry.name = words::graphTitle(words::fromUtf8(graph->name()), source);
    entry.source = source;
    entry.hash = graph->hash();
    entry.ops = graph->opCount();
    entry.graph = graph;
    const int id = m_document->addGraph(entry);
    m_document->setCurrentGraph(id);
    if (const GraphEntry* added = m_document->findGraph(id))
        m_project->storeGraph(*added);
    if (graph->isCyclic()) {
        QStringList names;
        const auto cycle = graph->cycle();
        for (std::size_t i = 0; i < std::min<std::size_t>(cycle.size(), 4); ++i)
            names.append(words::fromUtf8(graph->op(cycle[i]).name));
        Q_EMIT noticed(tr("This graph has a cycle"),
                       tr("It can be looked at, but not simulated or placed: %1%2.")
                           .arg(names.join(QStringLiteral(" → ")), cycle.size() > 4 ? tr(" → …") : QString()));
    }
}

void FileOpener::takePlacement(const QString& path, const Loaded& loaded) {
    const GraphPtr graph = m_document->graph();
    if (!graph) {
        Q_EMIT failed({ErrorCode::Invalid, "a placement needs its graph; open the graph first", path.toStdString(), {}});
        return;
    }
    std::vector<Warning> warnings;
    auto ops = formats::applyPlacement(*loaded.placement, *graph, m_document->devices(), warnings);
    if (!ops) {
        Q_EMIT failed(withFile(ops.error(), path.toStdString()));
        return;
    }
    PlacementEntry entry;
    entry.name = QFileInfo(path).fileName().section(QLatin1Char('.'), 0, 0);
    entry.method = QStringLiteral("file");
    entry.graphHash = graph->hash();
    entry.deviceHash = m_document->devicesHash();
    entry.ops = std::make_shared<const OpPlacement>(std::move(*ops));
    for (const auto& name : loaded.placement->pinned)
        if (const auto op = graph->findOp(name))
            entry.pinned.push_back(op->value());
    std::sort(entry.pinned.begin(), entry.pinned.end());
    m_document->addPlacement(std::move(entry), true);
    const QStringList details = lines(warnings);
    if (!warnings.empty())
        Q_EMIT noticed(tr("Placement applied with warnings"), words::fromUtf8(warnings.front().detail),
                       details.size() > 1 ? details : QStringList());
}

/// Graphs are immutable and their hash covers costs, so the measured one is a graph of its own, beside the one it came from.
void FileOpener::takeProfile(const QString& path, const Loaded& loaded) {
    const GraphEntry* entry = m_document->currentGraph();
    const GraphPtr graph = m_document->graph();
    if (!graph) {
        Q_EMIT failed({ErrorCode::Invalid, "a profile needs the graph whose ops it measured; open the graph first", path.toStdString(), {}});
        return;
    }
    runAsync<Overlaid>(
        this, tr("Applying %1").arg(QFileInfo(path).fileName()),
        [graph, profile = *loaded.profile](JobContext&) -> Result<Overlaid> {
            Overlaid overlaid;
            PW_TRY(overlaid.graph, formats::applyProfile(*graph, profile, overlaid.report));
            overlaid.format = words::fromUtf8(profile.format);
            overlaid.warnings = lines(profile.warnings);
            return overlaid;
        },
        [this, path, id = entry->id](Result<Overlaid> overlaid) {
            if (overlaid)
                takeOverlaid(path, id, std::move(*overlaid));
            else
                Q_EMIT failed(withFile(overlaid.error(), path.toStdString()));
        });
}

void FileOpener::takeOverlaid(const QString& path, int graphId, Overlaid overlaid) {
    const GraphEntry* from = m_document->findGraph(graphId);
    if (!from)
        return; // another project was opened meanwhile
    GraphEntry entry;
    entry.source = from->source + words::kOverlay + path;
    entry.name = words::graphTitle(words::fromUtf8(overlaid.graph->name()), entry.source);
    entry.hash = overlaid.graph->hash();
    entry.ops = overlaid.graph->opCount();
    entry.graph = overlaid.graph;
    const std::string before = from->hash;
    const int current = m_document->currentGraph()->id == graphId && m_document->currentPlacement() ? m_document->currentPlacement()->id : -1;
    const bool known = m_document->findGraphByHash(entry.hash) != nullptr;
    const int id = m_document->addGraph(entry);
    const int placement = known ? -1 : m_document->copyPlacements(before, entry.hash, current);
    m_document->setCurrentGraph(id);
    if (placement >= 0)
        m_document->setCurrentPlacement(placement);
    if (const GraphEntry* added = m_document->findGraph(id))
        m_project->storeGraph(*added);

    const formats::ProfileReport& report = overlaid.report;
    const auto count = [](std::size_t n) { return words::count(static_cast<std::int64_t>(n)); };
    QString sentence = tr("%1: %2 of %3 ops have measured times now.")
                           .arg(overlaid.format, count(report.opsMatched), count(report.opsMatched + report.opsWithoutTime));
    QStringList details;
    for (const std::string& name : report.unmatchedEntries)
        details.append(words::fromUtf8(name));
    if (!details.isEmpty())
        sentence += QLatin1Char(' ') + tr("%1 of the profile (%2 of %3 ms) belong to no op of this graph.")
                                           .arg(viz::countText(report.unmatchedEntries.size(), "name", "names"), words::milliseconds(report.unmatchedUs),
                                                words::milliseconds(report.unmatchedUs + report.matchedUs));
    Q_EMIT noticed(tr("Profile applied"), sentence, details + overlaid.warnings + lines(report.warnings));
}

void FileOpener::openSample(const QString& spec, const QString& deviceSet) {
    if (auto devices = devicePreset(deviceSet.toStdString()))
        m_document->setCurrentDevices(devices->hash());
    start(spec, words::graphTitle({}, spec), [spec = spec.toStdString()](JobContext&) -> Result<Loaded> {
        Loaded content;
        PW_TRY(content.graph, zoo::makeFromSpec(spec));
        return content;
    });
}

} // namespace pw::ui
