#include "tests/experiment/repository_conformance.h"

#include "tests/support/graph_dsl.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <thread>

namespace pw::test {

namespace {

DeviceSet twoDevices(const std::string& name = "pair") {
    std::vector<Device> devices(2);
    for (std::size_t i = 0; i < 2; ++i) {
        devices[i].name = "gpu:" + std::to_string(i);
        devices[i].kind = "gpu";
        devices[i].memoryBytes = 1000000000;
        devices[i].flopsPerUs = 1e6;
        devices[i].bytesPerUs = 1e5;
    }
    std::vector<Link> links = {{DeviceId(0), DeviceId(1), 7600.0, 25.0, {}}, {DeviceId(1), DeviceId(0), 7600.0, 25.0, {}}};
    return *DeviceSet::create(name, devices, links);
}

std::vector<std::uint8_t> bytes(std::initializer_list<int> values) {
    std::vector<std::uint8_t> result;
    for (const int value : values)
        result.push_back(static_cast<std::uint8_t>(value));
    return result;
}

template<class T>
ErrorCode codeOf(const Result<T>& result) {
    return result ? ErrorCode::Internal : result.error().code;
}

} // namespace

void RepositoryConformance::init() {
    m_repository = makeEmpty();
    QVERIFY(m_repository);
    m_graph = *m_repository->putGraph(*w1(), "test");
    m_devices = *m_repository->putDeviceSet(twoDevices());
}

RunSpec RepositoryConformance::spec() const {
    RunSpec result;
    result.method = "metis";
    result.graphName = "W1";
    result.seed = 18446744073709551615ULL;
    result.parameters = {{"k", "v"}};
    return result;
}

RowId RepositoryConformance::startRun(const std::string& name) {
    return *m_repository->startRun(spec(), name, m_graph, m_devices);
}

void RepositoryConformance::graphIsStoredOnceAndComesBack() {
    const GraphPtr other = graph("x:1*4 -> y:2*8 -> z:3; x => z");
    const RowId id = *m_repository->putGraph(*other, "file.onnx");
    QCOMPARE(*m_repository->putGraph(*other, "elsewhere"), id);
    const auto graphs = *m_repository->graphs();
    QCOMPARE(graphs.size(), std::size_t(2));
    QCOMPARE(graphs[1].id, id);
    QCOMPARE(graphs[1].hash, other->hash());
    QCOMPARE(graphs[1].source, std::string("file.onnx"));
    QCOMPARE(graphs[1].ops, std::size_t(3));
    QVERIFY(graphs[1].createdAt > 1600000000);
    const auto loaded = m_repository->loadGraph(id);
    QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().toString().c_str());
    QCOMPARE((*loaded)->hash(), other->hash());
    QCOMPARE((*loaded)->name(), other->name());
    QCOMPARE((*loaded)->edges().size(), other->edges().size());
}

void RepositoryConformance::deviceSetIsStoredOnceAndComesBack() {
    const DeviceSet devices = twoDevices();
    QCOMPARE(*m_repository->putDeviceSet(devices), m_devices);
    const auto records = *m_repository->deviceSets();
    QCOMPARE(records.size(), std::size_t(1));
    QCOMPARE(records[0].devices, std::size_t(2));
    const auto loaded = m_repository->loadDeviceSet(m_devices);
    QVERIFY(loaded.has_value());
    QCOMPARE(loaded->hash(), devices.hash());
    QVERIFY(loaded->device(DeviceId(1)) == devices.device(DeviceId(1)));
}

void RepositoryConformance::runIsRecordedFromStartToEnd() {
    const RowId id = startRun("first");
    RunRecord record = *m_repository->run(id);
    QCOMPARE(record.status, RunStatus::Running);
    QVERIFY(record.spec == spec());
    QCOMPARE(record.graphId, m_graph);
    QCOMPARE(record.deviceSetId, m_devices);
    QVERIFY(record.startedAt > 1600000000);
    QVERIFY(!record.bestStepTimeUs && !record.bestPlacementId && !record.valid);

    QVERIFY(m_repository->finishRun(id, RunStatus::Failed, 1.5, 20, 7, "it broke").has_value());
    record = *m_repository->run(id);
    QCOMPARE(record.status, RunStatus::Failed);
    QCOMPARE(record.seconds, 1.5);
    QCOMPARE(record.evaluations, std::int64_t(20));
    QCOMPARE(record.steps, std::int64_t(7));
    QCOMPARE(record.error, std::string("it broke"));

    RunSpec longer = spec();
    longer.maxEpisodes = 99;
    QVERIFY(m_repository->setSpec(id, longer).has_value());
    QVERIFY(m_repository->run(id)->spec == longer);
}

