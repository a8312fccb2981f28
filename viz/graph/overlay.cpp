#include "viz/graph/overlay.h"

#include "viz/theme/figures.h"

#include <QLinearGradient>
#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {
constexpr double kPad = 8;
constexpr double kChip = 14;
constexpr double kSample = 22;   ///< length of a line sample
constexpr double kGradient = 96; ///< length of the scale
} // namespace

Legend::Legend(ScenePainter& painter, const Visuals& visuals, std::size_t hiddenOps, const QStringList& deviceNames)
    : m_painter(painter), m_metrics(painter.smallFont()) {
    const Theme& theme = painter.theme();
    switch (visuals.colorBy()) {
    case ColorBy::Device: addDevices(visuals, deviceNames); break;
    case ColorBy::Cost:
    case ColorBy::Memory:
    case ColorBy::Time: addScale(visuals); break;
    case ColorBy::Phase: {
        static const char* const kNames[] = {"F forward", "B backward", "U update", "X auxiliary"};
        for (std::size_t i = 0; i < 4; ++i) {
            if (visuals.opsPerPhase()[i] > 0)
                m_items.push_back({Item::Kind::Swatch, QString::fromLatin1(kNames[i]), {},
                                   painter.phaseColor(static_cast<Phase>(i)), 1});
        }
        break;
    }
    }
    m_items.push_back({Item::Kind::Separator, {}, {}, {}, 1});
    if (visuals.deviceCount() > 1) {
        m_items.push_back({Item::Kind::Line, QStringLiteral("same device"), {}, theme.edge, 1.25});
        std::size_t sender = 0; // a sample in the colour of the first device that is used
        while (sender + 1 < visuals.deviceCount() && visuals.opsPerDevice()[sender] == 0)
            ++sender;
        m_items.push_back({Item::Kind::Line, QStringLiteral("crosses devices, colour of sender"), {},
                           painter.style(DeviceId(sender)).stroke, 2.5});
    }
    if (hiddenOps > 0)
        m_items.push_back({Item::Kind::Text, countText(hiddenOps, "variable op hidden", "variable ops hidden"), {}, {}, 1});
    while (!m_items.empty() && m_items.back().kind == Item::Kind::Separator)
        m_items.pop_back();
}

void Legend::addDevices(const Visuals& visuals, const QStringList& names) {
    const auto& counts = visuals.opsPerDevice();
    for (std::size_t d = 0; d < visuals.deviceCount(); ++d) {
        if (counts[d] == 0)
            continue;
        const QString count = countText(counts[d], "op", "ops");
        QString text = count;
        if (static_cast<qsizetype>(d) < names.size() && !names[static_cast<qsizetype>(d)].isEmpty())
            text = names[static_cast<qsizetype>(d)] + QStringLiteral(", ") + count;
        m_items.push_back({Item::Kind::Device, text, DeviceId(d), {}, 1, count});
    }
    if (counts.back() > 0) {
        const QString text = countText(counts.back(), "op", "ops") + QStringLiteral(" not placed");
        m_items.push_back({Item::Kind::Device, text, DeviceId(), {}, 1, text});
    }
}

void Legend::addScale(const Visuals& visuals) {
    const auto [least, most] = visuals.scaleRange();
    const bool isBytes = visuals.colorBy() == ColorBy::Memory;
    const auto text = [&](double value) {
        return isBytes ? bytesText(value) : value < 0.1 ? figure(value, 3) + QStringLiteral(" \u00b5s") : timeText(value);
    };
    QString title = isBytes                             ? QStringLiteral("Memory of an op")
                    : visuals.colorBy() == ColorBy::Time ? QStringLiteral("Time, simulated")
                                                         : QStringLiteral("Cost");
    if (visuals.isTimeMissing())
        title = QStringLiteral("Nothing simulated yet: cost");
    if ((visuals.colorBy() == ColorBy::Cost || visuals.isTimeMissing()) && !visuals.costDevice().isEmpty())
        title += QStringLiteral(" on ") + visuals.costDevice();
    if (most <= 0) {
        m_items.push_back({Item::Kind::Text, title + QStringLiteral(": no values known"), {}, {}, 1});
        return;
    }
    m_items.push_back({Item::Kind::Text, title, {}, {}, 1});
    m_items.push_back({Item::Kind::Text, (visuals.isScaleLog() ? QStringLiteral("\u2264 ") : QString()) + text(least), {}, {}, 1});
    m_items.push_back({Item::Kind::Gradient, text(most), {}, {}, 1});
    if (visuals.isScaleLog())
        m_items.push_back({Item::Kind::Text, QStringLiteral("log scale"), {}, {}, 1});
    if (visuals.unknownCount() > 0)
        m_items.push_back({Item::Kind::Hatch, countText(visuals.unknownCount(), "unknown cost, from bytes", "unknown costs, from bytes"),
                           {}, m_painter.theme().panel, 1});
}

QString Legend::textOf(const Item& item, Words words) {
    if (item.kind != Item::Kind::Device || words == Words::NameAndCount)
        return item.text;
    return words == Words::Count ? item.count : QString();
}

Legend::Words Legend::wordsWithin(double maxWidth) const {
    for (const Words words : {Words::NameAndCount, Words::Count}) {
        double width = 2 * kPad - 12;
        for (const Item& item : m_items)
            width += item.kind == Item::Kind::Device ? widthOf(item, words) : 0.0;
        if (width <= maxWidth)
            return words;
    }
    return Words::None;
}

