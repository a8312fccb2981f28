#pragma once

#include "viz/theme/theme.h"

#include <QWidget>

#include <map>

QT_BEGIN_NAMESPACE
class QLabel;
class QVBoxLayout;
QT_END_NAMESPACE

namespace pw::ui {

class JobList;
struct JobEntry;

/// The jobs of this session: progress, rate, time left, best so far; Stop keeps the best, Abort drops it.
class JobsPanel : public QWidget {
    Q_OBJECT

public:
    explicit JobsPanel(JobList* jobs, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);

private:
    class Row;
    void rebuild();

    JobList* m_jobs;
    QVBoxLayout* m_rows;
    QLabel* m_empty;
    std::map<int, Row*> m_widgets;
    viz::Theme m_theme = viz::Theme::light();
};

/// "1.4 episodes/s · 3 min 43 s so far · about 6 min left · best 3,458.3 ms"
QString jobProgressText(const JobEntry& job);

} // namespace pw::ui
