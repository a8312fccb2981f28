#pragma once

#include <QObject>
#include <QStringList>
#include <QVariant>

#include <memory>
#include <vector>

namespace pw::ui {

/// One declaration per setting: load, save, reset and the settings dialog follow from the table in settings.cpp.
enum class SettingId {
    Theme,         ///< "system", "light", "dark", "contrast"
    ReducedMotion, ///< bool
    RestoreSession,
    LastProject,
    RecentFiles,
    WindowGeometry,
    WindowState,
    LayoutVersion,
    ShowFacts, ///< bool: the row above the picture
};

struct SettingInfo {
    SettingId id;
    const char* key;
    QVariant defaultValue;
    const char* label; ///< empty = not in the dialog
    const char* help;
    QStringList choices; ///< allowed values of a text setting; empty = free
    QStringList choiceLabels;
};

/// What the window remembers between sessions. The only user of QSettings. GUI thread only.
class Settings : public QObject {
    Q_OBJECT

public:
    /// `file` empty = the user's own settings.
    explicit Settings(const QString& file = {}, QObject* parent = nullptr);
    ~Settings() override;

    static const std::vector<SettingInfo>& all();
    static const SettingInfo& info(SettingId id);

    /// The stored value if it is of the right type and among the choices, else the default.
    QVariant value(SettingId id) const;
    void setValue(SettingId id, const QVariant& value);
    void reset(SettingId id);
    /// Keys in the file that no declaration knows.
    QStringList unknownKeys() const;
    void sync();

    void addRecentFile(const QString& path); ///< newest first, at most ten
    QStringList recentFiles() const { return value(SettingId::RecentFiles).toStringList(); }

Q_SIGNALS:
    void changed(pw::ui::SettingId id);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace pw::ui
