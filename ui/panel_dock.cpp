#include "ui/panel_dock.h"

#include "viz/theme/icon.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>

namespace pw::ui {

namespace {

constexpr int kTitleHeight = 28;

QToolButton* smallButton(const QString& text, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setToolTip(text);
    button->setAccessibleName(text);
    button->setProperty("small", true);
    button->setFixedSize(22, 22);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

} // namespace

PanelDock::PanelDock(const QString& name, const QString& title, QWidget* parent) : QDockWidget(title, parent) {
    setObjectName(name);
    m_bar = new QWidget(this);
    m_bar->setFixedHeight(kTitleHeight);
    m_bar->setProperty("surface", "header");
    m_bar->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(m_bar);
    row->setContentsMargins(0, 0, 4, 0);
    row->setSpacing(2);
    m_title = new QLabel(m_bar);
    m_title->setContentsMargins(8, 0, 0, 0);
    m_title->setFixedHeight(kTitleHeight);
    m_title->setTextFormat(Qt::RichText);
    m_tabs = new QTabBar(m_bar);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setIconSize(QSize(14, 14));
    m_tabs->setElideMode(Qt::ElideNone);
    m_tabs->setUsesScrollButtons(false);
    m_tabs->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
    m_tools = new QStackedWidget(m_bar);
    m_tools->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    m_float = smallButton(tr("Float or dock"), m_bar);
    m_close = smallButton(tr("Close"), m_bar);
    row->addWidget(m_title);
    row->addWidget(m_tabs);
    row->addStretch(1);
    row->addWidget(m_tools);
    row->addWidget(m_float);
    row->addWidget(m_close);
    setTitleBarWidget(m_bar);
    m_pages = new QStackedWidget(this);
    m_pages->setProperty("surface", "panel");
    m_pages->setAttribute(Qt::WA_StyledBackground);
    setWidget(m_pages);
    connect(m_tabs, &QTabBar::currentChanged, this, &PanelDock::showPanel);
    connect(m_float, &QToolButton::clicked, this, [this] { setFloating(!isFloating()); });
    connect(m_close, &QToolButton::clicked, this, &QWidget::close);
}

void PanelDock::addPanel(const QString& title, const QString& icon, QWidget* page, QWidget* tools) {
    if (!tools)
        tools = new QWidget(this);
    m_panels.push_back({title, icon, page, tools});
    m_pages->addWidget(page);
    m_tools->addWidget(tools);
    m_tabs->addTab(title);
    m_title->setText(QStringLiteral("<b>%1</b>").arg(title.toHtmlEscaped()));
    const bool single = m_panels.size() == 1;
    m_title->setVisible(single);
    m_tabs->setVisible(!single);
    showPanel(m_tabs->currentIndex());
}

void PanelDock::showPanel(int index) {
    if (index < 0 || index >= static_cast<int>(m_panels.size()))
        return;
    for (const Panel& panel : m_panels) // why: a stack is as wide as its widest page unless the others are ignored
        panel.tools->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    QWidget* tools = m_panels[static_cast<std::size_t>(index)].tools;
    tools->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    m_tools->setCurrentWidget(tools);
    m_pages->setCurrentIndex(index);
}

void PanelDock::raisePanel(QWidget* page) {
    for (std::size_t i = 0; i < m_panels.size(); ++i)
        if (m_panels[i].page == page)
            m_tabs->setCurrentIndex(static_cast<int>(i));
    show();
    raise();
}

QWidget* PanelDock::currentPanel() const {
    return m_pages->currentWidget();
}

int PanelDock::currentIndex() const {
    return m_tabs->currentIndex();
}

void PanelDock::setCurrentIndex(int index) {
    m_tabs->setCurrentIndex(index);
}

void PanelDock::setPanelBadge(QWidget* page, const QString& badge) {
    for (std::size_t i = 0; i < m_panels.size(); ++i)
        if (m_panels[i].page == page)
            m_tabs->setTabText(static_cast<int>(i),
                               badge.isEmpty() ? m_panels[i].title : m_panels[i].title + QLatin1Char(' ') + badge);
}

void PanelDock::setTheme(const viz::Theme& theme) {
    for (std::size_t i = 0; i < m_panels.size(); ++i)
        m_tabs->setTabIcon(static_cast<int>(i), viz::icon(m_panels[i].icon, theme));
    m_float->setIcon(viz::icon(QStringLiteral("float"), theme));
    m_close->setIcon(viz::icon(QStringLiteral("close"), theme));
}

} // namespace pw::ui
