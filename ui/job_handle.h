#pragma once

#include "core/jobs/job.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <functional>
#include <memory>

namespace pw::ui {

/// A core job as the window sees it: signals on the GUI thread instead of a thread to wait for.
///
/// Progress and mailboxes are drained every 33 ms while the job runs; the job's end wakes the handle at once with an empty
/// queued call (payload never rides in an event). Destroying the handle aborts the job and never waits.
class JobHandle : public QObject {
    Q_OBJECT

public:
    /// Starts at once. Signals come from the event loop only, so connecting after construction loses nothing.
    JobHandle(const QString& title, Job::Function function, QObject* parent);
    ~JobHandle() override;

    const QString& title() const { return m_title; }
    bool isRunning() const { return m_job != nullptr && !m_ended; }
    const Progress& progress() const { return m_progress; }
    bool isStopRequested() const { return m_stopRequested; }

    void requestStop(); ///< finish the current step and keep the best result
    void abort();       ///< drop the results

Q_SIGNALS:
    void progressed(const pw::Progress& progress);
    /// Time to look into the job's mailbox; comes once more right before finished().
    void drain();
    void finished(const pw::JobEnd& end);

private:
    struct Bridge;
    void poll();

    QString m_title;
    std::shared_ptr<Bridge> m_bridge;
    std::unique_ptr<Job> m_job;
    QTimer m_timer;
    Progress m_progress;
    bool m_ended = false;
    bool m_stopRequested = false;
};

} // namespace pw::ui