double Legend::widthOf(const Item& item, Words words) const {
    const double text = std::ceil(m_metrics.horizontalAdvance(textOf(item, words)));
    switch (item.kind) {
    case Item::Kind::Device:
    case Item::Kind::Swatch:
    case Item::Kind::Hatch: return kChip + 5 + text + 12;
    case Item::Kind::Gradient: return kGradient + 6 + text + 12;
    case Item::Kind::Line: return kSample + 6 + text + 12;
    case Item::Kind::Text: return text + 12;
    case Item::Kind::Separator: return 13;
    }
    return 0;
}

double Legend::width() const {
    double width = 2 * kPad - 12;
    for (const Item& item : m_items)
        width += widthOf(item, Words::NameAndCount);
    return m_items.empty() ? 0 : width;
}

QRectF Legend::paint(QPainter& painter, const QPointF& topLeft, double maxWidth) const {
    const Words words = wordsWithin(maxWidth);
    std::size_t count = 0;
    double inner = 2 * kPad - 12;
    while (count < m_items.size() && inner + widthOf(m_items[count], words) <= maxWidth)
        inner += widthOf(m_items[count++], words);
    while (count > 0 && m_items[count - 1].kind == Item::Kind::Separator)
        inner -= widthOf(m_items[--count], words);
    if (count == 0)
        return {};
    const Theme& theme = m_painter.theme();
    const QRectF frame(topLeft, QSizeF(inner, height()));
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(theme.control, 1));
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(frame, 4, 4);
    painter.setFont(m_painter.smallFont());
    double x = frame.left() + kPad;
    for (std::size_t i = 0; i < count; ++i) {
        const double width = widthOf(m_items[i], words);
        paintItem(painter, m_items[i], textOf(m_items[i], words), QRectF(x, frame.top(), width, frame.height()));
        x += width;
    }
    return frame;
}

void Legend::paintItem(QPainter& painter, const Item& item, const QString& text, const QRectF& place) const {
    const Theme& theme = m_painter.theme();
    const double x = place.left();
    const double middle = place.center().y();
    const QRectF chip(x, middle - kChip / 2, kChip, kChip);
    double textX = x;
    painter.setPen(QPen(theme.control, 1));
    painter.setBrush(item.color);
    switch (item.kind) {
    case Item::Kind::Device:
        paintDeviceChip(painter, chip, item.device, theme);
        textX += kChip + 5;
        break;
    case Item::Kind::Hatch:
        ScenePainter::paintHatch(painter, chip, item.color);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(chip);
        textX += kChip + 5;
        break;
    case Item::Kind::Swatch:
        painter.drawRect(chip);
        textX += kChip + 5;
        break;
    case Item::Kind::Gradient: {
        const QRectF bar(x, middle - 6, kGradient, 12);
        QLinearGradient gradient(bar.topLeft(), bar.topRight());
        constexpr int kStops = 12;
        for (int i = 0; i <= kStops; ++i)
            gradient.setColorAt(static_cast<double>(i) / kStops, heatColor(static_cast<double>(i) / kStops, theme));
        painter.setBrush(gradient);
        painter.drawRect(bar);
        textX += kGradient + 6;
        break;
    }
    case Item::Kind::Line:
        painter.setPen(QPen(item.color, item.lineWidth));
        painter.drawLine(QPointF(x, middle), QPointF(x + kSample, middle));
        textX += kSample + 6;
        break;
    case Item::Kind::Separator:
        painter.setPen(QPen(theme.line, 1));
        painter.drawLine(QPointF(x, place.top() + 6), QPointF(x, place.bottom() - 6));
        break;
    case Item::Kind::Text: break;
    }
    painter.setPen(theme.text);
    painter.setFont(m_painter.smallFont());
    painter.drawText(QRectF(textX, place.top(), place.right() - textX, place.height()), Qt::AlignLeft | Qt::AlignVCenter, text);
}

Viewport Minimap::viewport(const Scene& scene, const QSizeF& size) {
    const double margin = 6;
    const QSizeF room(size.width() - 2 * margin, size.height() - 2 * margin);
    const double zoom = std::min(room.width() / std::max(1.0, scene.bounds.width()),
                                 room.height() / std::max(1.0, scene.bounds.height()));
    Viewport view;
    view.zoom = zoom;
    view.area = QRectF(QPointF(0, 0), size);
    view.origin = scene.bounds.center() - QPointF(size.width() / 2, size.height() / 2) / zoom;
    return view;
}

void Minimap::paint(QPainter& painter, ScenePainter& scenePainter, const Scene& scene, const Visuals& visuals,
                    const QRectF& place, const QRectF& seen, qreal pixelRatio) {
    const Viewport view = viewport(scene, place.size());
    if (m_picture.isNull() || m_picture.devicePixelRatio() != pixelRatio) {
        m_picture = QPixmap((place.size() * pixelRatio).toSize());
        m_picture.setDevicePixelRatio(pixelRatio);
        m_picture.fill(scenePainter.theme().panel);
        QPainter inner(&m_picture);
        scenePainter.paint(inner, scene, visuals, view, Lod::Far, {false, false, false, false});
    }
    const Theme& theme = scenePainter.theme();
    painter.drawPixmap(place.topLeft(), m_picture);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.control, 1));
    painter.drawRoundedRect(place, 4, 4);
    const QRectF outline = view.toView(seen).translated(place.topLeft()).intersected(place.adjusted(2, 2, -2, -2));
    painter.setPen(QPen(theme.panel, 4));
    painter.drawRect(outline);
    painter.setPen(QPen(theme.accent, 2));
    painter.drawRect(outline);
}

QPointF Minimap::toScene(const Scene& scene, const QRectF& place, const QPointF& point) const {
    return viewport(scene, place.size()).toScene(point - place.topLeft());
}

} // namespace pw::viz
