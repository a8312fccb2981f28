#include "ui/docks/inspector_panel.h"

#include "ui/docks/op_facts.h"
#include "ui/selection.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QToolButton>

#include <cmath>

namespace pw::ui {

namespace {

constexpr int kLeastWidth = 228; ///< px; below, labels and figures do not both fit

QPixmap chipPixmap(DeviceId device, const viz::Theme& theme, qreal ratio) {
    QPixmap pixmap(QSize(18, 18) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    viz::paintDeviceChip(painter, QRectF(0.5, 0.5, 16, 16), device, theme);
    return pixmap;
}

/// The device all of `ops` are on, invalid if they differ.
DeviceId commonDevice(const OpPlacement& placement, const QList<quint32>& ops) {
    DeviceId device;
    for (const quint32 op : ops) {
        if (device.isValid() && placement[op] != device)
            return {};
        device = placement[op];
    }
    return device;
}

} // namespace

InspectorPanel::InspectorPanel(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent), m_document(document), m_selection(selection) {
    setMinimumWidth(kLeastWidth);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(area);
    page->setProperty("surface", "panel");
    page->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 8, 0, 8);
    column->setSpacing(6);
    m_prices = new FactsView(page);
    m_facts = new FactsView(page);
    column->addWidget(makeHeader());
    column->addWidget(makePlacementRow());
    column->addWidget(m_prices);
    column->addWidget(m_facts);
    column->addStretch(1);
    area->setWidget(page);
    outer->addWidget(area);

    connect(m_prices, &FactsView::rowClicked, this, [this](int row) {
        if (row > 0 && row <= static_cast<int>(m_document->devices().count()))
            m_document->assign(m_selection->ops(), DeviceId(static_cast<std::size_t>(row - 1)), movesWholeGroups());
    });
    connect(m_facts, &FactsView::opClicked, this, [this](quint32 op) {
        if (m_body)
            showBodyOps(m_body, {op}); // numbers of the body's own ops
        else
            m_selection->reveal(op);
    });
    connect(selection, &Selection::changed, this, [this] {
        m_body.reset();
        refresh();
    });
    connect(document, &Document::currentGraphChanged, this, [this] {
        m_body.reset();
        refresh();
    });
    connect(document, &Document::currentPlacementChanged, this, &InspectorPanel::refresh);
    connect(document, &Document::scheduleChanged, this, &InspectorPanel::refresh);
    connect(document, &Document::situationChanged, this, &InspectorPanel::refresh);
    refresh();
}

QWidget* InspectorPanel::makeHeader() {
    auto* header = new QWidget(this);
    auto* column = new QVBoxLayout(header);
    column->setContentsMargins(8, 0, 8, 0);
    column->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    m_chip = new QLabel(header);
    m_title = new QLabel(header);
    m_title->setTextFormat(Qt::RichText);
    row->addWidget(m_chip);
    row->addWidget(m_title, 1);
    m_path = new QLabel(header);
    m_path->setWordWrap(true);
    m_path->setTextFormat(Qt::PlainText);
    m_path->setProperty("role", "secondary");
    m_path->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addLayout(row);
    column->addWidget(m_path);
    return header;
}

QWidget* InspectorPanel::makePlacementRow() {
    m_placementRow = new QWidget(this);
    auto* column = new QVBoxLayout(m_placementRow);
    column->setContentsMargins(8, 0, 8, 0);
    column->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    m_device = new QComboBox(m_placementRow);
    m_device->setObjectName(QStringLiteral("deviceCombo"));
    m_device->setAccessibleName(tr("Device of the selection"));
    m_pin = new QToolButton(m_placementRow);
    m_pin->setCheckable(true);
    m_pin->setProperty("framed", true);
    m_pin->setProperty("small", true);
    m_pin->setFixedSize(28, 26);
    row->addWidget(m_device, 1);
    row->addWidget(m_pin);
    m_wholeGroups = new QCheckBox(tr("Move whole groups"), m_placementRow);
    m_wholeGroups->setChecked(true);
    m_wholeGroups->setToolTip(tr("Placers decide per group. Off: only the selected ops and what is colocated with them move."));
    column->addLayout(row);
    column->addWidget(m_wholeGroups);
    connect(m_device, &QComboBox::activated, this, [this](int index) {
        const QVariant device = m_device->itemData(index);
        if (device.isValid())
            m_document->assign(m_selection->ops(), DeviceId(device.toULongLong()), movesWholeGroups());
    });
    connect(m_pin, &QToolButton::clicked, this,
            [this](bool on) { m_document->setPinned(m_document->movedWith(m_selection->ops(), false) + m_selection->ops(), on); });
    connect(m_wholeGroups, &QCheckBox::toggled, this, [this](bool on) {
        refresh();
        Q_EMIT movesWholeGroupsChanged(on);
    });
    return m_placementRow;
}

bool InspectorPanel::movesWholeGroups() const {
    return m_wholeGroups->isChecked();
}

void InspectorPanel::setMovesWholeGroups(bool on) {
    m_wholeGroups->setChecked(on);
}

void InspectorPanel::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_prices->setTheme(theme);
    m_facts->setTheme(theme);
    refresh();
}

