#pragma once

#include "ui/words.h"
#include "viz/theme/theme.h"

#include <QFrame>

QT_BEGIN_NAMESPACE
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

/// One message above the picture: what went wrong, where and why, what to do. Stays until closed or replaced; never modal.
class MessageBar : public QFrame {
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);
    void showMessage(const Message& message);
    void showNotice(const QString& title, const QString& sentence); ///< something to know, not a failure
    void setTheme(const viz::Theme& theme);
    QString text() const;

private:
    void present(const QString& icon);

    QLabel* m_icon;
    QLabel* m_title;
    QLabel* m_sentence;
    QToolButton* m_close;
    QString m_iconName;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
