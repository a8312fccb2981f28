#pragma once

#include "viz/theme/theme.h"

#include <QWidget>

#include <algorithm>
#include <vector>

namespace pw::ui {

/// Rows of facts, painted: sections with a heading, label, value and unit in aligned columns, device chips, ops to click.
/// One light widget instead of hundreds of labels, so that a new selection shows at once.
class FactsView : public QWidget {
    Q_OBJECT

public:
    struct Row {
        enum class Kind { Section, Fact, Text, Head };
        Kind kind = Kind::Fact;
        QString label;
        QString value;
        QString unit;
        QString extra;       ///< right of the unit (a transfer's time)
        DeviceId device;     ///< chip before the label
        bool hasDevice = false;
        bool marked = false; ///< background of a selected row
        bool worse = false;  ///< the extra is drawn as worse
        qint64 op = -1;      ///< a click goes there
        QString toolTip;
    };

    explicit FactsView(QWidget* parent = nullptr);
    void setRows(std::vector<Row> rows);
    const std::vector<Row>& rows() const { return m_rows; }
    void setTheme(const viz::Theme& theme);
    QSize sizeHint() const override { return {240, heightForWidth(std::max(80, width()))}; }
    QSize minimumSizeHint() const override { return {80, heightForWidth(std::max(80, width()))}; }
    int heightForWidth(int width) const override;

    static Row section(const QString& title, const QString& note = {});
    static Row fact(const QString& label, const QString& value, const QString& unit = {}, const QString& toolTip = {});
    static Row text(const QString& text);

Q_SIGNALS:
    void opClicked(quint32 op);
    void rowClicked(int row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    int rowAt(const QPoint& pos) const;
    int heightOf(const Row& row, int width) const;
    void paintRow(QPainter& painter, const Row& row, const QRect& rect) const;

    std::vector<Row> m_rows;
    viz::Theme m_theme = viz::Theme::light();
    int m_unitWidth = 0;
    int m_extraWidth = 0;
};

} // namespace pw::ui
