#include "viz/theme/theme.h"

#include "core/devices/device_set.h"

#include <QBrush>
#include <QFont>
#include <QPainter>
#include <QPalette>

#include <algorithm>
#include <array>
#include <cmath>

namespace pw::viz {

namespace {

Theme makeLight() {
    Theme t;
    t.kind = Theme::Kind::Light;
    t.chrome = 0xF1F2F4u, t.panel = 0xFFFFFFu, t.canvas = 0xFAFBFCu, t.frame = 0xF1F3F6u, t.frame2 = 0xE9ECF0u;
    t.header = 0xE8EAEDu, t.hover = 0xDDE0E5u, t.lane = 0xF3F4F6u, t.track = 0xE3E5E9u;
    t.line = 0xD5D8DDu, t.control = 0x737B86u, t.edge = 0x737B86u;
    t.text = 0x1A1D21u, t.text2 = 0x454B54u, t.muted = 0x5C646Eu;
    t.accent = 0x4B3FBFu, t.accentBg = 0xE6E3F8u, t.onAccent = 0xFFFFFFu;
    t.danger = 0xB3261Eu, t.warning = 0x7A5200u;
    return t;
}

Theme makeDark() {
    Theme t;
    t.kind = Theme::Kind::Dark;
    t.chrome = 0x202327u, t.panel = 0x17191Cu, t.canvas = 0x121416u, t.frame = 0x1A1D20u, t.frame2 = 0x22262Au;
    t.header = 0x272A2Fu, t.hover = 0x343940u, t.lane = 0x1D2024u, t.track = 0x2C3036u;
    t.line = 0x363B42u, t.control = 0x7C8590u, t.edge = 0x858E99u;
    t.text = 0xE8EAEDu, t.text2 = 0xC3C8CFu, t.muted = 0x9CA4AEu;
    t.accent = 0xA99FFFu, t.accentBg = 0x2E2A4Du, t.onAccent = 0x15131Fu;
    t.danger = 0xFF8F85u, t.warning = 0xFFC766u;
    return t;
}

Theme makeHighContrast() {
    Theme t;
    t.kind = Theme::Kind::HighContrast;
    t.chrome = t.panel = t.canvas = t.frame = t.frame2 = t.header = t.lane = QColor(0x000000u);
    t.hover = 0x2A2A2Au, t.track = 0x3A3A3Au;
    t.line = t.control = t.edge = t.text = t.text2 = QColor(0xFFFFFFu);
    t.muted = 0xE0E0E0u;
    t.accent = 0xD7B5FFu, t.accentBg = 0x3B1F66u, t.onAccent = 0x000000u;
    t.danger = 0xFF9C94u, t.warning = 0xFFD27Au;
    return t;
}

struct DeviceColors {
    QRgb fillLight, fillDark;
    bool whiteLetterLight;
    bool whiteLetterDark;
    QRgb strokeLight, tintLight, strokeDark, tintDark;
};

/// Okabe-Ito in order; strokes and tints derived for contrast on our surfaces.
constexpr std::array<DeviceColors, 8> kDevices = {{
    {0xE69F00, 0xE69F00, false, false, 0x8F6200, 0xF5E3BA, 0xE69F00, 0x493810},
    {0x56B4E9, 0x56B4E9, false, false, 0x1B72A6, 0xCFE9F7, 0x56B4E9, 0x243E4D},
    {0x009E73, 0x009E73, false, false, 0x00735A, 0xB9E3D8, 0x0BB486, 0x0D382E},
    {0xF0E442, 0xF0E442, false, false, 0x777000, 0xF7F5CC, 0xF0E442, 0x4C4A21},
    {0x0072B2, 0x0072B2, true, true, 0x005A8C, 0xB9D7E9, 0x3D9BDD, 0x0D2C3F},
    {0xD55E00, 0xD55E00, false, false, 0xA34700, 0xF0D2BA, 0xE8742A, 0x452710},
    {0xCC79A7, 0xCC79A7, false, false, 0x97487A, 0xEED9E6, 0xCC79A7, 0x422E3C},
    {0x000000, 0xD0D3D8, true, false, 0x000000, 0xD2D3D4, 0xD0D3D8, 0x434648},
}};

} // namespace

const Theme& Theme::light() {
    static const Theme theme = makeLight();
    return theme;
}

const Theme& Theme::dark() {
    static const Theme theme = makeDark();
    return theme;
}

const Theme& Theme::highContrast() {
    static const Theme theme = makeHighContrast();
    return theme;
}

const Theme& Theme::of(Kind kind) {
    switch (kind) {
    case Kind::Light: return light();
    case Kind::Dark: return dark();
    case Kind::HighContrast: return highContrast();
    }
    return light();
}

QPalette Theme::palette() const {
    QPalette p;
    p.setColor(QPalette::Window, chrome);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, panel);
    p.setColor(QPalette::AlternateBase, lane);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::PlaceholderText, muted);
    p.setColor(QPalette::Button, chrome);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::ToolTipBase, panel);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::Highlight, accentBg);
    p.setColor(QPalette::HighlightedText, text);
    p.setColor(QPalette::Link, accent);
    p.setColor(QPalette::BrightText, danger);
    p.setColor(QPalette::Light, panel);
    p.setColor(QPalette::Midlight, hover);
    p.setColor(QPalette::Mid, line);
    p.setColor(QPalette::Dark, control);
    p.setColor(QPalette::Shadow, control);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, muted);
    return p;
}

