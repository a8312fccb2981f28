#include "ui/docks/library_panel.h"

#include "ui/document.h"
#include "ui/models/library_model.h"
#include "viz/theme/icon.h"

#include <QAction>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QVBoxLayout>

namespace pw::ui {

namespace {
constexpr int kLeastWidth = 176; ///< px; below, names are all dots
}

/// Paints a row by hand: room for an icon, bold where current, value in its own column.
class LibraryPanel::Delegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    viz::Theme theme = viz::Theme::light();

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {40, 22}; }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const bool top = !index.parent().isValid();
        const bool current = index.data(LibraryModel::CurrentRole).toBool();
        painter->save();
        if (current)
            painter->fillRect(option.rect, theme.accentBg);
        else if (option.state & QStyle::State_MouseOver)
            painter->fillRect(option.rect, theme.hover);
        const int valueWidth = paintValue(painter, option, index.siblingAtColumn(1), top);
        paintName(painter, option, index, valueWidth);
        painter->restore();
    }

private:
    void paintName(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index,
                   int valueWidth) const {
        const bool top = !index.parent().isValid();
        const bool current = index.data(LibraryModel::CurrentRole).toBool();
        QRect rect = option.rect.adjusted(0, 0, -valueWidth - 14, 0);
        QFont font = option.font;
        font.setBold(top || current);
        painter->setFont(font);
        painter->setPen(theme.text);
        if (!top) {
            const QString icon = index.data(LibraryModel::IconNameRole).toString();
            const bool problem = index.data(LibraryModel::ProblemRole).toBool();
            if (!icon.isEmpty())
                viz::paintIcon(*painter, QRectF(rect.left(), rect.center().y() - 6, 13, 13), icon,
                               problem ? theme.danger : theme.text);
            rect.setLeft(rect.left() + 18);
        }
        const QString text = index.data(Qt::DisplayRole).toString();
        painter->drawText(rect, Qt::AlignVCenter, QFontMetrics(font).elidedText(text, Qt::ElideRight, rect.width()));
    }

    /// Each row gives its value the room it needs and the name the rest. Returns the width used.
    int paintValue(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index, bool top) const {
        QFont font = option.font;
        if (top)
            font.setPixelSize(11);
        painter->setFont(font);
        painter->setPen(top ? theme.muted : theme.text2);
        const QString text = index.data(Qt::DisplayRole).toString();
        painter->drawText(option.rect.adjusted(2, 0, -8, 0), Qt::AlignRight | Qt::AlignVCenter, text);
        return QFontMetrics(font).horizontalAdvance(text);
    }
};

LibraryPanel::LibraryPanel(Document* document, Project* project, QWidget* parent)
    : QWidget(parent), m_document(document), m_model(new LibraryModel(document, project, this)) {
    setMinimumWidth(kLeastWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 8, 0, 0);
    column->setSpacing(6);
    m_filter = new QLineEdit(this);
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setProperty("small", true);
    auto* filterRow = new QHBoxLayout;
    filterRow->setContentsMargins(8, 0, 8, 0);
    filterRow->addWidget(m_filter);
    m_tree = new QTreeView(this);
    m_tree->setObjectName(QStringLiteral("libraryTree"));
    m_tree->setModel(m_model);
    m_delegate = new Delegate(m_tree);
    m_tree->setItemDelegate(m_delegate);
    m_tree->setHeaderHidden(true);
    m_tree->setIndentation(14);
    m_tree->setUniformRowHeights(true);
    m_tree->setExpandsOnDoubleClick(false);
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_tree->setColumnHidden(1, true); // why: the delegate paints both, so that each row shares its own width
    m_tree->expandAll();
    column->addLayout(filterRow);
    column->addWidget(m_tree, 1);
    connect(m_filter, &QLineEdit::textChanged, this, &LibraryPanel::applyFilter);
    connect(m_tree, &QTreeView::clicked, this, &LibraryPanel::activate);
    connect(m_tree, &QTreeView::activated, this, &LibraryPanel::activate);
    connect(m_tree, &QTreeView::customContextMenuRequested, this, &LibraryPanel::showMenu);
    connect(m_tree, &QTreeView::doubleClicked, this, [this](const QModelIndex& index) {
        if (index.parent().isValid() && index.data(LibraryModel::SectionRole).toInt() == LibraryModel::Policies)
            Q_EMIT policyActivated(index.data(LibraryModel::KeyRole).toLongLong());
    });
    connect(m_model, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex& section) {
        m_tree->expand(section);
        applyFilter(m_filter->text());
    });
}

