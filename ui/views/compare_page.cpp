#include "ui/views/compare_page.h"

#include "ui/models/moves_model.h"
#include "ui/selection.h"
#include "ui/views/compare_metrics.h"
#include "ui/views/flow_matrix.h"
#include "ui/words.h"
#include "viz/graph/graph_view.h"
#include "viz/plots/timeline_view.h"
#include "viz/theme/icon.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace pw::ui {

namespace {

QWidget* headBar(const QString& title, const QString& note, QWidget* parent, QLabel** noteLabel = nullptr) {
    auto* bar = new QWidget(parent);
    bar->setFixedHeight(28);
    bar->setProperty("surface", "header");
    bar->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 0, 8, 0);
    auto* label = new QLabel(QStringLiteral("<b>%1</b>").arg(title.toHtmlEscaped()), bar);
    auto* detail = new QLabel(note, bar);
    detail->setProperty("role", "secondary");
    row->addWidget(label);
    row->addWidget(detail, 1);
    if (noteLabel)
        *noteLabel = detail;
    return bar;
}

/// Names of groups keep whole path components where they do not fit.
class PathDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        constexpr int kMargins = 12; // what the style leaves free at both sides
        option->text = words::shortPath(option->text, option->fontMetrics, option->rect.width() - kMargins);
    }
};

} // namespace

ComparePage::ComparePage(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent), m_document(document), m_selection(selection), m_movesModel(new MovesModel(this)),
      m_movesProxy(new QSortFilterProxyModel(this)) {
    setFocusPolicy(Qt::StrongFocus);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(makeBar());
    m_stack = new QStackedWidget(this);
    auto* empty = new QLabel(tr("Only one placement. Add a second one to compare: Place ▸ METIS, or Train…"), this);
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setProperty("role", "secondary");
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setHandleWidth(1);
    split->addWidget(makeLeft());
    split->addWidget(makeRight());
    split->setStretchFactor(0, 1);
    split->setSizes({980, 440});
    m_stack->addWidget(empty);
    m_stack->addWidget(split);
    column->addWidget(m_stack, 1);
    connectPane(m_base);
    connectPane(m_candidate);
    m_candidate.graph->linkTo(m_base.graph);
    connect(selection, &Selection::changed, this, [this](const QList<quint32>& ops) {
        for (const Pane* pane : {&m_base, &m_candidate}) {
            pane->graph->setSelection(ops);
            pane->timeline->setSelection(ops);
        }
    });
    connect(selection, &Selection::hoverChanged, this, [this](qint64 op) {
        for (const Pane* pane : {&m_base, &m_candidate}) {
            pane->graph->setHovered(op);
            pane->timeline->setHovered(op);
        }
    });
    for (const auto signal : {&Document::placementsChanged, &Document::situationChanged})
        connect(document, signal, this, [this] {
            if (m_active)
                fillChoices();
        });
}

