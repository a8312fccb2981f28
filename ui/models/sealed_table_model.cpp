#include "ui/models/sealed_table_model.h"

namespace pw::ui {

SealedTableModel::SealedTableModel(std::vector<Column> columns, QObject* parent)
    : QAbstractTableModel(parent), m_columns(std::move(columns)) {}

int SealedTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows();
}

int SealedTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

QVariant SealedTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(column(index.column()).alignment | Qt::AlignVCenter));
    if (role == Qt::EditRole)
        role = Qt::DisplayRole;
    return cell(index.row(), index.column(), role);
}

QVariant SealedTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    if (role == Qt::DisplayRole)
        return column(section).title;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(column(section).alignment | Qt::AlignVCenter));
    if (role == Qt::ToolTipRole && !column(section).toolTip.isEmpty())
        return column(section).toolTip;
    return {};
}

Qt::ItemFlags SealedTableModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && column(index.column()).editable)
        flags |= Qt::ItemIsEditable;
    return flags;
}

bool SealedTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !index.isValid() || !column(index.column()).editable)
        return false;
    if (!edit(index.row(), index.column(), value))
        return false;
    Q_EMIT dataChanged(index, index);
    return true;
}

bool SealedTableModel::edit(int, int, const QVariant&) {
    return false;
}

} // namespace pw::ui
