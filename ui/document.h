#pragma once

#include "core/sim/simulator.h"
#include "ui/async.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QUndoGroup>
#include <QUndoStack>

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace pw::ui {

/// A graph of the project. `graph` is null until it has been read from the project.
struct GraphEntry {
    int id = 0;
    QString name;
    QString source; ///< path or "zoo:..."
    std::string hash;
    std::size_t ops = 0;
    GraphPtr graph;
    std::int64_t row = 0; ///< in the project, 0 = not stored yet
};

using OpPlacementPtr = std::shared_ptr<const OpPlacement>;

/// One placement of one graph on one device set.
struct PlacementEntry {
    int id = 0;
    QString name;
    QString method; ///< "manual" for hand-made ones
    std::string graphHash;
    std::string deviceHash;
    OpPlacementPtr ops;
    std::vector<quint32> pinned; ///< ops that moves by hand leave alone
    double stepTimeUs = 0.0;
    bool evaluated = false; ///< stepTimeUs and valid are known
    bool valid = false;
    bool live = false; ///< a running training still improves it
    std::int64_t run = 0;
    std::int64_t row = 0;
    std::shared_ptr<const Schedule> schedule; ///< of `ops` under `scheduleKey`, or null
    std::string scheduleKey;                  ///< hash of the problem it was simulated with
};

/// What is known about the current graph on the current devices before anything is placed.
struct Situation {
    ProblemPtr problem;
    LowerBounds bounds;
    Evaluation single; ///< all ops on the best single device that may run them all
    DeviceId singleDevice;
};

/// The state of the project that is on screen, in core terms: graphs, device sets, placements, what is current, undo.
/// Knows no view and no file. Compiling and simulating happen on jobs, newest wins. GUI thread only.
class Document : public QObject {
    Q_OBJECT

public:
    explicit Document(QObject* parent = nullptr);
    ~Document() override;

    const std::vector<GraphEntry>& graphs() const { return m_graphs; }
    const GraphEntry* currentGraph() const;
    const GraphEntry* findGraph(int id) const;
    const GraphEntry* findGraphByHash(const std::string& hash) const;
    GraphPtr graph() const;
    /// Adds a graph, or finds the one of equal content, and returns its id. `info` needs name, source, hash and ops at least.
    int addGraph(GraphEntry info);
    void setGraphLoaded(int id, GraphPtr graph);
    void setGraphRow(const std::string& hash, std::int64_t row);
    void setCurrentGraph(int id);
    void clear(); ///< all graphs and placements away (another project)

    const std::vector<DeviceSet>& deviceSets() const { return m_deviceSets; }
    const DeviceSet& devices() const { return m_deviceSets[m_currentDevices]; }
    const std::string& devicesHash() const { return m_deviceHashes[m_currentDevices]; }
    const std::string& deviceHashAt(std::size_t index) const { return m_deviceHashes[index]; }
    void addDeviceSet(const DeviceSet& devices); ///< known already: no change
    void setCurrentDevices(const std::string& hash);
    bool isPreset(const std::string& deviceHash) const;

    const GroupingOptions& grouping() const { return m_grouping; }
    void setGrouping(const GroupingOptions& grouping); ///< groups made by hand count for graphs that have such ops
    void changeGrouping(const GroupingOptions& grouping, const QString& text); ///< likewise, undoable
    void groupTogether(const QList<quint32>& ops);
    void ungroup(const QList<quint32>& ops);
    const SimOptions& simOptions() const { return m_simOptions; }
    void setSimOptions(const SimOptions& options);

    /// Null while the graph is compiled, cyclic, or there is none.
    std::shared_ptr<const Situation> situation() const { return m_situation; }
    ProblemPtr problem() const { return m_situation ? m_situation->problem : nullptr; }

    /// Placements of the current graph on the current devices, in order of addition.
    std::vector<const PlacementEntry*> placements() const;
    const PlacementEntry* currentPlacement() const;
    const PlacementEntry* findPlacement(int id) const;
    const PlacementEntry* bestPlacement() const; ///< fastest valid one, or null
    int addPlacement(PlacementEntry entry, bool makeCurrent);
    /// Placements read from the project: those that are known already (same row) are left out; the best becomes current
    /// where nothing was.
    void adoptStored(std::vector<PlacementEntry> entries);
    /// Copies the placements of one graph to another with the same ops. Returns the id that `placement` has there, or -1.
    int copyPlacements(const std::string& fromGraph, const std::string& toGraph, int placement);
    /// A running training found a better one.
    void updatePlacement(int id, OpPlacementPtr ops, const Evaluation& evaluation);
    void setPlacementLive(int id, bool live);
    void renamePlacement(int id, const QString& name);
    void removePlacement(int id);
    void setCurrentPlacement(int id); ///< -1 = none
    /// Of the current placement; null while it is simulated.
    std::shared_ptr<const Schedule> schedule() const;

    /// All ops that move with `ops`: their colocation, and their groups if `wholeGroups`.
    QList<quint32> movedWith(const QList<quint32>& ops, bool wholeGroups) const;
    /// Moves ops by hand, undoable. A placement that a method made is copied first, so that it stays what it was.
    void assign(const QList<quint32>& ops, DeviceId device, bool wholeGroups);
    void setPinned(const QList<quint32>& ops, bool pinned);
    bool isPinned(quint32 op) const;
    QUndoGroup* undoGroup() { return &m_undoGroup; }

Q_SIGNALS:
    void graphsChanged();
    void currentGraphChanged();
    /// The graph is wanted but not in memory: somebody loads it and calls setGraphLoaded().
    void graphWanted(int id);
    void deviceSetsChanged();
    void currentDevicesChanged();
    void situationChanged();
    void placementsChanged();
    void currentPlacementChanged();
    void scheduleChanged();
    void manualPlacementEdited(int id);
    void failed(const pw::Error& error);

private:
    friend class AssignCommand;
    PlacementEntry* mutablePlacement(int id);
    void compile();
    void simulate();
    void replaceOps(int id, OpPlacementPtr ops);
    QUndoStack* stackOf(int graphId);

    std::vector<GraphEntry> m_graphs;
    int m_currentGraph = -1;
    std::vector<DeviceSet> m_deviceSets;
    std::vector<std::string> m_deviceHashes;
    std::size_t m_currentDevices = 0;
    std::size_t m_presetCount = 0;
    GroupingOptions m_grouping{.targetGroups = 128};
    SimOptions m_simOptions;
    std::shared_ptr<const Situation> m_situation;
    std::vector<PlacementEntry> m_placements;
    int m_currentPlacement = -1;
    int m_nextId = 1;
    std::unordered_map<int, QUndoStack*> m_stacks;
    QUndoGroup m_undoGroup;
    LatestJob m_compileJob{this};
    LatestJob m_simulateJob{this};
};

} // namespace pw::ui
