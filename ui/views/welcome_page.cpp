#include "ui/views/welcome_page.h"

#include "core/zoo/zoo.h"
#include "ui/async.h"
#include "ui/project.h"
#include "ui/settings/settings.h"
#include "ui/views/sample_card.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>

#include <thread>

namespace pw::ui {

namespace {

struct Sample {
    const char* title;
    const char* spec;
    const char* devices;
    int deviceCount;
};
constexpr Sample kSamples[] = {
    {"Inception-v3", "zoo:inception_v3", "2xK80", 2},
    {"RNNLM, 2 layers", "zoo:rnnlm", "2xK80", 2},
};

QLabel* label(const QString& text, const char* role, QWidget* parent) {
    auto* made = new QLabel(text, parent);
    made->setProperty("role", role);
    made->setWordWrap(true);
    return made;
}

void clearLayout(QLayout* layout) {
    while (QLayoutItem* item = layout->takeAt(0)) {
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        } else if (QLayout* inner = item->layout()) {
            clearLayout(inner);
        }
        delete item;
    }
}

} // namespace

/// A dashed area that says what may be dropped; the whole window takes drops.
class WelcomePage::DropArea : public QWidget {
public:
    using QWidget::QWidget;
    viz::Theme theme = viz::Theme::light();

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(theme.panel);
        painter.setPen(QPen(theme.control, 1, Qt::DashLine));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
        viz::paintIcon(painter, QRectF(width() / 2.0 - 13, 22, 26, 26), QStringLiteral("import"), theme.accent);
        QFont bold = font();
        bold.setPixelSize(13);
        bold.setBold(true);
        painter.setFont(bold);
        painter.setPen(theme.text);
        painter.drawText(QRect(0, 56, width(), 20), Qt::AlignCenter, tr("Drop files here"));
        painter.setFont(font());
        painter.setPen(theme.text2);
        painter.drawText(QRect(8, 78, width() - 16, 58), Qt::AlignHCenter,
                         tr("Graphs, placements, profiles, device sets,\npolicies and projects: known by content"));
    }
};

WelcomePage::WelcomePage(Settings* settings, Project* project, QWidget* parent)
    : QWidget(parent), m_settings(settings), m_project(project) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* area = new QScrollArea(this);
    area->setWidgetResizable(true);
    auto* page = new QWidget(area);
    page->setProperty("surface", "canvas");
    page->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(page);
    row->setContentsMargins(48, 40, 48, 24);
    row->setSpacing(48);
    row->addStretch(1);
    row->addWidget(makeStart(), 0, Qt::AlignTop);
    row->addWidget(makeSamples(), 0, Qt::AlignTop);
    row->addWidget(makeRight(), 0, Qt::AlignTop);
    row->addStretch(1);
    area->setWidget(page);
    outer->addWidget(area);
    connect(project, &Project::runsChanged, this, &WelcomePage::refreshInterrupted);
    refresh();
}

QWidget* WelcomePage::makeStart() {
    auto* box = new QWidget(this);
    box->setFixedWidth(344);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(label(tr("Placewright"), "page", box));
    column->addWidget(label(tr("Decide which device runs each op of a neural network, and see what it costs."), "secondary", box));
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(0, 8, 0, 8);
    auto* open = new QPushButton(tr("Open…"), box);
    open->setObjectName(QStringLiteral("welcomeOpen"));
    open->setProperty("primary", true);
    open->setMinimumSize(76, 30);
    auto* generate = new QPushButton(tr("New from zoo…"), box);
    generate->setObjectName(QStringLiteral("welcomeZoo"));
    generate->setMinimumHeight(30);
    auto* fresh = new QPushButton(tr("New project…"), box);
    fresh->setMinimumHeight(30);
    buttons->addWidget(open);
    buttons->addWidget(generate);
    buttons->addWidget(fresh);
    buttons->addStretch(1);
    column->addLayout(buttons);
    m_drop = new DropArea(box);
    m_drop->setFixedHeight(140);
    column->addWidget(m_drop);
    column->addSpacing(12);
    column->addWidget(label(tr("Five minutes to a first result"), "title", box));
    const std::pair<QString, QString> steps[] = {
        {tr("Open a sample"), tr("Inception-v3 comes with two K80s")},
        {tr("Place ▸ METIS"), tr("a baseline, in under a second")},
        {tr("Train…, quick"), tr("Placeto, in the background; the graph follows the best")},
        {tr("Compare"), tr("the two side by side, op by op")},
    };
    int number = 1;
    for (const auto& [title, text] : steps) {
        column->addWidget(label(QStringLiteral("%1   <b>%2</b>").arg(number++).arg(title.toHtmlEscaped()), "", box));
        auto* detail = label(text, "muted", box);
        detail->setContentsMargins(18, 0, 0, 2);
        column->addWidget(detail);
    }
    column->addSpacing(12);
    column->addWidget(label(tr("This machine"), "title", box));
    column->addWidget(label(tr("%1 threads. CUDA devices are found when a training starts.").arg(std::thread::hardware_concurrency()), "secondary", box));
    connect(open, &QPushButton::clicked, this, &WelcomePage::openRequested);
    connect(generate, &QPushButton::clicked, this, &WelcomePage::zooRequested);
    connect(fresh, &QPushButton::clicked, this, &WelcomePage::newProjectRequested);
    return box;
}

