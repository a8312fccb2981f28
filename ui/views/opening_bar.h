#pragma once

#include "ui/job_handle.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QVBoxLayout;
QT_END_NAMESPACE

namespace pw::ui {

/// A line for everything that is being opened: name, how far, Cancel. Part of the window, never over it; a file that opens
/// at once never shows up here.
class OpeningBar : public QWidget {
    Q_OBJECT

public:
    explicit OpeningBar(QWidget* parent = nullptr);
    void add(JobHandle* job, const QString& name);
    QStringList names() const; ///< of the lines, oldest first

private:
    void remove(QWidget* row);

    QVBoxLayout* m_rows;
};

} // namespace pw::ui
