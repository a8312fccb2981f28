#include "ui/dialogs/groups_dialog.h"

#include "ui/document.h"
#include "ui/hand_groups.h"
#include "ui/selection.h"
#include "ui/words.h"
#include "viz/theme/figures.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

namespace pw::ui {

namespace {

constexpr int kMargin = 20;
constexpr int kDelayMs = 250; ///< between the last change of a field and the new grouping
constexpr int kMostGroups = 1000000;
constexpr int kMostDepth = 32;

QList<quint32> opsOf(const OpGraph& graph, const std::vector<std::string>& names) {
    QList<quint32> ops;
    for (const std::string& name : names)
        if (const auto op = graph.findOp(name))
            ops.append(op->value());
    return ops;
}

void addRow(QGridLayout* grid, const QString& title, QWidget* field, const QString& help) {
    const int row = grid->rowCount();
    auto* name = new QLabel(title);
    name->setBuddy(field);
    auto* note = new QLabel(help);
    note->setProperty("role", "muted");
    note->setWordWrap(true);
    field->setToolTip(help);
    grid->addWidget(name, row, 0);
    grid->addWidget(field, row, 1);
    grid->addWidget(note, row, 2);
}

} // namespace

GroupsDialog::GroupsDialog(Document* document, Selection* selection, QWidget* parent)
    : QDialog(parent), m_document(document), m_selection(selection) {
    setWindowTitle(tr("Groups"));
    setObjectName(QStringLiteral("groupsDialog"));
    resize(640, 520);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    column->setSpacing(8);
    m_sum = new QLabel(this);
    m_sum->setProperty("role", "title");
    auto* about = new QLabel(tr("A method decides once per group. Fewer groups are quicker to place; more leave it more to choose."), this);
    about->setProperty("role", "secondary");
    about->setWordWrap(true);
    m_target = new QSpinBox(this);
    m_target->setRange(0, kMostGroups);
    m_target->setGroupSeparatorShown(true);
    m_target->setSpecialValueText(tr("do not merge"));
    m_depth = new QSpinBox(this);
    m_depth->setRange(0, kMostDepth);
    m_depth->setSpecialValueText(tr("off"));
    m_colocation = new QCheckBox(tr("Keep colocated ops together"), this);
    m_colocation->setToolTip(tr("Ops with one colocation key share a device: the framework's constraint"));
    m_coplacement = new QCheckBox(tr("Join ops with their only consumer"), this);
    m_coplacement->setToolTip(tr("An op that feeds one other op goes with it"));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(12);
    grid->setColumnStretch(2, 1);
    addRow(grid, tr("Number of groups"), m_target, tr("merged along the heaviest tensors down to this many"));
    addRow(grid, tr("By scope, levels"), m_depth, tr("ops whose scopes agree so deep share a group"));
    m_byHand = new QListWidget(this);
    m_byHand->setProperty("role", "card");
    m_byHand->setFixedHeight(92);
    m_byHand->setAccessibleName(tr("Groups made by hand"));
    m_dissolve = new QPushButton(tr("Ungroup"), this);
    m_dissolve->setProperty("small", true);
    m_report = new QPlainTextEdit(this);
    m_report->setReadOnly(true);
    m_report->setAccessibleName(tr("What was merged"));
    auto* handHead = new QHBoxLayout;
    auto* handTitle = new QLabel(tr("Made by hand"), this);
    handTitle->setProperty("role", "title");
    handHead->addWidget(handTitle, 1);
    handHead->addWidget(m_dissolve);
    auto* reportTitle = new QLabel(tr("What was merged and why"), this);
    reportTitle->setProperty("role", "title");
    auto* buttons = new QHBoxLayout;
    auto* close = new QPushButton(tr("Close"), this);
    buttons->addStretch(1);
    buttons->addWidget(close);
    column->addWidget(m_sum);
    column->addWidget(about);
    column->addSpacing(4);
    column->addLayout(grid);
    column->addWidget(m_colocation);
    column->addWidget(m_coplacement);
    column->addSpacing(4);
    column->addLayout(handHead);
    column->addWidget(m_byHand);
    column->addSpacing(4);
    column->addWidget(reportTitle);
    column->addWidget(m_report, 1);
    column->addLayout(buttons);

    m_delay.setSingleShot(true);
    m_delay.setInterval(kDelayMs);
    connect(&m_delay, &QTimer::timeout, this, &GroupsDialog::apply);
    const auto later = [this] { m_delay.start(); };
    connect(m_target, &QSpinBox::valueChanged, this, later);
    connect(m_depth, &QSpinBox::valueChanged, this, later);
    connect(m_colocation, &QCheckBox::toggled, this, later);
    connect(m_coplacement, &QCheckBox::toggled, this, later);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_byHand, &QListWidget::currentRowChanged, this, [this](int row) {
        const auto& groups = m_document->grouping().byHand;
        const GraphPtr graph = m_document->graph();
        m_dissolve->setEnabled(row >= 0);
        if (row < 0 || !graph || static_cast<std::size_t>(row) >= groups.size())
            return;
        const QList<quint32> ops = opsOf(*graph, groups[static_cast<std::size_t>(row)]);
        if (!ops.isEmpty())
            m_selection->reveal(ops.first());
        m_selection->setOps(ops);
    });
    connect(m_dissolve, &QPushButton::clicked, this, [this] {
        GroupingOptions options = m_document->grouping();
        const int row = m_byHand->currentRow();
        if (row < 0 || static_cast<std::size_t>(row) >= options.byHand.size())
            return;
        options.byHand.erase(options.byHand.begin() + row);
        m_document->changeGrouping(options, tr("Ungroup"));
    });
    connect(document, &Document::situationChanged, this, [this] {
        showOptions();
        showReport();
    });
    showOptions();
    showReport();
}

