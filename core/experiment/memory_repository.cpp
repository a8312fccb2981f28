#include "core/experiment/memory_repository.h"

#include "core/base/clock.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace pw {

namespace {

struct StoredRun {
    RunRecord record;
    std::map<std::int64_t, MetricSample> samples;
    std::map<std::int64_t, CheckpointRecord> checkpoints;
    std::vector<std::uint8_t> policy;
};

struct StoredGraph {
    GraphRecord record;
    GraphPtr graph;
};

struct StoredDevices {
    DeviceSetRecord record;
    DeviceSet devices;
};

tl::unexpected<Error> missing(const char* what, RowId id) {
    return fail(ErrorCode::NotFound, std::string("there is no ") + what + " " + std::to_string(id));
}

bool contains(std::string_view text, std::string_view lowerPart) {
    return text::toLower(text).find(lowerPart) != std::string::npos;
}

void moveForward(RunRecord& record, const MetricSample& sample) {
    record.seconds = std::max(record.seconds, sample.seconds);
    record.steps = std::max(record.steps, sample.step);
    if (const auto evaluations = sample.values.find("evaluations"); evaluations != sample.values.end())
        record.evaluations = std::max(record.evaluations, static_cast<std::int64_t>(evaluations->second));
}

} // namespace

struct MemoryRepository::Content {
    mutable std::mutex mutex;
    std::vector<StoredGraph> graphs; ///< id = index + 1
    std::vector<StoredDevices> deviceSets;
    std::map<RowId, StoredRun> runs;
    std::map<RowId, PlacementRecord> placements;
    std::map<std::string, std::string> layouts;
    RowId nextRun = 1;
    RowId nextPlacement = 1;
    int writesLeft = 0;
    std::optional<Error> fault;
    std::size_t metricBatches = 0;

    Status mayWrite() {
        if (!fault)
            return {};
        if (writesLeft == 0)
            return fail(*fault);
        --writesLeft;
        return {};
    }

    Result<StoredRun*> find(RowId id) {
        const auto found = runs.find(id);
        if (found == runs.end())
            return missing("run", id);
        return &found->second;
    }

    Result<StoredRun*> writableRun(RowId id) {
        PW_CHECK(mayWrite());
        return find(id);
    }

    bool hasGraph(RowId id) const { return id >= 1 && static_cast<std::size_t>(id) <= graphs.size(); }
    bool hasDevices(RowId id) const { return id >= 1 && static_cast<std::size_t>(id) <= deviceSets.size(); }
    const StoredGraph& graph(RowId id) const { return graphs[static_cast<std::size_t>(id - 1)]; }
    const StoredDevices& devices(RowId id) const { return deviceSets[static_cast<std::size_t>(id - 1)]; }

    RunRecord complete(const StoredRun& stored) const {
        RunRecord record = stored.record;
        if (record.bestPlacementId) {
            const PlacementRecord& best = placements.at(*record.bestPlacementId);
            record.bestStepTimeUs = best.stepTimeUs;
            record.valid = best.valid;
        }
        return record;
    }

    bool matches(const RunRecord& record, const RunFilter& filter) const {
        if (filter.graphId && record.graphId != *filter.graphId)
            return false;
        const std::string part = text::toLower(filter.text);
        return contains(record.name, part) || contains(record.spec.method, part) || contains(record.note, part) ||
               contains(graph(record.graphId).record.name, part) ||
               std::any_of(record.tags.begin(), record.tags.end(),
                           [&](const std::string& tag) { return contains(tag, part); });
    }
};

MemoryRepository::MemoryRepository() : m_content(std::make_unique<Content>()) {}
MemoryRepository::~MemoryRepository() = default;

void MemoryRepository::failWritesAfter(int writes, Error error) {
    const std::lock_guard lock(m_content->mutex);
    m_content->writesLeft = writes;
    m_content->fault = std::move(error);
}

std::size_t MemoryRepository::metricBatches() const {
    const std::lock_guard lock(m_content->mutex);
    return m_content->metricBatches;
}

Result<RowId> MemoryRepository::putGraph(const OpGraph& graph, const std::string& source) {
    const std::lock_guard lock(m_content->mutex);
    for (const auto& stored : m_content->graphs) {
        if (stored.record.hash == graph.hash())
            return stored.record.id;
    }
    PW_CHECK(m_content->mayWrite());
    const auto id = static_cast<RowId>(m_content->graphs.size() + 1);
    m_content->graphs.push_back({{id, graph.name(), graph.hash(), source, graph.opCount(), unixTimeSeconds()},
                                 std::make_shared<const OpGraph>(graph)});
    return id;
}

