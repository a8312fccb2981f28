#include "viz/theme/icon.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QSvgRenderer>

#include <algorithm>
#include <memory>

// Q_INIT_RESOURCE declares a function, which a namespace would hide. Without the call the linker drops the resource,
// because nothing else of a static library refers to it.
static void initIconResource() {
    Q_INIT_RESOURCE(icons);
}

namespace pw::viz {

namespace {

const QString kAppIconName = QStringLiteral("placewright");

QString iconPath(const QString& name) {
    initIconResource();
    return QStringLiteral(":/icons/%1.svg").arg(name);
}

/// The files are drawn in black; the colour is put in before parsing, because QSvgRenderer has no currentColor.
QByteArray coloredSvg(const QString& name, const QColor& color) {
    QFile file(iconPath(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return file.readAll().replace("stroke=\"#000000\"", "stroke=\"" + color.name().toLatin1() + "\"");
}

/// Parsed glyphs by name and colour: views draw the same few again and again.
QSvgRenderer* rendererFor(const QString& name, const QColor& color) {
    static QHash<QString, std::shared_ptr<QSvgRenderer>> cache;
    const QString key = name + color.name();
    auto found = cache.find(key);
    if (found == cache.end())
        found = cache.insert(key, std::make_shared<QSvgRenderer>(coloredSvg(name, color)));
    return found->get();
}

void renderCentered(QSvgRenderer* renderer, QPainter& painter, const QRectF& rect) {
    const qreal side = std::min(rect.width(), rect.height());
    renderer->render(&painter, QRectF(rect.center().x() - side / 2, rect.center().y() - side / 2, side, side));
}

QColor toneColor(IconTone tone, const Theme& theme) {
    switch (tone) {
    case IconTone::Text:
        return theme.text;
    case IconTone::Muted:
        return theme.muted;
    case IconTone::Accent:
        return theme.accent;
    case IconTone::OnAccent:
        return theme.onAccent;
    case IconTone::Danger:
        return theme.danger;
    case IconTone::Warning:
        return theme.warning;
    }
    return theme.text;
}

/// Renders the vector at the size asked for, so that no pixmap is ever scaled.
class GlyphEngine : public QIconEngine {
public:
    struct Colors {
        QColor off, on, disabled;
    };

    GlyphEngine(QString name, Colors colors)
        : m_name(std::move(name))
        , m_colors(std::move(colors)) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        const QColor& color = mode == QIcon::Disabled ? m_colors.disabled
                              : state == QIcon::On    ? m_colors.on
                                                      : m_colors.off;
        renderCentered(rendererFor(m_name, color), *painter, QRectF(rect));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return pixmap;
    }

    /// `size` is in device pixels already (Qt 6.4 passes it multiplied by the scale).
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override {
        return pixmap(size, mode, state);
    }

    QSize actualSize(const QSize& size, QIcon::Mode, QIcon::State) override { return size; }
    QIconEngine* clone() const override { return new GlyphEngine(m_name, m_colors); } // QIcon takes ownership
    QString key() const override { return QStringLiteral("placewright-glyph"); }
    QString iconName() override { return m_name; }
    bool isNull() override { return false; }

private:
    QString m_name;
    Colors m_colors;
};

} // namespace

QIcon icon(const QString& name, const Theme& theme, IconTone tone) {
    return icon(name, theme, tone, tone);
}

QIcon icon(const QString& name, const Theme& theme, IconTone tone, IconTone toneWhenOn) {
    if (!QFile::exists(iconPath(name)))
        return {};
    return QIcon(new GlyphEngine(name, {toneColor(tone, theme), toneColor(toneWhenOn, theme), theme.muted}));
}

QIcon appIcon() {
    QIcon result;
    QSvgRenderer renderer(iconPath(kAppIconName));
    for (const int side : {16, 24, 32, 48, 64, 128, 256}) {
        QPixmap pixmap(side, side);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        renderer.render(&painter);
        result.addPixmap(pixmap);
    }
    return result;
}

void paintIcon(QPainter& painter, const QRectF& rect, const QString& name, const QColor& color) {
    renderCentered(rendererFor(name, color), painter, rect);
}

QStringList iconNames() {
    initIconResource();
    QStringList names;
    for (const QString& file :
         QDir(QStringLiteral(":/icons")).entryList({QStringLiteral("*.svg")}, QDir::Files, QDir::Name)) {
        const QString name = file.chopped(4);
        if (name != kAppIconName)
            names.push_back(name);
    }
    return names;
}

} // namespace pw::viz
