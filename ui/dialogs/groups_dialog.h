#pragma once

#include <QDialog>
#include <QTimer>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QLabel;
class QListWidget;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
QT_END_NAMESPACE

namespace pw::ui {

class Document;
class Selection;

/// How ops become groups, beside the window: every change is made at once, can be undone, and is answered with what was
/// merged and why.
class GroupsDialog : public QDialog {
    Q_OBJECT

public:
    GroupsDialog(Document* document, Selection* selection, QWidget* parent = nullptr);
    QString report() const; ///< as shown

private:
    void showOptions(); ///< fields follow the document (undo, other places)
    void showReport();
    void apply();

    Document* m_document;
    Selection* m_selection;
    QSpinBox* m_target;
    QSpinBox* m_depth;
    QCheckBox* m_colocation;
    QCheckBox* m_coplacement;
    QListWidget* m_byHand;
    QPushButton* m_dissolve;
    QLabel* m_sum;
    QPlainTextEdit* m_report;
    QTimer m_delay;
};

} // namespace pw::ui
