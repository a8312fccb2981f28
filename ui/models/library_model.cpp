#include "ui/models/library_model.h"

#include "ui/document.h"
#include "ui/project.h"
#include "ui/words.h"

#include <QFont>

#include <algorithm>
#include <iterator>
#include <limits>

namespace pw::ui {

namespace {

constexpr quintptr kTop = std::numeric_limits<quintptr>::max(); ///< internal id of the sections themselves

QString memoryText(const DeviceSet& set) {
    const std::int64_t first = set.devices().front().memoryBytes;
    const bool same = std::all_of(set.devices().begin(), set.devices().end(),
                                  [first](const Device& device) { return device.memoryBytes == first; });
    if (!same)
        return QObject::tr("%1 devices").arg(set.count());
    return QStringLiteral("%1 × %2 GB").arg(set.count()).arg(words::fixed(static_cast<double>(first) / 1e9, 0));
}

} // namespace

LibraryModel::LibraryModel(Document* document, Project* project, QObject* parent)
    : QAbstractItemModel(parent), m_document(document), m_project(project) {
    for (int section = 0; section < SectionCount; ++section)
        refresh(static_cast<Section>(section));
    connect(document, &Document::graphsChanged, this, [this] { refresh(Graphs); });
    connect(document, &Document::currentGraphChanged, this, [this] { refresh(Graphs); });
    connect(document, &Document::placementsChanged, this, [this] { refresh(Placements); });
    connect(document, &Document::currentPlacementChanged, this, [this] { refresh(Placements); });
    connect(document, &Document::deviceSetsChanged, this, [this] { refresh(DeviceSets); });
    connect(document, &Document::currentDevicesChanged, this, [this] { refresh(DeviceSets); });
    connect(project, &Project::runsChanged, this, [this] { refresh(Policies); });
}

void LibraryModel::refresh(Section section) {
    std::vector<Item> items;
    switch (section) {
    case Graphs: items = graphItems(); break;
    case Placements: items = placementItems(); break;
    case DeviceSets: items = deviceItems(); break;
    case Policies: items = policyItems(); break;
    case SectionCount: return;
    }
    auto& current = m_items[section];
    if (items == current)
        return;
    const QModelIndex top = sectionIndex(section);
    const int had = static_cast<int>(current.size());
    const int has = static_cast<int>(items.size());
    // Rows that stay take their new content first, then the rest comes or goes: no reset, so nothing folds or jumps.
    const int common = std::min(had, has);
    std::move(items.begin(), items.begin() + common, current.begin());
    if (common > 0)
        Q_EMIT dataChanged(index(0, 0, top), index(common - 1, 1, top));
    if (has > had) {
        beginInsertRows(top, had, has - 1);
        current.insert(current.end(), std::make_move_iterator(items.begin() + common), std::make_move_iterator(items.end()));
        endInsertRows();
    } else if (has < had) {
        beginRemoveRows(top, has, had - 1);
        current.resize(static_cast<std::size_t>(has));
        endRemoveRows();
    }
    Q_EMIT dataChanged(top, index(section, 1));
}

std::vector<LibraryModel::Item> LibraryModel::graphItems() const {
    std::vector<Item> items;
    const GraphEntry* current = m_document->currentGraph();
    for (const auto& graph : m_document->graphs()) {
        Item item;
        item.text = graph.name;
        item.value = words::count(static_cast<std::int64_t>(graph.ops));
        item.key = QString::number(graph.id);
        item.toolTip = graph.source;
        item.current = current && current->id == graph.id;
        items.push_back(std::move(item));
    }
    return items;
}

std::vector<LibraryModel::Item> LibraryModel::placementItems() const {
    auto placements = m_document->placements();
    std::stable_sort(placements.begin(), placements.end(), [](const auto* a, const auto* b) {
        if (a->valid != b->valid || a->evaluated != b->evaluated)
            return std::pair(a->valid, a->evaluated) > std::pair(b->valid, b->evaluated);
        return a->evaluated && a->stepTimeUs < b->stepTimeUs;
    });
    const PlacementEntry* current = m_document->currentPlacement();
    const PlacementEntry* best = m_document->bestPlacement();
    std::vector<Item> items;
    for (const PlacementEntry* placement : placements) {
        Item item;
        item.text = placement->name;
        item.value = placement->evaluated ? words::milliseconds(placement->stepTimeUs) : QStringLiteral("…");
        item.key = QString::number(placement->id);
        item.current = placement == current;
        item.problem = placement->evaluated && !placement->valid;
        item.icon = placement->live ? QStringLiteral("train")
                    : item.problem  ? QStringLiteral("warning")
                    : placement == best ? QStringLiteral("best")
                                        : QString();
        item.toolTip = item.problem ? tr("Not valid: shown in the strip above when selected")
                       : placement->live ? tr("Training, still improving")
                                         : tr("Step time simulated");
        items.push_back(std::move(item));
    }
    return items;
}

std::vector<LibraryModel::Item> LibraryModel::deviceItems() const {
    std::vector<Item> items;
    const auto& sets = m_document->deviceSets();
    for (std::size_t i = 0; i < sets.size(); ++i) {
        Item item;
        item.text = words::deviceSetTitle(sets[i]);
        item.value = memoryText(sets[i]);
        item.key = QString::fromStdString(m_document->deviceHashAt(i));
        item.current = m_document->deviceHashAt(i) == m_document->devicesHash();
        items.push_back(std::move(item));
    }
    return items;
}

std::vector<LibraryModel::Item> LibraryModel::policyItems() const {
    std::vector<Item> items;
    for (const auto& run : m_project->runs()) {
        if (run.spec.kind != "train" || (run.status != RunStatus::Done && run.status != RunStatus::Stopped))
            continue;
        Item item;
        item.text = runTitle(run.spec);
        item.value = words::fromUtf8(run.spec.deviceSetName);
        item.key = QString::number(run.id);
        item.icon = QStringLiteral("policy");
        item.toolTip = tr("Trained on %1. Double-click places the current graph with it.")
                           .arg(words::fromUtf8(run.spec.graphName));
        items.push_back(std::move(item));
    }
    return items;
}

QModelIndex LibraryModel::index(int row, int column, const QModelIndex& parent) const {
    if (row < 0 || column < 0 || column > 1 || row >= rowCount(parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) : kTop);
}

QModelIndex LibraryModel::parent(const QModelIndex& index) const {
    if (!index.isValid() || index.internalId() == kTop)
        return {};
    return createIndex(static_cast<int>(index.internalId()), 0, kTop);
}

int LibraryModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid())
        return SectionCount;
    if (parent.internalId() != kTop || parent.column() != 0)
        return 0;
    return static_cast<int>(m_items[static_cast<std::size_t>(parent.row())].size());
}

