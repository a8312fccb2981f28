#include "core/experiment/run_driver.h"

#include "core/base/clock.h"
#include "core/experiment/run_recorder.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <stop_token>

namespace pw {

namespace {

/// A copy of the specification that says all: hashes and names the caller left empty are the problems' own.
Result<RunSpec> completeSpec(RunSpec spec, const std::vector<ProblemPtr>& problems) {
    std::vector<std::string> hashes;
    for (const auto& problem : problems)
        hashes.push_back(problem->graph().hash());
    if (hashes.empty())
        return fail(ErrorCode::Invalid, "a run needs at least one graph");
    const DeviceSet& devices = problems.front()->devices();
    if (!spec.graphHashes.empty() && spec.graphHashes != hashes)
        return fail(ErrorCode::Invalid, "the run was specified for other graphs");
    if (!spec.deviceSetHash.empty() && spec.deviceSetHash != devices.hash())
        return fail(ErrorCode::Invalid, "the run was specified for another device set");
    spec.graphHashes = std::move(hashes);
    spec.deviceSetHash = devices.hash();
    if (spec.graphName.empty())
        spec.graphName = problems.front()->graph().name();
    if (spec.deviceSetName.empty())
        spec.deviceSetName = devices.name();
    return spec;
}

/// Names of ops and devices become groups and ids.
Result<PlaceOptions> placeOptions(const RunSpec& spec, const PlacementProblem& problem) {
    PlaceOptions options;
    options.seed = spec.seed;
    options.maxEvaluations = spec.maxEvaluations;
    options.maxSeconds = spec.maxSeconds;
    options.parameters = spec.parameters;
    if (!spec.pins.empty())
        options.pinned.resize(problem.groupCount());
    for (const auto& [opName, deviceName] : spec.pins) {
        const std::string where = "op \"" + opName + "\"";
        const auto op = problem.graph().findOp(opName);
        if (!op)
            return fail(ErrorCode::NotFound, "is pinned but not in the graph", where);
        const auto device = problem.devices().find(deviceName);
        if (!device)
            return fail(ErrorCode::NotFound, "is pinned to \"" + deviceName + "\", which is not in the set", where);
        const GroupId group = problem.grouping().groupOf[op->index()];
        auto& pin = options.pinned[group.index()];
        if (pin && *pin != *device)
            return fail(ErrorCode::Invalid, "shares a group with an op that is pinned to another device", where);
        if (!problem.allowed(group, *device))
            return fail(ErrorCode::Invalid, "may not run on \"" + deviceName + "\"", where);
        pin = *device;
    }
    return options;
}

/// Samples of an evaluation-by-evaluation search would fill a disk. Kept are all improvements and, of the others, a
/// thousand and then one per 0.1 % of steps: the choice depends on the samples alone, so a seed gives the same curve.
class Thinning {
public:
    bool keeps(const PlaceSample& sample) {
        if (sample.bestStepTimeUs >= m_best && sample.step < m_next)
            return false;
        m_best = std::min(m_best, sample.bestStepTimeUs);
        m_next = sample.step + std::max<std::int64_t>(1, sample.step / 1000);
        return true;
    }

private:
    double m_best = std::numeric_limits<double>::infinity();
    std::int64_t m_next = 0;
};

void setIfKnown(MetricSample& sample, const char* key, double value) {
    if (std::isfinite(value))
        sample.values[key] = value;
}

/// Times are negative or infinite while there is none.
void setTime(MetricSample& sample, const char* key, double us) {
    if (us >= 0.0)
        setIfKnown(sample, key, us);
}

MetricSample metricOf(const PlaceSample& from) {
    MetricSample sample{from.step, from.seconds, {}};
    for (const auto& [key, value] : from.values)
        setIfKnown(sample, key.c_str(), value);
    setTime(sample, "step_time_us", from.stepTimeUs);
    setTime(sample, "best_step_time_us", from.bestStepTimeUs);
    setIfKnown(sample, "evaluations", static_cast<double>(from.evaluations));
    return sample;
}

MetricSample metricOf(const learn::EpisodeSample& from) {
    MetricSample sample{from.episode, from.seconds, {}};
    setTime(sample, "step_time_us", from.stepTimeUs);
    setTime(sample, "best_step_time_us", from.bestStepTimeUs);
    setIfKnown(sample, "evaluations", static_cast<double>(from.evaluations));
    setIfKnown(sample, "reward", from.reward);
    setIfKnown(sample, "entropy", from.entropy);
    setIfKnown(sample, "grad_norm", from.gradNorm);
    setIfKnown(sample, "lr", from.learningRate);
    return sample;
}

/// Code of others: whatever it throws ends this run, not the program, and the run's row gets its end.
template<class Function>
auto guarded(const Function& function) -> decltype(function()) {
    try {
        return function();
    } catch (const std::exception& e) {
        return fail(ErrorCode::Internal, e.what());
    }
}

/// What placing and training share: the rows of the run, its recorder, its live values, and a context that stops when
/// the job is asked to or when the repository fails.
class Session {
public:
    Session(const RepositoryPtr& repository, RunMailbox* mailbox, const JobContext& outer)
        : m_repository(repository)
        , m_mailbox(mailbox)
        , m_outer(outer)
        , m_forwardStop(outer.stopToken(), [this] { m_stop.request_stop(); })
        , m_context(m_stop.get_token(), outer.abortToken(), [this](const Progress& p) { m_outer.report(p); }) {}

