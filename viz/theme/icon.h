#pragma once

#include "viz/theme/theme.h"

#include <QIcon>
#include <QStringList>

QT_BEGIN_NAMESPACE
class QRectF;
QT_END_NAMESPACE

namespace pw::viz {

/// Which token of the theme a glyph is drawn in.
enum class IconTone { Text, Muted, Accent, OnAccent, Danger, Warning };

/// The glyph `name` ("open", "critical-path": file names of resources/icons) in the colours of `theme`, sharp at every
/// size and pixel ratio. Disabled icons are muted; `toneWhenOn` is used while a checkable action or button is checked.
/// An unknown name gives a null icon. GUI thread only.
QIcon icon(const QString& name, const Theme& theme, IconTone tone = IconTone::Text);
QIcon icon(const QString& name, const Theme& theme, IconTone tone, IconTone toneWhenOn);

/// The mark of the program, the same in every theme.
QIcon appIcon();

/// Draws one glyph into `rect` (kept square, centred), for views that paint themselves.
void paintIcon(QPainter& painter, const QRectF& rect, const QString& name, const QColor& color);

/// Every glyph there is, sorted, without the application's mark.
QStringList iconNames();

} // namespace pw::viz