void RepositoryConformance::metricsAreKeptInOrderOfSteps() {
    const RowId id = startRun();
    const MetricSample first{1, 0.1, {{"reward", 0.5}, {"evaluations", 10.0}}};
    const MetricSample second{2, 0.2, {{"reward", -0.25}, {"step_time_us", std::numeric_limits<double>::infinity()}}};
    const MetricSample third{10, 0.9, {{"reward", 1.0}}};
    QVERIFY(m_repository->addMetrics(id, std::vector{third, first}).has_value());
    QVERIFY(m_repository->addMetrics(id, std::vector{second}).has_value());
    QVERIFY(m_repository->addMetrics(id, {}).has_value());
    QVERIFY((*m_repository->metrics(id, 0) == std::vector{first, second, third}));
    QVERIFY((*m_repository->metrics(id, 2) == std::vector{second, third}));
    QVERIFY(m_repository->metrics(id, 11)->empty());
    const RunRecord record = *m_repository->run(id);
    QCOMPARE(record.steps, std::int64_t(10));
    QCOMPARE(record.seconds, 0.9);
    QCOMPARE(record.evaluations, std::int64_t(10));
}

void RepositoryConformance::sampleReplacesItsStep() {
    const RowId id = startRun();
    const MetricSample before{3, 0.1, {{"reward", 0.5}, {"entropy", 2.0}}};
    const MetricSample after{3, 0.2, {{"reward", 0.75}}};
    QVERIFY(m_repository->addMetrics(id, std::vector{before}).has_value());
    QVERIFY(m_repository->addMetrics(id, std::vector{after}).has_value());
    QVERIFY((*m_repository->metrics(id, 0) == std::vector{after}));
}

void RepositoryConformance::nanIsLeftOut() {
    const RowId id = startRun();
    const MetricSample half{1, 0.1, {{"good", 1.0}, {"bad", std::nan("")}}};
    const MetricSample none{2, 0.2, {{"bad", std::nan("")}}};
    QVERIFY(m_repository->addMetrics(id, std::vector{half, none}).has_value());
    QVERIFY((*m_repository->metrics(id, 0) == std::vector{MetricSample{1, 0.1, {{"good", 1.0}}}}));
}

void RepositoryConformance::placementComesBack() {
    PlacementRecord record;
    record.graphId = m_graph;
    record.deviceSetId = m_devices;
    record.name = "by hand";
    record.method = "manual";
    record.stepTimeUs = 12.5;
    record.valid = true;
    record.placement.assign(w1()->opCount(), DeviceId(1));
    record.placement[0] = DeviceId(0);
    const RowId first = *m_repository->addPlacement(record);
    record.runId = startRun();
    const RowId second = *m_repository->addPlacement(record);
    const PlacementRecord loaded = *m_repository->placement(second);
    QCOMPARE(loaded.id, second);
    QVERIFY(loaded.runId == record.runId);
    QCOMPARE(loaded.name, record.name);
    QCOMPARE(loaded.method, record.method);
    QCOMPARE(loaded.stepTimeUs, 12.5);
    QVERIFY(loaded.valid);
    QVERIFY(loaded.placement == record.placement);
    const auto all = *m_repository->placements(m_graph);
    QCOMPARE(all.size(), std::size_t(2));
    QCOMPARE(all[0].id, second);
    QCOMPARE(all[1].id, first);
    QVERIFY(!all[1].runId);
}

void RepositoryConformance::badPlacementIsRefused() {
    PlacementRecord record;
    record.graphId = m_graph;
    record.deviceSetId = m_devices;
    record.placement.assign(w1()->opCount() - 1, DeviceId(0));
    QCOMPARE(codeOf(m_repository->addPlacement(record)), ErrorCode::Invalid);
    record.placement.assign(w1()->opCount(), DeviceId(2));
    QCOMPARE(codeOf(m_repository->addPlacement(record)), ErrorCode::Invalid);
    record.placement.assign(w1()->opCount(), DeviceId());
    QCOMPARE(codeOf(m_repository->addPlacement(record)), ErrorCode::Invalid);
    QVERIFY(m_repository->placements(m_graph)->empty());
}

void RepositoryConformance::bestPlacementShowsInTheRun() {
    const RowId id = startRun();
    PlacementRecord record;
    record.runId = id;
    record.graphId = m_graph;
    record.deviceSetId = m_devices;
    record.stepTimeUs = 7.0;
    record.valid = true;
    record.placement.assign(w1()->opCount(), DeviceId(0));
    const RowId placement = *m_repository->addPlacement(record);
    QVERIFY(m_repository->setBestPlacement(id, placement).has_value());
    const RunRecord run = *m_repository->run(id);
    QVERIFY(run.bestPlacementId == placement);
    QVERIFY(run.bestStepTimeUs == 7.0);
    QVERIFY(run.valid);
    QCOMPARE(codeOf(m_repository->setBestPlacement(id, placement + 1)), ErrorCode::NotFound);
}

