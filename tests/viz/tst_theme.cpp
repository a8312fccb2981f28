// Colours and glyphs: contrast is computed, every glyph is there, takes the theme's colour and stays sharp.

#include "tests/viz/screenshots.h"
#include "viz/theme/icon.h"
#include "viz/theme/theme.h"

#include <QImage>
#include <QPainter>
#include <QtTest>

#include <cmath>

using namespace pw;
using namespace pw::viz;

namespace {

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

/// WCAG 2 contrast ratio of two opaque colours.
double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& c) {
        return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
    };
    const double la = luminance(a);
    const double lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

const std::array<const Theme*, 3> kThemes = {&Theme::light(), &Theme::dark(), &Theme::highContrast()};

QImage rendered(const QIcon& icon, int side, qreal ratio, QIcon::Mode mode, QIcon::State state = QIcon::Off) {
    return icon.pixmap(QSize(side, side), ratio, mode, state).toImage().convertToFormat(QImage::Format_ARGB32);
}

/// Colour of the pixel with the highest coverage.
QColor strongestPixel(const QImage& image) {
    QColor best(0, 0, 0, 0);
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            if (const QColor c = image.pixelColor(x, y); c.alpha() > best.alpha())
                best = c;
        }
    }
    return best;
}

bool nearColor(const QColor& a, const QColor& b) {
    return std::abs(a.red() - b.red()) <= 2 && std::abs(a.green() - b.green()) <= 2 &&
           std::abs(a.blue() - b.blue()) <= 2;
}

} // namespace

