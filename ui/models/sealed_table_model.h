#pragma once

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace pw::ui {

/// Base of every table: columns are declared once, a concrete model only says how many rows there are and what a cell
/// holds. The raw value for sorting is in SortRole, the row's id in IdRole.
class SealedTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role { SortRole = Qt::UserRole, IdRole };
    struct Column {
        QString title;
        Qt::Alignment alignment = Qt::AlignLeft;
        bool editable = false;
        QString toolTip;
    };

    int rowCount(const QModelIndex& parent = {}) const final;
    int columnCount(const QModelIndex& parent = {}) const final;
    QVariant data(const QModelIndex& index, int role) const final;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const final;
    Qt::ItemFlags flags(const QModelIndex& index) const final;
    bool setData(const QModelIndex& index, const QVariant& value, int role) final;

protected:
    SealedTableModel(std::vector<Column> columns, QObject* parent);
    virtual int rows() const = 0;
    /// Display, Sort, Id, ToolTip, Foreground, Decoration, Font; an invalid value where there is nothing to say.
    virtual QVariant cell(int row, int column, int role) const = 0;
    virtual bool edit(int row, int column, const QVariant& value);
    const Column& column(int index) const { return m_columns[static_cast<std::size_t>(index)]; }

private:
    std::vector<Column> m_columns;
};

} // namespace pw::ui
