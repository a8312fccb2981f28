#pragma once

#include "viz/theme/theme.h"

#include <QFont>
#include <QList>
#include <QRectF>
#include <QString>

QT_BEGIN_NAMESPACE
class QPainter;
QT_END_NAMESPACE

namespace pw::viz {

/// The table beside the curves: a row per run with its line and marker, the value under the cursor, and the best value.
struct RewardLegend {
    struct Row {
        QString name;
        RunStyle style;
        bool live = false;
        QString at; ///< empty = no cursor
        QString best;
    };

    QString title;    ///< "Step time, ms"
    QString atHeader; ///< "at 297"; empty = no cursor
    QList<Row> rows;
    QString note;

    double preferredWidth(const QFont& font) const;
    double preferredHeight(const QFont& font) const;
    void paint(QPainter& painter, const QRectF& area, const Theme& theme, const QFont& font) const;
};

/// A run's marker, as the plot draws it.
void paintRunMarker(QPainter& painter, const QPointF& centre, double size, const RunStyle& style, const QColor& inside);

} // namespace pw::viz
