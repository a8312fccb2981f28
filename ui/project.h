#pragma once

#include "ui/async.h"
#include "ui/document.h"
#include "ui/services.h"

#include <QObject>
#include <QTimer>

#include <set>

namespace pw::ui {

/// "Placeto, seed 1": what a run and its placement are called.
QString runTitle(const RunSpec& spec);

/// The project file behind the window: opens it, keeps the document and it in step, reads and writes on jobs only.
/// Without a name it is the untitled project of the user's data folder, which is kept by itself.
class Project : public QObject {
    Q_OBJECT

public:
    Project(const AppServices& services, Document* document, QObject* parent = nullptr);

    void open(const QString& path);
    void openUntitled();
    void saveAs(const QString& path);

    RepositoryPtr repository() const { return m_repository; }
    QString path() const { return m_path; }
    bool isUntitled() const { return m_path == untitledPath(); }
    bool isOpening() const { return m_openJob.isRunning(); }
    QString untitledPath() const;
    /// Nothing is queued to be written.
    bool isIdle() const { return m_writes.isIdle() && !m_manualTimer.isActive(); }
    /// Writes what still waits for its moment now.
    void flush();

    const std::vector<RunRecord>& runs() const { return m_runs; }
    const RunRecord* findRun(std::int64_t id) const;
    void refreshRuns();
    void setTags(std::int64_t run, const std::vector<std::string>& tags);
    void setNote(std::int64_t run, const std::string& note);
    void deleteRun(std::int64_t run);
    void storeGraph(const GraphEntry& graph);
    void storeDeviceSet(const DeviceSet& devices);

Q_SIGNALS:
    void opened(); ///< another project is on screen; false start signals failed() instead
    void saved();
    void runsChanged();
    void failed(const pw::Error& error);
    void idle(); ///< all writes are done

private:
    struct Contents;
    void adopt(Contents contents);
    void moveTo(const QString& path);
    void write(const QString& what, SerialJobs::Step step, SerialJobs::Done done = {});
    void loadGraph(int id);
    void loadPlacements();
    void rememberCurrentGraph();
    void saveManual();

    const AppServices& m_services;
    Document* m_document;
    RepositoryPtr m_repository;
    QString m_path;
    std::vector<RunRecord> m_runs;
    std::set<std::int64_t> m_loadedPlacementsOf; ///< graph rows
    std::set<int> m_editedManual;
    QTimer m_manualTimer;
    SerialJobs m_writes{this};
    LatestJob m_openJob{this};
    LatestJob m_runsJob{this};
};

} // namespace pw::ui
