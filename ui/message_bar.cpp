#include "ui/message_bar.h"

#include "viz/theme/icon.h"

#include <QHBoxLayout>
#include <QLabel>
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
    m_close = new QToolButton(this);
    m_close->setToolTip(tr("Close this message"));
    m_close->setProperty("small", true);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_title, 0, Qt::AlignTop);
    row->addWidget(m_sentence, 1);
    row->addWidget(m_close, 0, Qt::AlignTop);
    connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void MessageBar::present(const QString& icon) {
    m_iconName = icon;
    setTheme(m_theme);
    show();
}

void MessageBar::showMessage(const Message& message) {
    m_title->setText(message.title);
    m_sentence->setText(message.sentence + QLatin1Char(' ') + message.nextStep);
    present(QStringLiteral("warning"));
}

void MessageBar::showNotice(const QString& title, const QString& sentence) {
    m_title->setText(title);
    m_sentence->setText(sentence);
    present(QStringLiteral("info"));
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