int LibraryModel::columnCount(const QModelIndex&) const {
    return 2;
}

QVariant LibraryModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    if (role == Qt::TextAlignmentRole && index.column() == 1)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (index.internalId() == kTop) {
        const std::array<QString, SectionCount> titles = {tr("Graphs"), tr("Placements"), tr("Device sets"),
                                                          tr("Policies")};
        const std::array<QString, SectionCount> units = {tr("ops"), tr("step, ms"), tr("memory"), tr("devices")};
        const auto section = static_cast<std::size_t>(index.row());
        if (role == Qt::DisplayRole)
            return index.column() == 0 ? titles[section] : m_items[section].empty() ? tr("none yet") : units[section];
        if (role == SectionRole)
            return index.row();
        return {};
    }
    const auto section = static_cast<std::size_t>(index.internalId());
    const Item& item = m_items[section][static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole: return index.column() == 0 ? item.text : item.value;
    case Qt::ToolTipRole: return item.toolTip.isEmpty() ? item.text : item.text + QLatin1Char('\n') + item.toolTip;
    case SectionRole: return static_cast<int>(section);
    case KeyRole: return item.key;
    case IconNameRole: return item.icon;
    case CurrentRole: return item.current;
    case ProblemRole: return item.problem;
    default: return {};
    }
}

Qt::ItemFlags LibraryModel::flags(const QModelIndex& index) const {
    if (!index.isValid())
        return Qt::NoItemFlags;
    return index.internalId() == kTop ? Qt::ItemIsEnabled : Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

} // namespace pw::ui
