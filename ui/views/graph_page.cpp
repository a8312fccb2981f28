#include "ui/views/graph_page.h"

#include "ui/document.h"
#include "ui/selection.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <algorithm>

namespace pw::ui {

namespace {
constexpr int kBarHeight = 32;
constexpr int kPathNameWidth = 160;
constexpr int kPathButtonRoom = 34; ///< padding of a button and the arrow before it
} // namespace

GraphPage::GraphPage(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent), m_document(document), m_selection(selection), m_view(new viz::GraphView(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(makePathBar());
    column->addWidget(m_view, 1);
    m_view->setEmptyText(tr("No graph is open. Open one with Ctrl+O, or drop a file here."));

    connect(document, &Document::currentGraphChanged, this, &GraphPage::showGraph);
    connect(document, &Document::currentPlacementChanged, this, &GraphPage::showPlacement);
    connect(document, &Document::scheduleChanged, this, &GraphPage::showSchedule);
    connect(document, &Document::situationChanged, this, &GraphPage::showSchedule);
    connect(selection, &Selection::changed, this, [this](const QList<quint32>& ops) {
        m_view->setSelection(ops);
        rebuildPath();
    });
    connect(selection, &Selection::hoverChanged, m_view, &viz::GraphView::setHovered);
    connect(selection, &Selection::revealRequested, m_view, &viz::GraphView::revealOp);
    connect(m_view, &viz::GraphView::selectionChanged, selection, &Selection::setOps);
    connect(m_view, &viz::GraphView::hoverChanged, selection, &Selection::setHovered);
    connect(m_view, &viz::GraphView::layoutStarted, this, [this] { m_busy->setText(tr("Laying out…")); });
    connect(m_view, &viz::GraphView::layoutFinished, this, [this] { m_busy->clear(); });
    connect(m_view, &viz::GraphView::layoutFailed, this,
            [this](const QString& reason) { m_busy->setText(tr("Layout failed: %1").arg(reason)); });
    showGraph();
}

QToolButton* GraphPage::addTool(QHBoxLayout* row, const QString& icon, const QString& tip,
                                void (viz::GraphView::*slot)()) {
    auto* button = new QToolButton(this);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setProperty("small", true);
    button->setFixedSize(24, 24);
    connect(button, &QToolButton::clicked, m_view, slot);
    m_icons.emplace_back(button, icon);
    row->addWidget(button);
    return button;
}

QHBoxLayout* GraphPage::makePathBar() {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(8, 3, 8, 3);
    row->setSpacing(8);
    m_path = new QWidget(this);
    m_path->setMinimumHeight(kBarHeight - 6);
    m_path->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_pathLayout = new QHBoxLayout(m_path);
    m_pathLayout->setContentsMargins(0, 0, 0, 0);
    m_pathLayout->setSpacing(0);
    m_colorBy = new QComboBox(this);
    m_colorBy->setProperty("small", true);
    m_colorBy->addItems({tr("Colour: device"), tr("Colour: cost"), tr("Colour: memory"), tr("Colour: phase")});
    m_colorBy->setToolTip(tr("What the boxes are coloured by"));
    m_crossEdges = new QCheckBox(tr("Cross-device edges"), this);
    m_crossEdges->setChecked(true);
    m_criticalPath = new QCheckBox(tr("Critical path"), this);
    m_busy = new QLabel(this);
    m_busy->setProperty("role", "muted");
    row->addWidget(m_path, 1);
    row->addWidget(m_busy);
    row->addWidget(m_colorBy);
    row->addWidget(m_crossEdges);
    row->addWidget(m_criticalPath);
    addTool(row, QStringLiteral("collapse-all"), tr("Close all scopes"), &viz::GraphView::collapseAll);
    addTool(row, QStringLiteral("expand-all"), tr("Open scopes, as far as a picture allows"), &viz::GraphView::expandAll);
    connect(m_colorBy, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_view->setColorBy(static_cast<viz::ColorBy>(index)); });
    addTool(row, QStringLiteral("fit"), tr("Fit the whole graph (F)"), &viz::GraphView::zoomToFit);
    connect(m_crossEdges, &QCheckBox::toggled, m_view, &viz::GraphView::setShowCrossDeviceEdges);
    connect(m_criticalPath, &QCheckBox::toggled, this, [this](bool on) {
        m_view->setShowCriticalPath(on);
        Q_EMIT showCriticalPathChanged(on);
    });
    return row;
}

void GraphPage::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_view->setTheme(theme);
    for (const auto& [button, icon] : m_icons)
        button->setIcon(viz::icon(icon, theme));
    rebuildPath();
}

