#pragma once

#include "ui/document.h"
#include "ui/experiments.h"
#include "ui/job_list.h"
#include "ui/project.h"
#include "ui/services.h"
#include "ui/words.h"

#include <QObject>
#include <QStringList>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace pw::ui {

/// Opens files of any kind by their content, and samples, on jobs; puts what they hold into document and project.
class FileOpener : public QObject {
    Q_OBJECT

public:
    FileOpener(const AppServices& services, Document* document, Project* project, JobList* jobs,
               Experiments* experiments, QObject* parent = nullptr);

    void open(const QStringList& paths);
    /// "zoo:inception_v3?batch=64": its graph becomes current.
    void openSample(const QString& spec, const QString& deviceSet);

Q_SIGNALS:
    void opened(const QString& path); ///< for the recent files
    void failed(const pw::Error& error);
    void noticed(const QString& title, const QString& sentence, const QStringList& details = {});
    /// A job begins to open something; it can be aborted, then nothing changes.
    void started(pw::ui::JobHandle* job, const QString& name);

private:
    struct Loaded;
    using Work = std::function<Result<Loaded>(JobContext&)>;
    void openOne(const QString& path);
    /// Runs `work`; what it loads is taken under the name `source` (a path, or a sample's spec).
    void start(const QString& source, const QString& name, Work work);
    void arrived(const QString& source, Loaded loaded);
    void take(const QString& source, Loaded loaded);
    void takeGraph(const QString& source, GraphPtr graph);
    void takePlacement(const QString& path, const Loaded& loaded);
    void takeProfile(const QString& path, const Loaded& loaded);
    struct Overlaid;
    void takeOverlaid(const QString& path, int graphId, Overlaid overlaid);

    const AppServices& m_services;
    Document* m_document;
    Project* m_project;
    JobList* m_jobs;
    Experiments* m_experiments;
    int m_running = 0;
    /// What lies over a graph (placements) and came before other files of the same drop did.
    std::vector<std::pair<QString, std::shared_ptr<Loaded>>> m_waiting;
};

} // namespace pw::ui
