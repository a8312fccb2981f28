#include "ui/document.h"

#include "ui/assign_command.h"
#include "ui/grouping_command.h"
#include "ui/hand_groups.h"
#include "ui/words.h"


#include <algorithm>

namespace pw::ui {

namespace {

/// The best single device that may run everything. Simulated, on a job.
void findSingle(Situation& situation) {
    const PlacementProblem& problem = *situation.problem;
    Simulator simulator(situation.problem);
    OpPlacement placement(problem.opCount());
    for (std::size_t d = 0; d < problem.deviceCount(); ++d) {
        const DeviceId device(d);
        std::fill(placement.begin(), placement.end(), device);
        const Evaluation evaluation = simulator.evaluate(placement);
        const bool better = evaluation.valid != situation.single.valid
                                ? evaluation.valid
                                : evaluation.stepTimeUs < situation.single.stepTimeUs;
        if (better || !situation.singleDevice.isValid()) {
            situation.single = evaluation;
            situation.singleDevice = device;
        }
    }
}

Result<std::shared_ptr<const Situation>> makeSituation(GraphPtr graph, DeviceSet devices, GroupingOptions grouping,
                                                       SimOptions options) {
    auto situation = std::make_shared<Situation>();
    PW_TRY(situation->problem,
           PlacementProblem::compile(std::move(graph), std::move(devices), std::move(grouping), options));
    situation->bounds = lowerBounds(*situation->problem);
    if (situation->problem->opCount() > 0)
        findSingle(*situation);
    return std::shared_ptr<const Situation>(std::move(situation));
}

} // namespace

Document::Document(QObject* parent) : QObject(parent) {
    for (const std::string& name : devicePresetNames()) {
        if (auto preset = devicePreset(name)) {
            m_deviceHashes.push_back(preset->hash());
            m_deviceSets.push_back(std::move(*preset));
        }
    }
    m_presetCount = m_deviceSets.size();
    Q_ASSERT(m_presetCount > 0);
}

Document::~Document() = default;

const GraphEntry* Document::findGraph(int id) const {
    for (const auto& entry : m_graphs)
        if (entry.id == id)
            return &entry;
    return nullptr;
}

const GraphEntry* Document::findGraphByHash(const std::string& hash) const {
    for (const auto& entry : m_graphs)
        if (entry.hash == hash)
            return &entry;
    return nullptr;
}

const GraphEntry* Document::currentGraph() const {
    return findGraph(m_currentGraph);
}

GraphPtr Document::graph() const {
    const GraphEntry* entry = currentGraph();
    return entry ? entry->graph : nullptr;
}

int Document::addGraph(GraphEntry info) {
    for (auto& entry : m_graphs) {
        if (entry.hash != info.hash)
            continue;
        if (!entry.graph && info.graph)
            setGraphLoaded(entry.id, info.graph);
        return entry.id;
    }
    info.id = m_nextId++;
    const int id = info.id;
    m_graphs.push_back(std::move(info));
    Q_EMIT graphsChanged();
    return id;
}

void Document::setGraphLoaded(int id, GraphPtr graph) {
    for (auto& entry : m_graphs) {
        if (entry.id != id)
            continue;
        entry.graph = std::move(graph);
        if (id == m_currentGraph) {
            Q_EMIT currentGraphChanged();
            compile();
        }
    }
}

void Document::setGraphRow(const std::string& hash, std::int64_t row) {
    for (auto& entry : m_graphs)
        if (entry.hash == hash)
            entry.row = row;
}

QUndoStack* Document::stackOf(int graphId) {
    QUndoStack*& stack = m_stacks[graphId];
    if (!stack) {
        stack = new QUndoStack(this);
        stack->setUndoLimit(500);
        m_undoGroup.addStack(stack);
    }
    return stack;
}

void Document::setCurrentGraph(int id) {
    if (id == m_currentGraph || !findGraph(id))
        return;
    m_currentGraph = id;
    m_currentPlacement = -1;
    m_undoGroup.setActiveStack(stackOf(id));
    Q_EMIT currentGraphChanged();
    Q_EMIT placementsChanged();
    Q_EMIT currentPlacementChanged();
    if (graph())
        compile();
    else
        Q_EMIT graphWanted(id);
}

void Document::clear() {
    m_compileJob.cancel();
    m_simulateJob.cancel();
    for (const auto& [id, stack] : m_stacks)
        delete stack;
    m_stacks.clear();
    m_graphs.clear();
    m_placements.clear();
    m_currentGraph = m_currentPlacement = -1;
    m_situation = nullptr;
    Q_EMIT graphsChanged();
    Q_EMIT currentGraphChanged();
    Q_EMIT situationChanged();
    Q_EMIT placementsChanged();
    Q_EMIT currentPlacementChanged();
    Q_EMIT scheduleChanged();
}

void Document::addDeviceSet(const DeviceSet& devices) {
    const std::string hash = devices.hash();
    if (std::find(m_deviceHashes.begin(), m_deviceHashes.end(), hash) != m_deviceHashes.end())
        return;
    m_deviceSets.push_back(devices);
    m_deviceHashes.push_back(hash);
    Q_EMIT deviceSetsChanged();
}

bool Document::isPreset(const std::string& deviceHash) const {
    const auto end = m_deviceHashes.begin() + static_cast<std::ptrdiff_t>(m_presetCount);
    return std::find(m_deviceHashes.begin(), end, deviceHash) != end;
}

void Document::setCurrentDevices(const std::string& hash) {
    const auto found = std::find(m_deviceHashes.begin(), m_deviceHashes.end(), hash);
    if (found == m_deviceHashes.end())
        return;
    const auto index = static_cast<std::size_t>(found - m_deviceHashes.begin());
    if (index == m_currentDevices)
        return;
    m_currentDevices = index;
    m_currentPlacement = -1;
    Q_EMIT currentDevicesChanged();
    Q_EMIT placementsChanged();
    Q_EMIT currentPlacementChanged();
    compile();
}

void Document::setGrouping(const GroupingOptions& grouping) {
    if (grouping == m_grouping)
        return;
    m_grouping = grouping;
    compile();
}

void Document::changeGrouping(const GroupingOptions& grouping, const QString& text) {
    if (grouping == m_grouping)
        return;
    if (m_currentGraph < 0)
        setGrouping(grouping); // there is nothing yet whose changes could be undone
    else
        stackOf(m_currentGraph)->push(new GroupingCommand(this, grouping, text));
}

void Document::groupTogether(const QList<quint32>& ops) {
    if (const GraphPtr current = graph())
        changeGrouping(groupedTogether(m_grouping, *current, ops), tr("Group %1 ops").arg(words::count(ops.size())));
}

void Document::ungroup(const QList<quint32>& ops) {
    if (const GraphPtr current = graph())
        changeGrouping(ungrouped(m_grouping, *current, ops), tr("Ungroup"));
}

void Document::setSimOptions(const SimOptions& options) {
    if (options == m_simOptions)
        return;
    m_simOptions = options;
    compile();
}

void Document::compile() {
    m_simulateJob.cancel();
    m_situation = nullptr;
    Q_EMIT situationChanged();
    Q_EMIT scheduleChanged();
    const GraphPtr current = graph();
    if (!current || current->isCyclic()) { // why: a cyclic graph opens and can be looked at, but not simulated
        m_compileJob.cancel();
        return;
    }
    m_compileJob.start<std::shared_ptr<const Situation>>(
        tr("Preparing %1").arg(words::fromUtf8(current->name())),
        [current, set = devices(), grouping = m_grouping, options = m_simOptions](JobContext&) {
            return makeSituation(current, set, grouping, options);
        },
        [this](Result<std::shared_ptr<const Situation>> result) {
            if (!result) {
                Q_EMIT failed(result.error());
                return;
            }
            m_situation = std::move(*result);
            Q_EMIT situationChanged();
            if (m_currentPlacement < 0) {
                if (const PlacementEntry* best = bestPlacement())
                    setCurrentPlacement(best->id);
            }
            simulate();
        });
}

std::vector<const PlacementEntry*> Document::placements() const {
    std::vector<const PlacementEntry*> result;
    const GraphEntry* current = currentGraph();
    if (!current)
        return result;
    for (const auto& entry : m_placements)
        if (entry.graphHash == current->hash && entry.deviceHash == m_deviceHashes[m_currentDevices])
            result.push_back(&entry);
    return result;
}

const PlacementEntry* Document::findPlacement(int id) const {
    for (const auto& entry : m_placements)
        if (entry.id == id)
            return &entry;
    return nullptr;
}

PlacementEntry* Document::mutablePlacement(int id) {
    return const_cast<PlacementEntry*>(findPlacement(id));
}

const PlacementEntry* Document::currentPlacement() const {
    return findPlacement(m_currentPlacement);
}

const PlacementEntry* Document::bestPlacement() const {
    const PlacementEntry* best = nullptr;
    for (const PlacementEntry* entry : placements())
        if (entry->evaluated && entry->valid && (!best || entry->stepTimeUs < best->stepTimeUs))
            best = entry;
    return best;
}

int Document::addPlacement(PlacementEntry entry, bool makeCurrent) {
    if (entry.id == 0)
        entry.id = m_nextId++;
    const int id = entry.id;
    m_placements.push_back(std::move(entry));
    Q_EMIT placementsChanged();
    if (makeCurrent)
        setCurrentPlacement(id);
    return id;
}

void Document::adoptStored(std::vector<PlacementEntry> entries) {
    for (auto& entry : entries) {
        const bool known = std::any_of(m_placements.begin(), m_placements.end(),
                                       [&](const auto& e) { return entry.row != 0 && e.row == entry.row; });
        if (known)
            continue;
        entry.id = m_nextId++;
        m_placements.push_back(std::move(entry));
    }
    Q_EMIT placementsChanged();
    if (m_currentPlacement < 0) {
        const PlacementEntry* best = bestPlacement();
        const auto all = placements();
        if (best || !all.empty())
            setCurrentPlacement(best ? best->id : all.back()->id);
    }
}

int Document::copyPlacements(const std::string& fromGraph, const std::string& toGraph, int placement) {
    int copied = -1;
    const std::size_t count = m_placements.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (m_placements[i].graphHash != fromGraph || m_placements[i].live)
            continue;
        PlacementEntry entry = m_placements[i];
        if (entry.id == placement)
            copied = m_nextId;
        entry.id = m_nextId++;
        entry.graphHash = toGraph;
        entry.evaluated = false; // the costs are others
        entry.schedule.reset();
        entry.scheduleKey.clear();
        entry.run = entry.row = 0;
        const bool manual = entry.method == QStringLiteral("manual");
        const int id = entry.id;
        m_placements.push_back(std::move(entry));
        if (manual)
            Q_EMIT manualPlacementEdited(id);
    }
    Q_EMIT placementsChanged();
    return copied;
}

