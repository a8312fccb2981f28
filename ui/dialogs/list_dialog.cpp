#include "ui/dialogs/list_dialog.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStringListModel>
#include <QVBoxLayout>

namespace pw::ui {

namespace {
constexpr int kMargin = 20;
constexpr qsizetype kFilterFrom = 10; ///< lines; fewer are seen at a glance
} // namespace

ListDialog::ListDialog(const QString& title, const QString& introduction, const QStringList& lines, QWidget* parent)
    : QDialog(parent), m_model(new QStringListModel(lines, this)), m_filtered(new QSortFilterProxyModel(this)) {
    setWindowTitle(title);
    setObjectName(QStringLiteral("listDialog"));
    resize(560, 400);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    column->setSpacing(8);
    auto* text = new QLabel(introduction, this);
    text->setWordWrap(true);
    text->setProperty("role", "secondary");
    auto* filter = new QLineEdit(this);
    filter->setPlaceholderText(tr("Filter"));
    filter->setClearButtonEnabled(true);
    filter->setVisible(lines.size() >= kFilterFrom);
    m_filtered->setSourceModel(m_model);
    m_filtered->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_view = new QListView(this);
    m_view->setModel(m_filtered);
    m_view->setUniformItemSizes(true); // why: else every line is measured at once
    m_view->setTextElideMode(Qt::ElideMiddle);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setAccessibleName(title);
    auto* buttons = new QHBoxLayout;
    auto* copy = new QPushButton(tr("Copy all"), this);
    auto* close = new QPushButton(tr("Close"), this);
    close->setDefault(true);
    buttons->addWidget(copy);
    buttons->addStretch(1);
    buttons->addWidget(close);
    column->addWidget(text);
    column->addWidget(filter);
    column->addWidget(m_view, 1);
    column->addSpacing(4);
    column->addLayout(buttons);
    connect(filter, &QLineEdit::textChanged, m_filtered, &QSortFilterProxyModel::setFilterFixedString);
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(m_model->stringList().join(QLatin1Char('\n'))); });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (index.isValid())
            Q_EMIT lineChosen(m_filtered->mapToSource(index).row());
    });
    connect(m_view, &QListView::clicked, this, // why beside currentChanged: a click on the current line goes there again
            [this](const QModelIndex& index) { Q_EMIT lineChosen(m_filtered->mapToSource(index).row()); });
}

QStringList ListDialog::lines() const {
    return m_model->stringList();
}

void ListDialog::choose(int line) {
    m_view->setCurrentIndex(m_filtered->mapFromSource(m_model->index(line)));
}

} // namespace pw::ui
