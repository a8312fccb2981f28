#include "ui/views/graph_strip.h"

#include "ui/dialogs/list_dialog.h"
#include "ui/document.h"
#include "ui/selection.h"
#include "ui/words.h"
#include "viz/theme/figures.h"
#include "viz/theme/icon.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QResizeEvent>
#include <QToolButton>

#include <algorithm>
#include <numeric>

namespace pw::ui {

namespace {

constexpr int kHeight = 26;
constexpr int kGap = 14;
constexpr std::size_t kMostTypes = 20;   ///< in the menu of op types
constexpr std::size_t kMostDevices = 2;  ///< named in the row itself
const char* const kNoDevice = "(none)";  ///< how computeStats() names ops without one

QString counted(std::size_t n, const char* one, const char* many) {
    return viz::countText(n, one, many);
}

/// "/job:worker/task:0/device:GPU:1" as "GPU:1": the end is what tells devices apart.
QString shortDevice(const std::string& name) {
    const QString text = words::fromUtf8(name);
    QString last = text.section(QLatin1Char('/'), -1);
    if (last.startsWith(QLatin1String("device:")))
        last = last.mid(7);
    return last.isEmpty() ? text : last;
}

QString workText(double flops) {
    return flops >= 1e12 ? QObject::tr("%1 TFLOP").arg(words::fixed(flops / 1e12, 2))
                         : QObject::tr("%1 GFLOP").arg(words::fixed(flops / 1e9, flops >= 1e10 ? 1 : 3));
}

} // namespace

GraphStrip::GraphStrip(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent), m_document(document), m_selection(selection) {
    setObjectName(QStringLiteral("graphStrip"));
    setFixedHeight(kHeight);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 0, 6, 1);
    row->setSpacing(kGap);
    for (const Item item : {Ops, Tensors, Parameters, Work})
        addFigure(item, row);
    addButton(Unknown, row, &GraphStrip::selectUnknown);
    addButton(Warnings, row, &GraphStrip::showWarnings);
    addButton(Devices, row, &GraphStrip::showDevices);
    row->addStretch(1);
    const auto addTool = [&](const QString& toolTip) {
        auto* button = new QToolButton(this);
        button->setProperty("small", true);
        button->setFixedSize(22, 22);
        button->setToolTip(toolTip);
        button->setAccessibleName(toolTip);
        row->addWidget(button);
        return button;
    };
    m_more = addTool(tr("All about this graph"));
    m_close = addTool(tr("Close this row; View ▸ Facts of the graph brings it back"));
    row->setSpacing(kGap);
    connect(m_more, &QToolButton::clicked, this, &GraphStrip::showMore);
    connect(m_close, &QToolButton::clicked, this, &GraphStrip::closeRequested);
    connect(document, &Document::currentGraphChanged, this, &GraphStrip::count);
    connect(document, &Document::currentDevicesChanged, this, &GraphStrip::count);
    count();
}

void GraphStrip::addFigure(Item item, QHBoxLayout* row) {
    auto* label = new QLabel(this);
    label->setTextFormat(Qt::RichText);
    m_cells[item].widget = m_cells[item].label = label;
    row->addWidget(label);
}

void GraphStrip::addButton(Item item, QHBoxLayout* row, void (GraphStrip::*slot)()) {
    auto* button = new QPushButton(this);
    button->setProperty("link", true);
    button->setCursor(Qt::PointingHandCursor);
    button->setIconSize(QSize(14, 14));
    connect(button, &QPushButton::clicked, this, slot);
    m_cells[item].widget = m_cells[item].button = button;
    row->addWidget(button);
}

void GraphStrip::setFigure(Item item, const QString& name, const QString& value, const QString& toolTip) {
    Cell& cell = m_cells[item];
    cell.text = name + QLatin1Char(' ') + value;
    cell.label->setText(QStringLiteral("<span style='color:%1'>%2</span>&nbsp; <b>%3</b>")
                            .arg(m_theme.muted.name(), name.toHtmlEscaped(), value.toHtmlEscaped()));
    cell.label->setToolTip(toolTip);
}

void GraphStrip::setButton(Item item, const QString& text, const QString& toolTip) {
    m_cells[item].text = text;
    m_cells[item].button->setText(text);
    m_cells[item].button->setToolTip(toolTip);
}

void GraphStrip::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_more->setIcon(viz::icon(QStringLiteral("more"), theme));
    m_close->setIcon(viz::icon(QStringLiteral("close"), theme));
    m_cells[Unknown].button->setIcon(viz::icon(QStringLiteral("help"), theme, viz::IconTone::Warning));
    m_cells[Warnings].button->setIcon(viz::icon(QStringLiteral("warning"), theme, viz::IconTone::Warning));
    m_cells[Devices].button->setIcon(viz::icon(QStringLiteral("device"), theme));
    fill();
}