QHBoxLayout* ComparePage::makeBar() {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 6, 12, 6);
    row->setSpacing(8);
    const auto choice = [&](const QString& title, const QString& name) {
        auto* label = new QLabel(title, this);
        label->setProperty("role", "secondary");
        auto* combo = new QComboBox(this);
        combo->setObjectName(name);
        combo->setMinimumWidth(190);
        combo->setAccessibleName(title);
        row->addWidget(label);
        row->addWidget(combo);
        return combo;
    };
    const auto tool = [&](const QString& tip) {
        auto* button = new QToolButton(this);
        button->setToolTip(tip);
        button->setProperty("framed", true);
        button->setProperty("small", true);
        button->setFixedSize(28, 26);
        return button;
    };
    m_baseChoice = choice(tr("Base"), QStringLiteral("compareBase"));
    m_swap = tool(tr("Swap base and candidate"));
    row->addWidget(m_swap);
    m_candidateChoice = choice(tr("Candidate"), QStringLiteral("compareCandidate"));
    m_crossEdges = new QCheckBox(tr("Cross-device edges"), this);
    m_crossEdges->setChecked(true);
    row->addSpacing(8);
    row->addWidget(m_crossEdges);
    row->addStretch(1);
    m_change = new QLabel(this);
    m_fit = tool(tr("Fit both graphs"));
    m_previous = tool(tr("Previous change (Left)"));
    m_next = tool(tr("Next change (Right)"));
    row->addWidget(m_fit);
    row->addSpacing(8);
    row->addWidget(m_change);
    row->addWidget(m_previous);
    row->addWidget(m_next);
    connect(m_swap, &QToolButton::clicked, this, [this] { compare(m_candidateId, m_baseId); });
    connect(m_baseChoice, &QComboBox::activated, this, [this](int i) { compare(m_baseChoice->itemData(i).toInt(), -1); });
    connect(m_candidateChoice, &QComboBox::activated, this,
            [this](int i) { compare(-1, m_candidateChoice->itemData(i).toInt()); });
    connect(m_crossEdges, &QCheckBox::toggled, this, [this](bool on) {
        m_base.graph->setShowCrossDeviceEdges(on);
        m_candidate.graph->setShowCrossDeviceEdges(on);
    });
    connect(m_fit, &QToolButton::clicked, this, &ComparePage::fitAll);
    connect(m_previous, &QToolButton::clicked, this, [this] { step(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { step(1); });
    return row;
}

QWidget* ComparePage::makeHead(Pane& pane, const QString& role) {
    auto* bar = headBar(role, {}, this, &pane.title);
    pane.figures = new QLabel(bar);
    bar->layout()->addWidget(pane.figures);
    return bar;
}

QWidget* ComparePage::makeLeft() {
    auto* split = new QSplitter(Qt::Vertical, this);
    split->setHandleWidth(1);
    auto* graphs = new QWidget(split);
    auto* row = new QHBoxLayout(graphs);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(1);
    for (Pane* pane : {&m_base, &m_candidate}) {
        auto* box = new QWidget(graphs);
        auto* column = new QVBoxLayout(box);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        pane->graph = new viz::GraphView(box);
        column->addWidget(makeHead(*pane, pane == &m_base ? tr("Base") : tr("Candidate")));
        column->addWidget(pane->graph, 1);
        row->addWidget(box, 1);
    }
    auto* timelines = new QWidget(split);
    timelines->setProperty("surface", "panel");
    timelines->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(timelines);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(headBar(tr("Timelines"), tr("one time axis; full colour: moved, pale: same device in both"), timelines));
    for (Pane* pane : {&m_base, &m_candidate}) {
        pane->timelineTitle = new QLabel(timelines);
        pane->timelineTitle->setContentsMargins(8, 2, 8, 0);
        pane->timeline = new viz::TimelineView(timelines);
        pane->timeline->setShowLinks(false);
        pane->timeline->setShowCriticalPath(false);
        column->addWidget(pane->timelineTitle);
        column->addWidget(pane->timeline, 1);
    }
    split->addWidget(graphs);
    split->addWidget(timelines);
    split->setStretchFactor(0, 1);
    split->setSizes({480, 300});
    return split;
}

QWidget* ComparePage::makeRight() {
    auto* box = new QWidget(this);
    box->setProperty("surface", "panel");
    box->setAttribute(Qt::WA_StyledBackground);
    box->setMinimumWidth(360);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_metrics = new CompareMetrics(box);
    m_flow = new FlowMatrix(box);
    m_table = new QTableView(box);
    m_table->setObjectName(QStringLiteral("movesTable"));
    m_movesProxy->setSourceModel(m_movesModel);
    m_movesProxy->setSortRole(MovesModel::SortRole);
    m_table->setModel(m_movesProxy);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(-1, Qt::AscendingOrder);
    m_table->setShowGrid(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setTextElideMode(Qt::ElideLeft);
    m_table->setItemDelegateForColumn(MovesModel::OpGroup, new PathDelegate(m_table));
    m_table->setWordWrap(false); // why: names would break at their slashes
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(22);
    m_table->horizontalHeader()->setSectionResizeMode(MovesModel::OpGroup, QHeaderView::Stretch);
    for (const auto& [narrow, sample] : {std::pair(MovesModel::FromTo, tr("From, to")), std::pair(MovesModel::Output, tr("Output, MB")),
                                         std::pair(MovesModel::Effect, tr("Effect, ms"))}) {
        m_table->horizontalHeader()->setSectionResizeMode(narrow, QHeaderView::Fixed);
        m_table->setColumnWidth(narrow, fontMetrics().horizontalAdvance(sample) + 18);
    }
    auto* note = new QLabel(tr("Effect: change of the step time through this move, all others kept. Simulated.\n"
                               "On one graph local search is hard to beat; a policy is worth having for graphs it never saw."),
                            box);
    note->setProperty("role", "muted");
    note->setContentsMargins(8, 4, 8, 4);
    note->setWordWrap(true);
    column->addWidget(headBar(tr("Metrics"), tr("simulated"), box));
    column->addWidget(m_metrics);
    column->addWidget(headBar(tr("Where the ops went"), tr("row: device in base, column: in candidate"), box));
    column->addWidget(m_flow);
    column->addWidget(headBar(tr("Moved ops"), {}, box, &m_movesTitle));
    column->addWidget(m_table, 1);
    column->addWidget(note);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        if (index.isValid())
            showChange(index.row());
    });
    connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        Q_EMIT opActivated(index.data(MovesModel::IdRole).toUInt());
    });
    return box;
}

