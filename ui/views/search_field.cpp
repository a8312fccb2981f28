#include "ui/views/search_field.h"

#include "core/base/text.h"
#include "ui/words.h"

#include <QAction>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QListWidget>

#include <algorithm>

namespace pw::ui {

namespace {

constexpr std::size_t kShown = 14;
constexpr int kRowHeight = 24;

bool containsAll(std::string_view text, const std::vector<std::string>& needles) {
    return std::all_of(needles.begin(), needles.end(),
                       [text](const std::string& needle) { return text.find(needle) != std::string_view::npos; });
}

std::vector<std::string> wordsOf(const QString& text) {
    std::vector<std::string> result;
    const QStringList parts = text.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (const QString& part : parts)
        result.push_back(part.toStdString());
    return result;
}

} // namespace

SearchField::SearchField(QWidget* parent) : QLineEdit(parent), m_popup(new QListWidget(nullptr)) {
    setPlaceholderText(tr("Go to op, scope, command"));
    setClearButtonEnabled(true);
    m_popup->setWindowFlags(Qt::ToolTip); // why: a list below the field that leaves the keyboard to it
    m_popup->setFocusPolicy(Qt::NoFocus);
    m_popup->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_popup->setUniformItemSizes(true);
    m_popup->setTextElideMode(Qt::ElideMiddle);
    connect(this, &QLineEdit::textEdited, this, &SearchField::refresh);
    connect(m_popup, &QListWidget::itemClicked, this, [this](QListWidgetItem* item) { choose(m_popup->row(item)); });
}

SearchField::~SearchField() {
    delete m_popup;
}

void SearchField::setGraph(GraphPtr graph) {
    m_graph = std::move(graph);
    m_hits.clear();
    m_popup->hide();
}

std::vector<SearchField::Hit> SearchField::search(const QString& text, std::size_t limit, QList<quint32>* all) const {
    std::vector<Hit> hits;
    const std::vector<std::string> needles = wordsOf(text);
    if (needles.empty())
        return hits;
    for (QAction* action : m_commands) {
        const QString name = action->text().remove(QLatin1Char('&'));
        if (action->isEnabled() && hits.size() < 4 && containsAll(name.toLower().toStdString(), needles))
            hits.push_back({Hit::Kind::Command, 0, action, name, tr("command")});
    }
    if (!m_graph)
        return hits;
    for (std::size_t i = 1; i < m_graph->scopeCount() && hits.size() < limit / 2; ++i) {
        const std::string path = m_graph->scopePath(ScopeId(i));
        if (containsAll(text::toLower(m_graph->scope(ScopeId(i)).name), needles))
            hits.push_back({Hit::Kind::Scope, static_cast<quint32>(i), nullptr, words::fromUtf8(path), tr("scope")});
    }
    std::string key;
    for (std::size_t i = 0; i < m_graph->opCount(); ++i) {
        const Op& op = m_graph->op(OpId(i));
        key = text::toLower(op.name);
        key += ' ';
        key += text::toLower(op.type);
        if (!containsAll(key, needles))
            continue;
        if (hits.size() < limit)
            hits.push_back({Hit::Kind::Op, static_cast<quint32>(i), nullptr, words::fromUtf8(op.name), words::fromUtf8(op.type)});
        if (all)
            all->append(static_cast<quint32>(i));
    }
    return hits;
}

void SearchField::focusNow() {
    setFocus(Qt::ShortcutFocusReason);
    selectAll();
}

void SearchField::refresh() {
    m_all.clear();
    m_hits = search(text(), kShown, &m_all);
    if (m_all.size() > 1)
        m_hits.push_back({Hit::Kind::AllOps, 0, nullptr, tr("Select all %1 matching ops").arg(words::count(m_all.size())), tr("Shift+Return")});
    m_popup->clear();
    for (const Hit& hit : m_hits) {
        auto* item = new QListWidgetItem(hit.detail.isEmpty() ? hit.text : hit.text + QStringLiteral("   ") + hit.detail, m_popup);
        item->setSizeHint(QSize(100, kRowHeight));
    }
    if (m_hits.empty() && !text().trimmed().isEmpty()) {
        auto* item = new QListWidgetItem(m_graph ? tr("Nothing matches") : tr("Open a graph to search in it"), m_popup);
        item->setFlags(Qt::NoItemFlags);
        item->setSizeHint(QSize(100, kRowHeight));
    }
    m_popup->setVisible(m_popup->count() > 0);
    if (m_popup->isVisible()) {
        m_popup->setCurrentRow(0);
        placePopup();
    }
}

void SearchField::placePopup() {
    const int width = std::max(this->width(), 420);
    const QPoint right = mapToGlobal(QPoint(this->width(), height() + 2));
    m_popup->setGeometry(right.x() - width, right.y(), width, m_popup->count() * kRowHeight + 4);
    m_popup->raise();
}

void SearchField::choose(int row) {
    if (row < 0 || row >= static_cast<int>(m_hits.size()))
        return;
    const Hit hit = m_hits[static_cast<std::size_t>(row)];
    m_popup->hide();
    switch (hit.kind) {
    case Hit::Kind::Op: Q_EMIT opChosen(hit.index); break;
    case Hit::Kind::Scope: Q_EMIT scopeChosen(hit.index); break;
    case Hit::Kind::Command: hit.action->trigger(); break;
    case Hit::Kind::AllOps: Q_EMIT opsChosen(m_all); break;
    }
}

void SearchField::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Down:
    case Qt::Key_Up: {
        const int step = event->key() == Qt::Key_Down ? 1 : -1;
        if (m_popup->count() > 0)
            m_popup->setCurrentRow(std::clamp(m_popup->currentRow() + step, 0, m_popup->count() - 1));
        return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (event->modifiers() & Qt::ShiftModifier) {
            m_popup->hide();
            Q_EMIT opsChosen(m_all);
        } else {
            choose(std::max(0, m_popup->currentRow()));
        }
        return;
    case Qt::Key_Escape:
        m_popup->hide();
        clear();
        if (parentWidget())
            parentWidget()->setFocus();
        return;
    default: QLineEdit::keyPressEvent(event);
    }
}

void SearchField::focusOutEvent(QFocusEvent* event) {
    m_popup->hide();
    QLineEdit::focusOutEvent(event);
}

} // namespace pw::ui
