#include "ui/views/opening_bar.h"

#include "ui/words.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>

namespace pw::ui {

namespace {
constexpr int kPatienceMs = 150; ///< what is open by then needs no line that comes and goes
constexpr int kBarWidth = 180;
constexpr int kNameWidth = 360;
constexpr int kSteps = 1000;
} // namespace

OpeningBar::OpeningBar(QWidget* parent) : QWidget(parent), m_rows(new QVBoxLayout(this)) {
    setObjectName(QStringLiteral("openingBar"));
    setProperty("surface", "panel");
    setAttribute(Qt::WA_StyledBackground);
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(0);
    hide();
}

void OpeningBar::add(JobHandle* job, const QString& name) {
    auto* row = new QWidget(this);
    row->setProperty("openedName", name);
    auto* outer = new QVBoxLayout(row);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    auto* line = new QHBoxLayout;
    line->setContentsMargins(12, 4, 8, 4);
    line->setSpacing(8);
    auto* title = new QLabel(row);
    title->setTextFormat(Qt::PlainText);
    title->setText(tr("Opening %1").arg(title->fontMetrics().elidedText(name, Qt::ElideMiddle, kNameWidth)));
    title->setToolTip(name);
    auto* bar = new QProgressBar(row);
    bar->setRange(0, 0); // busy until the format says how far it is
    bar->setTextVisible(false);
    bar->setFixedWidth(kBarWidth);
    bar->setAccessibleName(tr("Opening %1").arg(name));
    auto* share = new QLabel(row);
    share->setProperty("role", "muted");
    share->setMinimumWidth(share->fontMetrics().horizontalAdvance(QStringLiteral("100 %")));
    auto* cancel = new QPushButton(tr("Cancel"), row);
    cancel->setProperty("small", true);
    cancel->setObjectName(QStringLiteral("cancelOpening"));
    cancel->setToolTip(tr("Stop opening %1; what is on screen stays").arg(name));
    line->addWidget(title);
    line->addWidget(bar);
    line->addWidget(share);
    line->addStretch(1);
    line->addWidget(cancel);
    auto* rule = new QFrame(row);
    rule->setProperty("role", "line");
    rule->setFixedHeight(1);
    outer->addLayout(line);
    outer->addWidget(rule);
    m_rows->addWidget(row);
    row->hide();
    QTimer::singleShot(kPatienceMs, row, [this, row] {
        row->show();
        show();
    });
    connect(job, &JobHandle::progressed, row, [bar, share](const Progress& progress) {
        const bool known = progress.fraction >= 0.0;
        bar->setRange(0, known ? kSteps : 0);
        if (known)
            bar->setValue(static_cast<int>(progress.fraction * kSteps));
        share->setText(known ? tr("%1 %").arg(words::fixed(progress.fraction * 100.0, 0)) : QString());
    });
    connect(job, &JobHandle::finished, row, [this, row] { remove(row); });
    connect(cancel, &QPushButton::clicked, row, [this, row, job = QPointer<JobHandle>(job)] {
        if (job)
            job->abort();
        remove(row); // why at once: an importer may need a moment to notice, nobody has to watch that
    });
}

void OpeningBar::remove(QWidget* row) {
    m_rows->removeWidget(row);
    row->hide();
    row->disconnect();
    row->deleteLater();
    setVisible(!names().isEmpty());
}

QStringList OpeningBar::names() const {
    QStringList list;
    for (int i = 0; i < m_rows->count(); ++i)
        if (const QWidget* row = m_rows->itemAt(i)->widget(); row && !row->isHidden())
            list.append(row->property("openedName").toString());
    return list;
}

} // namespace pw::ui
