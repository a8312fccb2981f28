#pragma once

#include "viz/theme/theme.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QLineEdit;
class QTreeView;
QT_END_NAMESPACE

namespace pw::ui {

class Document;
class LibraryModel;
class Project;

/// Graphs, placements, device sets and policies of the project. A click shows one, the context menu does the rest.
class LibraryPanel : public QWidget {
    Q_OBJECT

public:
    LibraryPanel(Document* document, Project* project, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    QTreeView* tree() const { return m_tree; }

Q_SIGNALS:
    void policyActivated(qint64 run);
    void exportPlacementRequested(int id);
    void compareRequested(int id);

private:
    class Delegate;
    void activate(const QModelIndex& index);
    void showMenu(const QPoint& pos);
    void applyFilter(const QString& text);

    Document* m_document;
    LibraryModel* m_model;
    QLineEdit* m_filter;
    QTreeView* m_tree;
    Delegate* m_delegate;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