    JobContext& context() { return m_context; }
    RowId run() const { return m_run; }

    Status start(const RunSpec& spec, const std::vector<ProblemPtr>& problems) {
        PW_CHECK(storeProblems(spec, problems));
        if (m_repository) {
            const std::string name = spec.method + " on " + spec.graphName;
            PW_TRY(m_run, m_repository->startRun(spec, name, m_graphIds.front(), m_deviceSetIds.front()));
        }
        openRecorder();
        return {};
    }

    /// Continues `run` after `step`; its best placement so far is known and not stored again.
    Status resume(const RunSpec& spec, const std::vector<ProblemPtr>& problems, RowId run, std::int64_t step) {
        PW_CHECK(storeProblems(spec, problems));
        PW_CHECK(m_repository->setSpec(run, spec));
        PW_CHECK(m_repository->reopenRun(run, step));
        PW_TRY(const RunRecord record, m_repository->run(run));
        m_run = run;
        m_earlierSeconds = record.seconds;
        m_evaluations = record.evaluations;
        m_steps = step;
        if (record.bestPlacementId) {
            PW_TRY(PlacementRecord best, m_repository->placement(*record.bestPlacementId));
            m_storedBest[0] = std::move(best.placement);
        }
        openRecorder();
        return {};
    }

    void sample(MetricSample sample) {
        m_lastSampleSeconds = sample.seconds;
        m_steps = std::max(m_steps, sample.step);
        if (const auto evaluations = sample.values.find("evaluations"); evaluations != sample.values.end())
            m_evaluations = std::max(m_evaluations, static_cast<std::int64_t>(evaluations->second));
        if (m_mailbox)
            m_mailbox->append(sample);
        m_recorder->addSample(std::move(sample));
    }

    void best(std::size_t index, const GroupPlacement& groups, const Evaluation& evaluation) {
        if (index >= m_problems.size() || groups.empty())
            return;
        if (m_mailbox && index == 0)
            m_mailbox->setState({m_run, groups, m_problems[0], evaluation});
        OpPlacement placement = expandPlacement(m_problems[index]->grouping(), groups);
        if (!m_repository || m_storedBest[index] == placement)
            return;
        m_storedBest[index] = placement;
        PlacementRecord record;
        record.runId = m_run;
        record.graphId = m_graphIds[index];
        record.deviceSetId = m_deviceSetIds[index];
        record.name = m_spec.method;
        record.method = m_spec.method;
        record.stepTimeUs = evaluation.stepTimeUs;
        record.valid = evaluation.valid;
        record.placement = std::move(placement);
        m_recorder->setBest(index, std::move(record));
    }

    void checkpoint(std::int64_t step, const learn::Bytes& bytes) { m_recorder->addCheckpoint({step, bytes}); }

    void setPolicy(const learn::Bytes& policy) {
        if (m_repository && !policy.empty())
            keepFirst(m_repository->setPolicy(m_run, policy));
    }

    /// Writes the end of the run and says how it ended. `failure`: of the placer or trainer.
    Result<RunOutcome> finish(const std::optional<Error>& failure, RunOutcome outcome) {
        const bool aborted = m_outer.abortRequested();
        keepFirst(m_recorder->close());
        std::optional<Error> error = m_status ? std::nullopt : std::optional(m_status.error());
        if (!error && !aborted)
            error = failure;
        outcome.run = m_run;
        outcome.status = RunStatus::Done;
        if (error)
            outcome.status = RunStatus::Failed;
        else if (aborted)
            outcome.status = RunStatus::Interrupted;
        else if (m_outer.stopRequested())
            outcome.status = RunStatus::Stopped;
        if (m_repository) {
            const Status finished = m_repository->finishRun(m_run, outcome.status, seconds(), m_evaluations, m_steps,
                                                            error ? error->toString() : std::string());
            if (!finished && !error)
                error = finished.error();
        }
        if (error)
            return fail(*error);
        if (aborted)
            outcome.results.clear();
        return outcome;
    }

