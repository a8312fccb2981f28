#pragma once

#include "ui/async.h"
#include "ui/graph_facts.h"
#include "viz/theme/theme.h"

#include <QPointer>
#include <QWidget>

#include <optional>

QT_BEGIN_NAMESPACE
class QHBoxLayout;
class QLabel;
class QPushButton;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

class Document;
class ListDialog;
class Selection;

/// One slim row above the picture that sums up the file that was opened: how large it is, and what the program does not know
/// about it. Counted on a job. What does not fit is left out from the right order of importance; "more" lists all.
class GraphStrip : public QWidget {
    Q_OBJECT

public:
    GraphStrip(Document* document, Selection* selection, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    const std::optional<GraphFacts>& facts() const { return m_facts; } ///< nothing while they are counted
    /// "Ops 2,344", "Parameters 95.3 MB": all of them, shown or not.
    QStringList texts() const;
    void selectUnknown();
    void showWarnings();

Q_SIGNALS:
    void closeRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum Item { Ops, Tensors, Parameters, Work, Unknown, Warnings, Devices, ItemCount };
    struct Cell {
        QWidget* widget = nullptr;
        QLabel* label = nullptr;        ///< a figure
        QPushButton* button = nullptr;  ///< or something to click
        QString text;                   ///< "Ops 2,344"
    };
    void addFigure(Item item, QHBoxLayout* row);
    void addButton(Item item, QHBoxLayout* row, void (GraphStrip::*slot)());
    void setFigure(Item item, const QString& name, const QString& value, const QString& toolTip = {});
    void setButton(Item item, const QString& text, const QString& toolTip);
    void count();
    void take(GraphFacts facts);
    void fill();
    void fit();
    void showDevices();
    void showMore();
    void showTypes();

    Document* m_document;
    Selection* m_selection;
    GraphPtr m_graph;
    std::optional<GraphFacts> m_facts;
    Cell m_cells[ItemCount];
    QToolButton* m_more;
    QToolButton* m_close;
    QPointer<ListDialog> m_warnings;
    viz::Theme m_theme = viz::Theme::light();
    LatestJob m_job{this};
};

} // namespace pw::ui
