#pragma once

#include "ui/services.h"

#include <QDialog>

namespace pw::ui {

/// Version, licence, and what computes on this machine (measured on a job when the box opens).
class AboutDialog : public QDialog {
    Q_OBJECT

public:
    AboutDialog(const AppServices& services, QWidget* parent);
};

} // namespace pw::ui
