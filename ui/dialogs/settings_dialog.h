#pragma once

#include <QDialog>

namespace pw::ui {

class Settings;

/// A form made from the declarations of the settings; every change holds at once.
class SettingsDialog : public QDialog {
    Q_OBJECT

public:
    SettingsDialog(Settings* settings, QWidget* parent);
};

} // namespace pw::ui