void Document::updatePlacement(int id, OpPlacementPtr ops, const Evaluation& evaluation) {
    PlacementEntry* entry = mutablePlacement(id);
    if (!entry)
        return;
    entry->ops = std::move(ops);
    entry->stepTimeUs = evaluation.stepTimeUs;
    entry->valid = evaluation.valid;
    entry->evaluated = true;
    entry->scheduleKey.clear(); // why: the old picture stays on screen until the new schedule is there
    Q_EMIT placementsChanged();
    if (id == m_currentPlacement) {
        Q_EMIT currentPlacementChanged();
        simulate();
    }
}

void Document::setPlacementLive(int id, bool live) {
    if (PlacementEntry* entry = mutablePlacement(id)) {
        entry->live = live;
        Q_EMIT placementsChanged();
    }
}

void Document::renamePlacement(int id, const QString& name) {
    if (PlacementEntry* entry = mutablePlacement(id)) {
        entry->name = name;
        Q_EMIT placementsChanged();
        if (id == m_currentPlacement)
            Q_EMIT currentPlacementChanged();
    }
}

void Document::removePlacement(int id) {
    const auto found = std::find_if(m_placements.begin(), m_placements.end(), [id](const auto& e) { return e.id == id; });
    if (found == m_placements.end())
        return;
    m_placements.erase(found);
    Q_EMIT placementsChanged();
    if (id == m_currentPlacement) {
        m_currentPlacement = -1;
        Q_EMIT currentPlacementChanged();
        Q_EMIT scheduleChanged();
    }
}