void RepositoryConformance::lastTwoCheckpointsAreKept() {
    const RowId id = startRun();
    QVERIFY(!m_repository->lastCheckpoint(id)->has_value());
    for (const int step : {1, 2, 3})
        QVERIFY(m_repository->addCheckpoint(id, {step, bytes({step, 0, 255})}).has_value());
    auto last = *m_repository->lastCheckpoint(id);
    QVERIFY(last.has_value());
    QCOMPARE(last->step, std::int64_t(3));
    QVERIFY(last->bytes == bytes({3, 0, 255}));
    QVERIFY(m_repository->addCheckpoint(id, {3, bytes({9})}).has_value());
    QVERIFY((*m_repository->lastCheckpoint(id))->bytes == bytes({9}));
    QVERIFY(m_repository->reopenRun(id, 2).has_value());
    QCOMPARE((*m_repository->lastCheckpoint(id))->step, std::int64_t(2));
    QVERIFY(m_repository->reopenRun(id, 1).has_value());
    QVERIFY(!m_repository->lastCheckpoint(id)->has_value()); // the one of step 1 was dropped by that of step 3
}

void RepositoryConformance::policyComesBack() {
    const RowId id = startRun();
    QCOMPARE(codeOf(m_repository->policy(id)), ErrorCode::NotFound);
    QVERIFY(m_repository->setPolicy(id, bytes({1, 2})).has_value());
    QVERIFY(m_repository->setPolicy(id, bytes({3, 0, 4})).has_value());
    QVERIFY(*m_repository->policy(id) == bytes({3, 0, 4}));
}

void RepositoryConformance::reopenDropsLaterSamples() {
    const RowId id = startRun();
    std::vector<MetricSample> samples;
    for (int step = 1; step <= 5; ++step)
        samples.push_back({step, step * 0.5, {{"evaluations", step * 10.0}}});
    QVERIFY(m_repository->addMetrics(id, samples).has_value());
    QVERIFY(m_repository->finishRun(id, RunStatus::Failed, 9.0, 90, 5, "gone").has_value());
    QVERIFY(m_repository->reopenRun(id, 3).has_value());
    QCOMPARE(m_repository->metrics(id, 0)->size(), std::size_t(3));
    const RunRecord record = *m_repository->run(id);
    QCOMPARE(record.status, RunStatus::Running);
    QCOMPARE(record.steps, std::int64_t(3));
    QCOMPARE(record.seconds, 1.5);
    QCOMPARE(record.evaluations, std::int64_t(30));
    QVERIFY(record.error.empty());
}

void RepositoryConformance::runsAreFilteredAndPaged() {
    const RowId a = startRun("Alpha 100%");
    const RowId b = startRun("beta");
    const RowId c = startRun("gamma");
    QVERIFY(m_repository->setTags(b, {"Paper_X"}).has_value());
    QVERIFY(m_repository->setNote(c, "look at THIS").has_value());
    const auto ids = [&](const RunFilter& filter) {
        std::vector<RowId> result;
        const auto records = m_repository->runs(filter).value();
        for (const auto& record : records)
            result.push_back(record.id);
        return result;
    };
    const auto matching = [&](const std::string& text) {
        RunFilter filter;
        filter.text = text;
        return ids(filter);
    };
    const auto page = [&](std::optional<std::size_t> offset, std::optional<std::size_t> limit) {
        RunFilter filter;
        filter.offset = offset;
        filter.limit = limit;
        return ids(filter);
    };
    const auto ofGraph = [&](RowId graph) {
        RunFilter filter;
        filter.graphId = graph;
        return ids(filter);
    };
    QVERIFY((ids({}) == std::vector{c, b, a}));
    QVERIFY((matching("ALPHA") == std::vector{a}));
    QVERIFY((matching("0%") == std::vector{a})); // taken literally
    QVERIFY((matching("r_x") == std::vector{b}));
    QVERIFY((matching("this") == std::vector{c}));
    QVERIFY((matching("metis") == std::vector{c, b, a}));
    QVERIFY(matching("nowhere").empty());
    QVERIFY((page({}, 2) == std::vector{c, b}));
    QVERIFY((page(1, 1) == std::vector{b}));
    QVERIFY((page(2, {}) == std::vector{a}));
    QVERIFY((ofGraph(m_graph) == std::vector{c, b, a}));
    QVERIFY(ofGraph(m_graph + 1).empty());
}