class TestTheme : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theHeatScaleReadsInGrey() {
        for (const Theme* theme : kThemes) {
            constexpr int kSteps = 64;
            double before = luminance(heatColor(0.0, *theme));
            const bool rises = theme->isDark();
            for (int i = 1; i <= kSteps; ++i) {
                const double now = luminance(heatColor(static_cast<double>(i) / kSteps, *theme));
                QVERIFY2(rises ? now > before : now < before, qPrintable(QStringLiteral("%1 at step %2").arg(test::themeName(*theme)).arg(i)));
                before = now;
            }
            // The ends differ as text from its ground does, and what is dear stands out from the canvas most.
            QVERIFY(contrast(heatColor(0.0, *theme), heatColor(1.0, *theme)) > 7.0);
            QVERIFY(contrast(heatColor(1.0, *theme), theme->canvas) > contrast(heatColor(0.0, *theme), theme->canvas));
        }
    }

    void textReadsOnEveryStepOfTheScale() {
        for (const Theme* theme : kThemes) {
            for (int i = 0; i <= 100; ++i) {
                const QColor ground = heatColor(i / 100.0, *theme);
                QVERIFY(contrast(textOn(ground), ground) >= 4.5);
            }
        }
    }

    void textIsReadableOnEverySurface() {
        for (const Theme* t : kThemes) {
            for (const QColor& surface :
                 {t->chrome, t->panel, t->canvas, t->frame, t->frame2, t->header, t->hover, t->lane}) {
                for (const QColor& ink : {t->text, t->text2, t->muted, t->accent, t->danger, t->warning})
                    QVERIFY2(contrast(ink, surface) >= 4.5, qPrintable(ink.name() + " on " + surface.name()));
                for (const QColor& ink : {t->control, t->edge})
                    QVERIFY2(contrast(ink, surface) >= 3.0, qPrintable(ink.name() + " on " + surface.name()));
            }
            QVERIFY(contrast(t->onAccent, t->accent) >= 4.5);
            QVERIFY(contrast(t->text, t->accentBg) >= 4.5);
        }
    }

    void deviceStrokesAndLettersAreReadable() {
        for (const Theme* t : kThemes) {
            for (std::size_t i = 0; i < 8; ++i) {
                const DeviceStyle style = deviceStyle(DeviceId(i), *t);
                QVERIFY2(contrast(style.stroke, t->lane) >= 3.0, qPrintable(style.letter));
                QVERIFY2(contrast(style.letterColor, style.fill) >= 4.5, qPrintable(style.letter));
                QVERIFY2(contrast(t->text, style.tint) >= 4.5, qPrintable(style.letter));
            }
        }
    }

    void devicesBeyondEightAreHatchedAndLettered() {
        const Theme& t = Theme::light();
        QCOMPARE(deviceStyle(DeviceId(8), t).letter, QStringLiteral("I"));
        QCOMPARE(deviceStyle(DeviceId(8), t).hatch, 1);
        QCOMPARE(deviceStyle(DeviceId(16), t).hatch, 2);
        QCOMPARE(deviceStyle(DeviceId(26), t).letter, QStringLiteral("AA"));
        QVERIFY(deviceBrush(deviceStyle(DeviceId(8), t), false).style() == Qt::TexturePattern);
    }

    void everyGlyphTakesTheThemeColor() {
        QVERIFY(iconNames().size() >= 58);
        for (const Theme* t : kThemes) {
            for (const QString& name : iconNames()) {
                const QIcon glyph = icon(name, *t);
                QVERIFY2(!glyph.isNull(), qPrintable(name));
                QVERIFY2(nearColor(strongestPixel(rendered(glyph, 16, 2, QIcon::Normal)), t->text), qPrintable(name));
                QVERIFY2(nearColor(strongestPixel(rendered(glyph, 16, 2, QIcon::Disabled)), t->muted),
                         qPrintable(name));
            }
        }
    }

    void checkedToneIsUsedWhenOn() {
        const Theme& t = Theme::light();
        const QIcon glyph = icon(QStringLiteral("graph"), t, IconTone::Text, IconTone::OnAccent);
        QVERIFY(nearColor(strongestPixel(rendered(glyph, 16, 2, QIcon::Normal, QIcon::On)), t.onAccent));
        QVERIFY(nearColor(strongestPixel(rendered(glyph, 16, 2, QIcon::Normal, QIcon::Off)), t.text));
    }

    void glyphsAreRenderedAtTheDeviceResolution() {
        const QIcon glyph = icon(QStringLiteral("warning"), Theme::dark());
        for (const qreal ratio : {1.0, 1.5, 2.0, 3.0}) {
            const QPixmap pixmap = glyph.pixmap(QSize(16, 16), ratio);
            QCOMPARE(pixmap.width(), qRound(16 * ratio));
            QCOMPARE(pixmap.devicePixelRatio(), ratio);
        }
    }

    void unknownGlyphIsNull() { QVERIFY(icon(QStringLiteral("no-such-glyph"), Theme::light()).isNull()); }
    void applicationMarkIsThere() { QVERIFY(appIcon().availableSizes().size() >= 6); }

    void contactSheet() {
        for (const Theme* t : kThemes) {
            const QStringList names = iconNames();
            const int columns = 10;
            const int rows = static_cast<int>((names.size() + columns - 1) / columns) + 1;
            QImage sheet(QSize(columns * 100, rows * 70) * 2, QImage::Format_ARGB32_Premultiplied);
            sheet.setDevicePixelRatio(2);
            sheet.fill(t->chrome);
            QPainter painter(&sheet);
            QFont font = painter.font();
            font.setPixelSize(11);
            painter.setFont(font);
            painter.setPen(t->muted);
            for (qsizetype i = 0; i < names.size(); ++i) {
                const QRect cell(static_cast<int>(i % columns) * 100, static_cast<int>(i / columns) * 70, 100, 70);
                icon(names[i], *t).paint(&painter, QRect(cell.x() + 20, cell.y() + 12, 16, 16));
                icon(names[i], *t).paint(&painter, QRect(cell.x() + 48, cell.y() + 8, 32, 32));
                painter.drawText(cell.adjusted(0, 46, 0, 0), Qt::AlignHCenter | Qt::AlignTop, names[i]);
            }
            const int y = (rows - 1) * 70 + 2;
            painter.drawPixmap(QRect(10, y, 64, 64), appIcon().pixmap(QSize(64, 64), 2));
            painter.drawPixmap(QRect(90, y + 10, 16, 16), appIcon().pixmap(QSize(16, 16), 2));
            for (std::size_t i = 0; i < 18; ++i)
                paintDeviceChip(painter, QRectF(130 + 24 * static_cast<double>(i), y + 10, 16, 16), DeviceId(i), *t);
            painter.end();
            QVERIFY(test::saveScreenshot(sheet, QStringLiteral("icons-%1").arg(test::themeName(*t))));
        }
    }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
