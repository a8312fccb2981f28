#pragma once

#include "core/graph/op_graph.h"
#include "viz/theme/theme.h"

#include <QAbstractButton>

#include <vector>

namespace pw::ui {

/// The shape of a graph in a few cells: ops by depth (columns, wrapped into rows) and by branch (height), coloured by the
/// device they would have in contiguous blocks. Computed on a job.
struct GraphSketch {
    struct Column {
        std::vector<int> devices; ///< a cell each, at most kMaxCells
    };
    static constexpr std::size_t kColumns = 48;
    static constexpr std::size_t kMaxCells = 6;
    std::vector<Column> columns;
    std::size_t ops = 0;
};
GraphSketch sketchOf(const OpGraph& graph, int devices);

/// A sample on the welcome page: preview, name, size. One click opens it.
class SampleCard : public QAbstractButton {
    Q_OBJECT

public:
    SampleCard(const QString& title, const QString& spec, const QString& devices, QWidget* parent);
    const QString& spec() const { return m_spec; }
    const QString& devices() const { return m_devices; }
    void setSketch(GraphSketch sketch);
    void setTheme(const viz::Theme& theme);
    QSize sizeHint() const override { return {176, 170}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void paintSketch(QPainter& painter, const QRectF& rect) const;

    QString m_title;
    QString m_spec;
    QString m_devices;
    GraphSketch m_sketch;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
