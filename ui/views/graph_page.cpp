#include "ui/views/graph_page.h"

#include "ui/actions.h"
#include "ui/document.h"
#include "ui/selection.h"
#include "ui/views/graph_strip.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <algorithm>

namespace pw::ui {

namespace {
constexpr int kBarHeight = 32;
constexpr int kPathNameWidth = 160;
constexpr int kPathButtonRoom = 38; ///< padding of a button and the arrow before it
constexpr int kPathRoom = 170;      ///< px that the path keeps when switches are left out for it

struct Shade {
    viz::ColorBy by;
    ActionId action;
    const char* text;
};
constexpr Shade kShades[] = {{viz::ColorBy::Device, ActionId::ColorDevice, QT_TR_NOOP("Colour: device")},
                             {viz::ColorBy::Cost, ActionId::ColorCost, QT_TR_NOOP("Colour: cost")},
                             {viz::ColorBy::Memory, ActionId::ColorMemory, QT_TR_NOOP("Colour: memory")},
                             {viz::ColorBy::Time, ActionId::ColorTime, QT_TR_NOOP("Colour: time")},
                             {viz::ColorBy::Phase, ActionId::ColorPhase, QT_TR_NOOP("Colour: phase")}};

/// One switch in two places.
void join(QCheckBox* box, QAction* action) {
    action->setChecked(box->isChecked());
    QObject::connect(box, &QCheckBox::toggled, action, &QAction::setChecked);
    QObject::connect(action, &QAction::toggled, box, &QCheckBox::setChecked);
}
} // namespace

GraphPage::GraphPage(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent), m_document(document), m_selection(selection), m_view(new viz::GraphView(this)),
      m_strip(new GraphStrip(document, selection, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_strip);
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
    connect(m_view, &viz::GraphView::layoutFinished, this, [this] {
        m_busy->clear();
        const std::size_t hidden = m_view->hiddenOps();
        m_variables->setToolTip(hidden > 0 ? tr("Show %1 variable and constant ops as boxes").arg(words::count(static_cast<std::int64_t>(hidden)))
                                           : tr("Boxes for variables and constants too"));
    });
    connect(document, &Document::currentDevicesChanged, this, &GraphPage::nameDevices);
    connect(m_view, &viz::GraphView::layoutFailed, this,
            [this](const QString& reason) { m_busy->setText(tr("Layout failed: %1").arg(reason)); });
    nameDevices();
    showGraph();
}

void GraphPage::nameDevices() {
    m_view->setDeviceNames(words::deviceTitles(m_document->devices()));
}

void GraphPage::connectActions(const Actions& actions) {
    join(m_crossEdges, actions[ActionId::ShowCrossEdges]);
    join(m_criticalPath, actions[ActionId::ShowCriticalPath]);
    join(m_variables, actions[ActionId::ShowVariables]);
    for (int i = 0; i < static_cast<int>(std::size(kShades)); ++i) {
        QAction* action = actions[kShades[i].action];
        action->setChecked(i == m_colorBy->currentIndex());
        connect(action, &QAction::triggered, this, [this, i] { m_colorBy->setCurrentIndex(i); });
        connect(m_colorBy, &QComboBox::currentIndexChanged, action, [action, i](int index) { action->setChecked(index == i); });
    }
}

void GraphPage::setColorBy(viz::ColorBy colorBy) {
    for (int i = 0; i < static_cast<int>(std::size(kShades)); ++i)
        if (kShades[i].by == colorBy)
            m_colorBy->setCurrentIndex(i);
}

/// The switches are in the View menu too, so they give way to the path where the room is short.
void GraphPage::fitBar() {
    int room = width() - kPathRoom - m_colorBy->sizeHint().width() - 4 * 34;
    for (QCheckBox* box : {m_crossEdges, m_criticalPath, m_variables}) {
        room -= box->sizeHint().width() + 8;
        box->setVisible(room >= 0);
    }
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
    m_path->installEventFilter(this);
    m_pathLayout = new QHBoxLayout(m_path);
    m_pathLayout->setContentsMargins(0, 0, 0, 0);
    m_pathLayout->setSpacing(0);
    m_colorBy = new QComboBox(this);
    m_colorBy->setProperty("small", true);
    for (const Shade& shade : kShades)
        m_colorBy->addItem(tr(shade.text));
    m_colorBy->setToolTip(tr("What the boxes are coloured by"));
    m_crossEdges = new QCheckBox(tr("Cross-device edges"), this);
    m_crossEdges->setChecked(true);
    m_criticalPath = new QCheckBox(tr("Critical path"), this);
    m_variables = new QCheckBox(tr("Variables"), this);
    m_variables->setObjectName(QStringLiteral("showVariables"));
    m_busy = new QLabel(this);
    m_busy->setProperty("role", "muted");
    row->addWidget(m_path, 1);
    row->addWidget(m_busy);
    row->addWidget(m_colorBy);
    row->addWidget(m_crossEdges);
    row->addWidget(m_criticalPath);
    row->addWidget(m_variables);
    addTool(row, QStringLiteral("collapse-all"), tr("Close all scopes"), &viz::GraphView::collapseAll);
    addTool(row, QStringLiteral("expand-all"), tr("Open scopes, as far as a picture allows"), &viz::GraphView::expandAll);
    connect(m_colorBy, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_view->setColorBy(kShades[index].by); });
    addTool(row, QStringLiteral("fit"), tr("Fit the whole graph (F)"), &viz::GraphView::zoomToFit);
    connect(m_crossEdges, &QCheckBox::toggled, m_view, &viz::GraphView::setShowCrossDeviceEdges);
    connect(m_variables, &QCheckBox::toggled, m_view, &viz::GraphView::setShowVariables);
    connect(m_criticalPath, &QCheckBox::toggled, this, [this](bool on) {
        m_view->setShowCriticalPath(on);
        Q_EMIT showCriticalPathChanged(on);
    });
    return row;
}

void GraphPage::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_view->setTheme(theme);
    m_strip->setTheme(theme);
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
        m_view->setCostSources(costs.source, words::deviceTitle(situation->problem->devices().device(DeviceId(0)), DeviceId(0)));
    } else {
        m_view->setOpCosts({});
        m_view->setCostSources({}, {});
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
    fitBar();
}

bool GraphPage::eventFilter(QObject* object, QEvent* event) {
    if (object == m_path && event->type() == QEvent::Resize && m_path->width() != m_pathWidth) {
        m_pathWidth = m_path->width();
        rebuildPath(); // how many levels fit depends on the width
    }
    return QWidget::eventFilter(object, event);
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
    const QString more = QStringLiteral("… ");
    int room = m_path->width() - fontMetrics().horizontalAdvance(more);
    for (int i = 0; i < m_pathLayout->count(); ++i) // why not the layout's own hint: it leaves out what is not shown yet
        room -= m_pathLayout->itemAt(i)->widget()->sizeHint().width();
    std::size_t first = scopes.size();
    while (first > 0) {
        room -= std::min(kPathNameWidth, fontMetrics().horizontalAdvance(name(first - 1))) + kPathButtonRoom;
        if (room < 0)
            break;
        --first;
    }
    for (std::size_t i = first; i < scopes.size(); ++i)
        addPathButton(i == first && first > 0 ? more + name(i) : name(i),
                      [this, scope = scopes[i]] { m_view->openScope(scope.value()); });
}

} // namespace pw::ui