void Document::setCurrentPlacement(int id) {
    if (id >= 0 && !findPlacement(id))
        return;
    const bool same = id == m_currentPlacement;
    m_currentPlacement = id;
    if (!same)
        Q_EMIT currentPlacementChanged();
    simulate();
}

std::shared_ptr<const Schedule> Document::schedule() const {
    const PlacementEntry* entry = currentPlacement();
    return entry && m_situation ? entry->schedule : nullptr;
}

void Document::simulate() {
    const PlacementEntry* entry = currentPlacement();
    if (!entry || !m_situation || !entry->ops || entry->ops->size() != m_situation->problem->opCount()) {
        m_simulateJob.cancel();
        Q_EMIT scheduleChanged();
        return;
    }
    const std::string key = m_situation->problem->hash();
    if (entry->schedule && entry->scheduleKey == key) {
        m_simulateJob.cancel();
        Q_EMIT scheduleChanged();
        return;
    }
    m_simulateJob.start<std::shared_ptr<const Schedule>>(
        tr("Simulating"),
        [problem = m_situation->problem, ops = entry->ops](JobContext&) -> Result<std::shared_ptr<const Schedule>> {
            return std::make_shared<const Schedule>(Simulator(problem).schedule(*ops));
        },
        [this, id = entry->id, ops = entry->ops, key](Result<std::shared_ptr<const Schedule>> result) {
            PlacementEntry* target = mutablePlacement(id);
            if (!target || target->ops != ops)
                return;
            if (!result) {
                Q_EMIT failed(result.error());
                return;
            }
            target->schedule = std::move(*result);
            target->scheduleKey = key;
            target->stepTimeUs = target->schedule->stepTimeUs;
            target->valid = target->schedule->valid;
            target->evaluated = true;
            Q_EMIT placementsChanged();
            if (id == m_currentPlacement)
                Q_EMIT scheduleChanged();
        });
}

