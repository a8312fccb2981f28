#include "ui/views/graph_page.h"

#include "ui/document.h"
#include "ui/selection.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

namespace pw::ui {

namespace {
constexpr int kBarHeight = 32;
constexpr int kPathLevels = 4; ///< deeper paths begin with "…"
} // namespace

/// Devices with their op counts, and what the lines mean.
class GraphPage::Legend : public QWidget {
public:
    using QWidget::QWidget;

    void setCounts(std::vector<std::size_t> counts) {
        m_counts = std::move(counts);
        update();
    }
    void setTheme(const viz::Theme& theme) {
        m_theme = theme;
        update();
    }

protected:
    QSize sizeHint() const override { return {400, 24}; }
    QSize minimumSizeHint() const override { return {60, 24}; }

    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        int x = 0;
        if (m_counts.empty()) {
            painter.setPen(m_theme.muted);
            painter.drawText(rect(), Qt::AlignVCenter, tr("Nothing placed yet"));
            return;
        }
        for (std::size_t d = 0; d < m_counts.size(); ++d) {
            const QString text = tr("%1 ops").arg(words::count(static_cast<std::int64_t>(m_counts[d])));
            const int width = 22 + fontMetrics().horizontalAdvance(text) + 14;
            if (x + width > this->width())
                return;
            viz::paintDeviceChip(painter, QRectF(x + 0.5, height() / 2 - 8 + 0.5, 16, 16), DeviceId(d), m_theme);
            painter.setFont(font());
            painter.setPen(m_theme.text);
            painter.drawText(QRect(x + 22, 0, width, height()), Qt::AlignVCenter, text);
            x += width;
        }
        x = drawLine(painter, x, m_theme.edge, 1.5, tr("same device"));
        drawLine(painter, x, viz::deviceStyle(DeviceId(0), m_theme).stroke, 2.5, tr("crosses devices, colour of sender"));
    }

private:
    int drawLine(QPainter& painter, int x, const QColor& color, double width, const QString& text) const {
        const int room = 34 + fontMetrics().horizontalAdvance(text) + 14;
        if (x + room > this->width())
            return this->width();
        painter.setPen(QPen(color, width));
        painter.drawLine(QPointF(x, height() / 2.0), QPointF(x + 24, height() / 2.0));
        painter.setPen(m_theme.text2);
        painter.drawText(QRect(x + 30, 0, room, height()), Qt::AlignVCenter, text);
        return x + room;
    }

    std::vector<std::size_t> m_counts;
    viz::Theme m_theme = viz::Theme::light();
};

GraphPage::GraphPage(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent), m_document(document), m_selection(selection), m_view(new viz::GraphView(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(makePathBar());
    column->addWidget(m_view, 1);
    column->addLayout(makeBottomBar());
    m_view->setEmptyText(tr("No graph is open. Open one with Ctrl+O, or drop a file here."));

    connect(document, &Document::currentGraphChanged, this, &GraphPage::showGraph);
    connect(document, &Document::currentPlacementChanged, this, &GraphPage::showPlacement);
    connect(document, &Document::scheduleChanged, this, &GraphPage::showSchedule);
    connect(document, &Document::situationChanged, this, &GraphPage::showSchedule);
    connect(selection, &Selection::changed, this, [this](const QList<quint32>& ops) {
        if (!showsBody())
            m_view->setSelection(ops);
        rebuildPath();
    });
    connect(selection, &Selection::hoverChanged, this, [this](qint64 op) {
        if (!showsBody())
            m_view->setHovered(op);
    });
    connect(selection, &Selection::revealRequested, this, [this](quint32 op) {
        leaveBodies(0);
        m_view->revealOp(op);
    });
    connect(m_view, &viz::GraphView::selectionChanged, this, [this](const QList<quint32>& ops) {
        if (showsBody())
            Q_EMIT bodySelectionChanged(m_bodies.back().graph, ops);
        else
            m_selection->setOps(ops);
    });
    connect(m_view, &viz::GraphView::hoverChanged, this, [this](qint64 op) {
        if (!showsBody())
            m_selection->setHovered(op);
    });
    connect(m_view, &viz::GraphView::bodyOpened, this, &GraphPage::openBody);
    connect(m_view, &viz::GraphView::zoomChanged, this,
            [this](double factor) { m_zoomLabel->setText(tr("%1 %").arg(qRound(factor * 100))); });
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
    connect(m_crossEdges, &QCheckBox::toggled, m_view, &viz::GraphView::setShowCrossDeviceEdges);
    connect(m_criticalPath, &QCheckBox::toggled, this, [this](bool on) {
        m_view->setShowCriticalPath(on);
        Q_EMIT showCriticalPathChanged(on);
    });
    return row;
}

QHBoxLayout* GraphPage::makeBottomBar() {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(10, 3, 8, 3);
    row->setSpacing(4);
    m_legend = new Legend(this);
    row->addWidget(m_legend, 1);
    addTool(row, QStringLiteral("zoom-out"), tr("Zoom out (-)"), &viz::GraphView::zoomOut);
    m_zoomLabel = new QToolButton(this);
    m_zoomLabel->setText(QStringLiteral("100 %"));
    m_zoomLabel->setToolTip(tr("Back to 100 %"));
    m_zoomLabel->setMinimumWidth(52);
    connect(m_zoomLabel, &QToolButton::clicked, m_view, &viz::GraphView::resetZoom);
    row->addWidget(m_zoomLabel);
    addTool(row, QStringLiteral("zoom-in"), tr("Zoom in (+)"), &viz::GraphView::zoomIn);
    addTool(row, QStringLiteral("fit"), tr("Fit the whole graph (F)"), &viz::GraphView::zoomToFit);
    return row;
}

void GraphPage::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_view->setTheme(theme);
    m_legend->setTheme(theme);
    for (const auto& [button, icon] : m_icons)
        button->setIcon(viz::icon(icon, theme));
    rebuildPath();
}

