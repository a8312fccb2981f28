#include "ui/file_opener.h"

#include "core/formats/formats.h"
#include "core/zoo/zoo.h"

#include <QFileInfo>

#include <algorithm>

namespace pw::ui {

struct FileOpener::Loaded {
    formats::FileKind kind = formats::FileKind::Unknown;
    GraphPtr graph;
    std::optional<formats::PlacementFile> placement;
    std::optional<DeviceSet> devices;
};

namespace {

const QLatin1String kZoo("zoo:");

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

/// A placement dropped together with its graph may be read first: it waits until all of them are there.
void FileOpener::arrived(const QString& source, Loaded loaded) {
    if (loaded.placement && m_running > 0)
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
    QStringList details;
    for (const Warning& warning : warnings)
        details.append(words::fromUtf8(warning.where.empty() ? warning.detail : warning.where + ": " + warning.detail));
    if (!warnings.empty())
        Q_EMIT noticed(tr("Placement applied with warnings"), words::fromUtf8(warnings.front().detail),
                       details.size() > 1 ? details : QStringList());
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
