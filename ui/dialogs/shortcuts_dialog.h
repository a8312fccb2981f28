#pragma once

#include <QDialog>

#include <utility>
#include <vector>

namespace pw::ui {

/// All keys and mouse gestures, in one list.
class ShortcutsDialog : public QDialog {
    Q_OBJECT

public:
    ShortcutsDialog(const std::vector<std::pair<QString, QString>>& shortcuts, QWidget* parent);
};

} // namespace pw::ui