void ComparePage::connectPane(Pane& pane) {
    connect(pane.graph, &viz::GraphView::selectionChanged, m_selection, &Selection::setOps);
    connect(pane.graph, &viz::GraphView::hoverChanged, m_selection, &Selection::setHovered);
    connect(pane.timeline, &viz::TimelineView::selectionChanged, m_selection, &Selection::setOps);
    connect(pane.timeline, &viz::TimelineView::hoverChanged, m_selection, &Selection::setHovered);
}

void ComparePage::setTheme(const viz::Theme& theme) {
    for (const Pane* pane : {&m_base, &m_candidate}) {
        pane->graph->setTheme(theme);
        pane->timeline->setTheme(theme);
    }
    m_metrics->setTheme(theme);
    m_flow->setTheme(theme);
    m_swap->setIcon(viz::icon(QStringLiteral("swap"), theme));
    m_fit->setIcon(viz::icon(QStringLiteral("fit"), theme));
    m_previous->setIcon(viz::icon(QStringLiteral("back"), theme));
    m_next->setIcon(viz::icon(QStringLiteral("forward"), theme));
}

void ComparePage::setActive(bool active) {
    m_active = active;
    if (active)
        fillChoices();
    else
        m_job.cancel();
}

void ComparePage::compare(int base, int candidate) {
    if (base >= 0)
        m_baseId = base;
    if (candidate >= 0)
        m_candidateId = candidate;
    if (m_active)
        fillChoices();
}

void ComparePage::fillChoices() {
    const auto placements = m_document->placements();
    const auto known = [&](int id) {
        return std::any_of(placements.begin(), placements.end(), [id](const auto* p) { return p->id == id; });
    };
    if (!known(m_candidateId)) {
        const PlacementEntry* current = m_document->currentPlacement();
        m_candidateId = current ? current->id : placements.empty() ? -1 : placements.back()->id;
    }
    if (!known(m_baseId) || m_baseId == m_candidateId) {
        m_baseId = -1;
        for (const PlacementEntry* placement : placements)
            if (placement->id != m_candidateId && (m_baseId < 0 || placement->method == QLatin1String("metis")))
                m_baseId = placement->id;
    }
    for (const auto& [combo, id] : {std::pair(m_baseChoice, m_baseId), std::pair(m_candidateChoice, m_candidateId)}) {
        const QSignalBlocker blocker(combo);
        combo->clear();
        for (const PlacementEntry* placement : placements)
            combo->addItem(placement->name, placement->id);
        combo->setCurrentIndex(combo->findData(id));
    }
    m_stack->setCurrentIndex(placements.size() >= 2 ? 1 : 0);
    request();
}

void ComparePage::request() {
    const PlacementEntry* base = m_document->findPlacement(m_baseId);
    const PlacementEntry* candidate = m_document->findPlacement(m_candidateId);
    const ProblemPtr problem = m_document->problem();
    if (!base || !candidate || !problem || !base->ops || !candidate->ops || base->ops->size() != problem->opCount() ||
        candidate->ops->size() != problem->opCount()) {
        m_job.cancel();
        show(nullptr);
        return;
    }
    if (m_comparison && m_comparison->problem == problem && m_comparison->base->placement == *base->ops &&
        m_comparison->candidate->placement == *candidate->ops)
        return; // nothing of what is shown has changed
    m_job.start<std::shared_ptr<const Comparison>>(
        tr("Comparing"),
        [problem, a = base->ops, b = candidate->ops](JobContext& context) -> Result<std::shared_ptr<const Comparison>> {
            return std::make_shared<const Comparison>(comparePlacements(problem, *a, *b, context));
        },
        [this](Result<std::shared_ptr<const Comparison>> comparison) {
            if (comparison)
                show(std::move(*comparison));
        });
}