DeviceStyle deviceStyle(DeviceId device, const Theme& theme) {
    const std::size_t index = device.isValid() ? device.index() : 0;
    const DeviceColors& colors = kDevices[index % kDevices.size()];
    const bool dark = theme.isDark();
    DeviceStyle style;
    style.fill = QColor(dark ? colors.fillDark : colors.fillLight);
    style.letterColor = QColor((dark ? colors.whiteLetterDark : colors.whiteLetterLight) ? 0xFFFFFF : 0x000000);
    style.stroke = QColor(dark ? colors.strokeDark : colors.strokeLight);
    style.tint = QColor(dark ? colors.tintDark : colors.tintLight);
    style.hatch = static_cast<int>(index / kDevices.size() % 3);
    style.letter = QString::fromStdString(deviceLetter(DeviceId(index)));
    return style;
}

RunStyle runStyle(int index, const Theme& theme) {
    static constexpr std::array<std::pair<QRgb, QRgb>, 5> kColors = {{
        {0x5B3FA8, 0xBFA8FF}, {0x0F766E, 0x6FD6C9}, {0xA3324A, 0xFF9FB0}, {0x6B5B00, 0xDCCB6A}, {0x44546A, 0xB4C0CF}}};
    static const std::array<QList<qreal>, 5> kDashes = {{{}, {7, 3}, {2, 3}, {9, 3, 2, 3}, {5, 4}}};
    const int count = static_cast<int>(kColors.size());
    const auto color = kColors[static_cast<std::size_t>(index % count)];
    // After one round the colours repeat with the next dash and marker.
    const int style = (index + index / count) % count;
    return {QColor(theme.isDark() ? color.second : color.first), kDashes[static_cast<std::size_t>(style)], style};
}

double luminance(const QColor& color) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

QColor textOn(const QColor& background) {
    // At 0.179 black and white have the same contrast, 4.58:1.
    return luminance(background) > 0.179 ? QColor(Qt::black) : QColor(Qt::white);
}

QColor heatColor(double place, const Theme& theme) {
    static constexpr std::array<QRgb, 6> kLight = {0xE6F2EC, 0xB3DCCF, 0x6CBBBF, 0x3A8BB5, 0x2C599B, 0x1B2768};
    static constexpr std::array<QRgb, 6> kDark = {0x1B2633, 0x224A63, 0x2B7386, 0x4CA397, 0x9FCC8E, 0xF6F1AA};
    static constexpr std::array<QRgb, 6> kHighContrast = {0x14202C, 0x1F4C68, 0x27798E, 0x4BAEA0, 0xA8DC98, 0xFFFFD0};
    const auto& stops = theme.kind == Theme::Kind::Light ? kLight : theme.kind == Theme::Kind::Dark ? kDark : kHighContrast;
    const double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    const double share = at - static_cast<double>(below);
    const QColor a(stops[below]);
    const QColor b(stops[below + 1]);
    const auto mix = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QBrush deviceBrush(const DeviceStyle& style, bool tinted) {
    const QColor base = tinted ? style.tint : style.fill;
    if (style.hatch == 0)
        return base;
    QPixmap tile(6, 6);
    tile.fill(base);
    QPainter painter(&tile);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor line = style.letterColor;
    line.setAlphaF(0.45F);
    painter.setPen(QPen(line, 1.5));
    for (const int shift : {-6, 0, 6}) {
        if (style.hatch == 1)
            painter.drawLine(shift, 6, shift + 6, 0);
        else
            painter.drawLine(shift, 0, shift + 6, 6);
    }
    return QBrush(tile);
}

void paintDeviceChip(QPainter& painter, const QRectF& rect, DeviceId device, const Theme& theme, bool withLetter) {
    painter.save();
    if (!device.isValid()) {
        painter.setBrush(theme.panel);
        painter.setPen(QPen(theme.control, 1, Qt::DashLine));
        painter.drawRect(rect);
        if (withLetter) {
            painter.setPen(theme.text);
            painter.drawText(rect, Qt::AlignCenter, QStringLiteral("?"));
        }
        painter.restore();
        return;
    }
    const DeviceStyle style = deviceStyle(device, theme);
    painter.setBrush(deviceBrush(style, false));
    painter.setPen(QPen(style.stroke, 1));
    painter.drawRoundedRect(rect, 3, 3);
    if (style.hatch == 2)
        painter.drawRoundedRect(rect.adjusted(2, 2, -2, -2), 2, 2);
    if (withLetter) {
        QFont font = painter.font();
        font.setPixelSize(11);
        font.setBold(true);
        painter.setFont(font);
        if (style.hatch != 0) { // the letter stands on a plain patch, never on the hatch
            const QRectF patch(rect.center().x() - 5, rect.center().y() - 6, 10, 12);
            painter.fillRect(patch.intersected(rect), style.fill);
        }
        painter.setPen(style.letterColor);
        painter.drawText(rect, Qt::AlignCenter, style.letter);
    }
    painter.restore();
}

} // namespace pw::viz
