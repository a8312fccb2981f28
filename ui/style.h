#pragma once

#include "viz/theme/theme.h"

#include <QString>

QT_BEGIN_NAMESPACE
class QApplication;
QT_END_NAMESPACE

namespace pw::ui {

/// Fusion, the theme's palette and one style sheet made from its tokens: heights and edges of the design.
void applyStyle(QApplication& app, const viz::Theme& theme);
QString styleSheetFor(const viz::Theme& theme);
/// "system" is a guess from the desktop's palette (Qt 6.4 has no query), taken before any style is applied.
viz::Theme::Kind themeKindFor(const QString& setting);
/// Remembers whether the desktop is dark; call once before applyStyle.
void rememberDesktopPalette();

} // namespace pw::ui
