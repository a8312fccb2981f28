#pragma once

#include <QDialog>

QT_BEGIN_NAMESPACE
class QListView;
class QSortFilterProxyModel;
class QStringListModel;
QT_END_NAMESPACE

namespace pw::ui {

/// A long list of lines beside the window (not over it): warnings, names without a match. Filter, copy; a chosen line may go
/// somewhere. As quick with 100,000 lines as with three.
class ListDialog : public QDialog {
    Q_OBJECT

public:
    ListDialog(const QString& title, const QString& introduction, const QStringList& lines, QWidget* parent);
    QStringList lines() const;
    void choose(int line); ///< as a click does

Q_SIGNALS:
    void lineChosen(int line); ///< index into `lines`

private:
    QStringListModel* m_model;
    QSortFilterProxyModel* m_filtered;
    QListView* m_view;
};

} // namespace pw::ui