void LibraryPanel::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_delegate->theme = theme;
    m_tree->viewport()->update();
    const auto actions = m_filter->actions();
    for (QAction* action : actions)
        if (action->objectName() == QLatin1String("filterIcon"))
            m_filter->removeAction(action);
    QAction* icon = m_filter->addAction(viz::icon(QStringLiteral("filter"), theme, viz::IconTone::Muted),
                                        QLineEdit::LeadingPosition);
    icon->setObjectName(QStringLiteral("filterIcon"));
}

void LibraryPanel::applyFilter(const QString& text) {
    for (int section = 0; section < LibraryModel::SectionCount; ++section) {
        const QModelIndex top = m_model->sectionIndex(static_cast<LibraryModel::Section>(section));
        for (int row = 0; row < m_model->rowCount(top); ++row) {
            const QString name = m_model->index(row, 0, top).data().toString();
            m_tree->setRowHidden(row, top, !text.isEmpty() && !name.contains(text, Qt::CaseInsensitive));
        }
    }
}

void LibraryPanel::activate(const QModelIndex& index) {
    if (!index.isValid())
        return;
    if (!index.parent().isValid()) {
        const QModelIndex top = index.siblingAtColumn(0);
        m_tree->setExpanded(top, !m_tree->isExpanded(top));
        return;
    }
    const QString key = index.data(LibraryModel::KeyRole).toString();
    switch (index.data(LibraryModel::SectionRole).toInt()) {
    case LibraryModel::Graphs: m_document->setCurrentGraph(key.toInt()); break;
    case LibraryModel::Placements: m_document->setCurrentPlacement(key.toInt()); break;
    case LibraryModel::DeviceSets: m_document->setCurrentDevices(key.toStdString()); break;
    default: break;
    }
}

void LibraryPanel::showMenu(const QPoint& pos) {
    const QModelIndex index = m_tree->indexAt(pos);
    if (!index.isValid() || !index.parent().isValid())
        return;
    const QString key = index.data(LibraryModel::KeyRole).toString();
    QMenu menu(this);
    switch (index.data(LibraryModel::SectionRole).toInt()) {
    case LibraryModel::Placements: {
        const int id = key.toInt();
        menu.addAction(tr("Show"), this, [this, id] { m_document->setCurrentPlacement(id); });
        menu.addAction(tr("Compare with the one shown"), this, [this, id] { Q_EMIT compareRequested(id); });
        menu.addAction(tr("Export…"), this, [this, id] { Q_EMIT exportPlacementRequested(id); });
        menu.addAction(tr("Rename…"), this, [this, id] {
            const PlacementEntry* entry = m_document->findPlacement(id);
            if (!entry)
                return;
            auto* dialog = new QInputDialog(this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->setWindowTitle(tr("Rename placement"));
            dialog->setLabelText(tr("Name"));
            dialog->setTextValue(entry->name);
            connect(dialog, &QInputDialog::textValueSelected, m_document,
                    [this, id](const QString& name) { m_document->renamePlacement(id, name); });
            dialog->open();
        });
        break;
    }
    case LibraryModel::Policies:
        menu.addAction(tr("Place the current graph with it"), this,
                       [this, key] { Q_EMIT policyActivated(key.toLongLong()); });
        break;
    default: menu.addAction(tr("Show"), this, [this, index] { activate(index); }); break;
    }
    menu.exec(m_tree->viewport()->mapToGlobal(pos));
}

} // namespace pw::ui
