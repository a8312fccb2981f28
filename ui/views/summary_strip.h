#pragma once

#include "viz/theme/theme.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

class Document;

/// One line that always says which placement is shown and what it is worth: step time, gain over one device, distance to
/// the bound, transfers, memory, validity. All figures of it come from one schedule, so that they agree.
class SummaryStrip : public QWidget {
    Q_OBJECT

public:
    explicit SummaryStrip(Document* document, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    /// "Step time, simulated: 3,333.6 ms links model", one line a cell: for tests and screen readers.
    QStringList cellTexts() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Cell {
        QString label;
        QString value;
        QString note;
        QString toolTip;
        QString icon;
        bool danger = false;
    };
    std::vector<Cell> cells() const;
    void refresh();
    void fillMenu();
    int paintMemory(QPainter& painter, int x, int right) const;

    Document* m_document;
    QToolButton* m_choice;
    viz::Theme m_theme = viz::Theme::light();
    std::vector<Cell> m_cells;
    std::vector<QRect> m_cellRects;
};

} // namespace pw::ui
