#include "ui/views/summary_strip.h"

#include "ui/document.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QHelpEvent>
#include <QMenu>
#include <QPainter>
#include <QToolButton>
#include <QToolTip>

namespace pw::ui {

namespace {
constexpr int kHeight = 48;
constexpr int kPad = 12;
constexpr int kBarWidth = 34;

QFont sized(const QFont& base, int pixels, bool bold) {
    QFont font = base;
    font.setPixelSize(pixels);
    font.setBold(bold);
    return font;
}
} // namespace

SummaryStrip::SummaryStrip(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    setFixedHeight(kHeight);
    m_choice = new QToolButton(this);
    m_choice->setPopupMode(QToolButton::InstantPopup);
    m_choice->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_choice->setIconSize(QSize(14, 14));
    m_choice->setFont(sized(font(), 13, true));
    m_choice->setStyleSheet(QStringLiteral("QToolButton { font-size: 13px; font-weight: bold; padding: 1px 20px 1px 4px; }"));
    m_choice->setAccessibleName(tr("Placement shown"));
    auto* menu = new QMenu(m_choice);
    m_choice->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, &SummaryStrip::fillMenu);
    for (const auto signal : {&Document::currentPlacementChanged, &Document::scheduleChanged,
                              &Document::situationChanged, &Document::placementsChanged})
        connect(document, signal, this, &SummaryStrip::refresh);
    refresh();
}

void SummaryStrip::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    refresh();
}

void SummaryStrip::fillMenu() {
    QMenu* menu = m_choice->menu();
    menu->clear();
    const auto placements = m_document->placements();
    for (const PlacementEntry* placement : placements) {
        const QString step = placement->evaluated ? words::milliseconds(placement->stepTimeUs) + tr(" ms") : QString();
        QAction* action = menu->addAction(placement->name + QLatin1Char('\t') + step);
        action->setCheckable(true);
        action->setChecked(placement == m_document->currentPlacement());
        connect(action, &QAction::triggered, this, [this, id = placement->id] { m_document->setCurrentPlacement(id); });
    }
    if (placements.empty())
        menu->addAction(tr("No placement yet. Place ▸ METIS makes one."))->setEnabled(false);
}

std::vector<SummaryStrip::Cell> SummaryStrip::cells() const {
    std::vector<Cell> cells;
    const auto schedule = m_document->schedule();
    const auto situation = m_document->situation();
    const GraphPtr graph = m_document->graph();
    if (!schedule || !situation) {
        Cell cell;
        cell.label = graph && graph->isCyclic() ? tr("This graph has a cycle") : tr("No placement shown");
        cell.note = !graph                  ? tr("Open a graph to begin")
                    : graph->isCyclic()     ? tr("It can be looked at, but not simulated or placed")
                    : !situation            ? tr("Preparing the simulation…")
                    : m_document->currentPlacement() ? tr("Simulating…")
                                            : tr("Place ▸ METIS gives one in under a second");
        return {cell};
    }
    const PlacementProblem& problem = *situation->problem;
    cells.push_back({tr("Step time, simulated"), words::milliseconds(schedule->stepTimeUs) + tr(" ms"),
                     tr("%1 model").arg(QLatin1String(simModelName(problem.options().model))),
                     tr("Time of one training or inference step under the simulator"), {}, false});
    const bool singleFits = situation->single.valid;
    const double gain = situation->single.stepTimeUs / schedule->stepTimeUs;
    Cell single{singleFits ? tr("Against one device") : tr("Against one device, too small"),
                gain >= 1.0 ? tr("%1× faster").arg(words::fixed(gain, 2)) : tr("%1× slower").arg(words::fixed(1.0 / gain, 2)),
                tr("than %1 ms").arg(words::milliseconds(situation->single.stepTimeUs)),
                tr("Everything on %1").arg(words::deviceTitle(problem.devices().device(situation->singleDevice), situation->singleDevice)),
                {}, false};
    cells.push_back(single);
    const double bound = situation->bounds.best();
    cells.push_back({tr("Above lower bound"),
                     bound > 0 ? words::signedFixed((schedule->stepTimeUs / bound - 1.0) * 100.0, 1) + tr(" %") : QStringLiteral("–"),
                     tr("bound %1 ms").arg(words::milliseconds(bound)),
                     tr("No valid placement can be faster than the bound"), {}, false});
    cells.push_back({tr("Transfers"), words::bytes(static_cast<double>(schedule->transferBytes)),
                     tr("%1 sent").arg(words::count(static_cast<std::int64_t>(schedule->transfers.size()))),
                     tr("Bytes that cross between devices in one step"), {}, false});
    return cells;
}