void GroupsDialog::showOptions() {
    if (m_delay.isActive()) // why: what is being typed is newer than what arrives
        return;
    const GroupingOptions& options = m_document->grouping();
    const QSignalBlocker blockers[] = {QSignalBlocker(m_target), QSignalBlocker(m_depth), QSignalBlocker(m_colocation),
                                       QSignalBlocker(m_coplacement), QSignalBlocker(m_byHand)};
    m_target->setValue(static_cast<int>(std::min<std::size_t>(options.targetGroups, kMostGroups)));
    m_depth->setValue(static_cast<int>(std::min<std::size_t>(options.scopeDepth, kMostDepth)));
    m_colocation->setChecked(options.colocation);
    m_coplacement->setChecked(options.coplacement);
    const int row = m_byHand->currentRow();
    m_byHand->clear();
    for (const auto& group : options.byHand)
        m_byHand->addItem(viz::countText(group.size(), "op", "ops") + QStringLiteral(": ") + words::fromUtf8(group.front()) +
                          (group.size() > 1 ? tr(", %1…").arg(words::fromUtf8(group[1])) : QString()));
    if (options.byHand.empty()) {
        auto* hint = new QListWidgetItem(tr("None. Select ops, then Graph ▸ Group together."), m_byHand);
        hint->setFlags(Qt::NoItemFlags);
    }
    m_byHand->setCurrentRow(std::min(row, static_cast<int>(options.byHand.size()) - 1));
    m_dissolve->setEnabled(m_byHand->currentRow() >= 0);
}

void GroupsDialog::showReport() {
    const ProblemPtr problem = m_document->problem();
    if (!problem) {
        m_sum->setText(m_document->graph() ? tr("Grouping…") : tr("No graph is open"));
        return;
    }
    const Grouping& grouping = problem->grouping();
    m_sum->setText(tr("%1 in %2").arg(viz::countText(problem->opCount(), "op", "ops"), viz::countText(grouping.groupCount(), "group", "groups")));
    QStringList lines;
    for (const std::string& line : grouping.report)
        lines.append(words::fromUtf8(line));
    m_report->setPlainText(lines.join(QLatin1Char('\n')));
}

QString GroupsDialog::report() const {
    return m_report->toPlainText();
}

void GroupsDialog::apply() {
    GroupingOptions options = m_document->grouping();
    options.targetGroups = static_cast<std::size_t>(m_target->value());
    options.scopeDepth = static_cast<std::size_t>(m_depth->value());
    options.colocation = m_colocation->isChecked();
    options.coplacement = m_coplacement->isChecked();
    m_document->changeGrouping(options, tr("Change grouping"));
}

} // namespace pw::ui
