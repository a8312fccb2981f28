// What the View menu switches, and what a right click on the graph offers.

#include "ui/main_window.h"

#include "ui/actions.h"
#include "ui/dialogs/groups_dialog.h"
#include "ui/docks/inspector_panel.h"
#include "ui/hand_groups.h"
#include "ui/views/graph_page.h"
#include "ui/views/graph_strip.h"
#include "ui/words.h"
#include "viz/graph/graph_view.h"

#include <QAction>
#include <QMenu>

namespace pw::ui {

void MainWindow::connectView() {
    m_graphPage->connectActions(*m_actions);
    QAction* facts = (*m_actions)[ActionId::ShowFacts];
    const bool shown = m_settings->value(SettingId::ShowFacts).toBool();
    facts->setChecked(shown);
    m_graphPage->strip()->setVisible(shown);
    connect(facts, &QAction::toggled, this, [this](bool on) {
        m_graphPage->strip()->setVisible(on);
        m_settings->setValue(SettingId::ShowFacts, on);
    });
    connect(m_graphPage->strip(), &GraphStrip::closeRequested, facts, [facts] { facts->setChecked(false); });

    const Actions& a = *m_actions;
    connect(a[ActionId::GroupTogether], &QAction::triggered, this, [this] { m_document.groupTogether(m_selection.ops()); });
    connect(a[ActionId::Ungroup], &QAction::triggered, this, [this] { m_document.ungroup(m_selection.ops()); });
    connect(a[ActionId::Groups], &QAction::triggered, this, &MainWindow::showGroupsDialog);
    connect(m_graphPage->view(), &viz::GraphView::contextMenuRequested, this, &MainWindow::showGraphMenu);
    connect(&m_selection, &Selection::changed, this, &MainWindow::updateGroupActions);
    connect(&m_document, &Document::situationChanged, this, &MainWindow::updateGroupActions);
    updateGroupActions();
}

void MainWindow::updateGroupActions() {
    const GraphPtr graph = m_document.graph();
    const bool ready = graph && m_document.problem();
    const QList<quint32>& ops = m_selection.ops();
    QAction* group = (*m_actions)[ActionId::GroupTogether];
    QAction* ungroup = (*m_actions)[ActionId::Ungroup];
    group->setEnabled(ready && ops.size() > 1);
    group->setToolTip(group->isEnabled() ? group->statusTip() : tr("Select two ops or more first"));
    ungroup->setEnabled(ready && isGroupedByHand(m_document.grouping(), *graph, ops));
    ungroup->setToolTip(ungroup->isEnabled() ? ungroup->statusTip() : tr("Nothing selected is in a group made by hand"));
    (*m_actions)[ActionId::Groups]->setEnabled(graph && !graph->isCyclic());
}

void MainWindow::showGroupsDialog() {
    if (auto* open = findChild<GroupsDialog*>()) {
        open->raise();
        open->activateWindow();
        return;
    }
    auto* dialog = new GroupsDialog(&m_document, &m_selection, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

void MainWindow::fillAssignMenu(QMenu* menu) {
    menu->clear();
    for (std::size_t d = 0; d < m_document.devices().count(); ++d) {
        const QString name = words::deviceTitle(m_document.devices().device(DeviceId(d)), DeviceId(d));
        const QString key = d < 8 ? QString::number(d + 1) : QString();
        QAction* action = menu->addAction(name + QLatin1Char('\t') + key);
        action->setEnabled(!m_selection.isEmpty() && m_document.problem());
        connect(action, &QAction::triggered, this, [this, d] {
            m_document.assign(m_selection.ops(), DeviceId(d), (*m_actions)[ActionId::WholeGroups]->isChecked());
        });
    }
}

/// `op` is the one under the pointer, -1 for a scope or the ground; the menu speaks about what is selected.
void MainWindow::showGraphMenu(const QPoint& globalPos, qint64 op) {
    const Actions& a = *m_actions;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("graphMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!m_selection.isEmpty()) {
        fillAssignMenu(menu->addMenu(tr("&Move to")));
        QAction* pin = menu->addAction(tr("&Pinned"));
        pin->setCheckable(true);
        pin->setChecked(m_document.isPinned(m_selection.ops().first()));
        pin->setEnabled(m_document.currentPlacement() != nullptr);
        connect(pin, &QAction::triggered, this, [this](bool on) { m_document.setPinned(m_selection.ops(), on); });
        menu->addSeparator();
        menu->addActions({a[ActionId::GroupTogether], a[ActionId::Ungroup]});
    }
    menu->addAction(a[ActionId::Groups]);
    const GraphPtr graph = m_document.graph();
    if (graph && op >= 0 && !graph->op(OpId(static_cast<std::size_t>(op))).bodies.empty())
        menu->addAction(tr("&Look inside"), this, [this, op] { m_graphPage->view()->openBodies(static_cast<quint32>(op)); });
    menu->addSeparator();
    menu->addActions({a[ActionId::Fit], a[ActionId::ExpandAll], a[ActionId::CollapseAll]});
    menu->popup(globalPos);
}

} // namespace pw::ui
