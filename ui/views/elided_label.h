#pragma once

#include <QLabel>
#include <QPainter>

namespace pw::ui {

/// One line that gives way when the room is short: it ends in "…" and says the rest in its tooltip.
class ElidedLabel : public QLabel {
public:
    using QLabel::QLabel;
    QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setPen(palette().color(foregroundRole()));
        const QString shown = fontMetrics().elidedText(text(), Qt::ElideRight, width());
        painter.drawText(rect(), alignment() | Qt::TextSingleLine, shown);
        setToolTip(shown == text() ? QString() : text());
    }
};

} // namespace pw::ui
