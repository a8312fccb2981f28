#pragma once

#include "ui/async.h"
#include "ui/document.h"
#include "ui/views/facts_view.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

class Selection;

/// Everything about the selection: what it is, where it runs and what moving it would cost, cost, schedule, tensors.
class InspectorPanel : public QWidget {
    Q_OBJECT

public:
    InspectorPanel(Document* document, Selection* selection, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    bool movesWholeGroups() const;
    FactsView* prices() const { return m_prices; }
    FactsView* facts() const { return m_facts; }

    void setMovesWholeGroups(bool on);

public Q_SLOTS:
    /// Ops inside a body of a container op, which runs where the container does; null = back to the main graph.
    void showBodyOps(const pw::GraphPtr& body, const QList<quint32>& ops);

Q_SIGNALS:
    void movesWholeGroupsChanged(bool on);

private:
    struct Price {
        std::vector<Evaluation> perDevice;
        std::vector<bool> allowed;
        std::size_t moved = 0;
    };
    QWidget* makeHeader();
    QWidget* makePlacementRow();
    void refresh();
    void refreshBody();
    void refreshHeader(const GraphPtr& graph, const QList<quint32>& ops, bool movable);
    void refreshPlacementRow(const QList<quint32>& ops);
    void requestPrices();
    void showPrices(const Price& price);
    void clearPrices(const QString& text);

    Document* m_document;
    Selection* m_selection;
    QLabel* m_chip;
    QLabel* m_title;
    QLabel* m_path;
    QWidget* m_placementRow;
    QComboBox* m_device;
    QToolButton* m_pin;
    QCheckBox* m_wholeGroups;
    FactsView* m_prices;
    FactsView* m_facts;
    GraphPtr m_body; ///< shown instead of the main graph
    QList<quint32> m_bodyOps;
    LatestJob m_priceJob{this};
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
