#pragma once

#include "ui/job_handle.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>

#include <memory>
#include <vector>

namespace pw::ui {

/// A job that people see in the Jobs dock, while it runs and for the rest of the session.
struct JobEntry {
    int id = 0;
    QString title;
    QString icon;
    bool canKeep = false; ///< Stop keeps a result (training, search), else only Abort makes sense
    QPointer<JobHandle> handle;
    Progress progress;
    QElapsedTimer started;
    double seconds = 0.0; ///< once ended
    bool running = true;
    bool stopping = false;
    JobOutcome outcome = JobOutcome::Succeeded;
    QString note; ///< how it ended, in words
};

/// The visible jobs of the window. GUI thread only.
class JobList : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    JobHandle* start(const QString& title, const QString& icon, bool canKeep, Job::Function function);
    const std::vector<JobEntry>& entries() const { return m_entries; }
    const JobEntry* find(int id) const;
    /// The job that the status bar shows: the oldest running one, or null.
    const JobEntry* foremost() const;
    int runningCount() const;
    int idOf(const JobHandle* handle) const;
    void setNote(const JobHandle* handle, const QString& note);

public Q_SLOTS:
    void requestStop(int id);
    void abort(int id);
    void remove(int id); ///< an ended one, from the list
    void requestStopAll();
    void abortAll();

Q_SIGNALS:
    void listChanged();     ///< a job was added, ended or removed
    void progressed(int id);
    void allFinished();     ///< the last running one has ended

private:
    JobEntry* entry(int id);

    std::vector<JobEntry> m_entries;
    int m_nextId = 1;
};

} // namespace pw::ui
