#include "ui/job_list.h"

#include "ui/words.h"

#include <algorithm>

namespace pw::ui {

namespace {
constexpr std::size_t kEndedKept = 20; ///< ended jobs stay listed up to here
}

JobHandle* JobList::start(const QString& title, const QString& icon, bool canKeep, Job::Function function) {
    auto* handle = new JobHandle(title, std::move(function), this);
    JobEntry added;
    const int id = added.id = m_nextId++;
    added.title = title;
    added.icon = icon;
    added.canKeep = canKeep;
    added.handle = handle;
    added.started.start();
    m_entries.push_back(std::move(added));
    connect(handle, &JobHandle::progressed, this, [this, id](const Progress& progress) {
        if (JobEntry* job = entry(id))
            job->progress = progress;
        Q_EMIT progressed(id);
    });
    connect(handle, &JobHandle::finished, this, [this, id, handle](const JobEnd& end) {
        handle->deleteLater();
        JobEntry* job = entry(id);
        if (!job)
            return;
        job->running = false;
        job->outcome = end.outcome;
        job->seconds = static_cast<double>(job->started.elapsed()) / 1000.0;
        if (job->note.isEmpty() && end.error)
            job->note = messageFor(*end.error).sentence;
        const auto ended = std::count_if(m_entries.begin(), m_entries.end(), [](const auto& e) { return !e.running; });
        if (static_cast<std::size_t>(ended) > kEndedKept)
            m_entries.erase(std::find_if(m_entries.begin(), m_entries.end(), [](const auto& e) { return !e.running; }));
        Q_EMIT listChanged();
        if (runningCount() == 0)
            Q_EMIT allFinished();
    });
    Q_EMIT listChanged();
    return handle;
}

JobEntry* JobList::entry(int id) {
    return const_cast<JobEntry*>(find(id));
}

const JobEntry* JobList::find(int id) const {
    for (const auto& job : m_entries)
        if (job.id == id)
            return &job;
    return nullptr;
}

const JobEntry* JobList::foremost() const {
    for (const auto& job : m_entries)
        if (job.running)
            return &job;
    return nullptr;
}

int JobList::runningCount() const {
    return static_cast<int>(std::count_if(m_entries.begin(), m_entries.end(), [](const auto& e) { return e.running; }));
}

int JobList::idOf(const JobHandle* handle) const {
    for (const auto& job : m_entries)
        if (job.handle == handle)
            return job.id;
    return 0;
}

void JobList::setNote(const JobHandle* handle, const QString& note) {
    if (JobEntry* job = entry(idOf(handle))) {
        job->note = note;
        Q_EMIT progressed(job->id);
    }
}

void JobList::requestStop(int id) {
    JobEntry* job = entry(id);
    if (!job || !job->running || !job->handle)
        return;
    job->stopping = true;
    job->handle->requestStop();
    Q_EMIT progressed(id);
}

void JobList::abort(int id) {
    JobEntry* job = entry(id);
    if (!job || !job->running || !job->handle)
        return;
    job->stopping = true;
    job->handle->abort();
    Q_EMIT progressed(id);
}

void JobList::remove(int id) {
    const auto found = std::find_if(m_entries.begin(), m_entries.end(), [id](const auto& e) { return e.id == id; });
    if (found == m_entries.end() || found->running)
        return;
    m_entries.erase(found);
    Q_EMIT listChanged();
}

void JobList::requestStopAll() {
    for (const auto& job : m_entries)
        if (job.running && job.handle)
            job.canKeep ? job.handle->requestStop() : job.handle->abort();
    Q_EMIT listChanged();
}

void JobList::abortAll() {
    for (const auto& job : m_entries)
        if (job.running && job.handle)
            job.handle->abort();
    Q_EMIT listChanged();
}

} // namespace pw::ui