void GraphPage::showGraph() {
    const GraphPtr graph = m_document->graph();
    if (m_shown == graph && graph)
        return;
    m_shown = graph;
    m_selection->clear();
    m_selection->setHovered(-1);
    m_view->setGraph(graph);
    const GraphEntry* entry = m_document->currentGraph();
    m_view->setEmptyText(entry && !graph ? tr("Reading %1…").arg(entry->name)
                                         : tr("No graph is open. Open one with Ctrl+O, or drop a file here."));
    showPlacement();
    showSchedule();
    rebuildPath();
}

void GraphPage::showPlacement() {
    const PlacementEntry* placement = m_document->currentPlacement();
    const GraphPtr graph = m_document->graph();
    const bool fits = placement && graph && placement->ops && placement->ops->size() == graph->opCount();
    m_view->setPlacement(fits ? placement->ops : nullptr);
}

void GraphPage::showSchedule() {
    if (const auto situation = m_document->situation()) {
        const CostTable& costs = situation->problem->costs();
        std::vector<double> fastest(situation->problem->opCount());
        for (std::size_t i = 0; i < fastest.size(); ++i)
            fastest[i] = costs.at(OpId(i), DeviceId(0));
        m_view->setOpCosts(std::move(fastest));
    } else {
        m_view->setOpCosts({});
    }
    m_view->setSchedule(m_document->schedule());
}

void GraphPage::addPathButton(const QString& text, const std::function<void()>& action) {
    if (m_pathLayout->count() > 0) {
        auto* arrow = new QLabel(QStringLiteral("›"), m_path);
        arrow->setProperty("role", "muted");
        m_pathLayout->addWidget(arrow);
    }
    auto* button = new QToolButton(m_path);
    button->setText(button->fontMetrics().elidedText(text, Qt::ElideMiddle, kPathNameWidth));
    button->setToolTip(text);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QToolButton::clicked, this, action);
    m_pathLayout->addWidget(button);
}

void GraphPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    rebuildPath(); // why: how many levels fit depends on the width
}

void GraphPage::rebuildPath() {
    while (QLayoutItem* item = m_pathLayout->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    const GraphEntry* entry = m_document->currentGraph();
    if (!entry)
        return;
    addPathButton(entry->name, [this] { m_view->zoomToFit(); });
    const GraphPtr graph = m_document->graph();
    if (graph && m_selection->ops().size() == 1) {
        std::vector<ScopeId> scopes;
        for (ScopeId s = graph->op(OpId(m_selection->ops().first())).scope; s.isValid() && graph->scope(s).parent.isValid(); s = graph->scope(s).parent)
            scopes.insert(scopes.begin(), s);
        addScopes(*graph, scopes);
    }
    m_pathLayout->addStretch(1);
}

void GraphPage::addScopes(const OpGraph& graph, const std::vector<ScopeId>& scopes) {
    const auto name = [&](std::size_t i) { return words::fromUtf8(graph.scope(scopes[i]).name); };
    // The innermost scopes are what people look for: outer ones are left out where the room is short.
    int room = m_path->width() - m_pathLayout->sizeHint().width() - kPathButtonRoom;
    std::size_t first = scopes.size();
    while (first > 0) {
        room -= std::min(kPathNameWidth, fontMetrics().horizontalAdvance(name(first - 1))) + kPathButtonRoom;
        if (room < 0)
            break;
        --first;
    }
    for (std::size_t i = first; i < scopes.size(); ++i)
        addPathButton(i == first && first > 0 ? QStringLiteral("… ") + name(i) : name(i),
                      [this, scope = scopes[i]] { m_view->openScope(scope.value()); });
}

} // namespace pw::ui