QWidget* WelcomePage::makeSamples() {
    auto* box = new QWidget(this);
    box->setFixedWidth(2 * 176 + 16);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(8);
    auto* head = new QHBoxLayout;
    head->addWidget(label(tr("Samples"), "title", box));
    head->addWidget(label(tr("training graphs, one click opens"), "secondary", box), 1);
    column->addLayout(head);
    auto* cards = new QHBoxLayout;
    cards->setSpacing(16);
    for (const Sample& sample : kSamples) {
        auto* card = new SampleCard(QString::fromLatin1(sample.title), QString::fromLatin1(sample.spec),
                                    QString::fromLatin1(sample.devices), box);
        card->setObjectName(QStringLiteral("sample_") + QString::fromLatin1(sample.spec).mid(4));
        connect(card, &SampleCard::clicked, this, [this, card] { Q_EMIT sampleChosen(card->spec(), card->devices()); });
        cards->addWidget(card);
        m_cards.push_back(card);
    }
    cards->addStretch(1);
    column->addLayout(cards);
    column->addSpacing(16);
    column->addWidget(label(tr("Recent"), "title", box));
    auto* recentCard = new QFrame(box);
    recentCard->setProperty("role", "card");
    m_recent = new QVBoxLayout(recentCard);
    m_recent->setContentsMargins(12, 8, 12, 8);
    m_recent->setSpacing(4);
    column->addWidget(recentCard);
    return box;
}

QWidget* WelcomePage::makeRight() {
    auto* box = new QWidget(this);
    box->setFixedWidth(300);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(8);
    m_interruptedBox = new QWidget(box);
    auto* inner = new QVBoxLayout(m_interruptedBox);
    inner->setContentsMargins(0, 0, 0, 12);
    inner->setSpacing(8);
    inner->addWidget(label(tr("Interrupted"), "title", m_interruptedBox));
    m_interrupted = new QVBoxLayout;
    m_interrupted->setSpacing(8);
    inner->addLayout(m_interrupted);
    column->addWidget(m_interruptedBox);
    column->addWidget(label(tr("Help"), "title", box));
    auto* keys = new QPushButton(tr("Keys and mouse"), box);
    keys->setProperty("link", true);
    keys->setCursor(Qt::PointingHandCursor);
    connect(keys, &QPushButton::clicked, this, &WelcomePage::shortcutsRequested);
    column->addWidget(keys);
    column->addWidget(label(tr("Everything the window computes, the command line computes too: placewright-cli --help."), "secondary", box));
    column->addSpacing(8);
    column->addWidget(label(tr("Your work is kept"), "title", box));
    column->addWidget(label(tr("Graphs, runs and placements are stored as you go, in an untitled project until Save gives it a name."), "secondary", box));
    return box;
}

void WelcomePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    loadPreviews();
}

void WelcomePage::loadPreviews() {
    if (std::exchange(m_previewsAsked, true))
        return;
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        const Sample& sample = kSamples[i];
        runAsync<GraphSketch>(
            this, tr("Preview"),
            [spec = std::string(sample.spec), devices = sample.deviceCount](JobContext&) -> Result<GraphSketch> {
                PW_TRY(const GraphPtr graph, zoo::makeFromSpec(spec));
                return sketchOf(*graph, devices);
            },
            [card = m_cards[i]](Result<GraphSketch> sketch) {
                if (sketch)
                    card->setSketch(std::move(*sketch));
            });
    }
}

void WelcomePage::refresh() {
    refreshRecent();
    refreshInterrupted();
}

void WelcomePage::refreshRecent() {
    clearLayout(m_recent);
    const QStringList files = m_settings->recentFiles();
    for (const QString& file : files) {
        auto* row = new QWidget(this);
        auto* line = new QHBoxLayout(row);
        line->setContentsMargins(0, 0, 0, 0);
        auto* link = new QPushButton(QFileInfo(file).fileName(), row);
        link->setProperty("link", true);
        link->setCursor(Qt::PointingHandCursor);
        link->setToolTip(file);
        connect(link, &QPushButton::clicked, this, [this, file] { Q_EMIT fileChosen(file); });
        auto* folder = new QLabel(row);
        folder->setProperty("role", "muted");
        folder->setText(folder->fontMetrics().elidedText(QFileInfo(file).absolutePath(), Qt::ElideLeft, 190));
        line->addWidget(link);
        line->addStretch(1);
        line->addWidget(folder);
        m_recent->addWidget(row);
    }
    if (files.isEmpty())
        m_recent->addWidget(label(tr("Files and projects that you open are listed here."), "secondary", this));
}

void WelcomePage::refreshInterrupted() {
    clearLayout(m_interrupted);
    int shown = 0;
    for (const RunRecord& run : m_project->runs()) {
        if (run.status != RunStatus::Interrupted || run.spec.kind != "train" || shown >= 3)
            continue;
        ++shown;
        auto* card = new QFrame(m_interruptedBox);
        card->setProperty("role", "card");
        auto* column = new QVBoxLayout(card);
        column->setContentsMargins(12, 8, 12, 10);
        column->addWidget(label(QStringLiteral("<b>%1</b>").arg(runTitle(run.spec).toHtmlEscaped()), "", card));
        column->addWidget(label(tr("%1, stopped with the program at episode %2. It goes on from its last checkpoint.")
                                    .arg(words::fromUtf8(run.spec.graphName), words::count(run.steps)), "secondary", card));
        auto* resume = new QPushButton(tr("Resume"), card);
        resume->setProperty("small", true);
        resume->setIcon(viz::icon(QStringLiteral("resume"), m_theme));
        connect(resume, &QPushButton::clicked, this, [this, id = run.id] { Q_EMIT resumeRequested(id); });
        column->addWidget(resume, 0, Qt::AlignLeft);
        m_interrupted->addWidget(card);
    }
    m_interruptedBox->setVisible(shown > 0);
}

void WelcomePage::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_drop->theme = theme;
    m_drop->update();
    for (SampleCard* card : m_cards)
        card->setTheme(theme);
}

} // namespace pw::ui