void SummaryStrip::refresh() {
    m_cells = cells();
    const PlacementEntry* current = m_document->currentPlacement();
    m_choice->setVisible(current != nullptr);
    if (current) {
        const bool best = current == m_document->bestPlacement();
        m_choice->setText(fontMetrics().elidedText(current->name, Qt::ElideRight, 190));
        m_choice->setToolTip(current->name);
        m_choice->setIcon(viz::icon(current->live ? QStringLiteral("train")
                                    : best        ? QStringLiteral("best")
                                                  : QStringLiteral("place"), m_theme));
        m_choice->adjustSize();
        m_choice->move(kPad - 5, 22);
    }
    update();
}

QStringList SummaryStrip::cellTexts() const {
    QStringList texts;
    for (const Cell& cell : m_cells)
        texts.append(QStringLiteral("%1: %2 %3").arg(cell.label, cell.value, cell.note).simplified());
    return texts;
}

void SummaryStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), m_theme.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), m_theme.line);
    const QFont label = sized(font(), 11, false);
    const QFont bold = sized(font(), 13, true);
    const QFont plain = sized(font(), 12, false);
    m_cellRects.clear();
    int x = 0;
    if (m_document->currentPlacement()) {
        painter.setFont(label);
        painter.setPen(m_theme.muted);
        const bool live = m_document->currentPlacement()->live;
        const QString text = live ? tr("Placement shown, best so far") : tr("Placement shown");
        painter.drawText(QRect(kPad, 6, 200, 16), Qt::AlignLeft | Qt::AlignVCenter, text);
        x = std::max(m_choice->geometry().right() + 6, kPad * 2 + QFontMetrics(label).horizontalAdvance(text));
        x = std::max(x, 190);
    }
    for (const Cell& cell : m_cells) {
        const int valueWidth = QFontMetrics(bold).horizontalAdvance(cell.value);
        const int noteWidth = QFontMetrics(plain).horizontalAdvance(cell.note);
        const int width = std::max(QFontMetrics(label).horizontalAdvance(cell.label),
                                   valueWidth + (cell.value.isEmpty() ? 0 : 6) + noteWidth) + 2 * kPad;
        if (x + width > this->width())
            break;
        if (x > 0)
            painter.fillRect(QRect(x, 6, 1, kHeight - 13), m_theme.line);
        painter.setFont(label);
        painter.setPen(m_theme.muted);
        painter.drawText(QRect(x + kPad, 6, width, 16), Qt::AlignVCenter, cell.label);
        painter.setFont(bold);
        painter.setPen(cell.danger ? m_theme.danger : m_theme.text);
        painter.drawText(QRect(x + kPad, 22, width, 20), Qt::AlignVCenter, cell.value);
        painter.setFont(plain);
        painter.setPen(m_theme.text2);
        painter.drawText(QRect(x + kPad + valueWidth + (cell.value.isEmpty() ? 0 : 6), 22, width, 20), Qt::AlignVCenter, cell.note);
        m_cellRects.push_back(QRect(x, 0, width, kHeight));
        x += width;
    }
    if (m_document->schedule() && m_document->situation())
        paintMemory(painter, x, width());
}

