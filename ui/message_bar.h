#pragma once

#include "ui/words.h"
#include "viz/theme/theme.h"

#include <QFrame>
#include <QStringList>

QT_BEGIN_NAMESPACE
class QLabel;
class QPushButton;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

/// One message above the picture: what went wrong, where and why, what to do. Stays until closed or replaced; never modal.
class MessageBar : public QFrame {
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);
    void showMessage(const Message& message, const QStringList& details = {});
    /// Something to know, not a failure. With `details` a button lists them.
    void showNotice(const QString& title, const QString& sentence, const QStringList& details = {});
    const QStringList& details() const { return m_details; }
    void setTheme(const viz::Theme& theme);
    QString text() const;

private:
    void present(const QString& icon, const QStringList& details);
    void showDetails();

    QLabel* m_icon;
    QLabel* m_title;
    QLabel* m_sentence;
    QPushButton* m_more;
    QToolButton* m_close;
    QStringList m_details;
    QString m_iconName;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
