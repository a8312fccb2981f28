#include "viz/plots/plot_common.h"

#include <QFileInfo>
#include <QFontInfo>
#include <QFontMetricsF>
#include <QImage>
#include <QImageWriter>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {
constexpr double kPngScale = 2.0;
} // namespace

Ticks niceTicks(double from, double to, int maxCount) {
    Ticks ticks;
    const double span = to - from;
    if (!(span > 0.0) || !std::isfinite(span) || maxCount < 1)
        return ticks;
    const double raw = span / maxCount;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    ticks.step = 10.0 * power;
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= raw) {
            ticks.step = factor * power;
            break;
        }
    }
    ticks.decimals = std::max(0, -static_cast<int>(std::floor(std::log10(ticks.step) + 1e-9)));
    // Counted in whole steps: adding up the step would drift, and stall where the step is below the resolution of
    // `from`.
    const double first = std::ceil(from / ticks.step - 1e-9);
    const double last = std::floor(to / ticks.step + 1e-9);
    for (int i = 0; first + i <= last && i <= maxCount + 1; ++i)
        ticks.values.push_back((first + i) * ticks.step);
    return ticks;
}

double niceCeil(double value) {
    if (!(value > 0.0) || !std::isfinite(value))
        return 1.0;
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double factor : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
        if (factor * power >= value * (1.0 - 1e-12))
            return factor * power;
    }
    return 10.0 * power;
}

QFont labelFont(const QFont& base) {
    QFont font = base;
    font.setPixelSize(std::max(11, QFontInfo(base).pixelSize() - 1));
    return font;
}

QFont boldFont(const QFont& base) {
    QFont font = base;
    font.setBold(true);
    return font;
}

void paintTimeAxis(QPainter& painter, const QRectF& area, double axisHeight, const TimeAxis& axis, const Theme& theme,
                   const QFont& font) {
    if (area.width() < 20.0 || !(axis.toUs > axis.fromUs))
        return;
    const QFontMetricsF metrics(font);
    const double perUs = area.width() / (axis.toUs - axis.fromUs);
    const double baseline = area.top() - axisHeight + metrics.ascent() + 2;
    const auto xOf = [&](double us) { return area.left() + (us - axis.fromUs) * perUs; };

    double endLeft = area.right() + 1e6;
    if (axis.endUs >= axis.fromUs && axis.endUs <= axis.toUs) {
        const QFont bold = boldFont(font);
        const QString label = msText(axis.endUs).chopped(3);
        const double width = QFontMetricsF(bold).horizontalAdvance(label);
        const double x = xOf(axis.endUs);
        endLeft = std::max(area.left(), x - width);
        painter.setFont(bold);
        painter.setPen(theme.text);
        painter.drawText(QPointF(endLeft, baseline), label);
    }

    painter.setFont(font);
    const double spacing = metrics.horizontalAdvance(QStringLiteral("00,000.0")) + 16;
    const Ticks ticks =
        niceTicks(axis.fromUs / 1000.0, axis.toUs / 1000.0, std::max(1, static_cast<int>(area.width() / spacing)));
    bool first = true;
    for (const double ms : ticks.values) {
        const double x = std::round(xOf(ms * 1000.0)) + 0.5;
        painter.setPen(QPen(theme.line, 1));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        painter.setPen(QPen(theme.control, 1));
        painter.drawLine(QPointF(x, area.top() - 4), QPointF(x, area.top() - 1));
        const QString label = figure(ms, ticks.decimals) + (first ? QStringLiteral(" ms") : QString());
        const double width = metrics.horizontalAdvance(label);
        const double left = std::max(area.left(), x - metrics.horizontalAdvance(figure(ms, ticks.decimals)) / 2);
        if (left + width > area.right() || left + width + 8 > endLeft)
            continue;
        painter.setPen(theme.muted);
        painter.drawText(QPointF(left, baseline), label);
        first = false;
    }
}

void paintEmptyText(QPainter& painter, const QRectF& area, const QString& text, const Theme& theme, const QFont& font) {
    painter.setFont(font);
    painter.setPen(theme.muted);
    painter.drawText(area.adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap, text);
}

QString writePicture(const QString& file, const QSize& size, const QString& title,
                     const std::function<void(QPainter&)>& paint) {
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return out.errorString();
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("svg")) {
        QSvgGenerator generator;
        generator.setOutputDevice(&out);
        generator.setSize(size);
        generator.setViewBox(QRect(QPoint(0, 0), size));
        generator.setTitle(title);
        QPainter painter(&generator);
        paint(painter);
        painter.end();
    } else if (ending == QLatin1String("png")) {
        QImage image(size * kPngScale, QImage::Format_RGB32);
        if (image.isNull())
            return QStringLiteral("a picture of %1 by %2 pixels is too large").arg(size.width()).arg(size.height());
        image.setDevicePixelRatio(kPngScale);
        QPainter painter(&image);
        paint(painter);
        painter.end();
        QImageWriter writer(&out, "png");
        if (!writer.write(image))
            return writer.errorString();
    } else {
        return QStringLiteral("the ending must be .png or .svg, not \".%1\"").arg(ending);
    }
    return out.commit() ? QString() : out.errorString();
}

} // namespace pw::viz