int SummaryStrip::paintMemory(QPainter& painter, int x, int right) const {
    const auto schedule = m_document->schedule();
    const PlacementProblem& problem = *m_document->problem();
    const QFont label = sized(font(), 11, false);
    const QFont plain = sized(font(), 12, false);
    const QFont bold = sized(font(), 13, true);
    // Constraints keep their place at the right: whether it fits is the last thing to leave out.
    const QString verdict = schedule->valid ? tr("Valid") : words::fault(problem, schedule->fault);
    const int verdictWidth = std::max(QFontMetrics(label).horizontalAdvance(tr("Constraints")),
                                      20 + QFontMetrics(bold).horizontalAdvance(verdict)) + 2 * kPad;
    const int itemWidth = 22 + kBarWidth + 6 + QFontMetrics(plain).horizontalAdvance(QStringLiteral("00.0")) + 14;
    const int room = right - verdictWidth - x - 2 * kPad;
    const int shown = std::min(static_cast<int>(problem.deviceCount()), std::max(0, room / itemWidth));
    if (shown > 0) {
        painter.fillRect(QRect(x, 6, 1, kHeight - 13), m_theme.line);
        painter.setFont(label);
        painter.setPen(m_theme.muted);
        const bool all = shown == static_cast<int>(problem.deviceCount());
        const QString text = all ? tr("Peak memory, GB of %1").arg(words::fixed(static_cast<double>(problem.capacityBytes(DeviceId(0))) / 1e9, 1))
                                 : tr("Peak memory, GB, first %1 devices").arg(shown);
        const int width = shown * itemWidth;
        painter.drawText(QRect(x + kPad, 6, width, 16), Qt::AlignVCenter,
                         QFontMetrics(label).elidedText(text, Qt::ElideRight, width));
    }
    int at = x + kPad;
    for (int d = 0; d < shown; ++d, at += itemWidth) {
        const DeviceId device(static_cast<std::size_t>(d));
        const auto style = viz::deviceStyle(device, m_theme);
        const double capacity = static_cast<double>(problem.capacityBytes(device));
        const double peak = static_cast<double>(schedule->peakBytes[device.index()]);
        const bool over = capacity > 0 && peak > capacity;
        viz::paintDeviceChip(painter, QRectF(at + 0.5, 24.5, 16, 16), device, m_theme);
        const QRectF bar(at + 22.5, 28.5, kBarWidth, 8);
        painter.setBrush(m_theme.track);
        painter.setPen(QPen(over ? m_theme.danger : m_theme.control, 1));
        painter.drawRect(bar);
        QRectF full = bar.adjusted(0.5, 0.5, -0.5, -0.5);
        full.setWidth(full.width() * std::min(1.0, capacity > 0 ? peak / capacity : 0.0));
        painter.fillRect(full, viz::deviceBrush(style, false));
        painter.setFont(plain);
        painter.setPen(over ? m_theme.danger : m_theme.text);
        painter.drawText(QRect(at + 22 + kBarWidth + 6, 22, 60, 20), Qt::AlignVCenter, words::fixed(peak / 1e9, 1));
    }
    const int left = shown > 0 ? at : x;
    painter.fillRect(QRect(left, 6, 1, kHeight - 13), m_theme.line);
    painter.setFont(label);
    painter.setPen(m_theme.muted);
    painter.drawText(QRect(left + kPad, 6, verdictWidth, 16), Qt::AlignVCenter, tr("Constraints"));
    viz::paintIcon(painter, QRectF(left + kPad, 25, 14, 14), schedule->valid ? QStringLiteral("valid") : QStringLiteral("warning"),
                   schedule->valid ? m_theme.text : m_theme.danger);
    painter.setFont(bold);
    painter.setPen(schedule->valid ? m_theme.text : m_theme.danger);
    painter.drawText(QRect(left + kPad + 20, 22, right - left - kPad - 20, 20), Qt::AlignVCenter, verdict);
    return left + verdictWidth;
}

bool SummaryStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        for (std::size_t i = 0; i < m_cellRects.size() && i < m_cells.size(); ++i)
            if (m_cellRects[i].contains(help->pos()))
                QToolTip::showText(help->globalPos(), m_cells[i].toolTip, this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace pw::ui