void Document::replaceOps(int id, OpPlacementPtr ops) {
    PlacementEntry* entry = mutablePlacement(id);
    if (!entry)
        return;
    entry->ops = std::move(ops);
    entry->evaluated = false;
    entry->scheduleKey.clear();
    if (id == m_currentPlacement)
        Q_EMIT currentPlacementChanged();
    Q_EMIT manualPlacementEdited(id);
}

QList<quint32> Document::movedWith(const QList<quint32>& ops, bool wholeGroups) const {
    const GraphPtr current = graph();
    if (!current)
        return {};
    std::vector<bool> in(current->opCount(), false);
    std::unordered_map<std::string_view, bool> keys;
    std::vector<bool> groups(problem() ? problem()->groupCount() : 0, false);
    for (const quint32 op : ops) {
        if (op >= in.size())
            continue;
        in[op] = true;
        if (const std::string& key = current->op(OpId(op)).colocation; !key.empty())
            keys[key] = true;
        if (wholeGroups && problem())
            groups[problem()->grouping().groupOf[op].index()] = true;
    }
    QList<quint32> result;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::string& key = current->op(OpId(i)).colocation;
        const bool colocated = !key.empty() && keys.count(key) > 0;
        const bool grouped = wholeGroups && problem() && groups[problem()->grouping().groupOf[i].index()];
        if ((in[i] || colocated || grouped) && !isPinned(static_cast<quint32>(i)))
            result.append(static_cast<quint32>(i));
    }
    return result;
}

void Document::assign(const QList<quint32>& ops, DeviceId device, bool wholeGroups) {
    const GraphPtr current = graph();
    if (!current || ops.isEmpty() || device.index() >= devices().count())
        return;
    const QList<quint32> moved = movedWith(ops, wholeGroups);
    const PlacementEntry* source = currentPlacement();
    const OpPlacementPtr before =
        source ? source->ops : std::make_shared<const OpPlacement>(current->opCount(), DeviceId(0));
    auto after = std::make_shared<OpPlacement>(*before);
    for (const quint32 op : moved)
        (*after)[op] = device;
    if (moved.isEmpty() || (source && *after == *before))
        return;
    std::optional<PlacementEntry> copy;
    if (!source || source->method != QStringLiteral("manual")) {
        copy.emplace();
        copy->id = m_nextId++;
        copy->name = source ? tr("%1, edited").arg(source->name) : tr("Manual");
        copy->method = QStringLiteral("manual");
        copy->graphHash = current->hash();
        copy->deviceHash = m_deviceHashes[m_currentDevices];
        if (source)
            copy->pinned = source->pinned;
    }
    const QString text = tr("Move %n op(s) to %1", nullptr, static_cast<int>(moved.size()))
                             .arg(words::fromUtf8(deviceLetter(device)))
                             .replace(QStringLiteral("op(s)"), moved.size() == 1 ? tr("op") : tr("ops"));
    stackOf(m_currentGraph)->push(
        new AssignCommand(this, source ? source->id : -1, std::move(copy), before, std::move(after), text));
}

void Document::setPinned(const QList<quint32>& ops, bool pinned) {
    PlacementEntry* entry = mutablePlacement(m_currentPlacement);
    if (!entry)
        return;
    for (const quint32 op : ops) {
        const auto found = std::lower_bound(entry->pinned.begin(), entry->pinned.end(), op);
        const bool has = found != entry->pinned.end() && *found == op;
        if (pinned && !has)
            entry->pinned.insert(found, op);
        else if (!pinned && has)
            entry->pinned.erase(found);
    }
    Q_EMIT currentPlacementChanged();
    if (entry->method == QStringLiteral("manual"))
        Q_EMIT manualPlacementEdited(entry->id);
}

bool Document::isPinned(quint32 op) const {
    const PlacementEntry* entry = currentPlacement();
    return entry && std::binary_search(entry->pinned.begin(), entry->pinned.end(), op);
}

} // namespace pw::ui