Result<std::vector<GraphRecord>> MemoryRepository::graphs() const {
    const std::lock_guard lock(m_content->mutex);
    std::vector<GraphRecord> records;
    for (const auto& stored : m_content->graphs)
        records.push_back(stored.record);
    return records;
}

Result<GraphPtr> MemoryRepository::loadGraph(RowId id) const {
    const std::lock_guard lock(m_content->mutex);
    if (!m_content->hasGraph(id))
        return missing("graph", id);
    return m_content->graph(id).graph;
}

Result<RowId> MemoryRepository::putDeviceSet(const DeviceSet& devices) {
    const std::lock_guard lock(m_content->mutex);
    for (const auto& stored : m_content->deviceSets) {
        if (stored.record.hash == devices.hash())
            return stored.record.id;
    }
    PW_CHECK(m_content->mayWrite());
    const auto id = static_cast<RowId>(m_content->deviceSets.size() + 1);
    m_content->deviceSets.push_back({{id, devices.name(), devices.hash(), devices.count()}, devices});
    return id;
}

Result<std::vector<DeviceSetRecord>> MemoryRepository::deviceSets() const {
    const std::lock_guard lock(m_content->mutex);
    std::vector<DeviceSetRecord> records;
    for (const auto& stored : m_content->deviceSets)
        records.push_back(stored.record);
    return records;
}

Result<DeviceSet> MemoryRepository::loadDeviceSet(RowId id) const {
    const std::lock_guard lock(m_content->mutex);
    if (!m_content->hasDevices(id))
        return missing("device set", id);
    return m_content->devices(id).devices;
}

Result<RowId> MemoryRepository::startRun(const RunSpec& spec, const std::string& name, RowId graphId,
                                         RowId deviceSetId) {
    const std::lock_guard lock(m_content->mutex);
    PW_CHECK(m_content->mayWrite());
    if (!m_content->hasGraph(graphId))
        return missing("graph", graphId);
    if (!m_content->hasDevices(deviceSetId))
        return missing("device set", deviceSetId);
    const RowId id = m_content->nextRun++;
    RunRecord& record = m_content->runs[id].record;
    record.id = id;
    record.name = name;
    record.spec = spec;
    record.graphId = graphId;
    record.deviceSetId = deviceSetId;
    record.startedAt = unixTimeSeconds();
    return id;
}

Status MemoryRepository::addMetrics(RowId run, std::span<const MetricSample> samples) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    for (const auto& sample : samples) {
        MetricSample kept = sample;
        std::erase_if(kept.values, [](const auto& value) { return std::isnan(value.second); });
        stored->samples.erase(sample.step);
        if (!kept.values.empty())
            stored->samples.emplace(sample.step, std::move(kept));
        moveForward(stored->record, sample);
    }
    ++m_content->metricBatches;
    return {};
}

Result<RowId> MemoryRepository::addPlacement(const PlacementRecord& placement) {
    const std::lock_guard lock(m_content->mutex);
    PW_CHECK(m_content->mayWrite());
    if (!m_content->hasGraph(placement.graphId))
        return missing("graph", placement.graphId);
    if (!m_content->hasDevices(placement.deviceSetId))
        return missing("device set", placement.deviceSetId);
    if (placement.runId)
        PW_CHECK(m_content->find(*placement.runId).map([](auto*) {}));
    PW_CHECK(checkPlacement(placement, m_content->graph(placement.graphId).record.ops,
                            m_content->devices(placement.deviceSetId).record.devices));
    const RowId id = m_content->nextPlacement++;
    PlacementRecord& stored = m_content->placements[id];
    stored = placement;
    stored.id = id;
    stored.createdAt = unixTimeSeconds();
    return id;
}

Status MemoryRepository::setBestPlacement(RowId run, RowId placement) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    if (m_content->placements.count(placement) == 0)
        return missing("placement", placement);
    stored->record.bestPlacementId = placement;
    return {};
}

Status MemoryRepository::addCheckpoint(RowId run, const CheckpointRecord& checkpoint) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    stored->checkpoints.insert_or_assign(checkpoint.step, checkpoint);
    while (stored->checkpoints.size() > 2)
        stored->checkpoints.erase(stored->checkpoints.begin());
    return {};
}

Status MemoryRepository::setPolicy(RowId run, std::span<const std::uint8_t> policy) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    stored->policy.assign(policy.begin(), policy.end());
    return {};
}

Status MemoryRepository::finishRun(RowId run, RunStatus status, double seconds, std::int64_t evaluations,
                                   std::int64_t steps, const std::string& error) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    RunRecord& record = stored->record;
    record.status = status;
    record.seconds = seconds;
    record.evaluations = evaluations;
    record.steps = steps;
    record.error = error;
    return {};
}