void InspectorPanel::showBodyOps(const GraphPtr& body, const QList<quint32>& ops) {
    m_body = body;
    m_bodyOps = ops;
    refresh();
}

void InspectorPanel::refreshBody() {
    m_priceJob.cancel();
    m_placementRow->hide();
    m_prices->hide();
    OpFactsInput input;
    input.graph = m_body;
    refreshHeader(m_body, m_bodyOps, false);
    m_facts->setRows(m_bodyOps.isEmpty()       ? factsOfGraph(input)
                     : m_bodyOps.size() == 1 ? factsOfOp(input, OpId(m_bodyOps.first()))
                                             : factsOfSelection(input, m_bodyOps));
}

void InspectorPanel::refresh() {
    if (m_body) {
        refreshBody();
        return;
    }
    const GraphPtr graph = m_document->graph();
    const QList<quint32>& ops = m_selection->ops();
    refreshHeader(graph, ops, true);
    const bool movable = graph && !ops.isEmpty() && m_document->problem();
    m_placementRow->setVisible(movable);
    m_prices->setVisible(movable);
    OpFactsInput input;
    input.graph = graph;
    input.problem = m_document->problem();
    const PlacementEntry* placement = m_document->currentPlacement();
    if (placement && placement->ops && graph && placement->ops->size() == graph->opCount())
        input.placement = placement->ops;
    input.schedule = m_document->schedule();
    if (!graph)
        m_facts->setRows({});
    else if (ops.isEmpty())
        m_facts->setRows(factsOfGraph(input));
    else if (ops.size() == 1)
        m_facts->setRows(factsOfOp(input, OpId(ops.first())));
    else
        m_facts->setRows(factsOfSelection(input, ops));
    if (movable) {
        refreshPlacementRow(ops);
        requestPrices();
    } else {
        m_priceJob.cancel();
    }
}

void InspectorPanel::refreshHeader(const GraphPtr& graph, const QList<quint32>& ops, bool movable) {
    const PlacementEntry* placement = m_document->currentPlacement();
    const bool placed = movable && placement && placement->ops && graph && placement->ops->size() == graph->opCount();
    m_chip->setVisible(!ops.isEmpty() && placed && commonDevice(*placement->ops, ops).isValid());
    if (!m_chip->isHidden())
        m_chip->setPixmap(chipPixmap(commonDevice(*placement->ops, ops), m_theme, devicePixelRatioF()));
    if (!graph || ops.isEmpty()) {
        m_title->setText(QStringLiteral("<b>%1</b>").arg(tr("Nothing selected")));
        m_path->setText(graph ? tr("Click an op, or press Ctrl+F to find one.") : tr("Open a graph first: Ctrl+O."));
        return;
    }
    if (ops.size() > 1) {
        m_title->setText(QStringLiteral("<b>%1</b>").arg(tr("%1 ops").arg(words::count(ops.size()))));
        m_path->setText(movable ? tr("Digits 1 to 8 move them to device A to H.") : tr("They run where their container op runs."));
        return;
    }
    const Op& op = graph->op(OpId(ops.first()));
    m_title->setText(QStringLiteral("<b>%1</b> <span style='color:%3'>%2</span>")
                         .arg(words::fromUtf8(op.type).toHtmlEscaped(), QLatin1String(phaseName(op.phase)), m_theme.muted.name()));
    // A zero-width space after each separator lets long scope paths wrap.
    m_path->setText(words::fromUtf8(op.name).replace(QLatin1Char('/'), QStringLiteral("/\u200b")));
}