void ComparePage::show(std::shared_ptr<const Comparison> comparison) {
    m_comparison = std::move(comparison);
    m_movesModel->setComparison(m_comparison);
    m_flow->setComparison(m_comparison);
    m_metrics->setRows(m_comparison ? metricRows(*m_comparison) : std::vector<MetricRow>());
    m_change->setText(QString());
    if (!m_comparison)
        return;
    if (m_shownGraph != m_comparison->problem->graphPtr()) {
        m_shownGraph = m_comparison->problem->graphPtr();
        m_base.graph->setGraph(m_shownGraph);
        m_candidate.graph->setGraph(m_shownGraph);
    }
    showPane(m_base, m_document->findPlacement(m_baseId), m_comparison->base);
    showPane(m_candidate, m_document->findPlacement(m_candidateId), m_comparison->candidate);
    const double baseMs = std::round(m_comparison->base->stepTimeUs / 100.0) / 10.0;
    const double candidateMs = std::round(m_comparison->candidate->stepTimeUs / 100.0) / 10.0;
    m_candidate.figures->setText(m_candidate.figures->text() +
                                 QStringLiteral("  <b>%1 ms</b>  %2 %").arg(words::signedFixed(candidateMs - baseMs, 1),
                                                                            words::signedFixed((candidateMs / baseMs - 1) * 100, 1)));
    m_movesTitle->setText(tr("%1 groups, %2 ops").arg(words::count(static_cast<std::int64_t>(m_comparison->moves.size())),
                                                      words::count(static_cast<std::int64_t>(m_comparison->movedOps))));
    m_change->setText(m_comparison->moves.empty() ? tr("The placements are equal") : tr("%1 changes").arg(m_comparison->moves.size()));
}

void ComparePage::showPane(Pane& pane, const PlacementEntry* entry, const std::shared_ptr<const Schedule>& schedule) {
    const double end = std::max(m_comparison->base->stepTimeUs, m_comparison->candidate->stepTimeUs);
    const QString name = entry ? entry->name : QString();
    pane.title->setText(name);
    pane.figures->setText(words::milliseconds(schedule->stepTimeUs) + tr(" ms"));
    pane.timelineTitle->setText(QStringLiteral("<b>%1</b>").arg(name.toHtmlEscaped()));
    pane.graph->setDeviceNames(words::deviceTitles(m_document->devices()));
    pane.graph->setPlacement(std::make_shared<const OpPlacement>(schedule->placement));
    pane.graph->setSchedule(schedule);
    pane.graph->setMoved(m_comparison->moved);
    pane.timeline->setSchedule(m_comparison->problem, schedule);
    pane.timeline->setMoved(m_comparison->moved);
    pane.timeline->setAxisEnd(end);
}

int ComparePage::currentRow() const {
    return m_table->currentIndex().isValid() ? m_table->currentIndex().row() : -1;
}

void ComparePage::step(int direction) {
    const int rows = m_movesProxy->rowCount();
    if (rows == 0)
        return;
    const int row = currentRow() < 0 ? (direction > 0 ? 0 : rows - 1) : (currentRow() + direction + rows) % rows;
    m_table->selectRow(row);
}

void ComparePage::fitAll() {
    m_base.graph->zoomToFit();
    m_candidate.graph->zoomToFit();
}

void ComparePage::showChange(int row) {
    const int source = m_movesProxy->mapToSource(m_movesProxy->index(row, 0)).row();
    const Move& move = m_movesModel->moves()[static_cast<std::size_t>(source)];
    m_change->setText(tr("Change <b>%1</b> of %2").arg(row + 1).arg(m_movesProxy->rowCount()));
    m_selection->setOps(move.ops);
    m_base.graph->revealOp(move.ops.front());
    m_candidate.graph->revealOp(move.ops.front());
}

void ComparePage::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left)
        step(-1);
    else if (event->key() == Qt::Key_Right)
        step(1);
    else
        QWidget::keyPressEvent(event);
}

} // namespace pw::ui
