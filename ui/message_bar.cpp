#include "ui/message_bar.h"

#include "ui/dialogs/list_dialog.h"
#include "viz/theme/icon.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace pw::ui {

MessageBar::MessageBar(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("messageBar"));
    setProperty("surface", "panel");
    setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 6, 8, 6);
    row->setSpacing(8);
    m_icon = new QLabel(this);
    m_title = new QLabel(this);
    m_title->setProperty("role", "title");
    m_sentence = new QLabel(this);
    m_sentence->setWordWrap(true);
    m_sentence->setTextFormat(Qt::PlainText);
    m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_more = new QPushButton(tr("Details…"), this);
    m_more->setObjectName(QStringLiteral("messageDetails"));
    m_more->setProperty("link", true);
    m_more->setCursor(Qt::PointingHandCursor);
    m_close = new QToolButton(this);
    m_close->setToolTip(tr("Close this message"));
    m_close->setProperty("small", true);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_title, 0, Qt::AlignTop);
    row->addWidget(m_sentence, 1);
    row->addWidget(m_more, 0, Qt::AlignTop);
    row->addWidget(m_close, 0, Qt::AlignTop);
    connect(m_more, &QPushButton::clicked, this, &MessageBar::showDetails);
    connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void MessageBar::present(const QString& icon, const QStringList& details) {
    m_iconName = icon;
    m_details = details;
    m_more->setVisible(!details.isEmpty());
    setTheme(m_theme);
    show();
}

void MessageBar::showMessage(const Message& message, const QStringList& details) {
    m_title->setText(message.title);
    m_sentence->setText(message.sentence + QLatin1Char(' ') + message.nextStep);
    present(QStringLiteral("warning"), details);
}

void MessageBar::showNotice(const QString& title, const QString& sentence, const QStringList& details) {
    m_title->setText(title);
    m_sentence->setText(sentence);
    present(QStringLiteral("info"), details);
}

void MessageBar::showDetails() {
    auto* dialog = new ListDialog(m_title->text(), m_sentence->text(), m_details, window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

QString MessageBar::text() const {
    return isHidden() ? QString() : m_title->text() + QStringLiteral(": ") + m_sentence->text();
}

void MessageBar::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    const bool failure = m_iconName == QLatin1String("warning");
    m_icon->setPixmap(viz::icon(m_iconName, theme, failure ? viz::IconTone::Danger : viz::IconTone::Text).pixmap(16, 16));
    m_close->setIcon(viz::icon(QStringLiteral("close"), theme));
}

} // namespace pw::ui