Status MemoryRepository::reopenRun(RowId run, std::int64_t step) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    std::erase_if(stored->samples, [step](const auto& sample) { return sample.first > step; });
    std::erase_if(stored->checkpoints, [step](const auto& checkpoint) { return checkpoint.first > step; });
    RunRecord& record = stored->record;
    record.status = RunStatus::Running;
    record.steps = std::min(record.steps, step);
    record.seconds = 0.0;
    record.evaluations = 0;
    record.error.clear();
    for (const auto& [at, sample] : stored->samples)
        moveForward(record, sample);
    return {};
}

Status MemoryRepository::setSpec(RowId run, const RunSpec& spec) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    stored->record.spec = spec;
    return {};
}

Result<std::vector<RunRecord>> MemoryRepository::runs(const RunFilter& filter) const {
    const std::lock_guard lock(m_content->mutex);
    std::vector<RunRecord> records;
    std::size_t skip = filter.offset.value_or(0);
    for (auto stored = m_content->runs.rbegin(); stored != m_content->runs.rend(); ++stored) {
        if (filter.limit && records.size() >= *filter.limit)
            break;
        if (!m_content->matches(stored->second.record, filter))
            continue;
        if (skip > 0)
            --skip;
        else
            records.push_back(m_content->complete(stored->second));
    }
    return records;
}

Result<RunRecord> MemoryRepository::run(RowId id) const {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(const StoredRun* stored, m_content->find(id));
    return m_content->complete(*stored);
}

Result<std::vector<MetricSample>> MemoryRepository::metrics(RowId run, std::int64_t fromStep) const {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(const StoredRun* stored, m_content->find(run));
    std::vector<MetricSample> samples;
    for (auto at = stored->samples.lower_bound(fromStep); at != stored->samples.end(); ++at)
        samples.push_back(at->second);
    return samples;
}

Result<std::vector<PlacementRecord>> MemoryRepository::placements(RowId graphId) const {
    const std::lock_guard lock(m_content->mutex);
    std::vector<PlacementRecord> records;
    for (auto stored = m_content->placements.rbegin(); stored != m_content->placements.rend(); ++stored) {
        if (stored->second.graphId == graphId)
            records.push_back(stored->second);
    }
    return records;
}

Result<PlacementRecord> MemoryRepository::placement(RowId id) const {
    const std::lock_guard lock(m_content->mutex);
    const auto found = m_content->placements.find(id);
    if (found == m_content->placements.end())
        return missing("placement", id);
    return found->second;
}

Result<std::optional<CheckpointRecord>> MemoryRepository::lastCheckpoint(RowId run) const {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(const StoredRun* stored, m_content->find(run));
    if (stored->checkpoints.empty())
        return std::optional<CheckpointRecord>();
    return std::optional(stored->checkpoints.rbegin()->second);
}

Result<std::vector<std::uint8_t>> MemoryRepository::policy(RowId run) const {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(const StoredRun* stored, m_content->find(run));
    if (stored->policy.empty())
        return missing("policy of run", run);
    return stored->policy;
}

Status MemoryRepository::setTags(RowId run, const std::vector<std::string>& tags) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    std::vector<std::string>& kept = stored->record.tags;
    kept = tags;
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return {};
}

Status MemoryRepository::setNote(RowId run, const std::string& note) {
    const std::lock_guard lock(m_content->mutex);
    PW_TRY(StoredRun * stored, m_content->writableRun(run));
    stored->record.note = note;
    return {};
}

Status MemoryRepository::deleteRun(RowId run) {
    const std::lock_guard lock(m_content->mutex);
    PW_CHECK(m_content->writableRun(run).map([](auto*) {}));
    m_content->runs.erase(run);
    std::erase_if(m_content->placements, [run](const auto& placement) { return placement.second.runId == run; });
    for (auto& [id, other] : m_content->runs) {
        if (other.record.bestPlacementId && m_content->placements.count(*other.record.bestPlacementId) == 0)
            other.record.bestPlacementId.reset();
    }
    return {};
}

Result<std::optional<std::string>> MemoryRepository::loadLayout(const std::string& key) const {
    const std::lock_guard lock(m_content->mutex);
    const auto found = m_content->layouts.find(key);
    return found == m_content->layouts.end() ? std::optional<std::string>() : std::optional(found->second);
}

Status MemoryRepository::saveLayout(const std::string& key, const std::string& value) {
    const std::lock_guard lock(m_content->mutex);
    PW_CHECK(m_content->mayWrite());
    m_content->layouts[key] = value;
    return {};
}

std::string MemoryRepository::path() const {
    return {};
}

} // namespace pw