void GraphPage::showGraph() {
    const GraphPtr graph = m_document->graph();
    if (m_shown == graph && graph)
        return;
    m_bodies.clear();
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
    if (!showsBody())
        m_view->setPlacement(fits ? placement->ops : nullptr);
    std::vector<std::size_t> counts;
    if (fits) {
        counts.assign(m_document->devices().count(), 0);
        for (const DeviceId device : *placement->ops)
            if (device.isValid() && device.index() < counts.size())
                ++counts[device.index()];
    }
    m_legend->setCounts(std::move(counts));
}

void GraphPage::showSchedule() {
    if (showsBody())
        return;
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

void GraphPage::openBody(quint32 op) {
    const GraphPtr from = showsBody() ? m_bodies.back().graph : m_document->graph();
    if (!from || op >= from->opCount() || from->op(OpId(op)).bodies.empty())
        return;
    const Op& container = from->op(OpId(op));
    const Body& body = container.bodies.front();
    m_bodies.push_back({words::fromUtf8(container.name) + QStringLiteral(": ") + words::fromUtf8(body.name), body.graph});
    m_selection->clear();
    m_view->setPlacement(nullptr);
    m_view->setSchedule(nullptr);
    m_view->setOpCosts({});
    m_view->setGraph(body.graph);
    rebuildPath();
}

void GraphPage::leaveBodies(std::size_t depth) {
    if (depth >= m_bodies.size())
        return;
    m_bodies.resize(depth);
    m_view->setGraph(showsBody() ? m_bodies.back().graph : m_document->graph());
    if (!showsBody()) {
        showPlacement();
        showSchedule();
        Q_EMIT bodySelectionChanged(nullptr, {});
    }
    rebuildPath();
}

void GraphPage::addPathButton(const QString& text, const std::function<void()>& action) {
    if (m_pathLayout->count() > 0) {
        auto* arrow = new QLabel(QStringLiteral("›"), m_path);
        arrow->setProperty("role", "muted");
        m_pathLayout->addWidget(arrow);
    }
    auto* button = new QToolButton(m_path);
    button->setText(button->fontMetrics().elidedText(text, Qt::ElideMiddle, 180));
    button->setToolTip(text);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QToolButton::clicked, this, action);
    m_pathLayout->addWidget(button);
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
    addPathButton(entry->name, [this] {
        if (showsBody())
            leaveBodies(0);
        else
            m_view->zoomToFit();
    });
    for (std::size_t i = 0; i < m_bodies.size(); ++i)
        addPathButton(m_bodies[i].name, [this, i] { leaveBodies(i + 1); });
    const GraphPtr graph = m_document->graph();
    if (!showsBody() && graph && m_selection->ops().size() == 1) {
        const OpId op(m_selection->ops().first());
        std::vector<ScopeId> scopes;
        for (ScopeId s = graph->op(op).scope; s.isValid() && graph->scope(s).parent.isValid(); s = graph->scope(s).parent)
            scopes.insert(scopes.begin(), s);
        const std::size_t skip = scopes.size() > kPathLevels ? scopes.size() - kPathLevels : 0;
        for (std::size_t i = skip; i < scopes.size(); ++i) {
            const QString name = words::fromUtf8(graph->scope(scopes[i]).name);
            addPathButton(i == skip && skip > 0 ? QStringLiteral("… ") + name : name,
                          [this, scope = scopes[i]] { m_view->openScope(scope.value()); });
        }
    }
    m_pathLayout->addStretch(1);
}

} // namespace pw::ui