void RepositoryConformance::tagsAreReplacedAndSorted() {
    const RowId id = startRun();
    QVERIFY(m_repository->setTags(id, {"z", "a", "z"}).has_value());
    QVERIFY((m_repository->run(id)->tags == std::vector<std::string>{"a", "z"}));
    QVERIFY(m_repository->setTags(id, {"m"}).has_value());
    QVERIFY((m_repository->run(id)->tags == std::vector<std::string>{"m"}));
    QVERIFY(m_repository->setNote(id, "one").has_value());
    QVERIFY(m_repository->setNote(id, "two").has_value());
    QCOMPARE((*m_repository->runs({}))[0].note, std::string("two"));
}

void RepositoryConformance::deletedRunIsGoneWithAllThatIsItsOwn() {
    const RowId id = startRun("dead");
    const RowId other = startRun("alive");
    PlacementRecord record;
    record.runId = id;
    record.graphId = m_graph;
    record.deviceSetId = m_devices;
    record.placement.assign(w1()->opCount(), DeviceId(0));
    const RowId placement = *m_repository->addPlacement(record);
    QVERIFY(m_repository->setBestPlacement(id, placement).has_value());
    QVERIFY(m_repository->setBestPlacement(other, placement).has_value());
    QVERIFY(m_repository->addMetrics(id, std::vector{MetricSample{1, 0.1, {{"a", 1.0}}}}).has_value());
    QVERIFY(m_repository->addCheckpoint(id, {1, bytes({1})}).has_value());
    QVERIFY(m_repository->setPolicy(id, bytes({1})).has_value());
    QVERIFY(m_repository->setTags(id, {"t"}).has_value());
    QVERIFY(m_repository->setNote(id, "n").has_value());
    QVERIFY(m_repository->deleteRun(id).has_value());
    QCOMPARE(codeOf(m_repository->run(id)), ErrorCode::NotFound);
    QCOMPARE(codeOf(m_repository->metrics(id, 0)), ErrorCode::NotFound);
    QCOMPARE(codeOf(m_repository->placement(placement)), ErrorCode::NotFound);
    QVERIFY(!m_repository->run(other)->bestPlacementId);
    QCOMPARE(m_repository->runs({})->size(), std::size_t(1));
    QVERIFY(startRun("new") > other); // ids are never used again
}

void RepositoryConformance::layoutsComeBack() {
    QVERIFY(!m_repository->loadLayout("key")->has_value());
    const std::string withNul("a\0b", 3);
    QVERIFY(m_repository->saveLayout("key", "first").has_value());
    QVERIFY(m_repository->saveLayout("key", withNul).has_value());
    QVERIFY(*m_repository->loadLayout("key") == withNul);
}

void RepositoryConformance::missingIdsAreNotFound() {
    RunRepository& r = *m_repository;
    QCOMPARE(codeOf(r.loadGraph(99)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.loadDeviceSet(0)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.startRun(spec(), "x", 99, m_devices)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.startRun(spec(), "x", m_graph, 99)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.addMetrics(99, {})), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.addCheckpoint(99, {1, {}})), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.setPolicy(99, {})), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.finishRun(99, RunStatus::Done, 0, 0, 0, {})), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.reopenRun(99, 0)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.setSpec(99, spec())), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.run(99)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.metrics(99, 0)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.placement(99)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.lastCheckpoint(99)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.policy(99)), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.setTags(99, {"a"})), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.setNote(99, "a")), ErrorCode::NotFound);
    QCOMPARE(codeOf(r.deleteRun(99)), ErrorCode::NotFound);
    QVERIFY(r.runs({})->empty());
}

void RepositoryConformance::writersAndReadersShareIt() {
    constexpr int kWriters = 3;
    constexpr int kBatches = 40;
    std::vector<std::string> errors(kWriters + 2);
    std::vector<RowId> runs;
    for (int i = 0; i < kWriters; ++i)
        runs.push_back(startRun());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kWriters; ++i) {
        threads.emplace_back([&, i] {
            for (int step = 0; step < kBatches; ++step) {
                const std::vector<MetricSample> batch = {{step, 0.1, {{"a", 1.0}, {"b", 2.0}}}};
                if (const Status added = m_repository->addMetrics(runs[i], batch); !added)
                    errors[i] = added.error().toString();
            }
        });
    }
    for (std::size_t i = kWriters; i < kWriters + 2; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < kBatches; ++round) {
                const auto records = m_repository->runs({});
                const auto samples = m_repository->metrics(runs[0], 0);
                if (!records || !samples)
                    errors[i] = records ? samples.error().toString() : records.error().toString();
                // a batch is there or not, never half of it
                for (std::size_t s = 0; samples && s < samples->size(); ++s) {
                    if ((*samples)[s].values.size() != 2)
                        errors[i] = "half a sample";
                }
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    for (const auto& error : errors)
        QCOMPARE(error, std::string());
    for (const RowId run : runs)
        QCOMPARE(m_repository->metrics(run, 0)->size(), std::size_t(kBatches));
}

} // namespace pw::test