    /// Counted by the placer itself, which knows better than its samples.
    void setEvaluations(std::int64_t evaluations) { m_evaluations = std::max(m_evaluations, evaluations); }
    void setSteps(std::int64_t steps) { m_steps = std::max(m_steps, steps); }

private:
    Status storeProblems(const RunSpec& spec, const std::vector<ProblemPtr>& problems) {
        m_spec = spec;
        m_problems = problems;
        m_storedBest.resize(problems.size());
        for (const auto& problem : problems) {
            if (!m_repository)
                break;
            PW_TRY(const RowId graph, m_repository->putGraph(problem->graph(), problem->graph().format()));
            PW_TRY(const RowId devices, m_repository->putDeviceSet(problem->devices()));
            m_graphIds.push_back(graph);
            m_deviceSetIds.push_back(devices);
        }
        return {};
    }

    void openRecorder() {
        m_recorder.emplace(m_repository, m_run, [this] { m_stop.request_stop(); });
        if (m_mailbox)
            m_mailbox->setState({m_run, {}, m_problems.front(), {}});
    }

    void keepFirst(const Status& status) {
        if (m_status && !status)
            m_status = status;
    }

    double seconds() const { return m_lastSampleSeconds.value_or(m_earlierSeconds + m_watch.seconds()); }

    const RepositoryPtr& m_repository;
    RunMailbox* const m_mailbox;
    const JobContext& m_outer;
    std::stop_source m_stop;
    std::stop_callback<std::function<void()>> m_forwardStop;
    JobContext m_context;

