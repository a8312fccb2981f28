#pragma once

#include "core/experiment/run_driver.h"
#include "ui/document.h"
#include "ui/job_list.h"
#include "ui/project.h"
#include "ui/run_curves.h"
#include "ui/services.h"

#include <QElapsedTimer>
#include <QObject>

#include <map>

namespace pw::ui {

/// What the training dialog asks for.
struct TrainRequest {
    std::string method = "placeto";
    std::vector<GraphPtr> graphs; ///< the first is the one on screen
    DeviceSet devices;
    std::size_t groups = 128;
    SimOptions sim;
    std::uint64_t seed = 1;
    std::int64_t maxEpisodes = 0;
    double maxSeconds = 0.0;
    std::string device = "cpu";
    std::map<std::string, std::string> parameters;
};

/// Starts runs as jobs and brings what they find into the document, the curves and the project. GUI thread only; the work
/// happens on the jobs.
class Experiments : public QObject {
    Q_OBJECT

public:
    Experiments(const AppServices& services, Document* document, Project* project, JobList* jobs, RunCurves* curves,
                QObject* parent = nullptr);

    /// Places the current graph with a method of the registry. `maxSeconds` 0 = the method's own end.
    void place(const std::string& method, double maxSeconds, std::uint64_t seed = 1);
    void train(const TrainRequest& request);
    /// Goes on where a stored run stopped; `moreSeconds` is added to its time limit, if it has one.
    void resume(std::int64_t run);
    /// Places the current graph with a policy that was trained before, in seconds.
    void infer(std::int64_t policyRun);
    void inferFile(const QString& policyFile);
    /// Reads the curve of a stored run.
    void loadCurve(std::int64_t run);

Q_SIGNALS:
    void failed(const pw::Error& error);
    /// A job came to its end with something to say, for the status bar.
    void announced(const QString& text);

private:
    struct Live; ///< one running job: its mailbox, its placements, its curve
    using RunFunction = std::function<Result<RunOutcome>(RunMailbox*, JobContext&)>;

    JobHandle* launch(const RunSpec& spec, const QString& icon, bool withCurve, RunFunction run);
    void drain(const std::shared_ptr<Live>& live);
    void showBest(const std::shared_ptr<Live>& live, const RunLive& state);
    void finish(const std::shared_ptr<Live>& live, const Result<RunOutcome>& outcome);
    void startInference(std::function<Result<learn::Bytes>()> policy);
    std::map<std::string, std::string> currentPins() const;
    std::string titleOf(const OpGraph& graph) const; ///< as the lists call it

    const AppServices& m_services;
    Document* m_document;
    Project* m_project;
    JobList* m_jobs;
    RunCurves* m_curves;
    qint64 m_nextUnstored = -1;
};

} // namespace pw::ui
