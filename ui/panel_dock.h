#pragma once

#include "viz/theme/theme.h"

#include <QDockWidget>

#include <vector>

QT_BEGIN_NAMESPACE
class QHBoxLayout;
class QLabel;
class QStackedWidget;
class QTabBar;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

/// A dock whose title row, 28 px high, holds the panel's name (or tabs, where it has several), the controls of the
/// panel on top and float and close. The row drags the dock as any title bar does.
class PanelDock : public QDockWidget {
    Q_OBJECT

public:
    PanelDock(const QString& name, const QString& title, QWidget* parent);

    /// `tools` (may be null) stands at the right of the title row while the panel is on top.
    void addPanel(const QString& title, const QString& icon, QWidget* page, QWidget* tools = nullptr);
    void raisePanel(QWidget* page); ///< shows the dock as well
    QWidget* currentPanel() const;
    void setPanelBadge(QWidget* page, const QString& badge); ///< "Jobs 3"
    void setTheme(const viz::Theme& theme);
    int currentIndex() const;
    void setCurrentIndex(int index);

private:
    struct Panel {
        QString title;
        QString icon;
        QWidget* page = nullptr;
        QWidget* tools = nullptr;
    };
    void showPanel(int index);

    std::vector<Panel> m_panels;
    QWidget* m_bar;
    QTabBar* m_tabs;
    QLabel* m_title;
    QStackedWidget* m_tools;
    QStackedWidget* m_pages;
    QToolButton* m_float;
    QToolButton* m_close;
};

} // namespace pw::ui