    RunSpec m_spec;
    std::vector<ProblemPtr> m_problems;
    std::vector<RowId> m_graphIds;
    std::vector<RowId> m_deviceSetIds;
    RowId m_run = 0;
    Status m_status;
    Stopwatch m_watch;
    double m_earlierSeconds = 0.0;
    std::optional<double> m_lastSampleSeconds;
    std::int64_t m_evaluations = 0;
    std::int64_t m_steps = 0;
    std::vector<OpPlacement> m_storedBest;
    std::optional<RunRecorder> m_recorder;
};

/// The stored run and where it goes on.
struct ResumePoint {
    RunSpec spec;
    CheckpointRecord checkpoint;
};

/// Name of the first field that decides the numbers and differs; nothing if none does.
std::optional<std::string> firstDifference(const RunSpec& a, const RunSpec& b) {
    if (a.kind != b.kind)
        return "kind";
    if (a.method != b.method)
        return "method";
    if (a.graphHashes != b.graphHashes)
        return "graphs";
    if (a.deviceSetHash != b.deviceSetHash)
        return "device set";
    if (a.grouping != b.grouping)
        return "groups";
    if (a.sim != b.sim)
        return "simulator options";
    if (a.seed != b.seed)
        return "seed";
    if (a.parameters != b.parameters)
        return "parameters";
    return std::nullopt;
}

Result<ResumePoint> resumePoint(const RunSpec& asked, const RepositoryPtr& repository, RowId run) {
    if (!repository)
        return fail(ErrorCode::Invalid, "resuming needs the project that holds the run");
    PW_TRY(const RunRecord record, repository->run(run));
    if (record.status == RunStatus::Running)
        return fail(ErrorCode::Busy, "run " + std::to_string(run) + " is still running", {}, repository->path());
    ResumePoint point{record.spec, {}};
    if (!asked.method.empty()) {
        if (const auto field = firstDifference(asked, record.spec))
            return fail(ErrorCode::Invalid, "run " + std::to_string(run) + " had a different " + *field);
        point.spec = asked;
    }
    PW_TRY(std::optional<CheckpointRecord> checkpoint, repository->lastCheckpoint(run));
    if (checkpoint)
        point.checkpoint = std::move(*checkpoint);
    return point;
}

learn::TrainSpec trainSpec(const RunSpec& spec, const std::vector<ProblemPtr>& problems, learn::Bytes resumeFrom) {
    learn::TrainSpec train;
    train.method = spec.method;
    train.problems = problems;
    train.maxEpisodes = spec.maxEpisodes;
    train.maxSeconds = spec.maxSeconds;
    train.seed = spec.seed;
    train.device = spec.device;
    train.parameters = spec.parameters;
    train.resumeFrom = std::move(resumeFrom);
    return train;
}

learn::TrainHooks hooksInto(Session& session) {
    learn::TrainHooks hooks;
    hooks.onEpisode = [&session](const learn::EpisodeSample& sample) { session.sample(metricOf(sample)); };
    hooks.onCheckpoint = [&session](std::int64_t episode, const learn::Bytes& bytes) {
        session.checkpoint(episode, bytes);
    };
    hooks.onBest = [&session](std::size_t index, const GroupPlacement& groups, const Evaluation& evaluation) {
        session.best(index, groups, evaluation);
    };
    return hooks;
}

} // namespace

Result<RunOutcome> runPlacement(const RunSpec& spec, const ProblemPtr& problem, const Placer& placer,
                                const RepositoryPtr& repository, RunMailbox* mailbox, JobContext& context) {
    PW_TRY(RunSpec complete, completeSpec(spec, {problem}));
    if (complete.method.empty())
        complete.method = placer.name();
    PW_TRY(const PlaceOptions options, placeOptions(complete, *problem));
    Session session(repository, mailbox, context);
    PW_CHECK(session.start(complete, {problem}));

    Thinning thinning;
    const auto sink = [&](const PlaceSample& sample) {
        if (thinning.keeps(sample))
            session.sample(metricOf(sample));
    };
    auto placed = guarded([&] { return placer.place(problem, options, session.context(), sink); });
    if (!placed)
        return session.finish(std::move(placed).error(), {});
    RunOutcome outcome;
    if (!context.abortRequested()) {
        session.best(0, placed->groups, placed->evaluation);
        session.setEvaluations(placed->evaluations);
        outcome.results.push_back(std::move(*placed));
    }
    return session.finish(std::nullopt, std::move(outcome));
}

Result<RunOutcome> runTraining(const RunSpec& spec, const std::vector<ProblemPtr>& problems,
                               const learn::Library& library, const RepositoryPtr& repository, RowId resumeRun,
                               RunMailbox* mailbox, JobContext& context) {
    if (!spec.pins.empty())
        return fail(ErrorCode::Unsupported, "training takes no pinned ops");
    RunSpec asked = spec;
    asked.kind = "train";
    PW_TRY(const RunSpec complete, completeSpec(std::move(asked), problems));
    ResumePoint point{complete, {}};
    if (resumeRun > 0) {
        PW_TRY(point, resumePoint(complete, repository, resumeRun));
    }
    Session session(repository, mailbox, context);
    if (resumeRun > 0)
        PW_CHECK(session.resume(point.spec, problems, resumeRun, point.checkpoint.step));
    else
        PW_CHECK(session.start(point.spec, problems));

    const learn::TrainSpec train = trainSpec(point.spec, problems, std::move(point.checkpoint.bytes));
    const learn::TrainHooks hooks = hooksInto(session);
    auto trained = guarded([&] { return library.train(train, hooks, session.context()); });
    if (!trained)
        return session.finish(std::move(trained).error(), {});
    RunOutcome outcome;
    outcome.episodes = trained->episodes;
    if (!context.abortRequested()) {
        for (std::size_t i = 0; i < trained->best.size(); ++i)
            session.best(i, trained->best[i].groups, trained->best[i].evaluation);
        session.setSteps(trained->episodes);
        if (!trained->checkpoint.empty())
            session.checkpoint(trained->episodes, trained->checkpoint);
        session.setPolicy(trained->policy);
        outcome.results = std::move(trained->best);
        outcome.policy = std::move(trained->policy);
    }
    return session.finish(std::nullopt, std::move(outcome));
}

Result<std::vector<ProblemPtr>> loadProblems(const RunSpec& spec, const RunRepository& repository) {
    PW_TRY(const auto deviceSets, repository.deviceSets());
    const auto devicesRow = std::find_if(deviceSets.begin(), deviceSets.end(),
                                         [&](const auto& record) { return record.hash == spec.deviceSetHash; });
    if (devicesRow == deviceSets.end())
        return fail(ErrorCode::NotFound, "the run's device set is not in the project", {}, repository.path());
    PW_TRY(const DeviceSet devices, repository.loadDeviceSet(devicesRow->id));
    PW_TRY(const auto graphs, repository.graphs());
    std::vector<ProblemPtr> problems;
    for (const auto& hash : spec.graphHashes) {
        const auto row =
            std::find_if(graphs.begin(), graphs.end(), [&](const auto& record) { return record.hash == hash; });
        if (row == graphs.end())
            return fail(ErrorCode::NotFound, "a graph of the run is not in the project", {}, repository.path());
        PW_TRY(GraphPtr graph, repository.loadGraph(row->id));
        PW_TRY(ProblemPtr problem, PlacementProblem::compile(std::move(graph), devices, spec.grouping, spec.sim));
        problems.push_back(std::move(problem));
    }
    return problems;
}

} // namespace pw
