#include "ui/docks/jobs_panel.h"

#include "ui/job_list.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>

#include <cmath>

namespace pw::ui {

QString jobProgressText(const JobEntry& job) {
    QStringList parts;
    const Progress& progress = job.progress;
    if (job.stopping)
        parts.append(QObject::tr("stopping…"));
    else
        parts.append(words::stageTitle(progress.stage));
    if (progress.rate > 0)
        parts.append(QObject::tr("%1 %2s/s").arg(words::fixed(progress.rate, progress.rate < 10 ? 1 : 0),
                                                 words::fromUtf8(progress.unit.empty() ? "step" : progress.unit)));
    parts.append(QObject::tr("%1 so far").arg(words::duration(static_cast<double>(job.started.elapsed() / 1000))));
    if (progress.etaSeconds >= 0)
        parts.append(QObject::tr("about %1 left").arg(words::duration(std::round(progress.etaSeconds))));
    if (progress.bestStepTimeUs >= 0)
        parts.append(QObject::tr("best %1 ms").arg(words::milliseconds(progress.bestStepTimeUs)));
    return parts.join(QStringLiteral("  ·  "));
}

/// One job: title, bar, figures, verbs.
class JobsPanel::Row : public QFrame {
public:
    Row(JobList* jobs, int id, QWidget* parent) : QFrame(parent), m_jobs(jobs), m_id(id) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(8, 4, 8, 6);
        column->setSpacing(3);
        auto* top = new QHBoxLayout;
        top->setSpacing(6);
        m_icon = new QLabel(this);
        m_title = new QLabel(this);
        m_title->setMinimumWidth(40);
        m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        m_stop = button(tr("Stop"), tr("Finish the current step and keep the best"));
        m_abort = button(tr("Abort"), tr("Drop the results"));
        m_remove = button(tr("Remove"), tr("Take it off this list"));
        top->addWidget(m_icon);
        top->addWidget(m_title, 1);
        top->addWidget(m_stop);
        top->addWidget(m_abort);
        top->addWidget(m_remove);
        m_bar = new QProgressBar(this);
        m_bar->setTextVisible(false);
        m_text = new QLabel(this);
        m_text->setProperty("role", "secondary");
        m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        column->addLayout(top);
        column->addWidget(m_bar);
        column->addWidget(m_text);
        QObject::connect(m_stop, &QPushButton::clicked, jobs, [jobs, id] { jobs->requestStop(id); });
        QObject::connect(m_abort, &QPushButton::clicked, jobs, [jobs, id] { jobs->abort(id); });
        QObject::connect(m_remove, &QPushButton::clicked, jobs, [jobs, id] { jobs->remove(id); });
    }

    void refresh(const viz::Theme& theme) {
        const JobEntry* job = m_jobs->find(m_id);
        if (!job)
            return;
        m_title->setText(QStringLiteral("<b>%1</b>").arg(job->title.toHtmlEscaped()));
        m_stop->setVisible(job->running && job->canKeep);
        m_abort->setVisible(job->running);
        m_remove->setVisible(!job->running);
        m_stop->setEnabled(!job->stopping);
        m_bar->setVisible(job->running);
        m_bar->setMaximum(job->progress.fraction < 0 ? 0 : 1000);
        m_bar->setValue(static_cast<int>(job->progress.fraction * 1000));
        m_text->setText(job->running ? jobProgressText(*job) : endText(*job));
        m_stop->setIcon(viz::icon(QStringLiteral("stop"), theme));
        m_abort->setIcon(viz::icon(QStringLiteral("abort"), theme));
        const bool failed = !job->running && job->outcome == JobOutcome::Failed;
        const QString icon = job->running ? job->icon : failed ? QStringLiteral("warning") : QStringLiteral("valid");
        m_icon->setPixmap(viz::icon(icon, theme, failed ? viz::IconTone::Danger : viz::IconTone::Text).pixmap(14, 14));
    }

private:
    QPushButton* button(const QString& text, const QString& tip) {
        auto* made = new QPushButton(text, this);
        made->setProperty("small", true);
        made->setToolTip(tip);
        return made;
    }
    static QString endText(const JobEntry& job) {
        QString verb;
        switch (job.outcome) {
        case JobOutcome::Succeeded: verb = tr("done"); break;
        case JobOutcome::Stopped: verb = tr("stopped"); break;
        case JobOutcome::Failed: verb = tr("failed"); break;
        case JobOutcome::Aborted: verb = tr("aborted"); break;
        }
        QString text = tr("%1 after %2").arg(verb, words::duration(job.seconds));
        return job.note.isEmpty() ? text : text + QStringLiteral("  ·  ") + job.note;
    }

    JobList* m_jobs;
    int m_id;
    QLabel* m_icon;
    QLabel* m_title;
    QLabel* m_text;
    QProgressBar* m_bar;
    QPushButton* m_stop;
    QPushButton* m_abort;
    QPushButton* m_remove;
};

JobsPanel::JobsPanel(JobList* jobs, QWidget* parent) : QWidget(parent), m_jobs(jobs) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(area);
    page->setProperty("surface", "panel");
    page->setAttribute(Qt::WA_StyledBackground);
    m_rows = new QVBoxLayout(page);
    m_rows->setContentsMargins(0, 4, 0, 4);
    m_rows->setSpacing(0);
    m_empty = new QLabel(tr("No job yet. Place ▸ METIS or Train… starts one; it runs in the background."), page);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setProperty("role", "secondary");
    m_rows->addWidget(m_empty, 1);
    m_rows->addStretch(0);
    area->setWidget(page);
    outer->addWidget(area);
    connect(jobs, &JobList::listChanged, this, &JobsPanel::rebuild);
    connect(jobs, &JobList::progressed, this, [this](int id) {
        const auto found = m_widgets.find(id);
        if (found != m_widgets.end())
            found->second->refresh(m_theme);
    });
}

void JobsPanel::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    for (const auto& [id, row] : m_widgets)
        row->refresh(theme);
}

void JobsPanel::rebuild() {
    for (auto it = m_widgets.begin(); it != m_widgets.end();) {
        if (m_jobs->find(it->first)) {
            ++it;
            continue;
        }
        it->second->hide();
        it->second->deleteLater(); // why later: its own Remove button may be what led here
        it = m_widgets.erase(it);
    }
    for (const auto& job : m_jobs->entries()) {
        Row*& row = m_widgets[job.id];
        if (!row) {
            row = new Row(m_jobs, job.id, this);
            m_rows->insertWidget(0, row); // newest first
        }
        row->refresh(m_theme);
    }
    m_empty->setVisible(m_widgets.empty());
    m_rows->setStretch(m_rows->count() - 1, m_widgets.empty() ? 0 : 1);
}

} // namespace pw::ui
