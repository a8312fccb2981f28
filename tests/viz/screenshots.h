#pragma once

#include "viz/theme/theme.h"

#include <QDir>
#include <QImage>
#include <QString>

namespace pw::test {

/// Pictures for people to look at go to $PW_SCREENSHOTS, else to a folder under the temporary one.
inline bool saveScreenshot(const QImage& image, const QString& name) {
    QString folder = qEnvironmentVariable("PW_SCREENSHOTS");
    if (folder.isEmpty())
        folder = QDir::tempPath() + QStringLiteral("/placewright-screenshots");
    return QDir().mkpath(folder) && image.save(QStringLiteral("%1/%2.png").arg(folder, name));
}

inline QString themeName(const viz::Theme& theme) {
    switch (theme.kind) {
    case viz::Theme::Kind::Light:
        return QStringLiteral("light");
    case viz::Theme::Kind::Dark:
        return QStringLiteral("dark");
    case viz::Theme::Kind::HighContrast:
        return QStringLiteral("high-contrast");
    }
    return {};
}

} // namespace pw::test
