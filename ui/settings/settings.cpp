#include "ui/settings/settings.h"

#include <QSettings>

namespace pw::ui {

namespace {
constexpr int kMaxRecent = 10;
}

struct Settings::Private {
    std::unique_ptr<QSettings> store;
};

Settings::Settings(const QString& file, QObject* parent) : QObject(parent), d(std::make_unique<Private>()) {
    d->store = file.isEmpty()
                   ? std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope,
                                                 QStringLiteral("placewright"), QStringLiteral("placewright"))
                   : std::make_unique<QSettings>(file, QSettings::IniFormat);
}

Settings::~Settings() = default;

const std::vector<SettingInfo>& Settings::all() {
    static const std::vector<SettingInfo> kAll = {
        {SettingId::Theme, "look/theme", QStringLiteral("system"), QT_TR_NOOP("Theme"),
         QT_TR_NOOP("Colours of the whole window. \"Follow the desktop\" guesses from the desktop's palette."),
         {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("contrast")},
         {QT_TR_NOOP("Follow the desktop"), QT_TR_NOOP("Light"), QT_TR_NOOP("Dark"), QT_TR_NOOP("High contrast")}},
        {SettingId::ReducedMotion, "look/reduced_motion", false, QT_TR_NOOP("Reduce motion"),
         QT_TR_NOOP("Nothing glides; views change at once."), {}, {}},
        {SettingId::RestoreSession, "session/restore", true, QT_TR_NOOP("Restore the last session"),
         QT_TR_NOOP("Opens the project and graph that were open when the program was closed."), {}, {}},
        {SettingId::LastProject, "session/project", QString(), "", "", {}, {}},
        {SettingId::RecentFiles, "session/recent", QStringList(), "", "", {}, {}},
        {SettingId::WindowGeometry, "window/geometry", QByteArray(), "", "", {}, {}},
        {SettingId::WindowState, "window/state", QByteArray(), "", "", {}, {}},
        {SettingId::LayoutVersion, "window/layout_version", 0, "", "", {}, {}},
        {SettingId::ShowFacts, "window/facts", true, "", "", {}, {}},
    };
    return kAll;
}

const SettingInfo& Settings::info(SettingId id) {
    for (const auto& entry : all())
        if (entry.id == id)
            return entry;
    Q_UNREACHABLE();
}

QVariant Settings::value(SettingId id) const {
    const SettingInfo& setting = info(id);
    QVariant stored = d->store->value(QLatin1String(setting.key));
    if (!stored.isValid())
        return setting.defaultValue;
    if (!stored.convert(setting.defaultValue.metaType()))
        return setting.defaultValue;
    if (!setting.choices.isEmpty() && !setting.choices.contains(stored.toString()))
        return setting.defaultValue;
    return stored;
}

void Settings::setValue(SettingId id, const QVariant& value) {
    if (this->value(id) == value)
        return;
    d->store->setValue(QLatin1String(info(id).key), value);
    Q_EMIT changed(id);
}

void Settings::reset(SettingId id) {
    d->store->remove(QLatin1String(info(id).key));
    Q_EMIT changed(id);
}

QStringList Settings::unknownKeys() const {
    QStringList unknown = d->store->allKeys();
    for (const auto& entry : all())
        unknown.removeAll(QLatin1String(entry.key));
    return unknown;
}

void Settings::sync() {
    d->store->sync();
}

void Settings::addRecentFile(const QString& path) {
    QStringList files = recentFiles();
    files.removeAll(path);
    files.prepend(path);
    setValue(SettingId::RecentFiles, QStringList(files.mid(0, kMaxRecent)));
}

} // namespace pw::ui
