#include "ui/experiments.h"

#include "core/formats/formats.h"
#include "ui/words.h"

namespace pw::ui {

namespace {

constexpr qint64 kBestIntervalMs = 300;          ///< a live placement is redrawn at most this often
constexpr std::int64_t kMaxPolicyBytes = 1LL << 30;

/// A trained policy behind the interface of all placers, so that zero-shot runs are recorded like the others.
class PolicyPlacer final : public Placer {
public:
    PolicyPlacer(const learn::Library* library, learn::Bytes policy)
        : m_library(library), m_policy(std::move(policy)) {}
    std::string name() const override { return "placeto"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink&) const override {
        learn::InferSpec spec;
        spec.policy = m_policy;
        spec.problem = problem;
        spec.seed = options.seed;
        return m_library->infer(spec, context);
    }

private:
    const learn::Library* m_library;
    learn::Bytes m_policy;
};

RunSpec specFor(const PlacementProblem& problem, std::string kind, std::string method) {
    RunSpec spec;
    spec.kind = std::move(kind);
    spec.method = std::move(method);
    spec.graphHashes = {problem.graph().hash()};
    spec.graphName = problem.graph().name();
    spec.deviceSetHash = problem.devices().hash();
    spec.deviceSetName = problem.devices().name();
    spec.grouping = problem.groupingOptions();
    spec.sim = problem.options();
    return spec;
}

Result<const learn::Library*> loadLibrary(const AppServices& services) {
    if (!services.loadLearning)
        return fail(ErrorCode::Unsupported, "this build has no learned placers");
    return services.loadLearning();
}

} // namespace

struct Experiments::Live {
    RunSpec spec;
    JobHandle* handle = nullptr;
    RunMailbox mailbox;
    std::optional<Result<RunOutcome>> outcome; ///< written by the worker before it ends
    bool withCurve = false;
    qint64 curve = 0; ///< 0 until the run's row is known
    std::vector<MetricSample> waiting;
    std::optional<RunLive> pendingBest;
    QElapsedTimer sinceBest;
    int placement = 0;
    RowId run = 0;
};

Experiments::Experiments(const AppServices& services, Document* document, Project* project, JobList* jobs,
                         RunCurves* curves, QObject* parent)
    : QObject(parent), m_services(services), m_document(document), m_project(project), m_jobs(jobs), m_curves(curves) {}

JobHandle* Experiments::launch(const RunSpec& spec, const QString& icon, bool withCurve, RunFunction run) {
    auto live = std::make_shared<Live>();
    live->spec = spec;
    live->withCurve = withCurve;
    const QString graph = words::fromUtf8(spec.graphName);
    const QString title = graph.isEmpty() ? runTitle(spec) : tr("%1 on %2").arg(runTitle(spec), graph);
    live->handle = m_jobs->start(title, icon, true, [live, run = std::move(run)](JobContext& context) -> Status {
        live->outcome.emplace(run(&live->mailbox, context));
        if (!*live->outcome)
            return fail(live->outcome->error());
        return {};
    });
    connect(live->handle, &JobHandle::drain, this, [this, live] { drain(live); });
    connect(live->handle, &JobHandle::finished, this, [this, live](const JobEnd& end) {
        if (live->outcome)
            finish(live, *live->outcome);
        else
            finish(live, fail(end.error.value_or(Error{ErrorCode::Internal, "the job ended early", {}, {}})));
    });
    return live->handle;
}

std::string Experiments::titleOf(const OpGraph& graph) const {
    const GraphEntry* entry = m_document->findGraphByHash(graph.hash());
    return entry ? entry->name.toStdString() : graph.name();
}

std::map<std::string, std::string> Experiments::currentPins() const {
    std::map<std::string, std::string> pins;
    const PlacementEntry* current = m_document->currentPlacement();
    const GraphPtr graph = m_document->graph();
    if (!current || !graph || !current->ops)
        return pins;
    for (const quint32 op : current->pinned)
        pins[graph->op(OpId(op)).name] = m_document->devices().device((*current->ops)[op]).name;
    return pins;
}

void Experiments::place(const std::string& method, double maxSeconds, std::uint64_t seed) {
    const ProblemPtr problem = m_document->problem();
    const Placer* placer = m_services.placers ? m_services.placers->find(method) : nullptr;
    if (!problem || !placer) {
        Q_EMIT failed({ErrorCode::Invalid, problem ? "there is no such method in this build" : "no graph is ready to be placed", {}, {}});
        return;
    }
    RunSpec spec = specFor(*problem, "place", method);
    spec.maxSeconds = maxSeconds;
    spec.seed = seed;
    spec.pins = currentPins();
    spec.graphName = titleOf(problem->graph());
    launch(spec, QStringLiteral("place"), false,
           [spec, problem, placer, placers = m_services.placers, repository = m_project->repository()](
               RunMailbox* mailbox, JobContext& context) {
               return runPlacement(spec, problem, *placer, repository, mailbox, context);
           });
}

void Experiments::train(const TrainRequest& request) {
    RunSpec spec;
    spec.kind = "train";
    spec.method = request.method;
    for (const auto& graph : request.graphs)
        spec.graphHashes.push_back(graph->hash());
    spec.graphName = request.graphs.empty() ? std::string() : titleOf(*request.graphs.front());
    spec.deviceSetHash = request.devices.hash();
    spec.deviceSetName = request.devices.name();
    spec.grouping = m_document->grouping();
    spec.grouping.targetGroups = request.groups;
    spec.sim = request.sim;
    spec.seed = request.seed;
    spec.maxEpisodes = request.maxEpisodes;
    spec.maxSeconds = request.maxSeconds;
    spec.device = request.device;
    spec.parameters = request.parameters;
    launch(spec, QStringLiteral("train"), true,
           [spec, request, services = m_services, repository = m_project->repository()](
               RunMailbox* mailbox, JobContext& context) -> Result<RunOutcome> {
               PW_TRY(const learn::Library* library, loadLibrary(services));
               std::vector<ProblemPtr> problems;
               for (const auto& graph : request.graphs) {
                   PW_TRY(ProblemPtr problem,
                          PlacementProblem::compile(graph, request.devices, spec.grouping, request.sim));
                   problems.push_back(std::move(problem));
               }
               return runTraining(spec, problems, *library, repository, 0, mailbox, context);
           });
}

void Experiments::resume(std::int64_t run) {
    const RunRecord* record = m_project->findRun(run);
    const RepositoryPtr repository = m_project->repository();
    if (!record || !repository)
        return;
    if (record->spec.kind != "train") {
        Q_EMIT failed({ErrorCode::Unsupported, "only training runs can be resumed; place again instead", {}, {}});
        return;
    }
    RunSpec spec = record->spec;
    if (record->status == RunStatus::Done || (spec.maxSeconds > 0.0 && record->seconds >= spec.maxSeconds)) {
        // A run that has used its budget up gets the same again.
        spec.maxSeconds = spec.maxSeconds > 0.0 ? record->seconds + spec.maxSeconds : 0.0;
        spec.maxEpisodes = spec.maxEpisodes > 0 ? record->steps + spec.maxEpisodes : 0;
    }
    m_curves->remove(run); // why: samples behind the checkpoint are dropped; the curve is read again
    loadCurve(run);
    launch(spec, QStringLiteral("train"), true,
           [spec, run, services = m_services, repository](RunMailbox* mailbox,
                                                          JobContext& context) -> Result<RunOutcome> {
               PW_TRY(const learn::Library* library, loadLibrary(services));
               PW_TRY(const auto problems, loadProblems(spec, *repository));
               return runTraining(spec, problems, *library, repository, run, mailbox, context);
           });
}

void Experiments::startInference(std::function<Result<learn::Bytes>()> policy) {
    const ProblemPtr problem = m_document->problem();
    if (!problem) {
        Q_EMIT failed({ErrorCode::Invalid, "no graph is ready to be placed", {}, {}});
        return;
    }
    RunSpec spec = specFor(*problem, "infer", "placeto");
    spec.graphName = titleOf(problem->graph());
    launch(spec, QStringLiteral("infer"), false,
           [spec, problem, policy = std::move(policy), services = m_services, repository = m_project->repository()](
               RunMailbox* mailbox, JobContext& context) -> Result<RunOutcome> {
               PW_TRY(const learn::Library* library, loadLibrary(services));
               PW_TRY(learn::Bytes bytes, policy());
               const PolicyPlacer placer(library, std::move(bytes));
               return runPlacement(spec, problem, placer, repository, mailbox, context);
           });
}

void Experiments::infer(std::int64_t policyRun) {
    startInference([repository = m_project->repository(), policyRun]() -> Result<learn::Bytes> {
        if (!repository)
            return fail(ErrorCode::NotFound, "no project is open");
        PW_TRY(learn::Bytes bytes, repository->policy(policyRun));
        if (bytes.empty())
            return fail(ErrorCode::NotFound, "this run has stored no policy yet");
        return bytes;
    });
}

void Experiments::inferFile(const QString& policyFile) {
    startInference([path = policyFile.toStdString()]() -> Result<learn::Bytes> {
        PW_TRY(const std::string content, formats::readFile(path, kMaxPolicyBytes));
        return learn::Bytes(content.begin(), content.end());
    });
}

void Experiments::loadCurve(std::int64_t run) {
    const RunRecord* record = m_project->findRun(run);
    const RepositoryPtr repository = m_project->repository();
    if (!record || !repository || m_curves->find(run))
        return;
    m_curves->add(run, runTitle(record->spec), false);
    runAsync<std::vector<MetricSample>>(
        this, tr("Reading curve"), [repository, run](JobContext&) { return repository->metrics(run, 0); },
        [this, run](Result<std::vector<MetricSample>> samples) {
            if (!samples) {
                Q_EMIT failed(samples.error());
                return;
            }
            const auto* curve = m_curves->find(run);
            if (curve && curve->steps.empty())
                m_curves->append(run, *samples);
        });
}

void Experiments::drain(const std::shared_ptr<Live>& live) {
    auto content = live->mailbox.drain();
    if (content.state) {
        live->run = content.state->run;
        if (live->withCurve && live->curve == 0) {
            live->curve = live->run > 0 ? live->run : m_nextUnstored--;
            m_curves->add(live->curve, runTitle(live->spec), true);
            m_project->refreshRuns();
        }
        if (!content.state->bestGroups.empty())
            live->pendingBest = std::move(content.state);
    }
    live->waiting.insert(live->waiting.end(), std::make_move_iterator(content.samples.begin()),
                         std::make_move_iterator(content.samples.end()));
    if (live->curve != 0 && !live->waiting.empty()) {
        // The curve of a resumed run is read from the project first; samples follow it.
        const double from = m_curves->find(live->curve) && !m_curves->find(live->curve)->steps.empty()
                                ? m_curves->find(live->curve)->steps.back()
                                : -1.0;
        std::erase_if(live->waiting, [from](const auto& sample) { return static_cast<double>(sample.step) <= from; });
        m_curves->append(live->curve, live->waiting);
        live->waiting.clear();
    }
    if (live->pendingBest && (!live->sinceBest.isValid() || live->sinceBest.elapsed() >= kBestIntervalMs)) {
        showBest(live, *live->pendingBest);
        live->pendingBest.reset();
        live->sinceBest.start();
    }
}

void Experiments::showBest(const std::shared_ptr<Live>& live, const RunLive& state) {
    if (live->spec.kind == "place" && live->spec.method != "local_search")
        return; // why: they are done in a moment; the result itself is enough
    auto ops = std::make_shared<const OpPlacement>(expandPlacement(state.problem->grouping(), state.bestGroups));
    if (live->placement != 0) {
        m_document->updatePlacement(live->placement, std::move(ops), state.best);
        return;
    }
    PlacementEntry entry;
    entry.name = runTitle(live->spec);
    entry.method = words::fromUtf8(live->spec.method);
    entry.graphHash = state.problem->graph().hash();
    entry.deviceHash = state.problem->devices().hash();
    entry.ops = std::move(ops);
    entry.stepTimeUs = state.best.stepTimeUs;
    entry.valid = state.best.valid;
    entry.evaluated = true;
    entry.live = true;
    entry.run = live->run;
    const GraphEntry* graph = m_document->currentGraph();
    const bool onScreen = graph && graph->hash == entry.graphHash && m_document->devicesHash() == entry.deviceHash;
    live->placement = m_document->addPlacement(std::move(entry), onScreen);
}

void Experiments::finish(const std::shared_ptr<Live>& live, const Result<RunOutcome>& outcome) {
    drain(live);
    if (live->curve != 0)
        m_curves->setLive(live->curve, false);
    m_project->refreshRuns();
    if (live->placement != 0)
        m_document->setPlacementLive(live->placement, false);
    if (!outcome) {
        m_jobs->setNote(live->handle, messageFor(outcome.error()).sentence);
        Q_EMIT failed(outcome.error());
        return;
    }
    if (outcome->status == RunStatus::Interrupted || outcome->results.empty()) {
        if (live->placement != 0)
            m_document->removePlacement(live->placement);
        m_jobs->setNote(live->handle, tr("aborted, nothing kept"));
        return;
    }
    const PlaceResult& best = outcome->results.front();
    if (best.placement.empty() && best.groups.empty()) {
        m_jobs->setNote(live->handle, tr("ended before a first placement"));
        return;
    }
    auto ops = std::make_shared<const OpPlacement>(best.placement);
    if (live->placement == 0) {
        PlacementEntry entry;
        entry.name = runTitle(live->spec);
        entry.method = words::fromUtf8(live->spec.method);
        entry.graphHash = live->spec.graphHashes.front();
        entry.deviceHash = live->spec.deviceSetHash;
        entry.ops = std::move(ops);
        entry.stepTimeUs = best.evaluation.stepTimeUs;
        entry.valid = best.evaluation.valid;
        entry.evaluated = true;
        entry.run = outcome->run;
        const GraphEntry* graph = m_document->currentGraph();
        const bool onScreen = graph && graph->hash == entry.graphHash && m_document->devicesHash() == entry.deviceHash;
        live->placement = m_document->addPlacement(std::move(entry), onScreen);
    } else {
        m_document->updatePlacement(live->placement, std::move(ops), best.evaluation);
    }
    const QString step = words::milliseconds(best.evaluation.stepTimeUs);
    m_jobs->setNote(live->handle, best.evaluation.valid ? tr("best %1 ms").arg(step) : tr("no valid placement found"));
    Q_EMIT announced(tr("%1: %2 ms").arg(runTitle(live->spec), step));
}

} // namespace pw::ui
