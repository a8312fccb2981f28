#pragma once

#include "ui/document.h"
#include "ui/experiments.h"
#include "ui/job_list.h"
#include "ui/project.h"
#include "ui/services.h"
#include "ui/words.h"

#include <QObject>
#include <QStringList>

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
    void noticed(const QString& title, const QString& sentence);

private:
    struct Loaded;
    void openOne(const QString& path);
    void take(const QString& path, Loaded loaded);
    void takeGraph(const QString& source, GraphPtr graph);
    void takePlacement(const QString& path, const Loaded& loaded);

    const AppServices& m_services;
    Document* m_document;
    Project* m_project;
    JobList* m_jobs;
    Experiments* m_experiments;
};

} // namespace pw::ui