void InspectorPanel::refreshPlacementRow(const QList<quint32>& ops) {
    const PlacementEntry* placement = m_document->currentPlacement();
    const DeviceSet& devices = m_document->devices();
    const QSignalBlocker blocker(m_device);
    m_device->clear();
    const DeviceId common = placement && placement->ops ? commonDevice(*placement->ops, ops) : DeviceId();
    if (!common.isValid())
        m_device->addItem(placement ? tr("Several devices") : tr("Not placed"));
    for (std::size_t d = 0; d < devices.count(); ++d) {
        m_device->addItem(QIcon(chipPixmap(DeviceId(d), m_theme, devicePixelRatioF())),
                          words::deviceTitle(devices.device(DeviceId(d)), DeviceId(d)), static_cast<qulonglong>(d));
    }
    m_device->setCurrentIndex(common.isValid() ? static_cast<int>(common.index()) : 0);
    const bool pinned = !ops.isEmpty() && m_document->isPinned(ops.first());
    m_pin->setChecked(pinned);
    m_pin->setEnabled(placement != nullptr);
    m_pin->setIcon(viz::icon(pinned ? QStringLiteral("lock") : QStringLiteral("unlock"), m_theme));
    m_pin->setToolTip(placement ? pinned ? tr("Pinned: moves by hand and placers leave it here. Click to unpin.")
                                         : tr("Pin here: moves by hand and placers leave it alone.")
                                : tr("Place the graph first"));
}

void InspectorPanel::requestPrices() {
    const PlacementEntry* placement = m_document->currentPlacement();
    const ProblemPtr problem = m_document->problem();
    if (!placement || !placement->ops || placement->ops->size() != problem->opCount()) {
        m_priceJob.cancel();
        clearPrices(tr("No placement yet. Place ▸ METIS gives one in under a second."));
        return;
    }
    const QList<quint32> moved = m_document->movedWith(m_selection->ops(), movesWholeGroups());
    if (moved.isEmpty()) {
        m_priceJob.cancel();
        clearPrices(tr("Pinned: it stays where it is."));
        return;
    }
    m_priceJob.start<Price>(
        tr("Pricing a move"),
        [problem, ops = placement->ops, moved](JobContext& context) -> Result<Price> {
            Price price;
            price.moved = static_cast<std::size_t>(moved.size());
            Simulator simulator(problem);
            OpPlacement trial = *ops;
            for (std::size_t d = 0; d < problem->deviceCount() && !context.abortRequested(); ++d) {
                bool allowed = true;
                for (const quint32 op : moved) {
                    trial[op] = DeviceId(d);
                    allowed = allowed && problem->allowed(problem->grouping().groupOf[op], DeviceId(d));
                }
                price.perDevice.push_back(simulator.evaluate(trial));
                price.allowed.push_back(allowed);
            }
            return price;
        },
        [this](Result<Price> price) {
            if (price)
                showPrices(*price);
        });
}

void InspectorPanel::clearPrices(const QString& text) {
    m_prices->setRows({FactsView::text(text)});
}

void InspectorPanel::showPrices(const Price& price) {
    const PlacementEntry* placement = m_document->currentPlacement();
    const auto schedule = m_document->schedule();
    if (!placement || price.perDevice.size() != m_document->devices().count())
        return;
    const DeviceId now = commonDevice(*placement->ops, m_document->movedWith(m_selection->ops(), movesWholeGroups()));
    std::vector<FactsView::Row> rows;
    FactsView::Row head;
    head.kind = FactsView::Row::Kind::Head;
    head.label = price.moved == 1 ? tr("This op moved to") : tr("%1 ops moved to").arg(words::count(static_cast<std::int64_t>(price.moved)));
    head.value = tr("Step, ms");
    head.extra = tr("Change");
    rows.push_back(head);
    for (std::size_t d = 0; d < price.perDevice.size(); ++d) {
        FactsView::Row row;
        row.label = words::deviceTitle(m_document->devices().device(DeviceId(d)), DeviceId(d));
        row.hasDevice = true;
        row.device = DeviceId(d);
        row.marked = DeviceId(d) == now;
        row.value = words::milliseconds(price.perDevice[d].stepTimeUs);
        row.toolTip = tr("Click to move there. Simulated.");
        if (row.marked) {
            row.extra = tr("as now");
        } else if (!price.allowed[d]) {
            row.value = QStringLiteral("–");
            row.extra = tr("not allowed");
        } else if (!price.perDevice[d].valid) {
            row.extra = tr("not valid");
            row.worse = true;
        } else if (schedule) {
            // why from rounded figures: so that the column adds up
            const double change = std::round(price.perDevice[d].stepTimeUs / 100.0) / 10.0 - std::round(schedule->stepTimeUs / 100.0) / 10.0;
            row.extra = words::signedFixed(change, 1);
        }
        rows.push_back(std::move(row));
    }
    m_prices->setRows(std::move(rows));
}

} // namespace pw::ui