// --- counting --------------------------------------------------------------------------------------------------------

void GraphStrip::count() {
    const GraphPtr graph = m_document->graph();
    if (graph != m_graph && m_warnings)
        m_warnings->close();
    if (graph != m_graph)
        m_facts.reset();
    m_graph = graph;
    fill();
    if (!graph) {
        m_job.cancel();
        return;
    }
    m_job.start<GraphFacts>(
        tr("Counting"),
        [graph, devices = m_document->devices()](JobContext&) -> Result<GraphFacts> { return graphFacts(*graph, devices); },
        [this](Result<GraphFacts> facts) {
            if (facts)
                take(std::move(*facts));
        });
}

void GraphStrip::take(GraphFacts facts) {
    m_facts = std::move(facts);
    fill();
}

void GraphStrip::fill() {
    for (Cell& cell : m_cells)
        cell.text.clear();
    if (m_graph) {
        const QString ops = words::count(static_cast<std::int64_t>(m_graph->opCount()));
        const bool bodies = m_graph->opCountWithBodies() != m_graph->opCount();
        setFigure(Ops, tr("Ops"), bodies ? tr("%1 (%2 with bodies)").arg(ops, words::count(static_cast<std::int64_t>(m_graph->opCountWithBodies()))) : ops,
                  tr("Container ops (If, Loop, Scan, functions) count as one; what they hold counts “with bodies”"));
        setFigure(Tensors, tr("Tensors"), words::count(static_cast<std::int64_t>(m_graph->tensorCount())));
    }
    if (m_facts) {
        const GraphStats& stats = m_facts->stats;
        setFigure(Parameters, tr("Parameters"), words::bytes(static_cast<double>(stats.parameterBytes)), tr("Weights, bodies included"));
        setFigure(Work, tr("Work"), workText(m_facts->flops), tr("FLOPs of one step: as the file gives them, else by formula"));
        if (!m_facts->unknownOps.isEmpty()) {
            const auto unknown = static_cast<std::size_t>(m_facts->unknownOps.size());
            setButton(Unknown, counted(unknown, "unknown cost", "unknown costs"),
                      tr("%1 of %2 have neither a measured cost nor a formula; their time is estimated from bytes. Click selects them.")
                          .arg(counted(unknown, "op", "ops"), counted(m_facts->unknownTypes.size(), "op type", "op types")));
        }
        const std::size_t warnings = m_graph->warnings().size();
        if (warnings > 0)
            setButton(Warnings, counted(warnings, "warning", "warnings"), tr("What was noticed while reading. Click lists it."));
        std::size_t named = 0;
        QStringList parts;
        for (const auto& [device, ops] : stats.devices) {
            if (device == kNoDevice)
                continue;
            if (++named <= kMostDevices)
                parts.append(QStringLiteral("%1 %2").arg(shortDevice(device), words::count(static_cast<std::int64_t>(ops))));
        }
        if (named > kMostDevices)
            parts.append(tr("%1 more").arg(named - kMostDevices));
        const auto none = stats.devices.find(kNoDevice);
        if (none != stats.devices.end() && named > 0)
            parts.append(tr("unassigned %1").arg(words::count(static_cast<std::int64_t>(none->second))));
        if (named > 0)
            setButton(Devices, tr("In the file: %1").arg(parts.join(QStringLiteral(", "))),
                      named == 1 && none == stats.devices.end()
                          ? tr("The file names one device for every op. Exporters often do that without knowing; nothing here confirms it.")
                          : tr("Devices that the file names, with their ops. Click selects by device."));
    }
    fit();
}

QStringList GraphStrip::texts() const {
    QStringList list;
    for (const Cell& cell : m_cells)
        if (!cell.text.isEmpty())
            list.append(cell.text);
    return list;
}

// --- room ------------------------------------------------------------------------------------------------------------

void GraphStrip::fit() {
    // What asks for attention stays longest; figures are one click away in "more" and in the Inspector.
    static constexpr Item kByImportance[] = {Ops, Unknown, Warnings, Parameters, Work, Devices, Tensors};
    int room = width() - 18 - 2 * (22 + kGap);
    for (const Item item : kByImportance) {
        Cell& cell = m_cells[item];
        const int needed = cell.widget->sizeHint().width() + kGap;
        const bool fits = !cell.text.isEmpty() && needed <= room;
        cell.widget->setVisible(fits);
        if (fits)
            room -= needed;
    }
}

void GraphStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

void GraphStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), m_theme.line);
}

// --- clicks ----------------------------------------------------------------------------------------------------------

void GraphStrip::selectUnknown() {
    if (!m_facts || m_facts->unknownOps.isEmpty())
        return;
    m_selection->reveal(m_facts->unknownOps.first());
    m_selection->setOps(m_facts->unknownOps); // the Inspector lists their types
    showTypes();
}

void GraphStrip::showTypes() {
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("unknownTypes"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("No formula covers these op types; their time is estimated from bytes"))->setEnabled(false);
    menu->addSeparator();
    for (std::size_t i = 0; i < std::min(m_facts->unknownTypes.size(), kMostTypes); ++i) {
        const auto& [type, ops] = m_facts->unknownTypes[i];
        menu->addAction(words::fromUtf8(type) + QLatin1Char('\t') + words::count(static_cast<std::int64_t>(ops)), this, [this, type = type] {
            QList<quint32> chosen;
            for (const quint32 op : std::as_const(m_facts->unknownOps))
                if (m_graph->op(OpId(op)).type == type)
                    chosen.append(op);
            m_selection->reveal(chosen.first());
            m_selection->setOps(chosen);
        });
    }
    if (m_facts->unknownTypes.size() > kMostTypes)
        menu->addAction(tr("and %1 more types").arg(m_facts->unknownTypes.size() - kMostTypes))->setEnabled(false);
    menu->popup(m_cells[Unknown].button->mapToGlobal(QPoint(0, kHeight - 2)));
}

void GraphStrip::showWarnings() {
    if (!m_facts || !m_graph)
        return;
    if (m_warnings) {
        m_warnings->raise();
        return;
    }
    QStringList lines;
    for (const Warning& warning : m_graph->warnings())
        lines.append(words::fromUtf8(warning.where.empty() ? warning.detail : warning.where + ": " + warning.detail));
    const auto named = std::count_if(m_facts->warningOps.begin(), m_facts->warningOps.end(), [](qint64 op) { return op >= 0; });
    m_warnings = new ListDialog(counted(m_graph->warnings().size(), "warning", "warnings"),
                                named > 0 ? tr("Noticed while reading %1. A click on a line goes to the op that it names.").arg(words::fromUtf8(m_graph->name()))
                                          : tr("Noticed while reading %1.").arg(words::fromUtf8(m_graph->name())),
                                lines, window());
    m_warnings->setAttribute(Qt::WA_DeleteOnClose);
    connect(m_warnings, &ListDialog::lineChosen, this, [this](int line) {
        if (m_facts && static_cast<std::size_t>(line) < m_facts->warningOps.size() && m_facts->warningOps[static_cast<std::size_t>(line)] >= 0)
            m_selection->reveal(static_cast<quint32>(m_facts->warningOps[static_cast<std::size_t>(line)]));
    });
    m_warnings->show();
}

void GraphStrip::showDevices() {
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("fileDevices"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const auto& [device, ops] : m_facts->stats.devices) {
        const bool none = device == kNoDevice;
        menu->addAction((none ? tr("Unassigned") : words::fromUtf8(device)) + QLatin1Char('\t') + words::count(static_cast<std::int64_t>(ops)), this,
                        [this, name = none ? std::string() : device] {
                            const QList<quint32> chosen = opsOnFileDevice(*m_graph, name);
                            if (chosen.isEmpty())
                                return;
                            m_selection->reveal(chosen.first());
                            m_selection->setOps(chosen);
                        });
    }
    menu->popup(m_cells[Devices].button->mapToGlobal(QPoint(0, kHeight - 2)));
}

void GraphStrip::showMore() {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    static constexpr void (GraphStrip::*kSlots[])() = {nullptr, nullptr, nullptr, nullptr, &GraphStrip::selectUnknown,
                                                       &GraphStrip::showWarnings, &GraphStrip::showDevices};
    for (int item = 0; item < ItemCount; ++item) {
        if (m_cells[item].text.isEmpty())
            continue;
        QAction* action = menu->addAction(m_cells[item].text);
        if (kSlots[item])
            connect(action, &QAction::triggered, this, kSlots[item]);
        else
            action->setEnabled(false);
    }
    if (m_facts && m_facts->unknownOps.isEmpty())
        menu->addAction(tr("Every op has a measured cost or a formula"))->setEnabled(false);
    menu->popup(m_more->mapToGlobal(QPoint(0, kHeight - 2)));
}

} // namespace pw::ui
