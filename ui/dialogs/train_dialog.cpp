#include "ui/dialogs/train_dialog.h"

#include "ui/async.h"
#include "ui/models/parameters_model.h"
#include "ui/views/facts_view.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QTableView>
#include <QToolButton>

#include <algorithm>

namespace pw::ui {

namespace {

constexpr int kLabelWidth = 88;
constexpr int kOwn = 3; ///< index of "Own…" among the lengths
constexpr double kLengths[] = {60.0, 600.0, 3600.0};

const viz::Theme& currentTheme() {
    const bool dark = QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
    return dark ? viz::Theme::dark() : viz::Theme::light();
}

QLabel* titleLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setProperty("role", "title");
    return label;
}

QLabel* noteLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setProperty("role", "secondary");
    label->setWordWrap(true);
    return label;
}

void addRow(QGridLayout* grid, const QString& title, QWidget* field, QWidget* note = nullptr) {
    const int row = grid->rowCount();
    auto* label = new QLabel(title);
    label->setMinimumWidth(kLabelWidth);
    label->setProperty("role", "secondary");
    label->setBuddy(field);
    grid->addWidget(label, row, 0, Qt::AlignTop | Qt::AlignLeft);
    label->setFixedHeight(26);
    if (note) {
        grid->addWidget(field, row, 1);
        grid->addWidget(note, row, 2);
    } else {
        grid->addWidget(field, row, 1, 1, 2);
    }
}

QString shellQuoted(const QString& text) {
    static const QString kSafe = QStringLiteral("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+");
    for (const QChar c : text)
        if (!kSafe.contains(c))
            return QLatin1Char('\'') + QString(text).replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
    return text;
}

} // namespace

TrainDialog::TrainDialog(const AppServices& services, Document* document, QWidget* parent)
    : QDialog(parent), m_services(services), m_document(document), m_parameters(new ParametersModel(this)) {
    setObjectName(QStringLiteral("trainDialog"));
    setWindowTitle(tr("Train a placement policy"));
    resize(1120, 640);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(makeForm(), 1);
    middle->addWidget(makeSide());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(middle, 1);
    column->addWidget(makeFooter());
    connect(m_parameters, &ParametersModel::valuesChanged, this, &TrainDialog::refresh);
    loadLibrary();
    refresh();
    m_start->setFocus();
}

QWidget* TrainDialog::makeForm() {
    auto* area = new QScrollArea(this);
    area->setWidgetResizable(true);
    auto* page = new QWidget(area);
    page->setProperty("surface", "panel");
    page->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(20, 16, 20, 16);
    column->setSpacing(8);
    column->addWidget(titleLabel(tr("What to place"), page));
    column->addWidget(makeWhat(page));
    column->addSpacing(8);
    column->addWidget(titleLabel(tr("Effort"), page));
    column->addWidget(makeEffort(page));
    column->addSpacing(8);
    column->addWidget(makeParameters(page));
    column->addStretch(1);
    m_formLayout = column;
    area->setWidget(page);
    return area;
}

QWidget* TrainDialog::makeWhat(QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(6);
    grid->setColumnStretch(2, 1);
    m_graphs = new QListWidget(box);
    m_graphs->setObjectName(QStringLiteral("trainGraphs"));
    m_graphs->setStyleSheet(QStringLiteral("QListWidget { border: 1px solid palette(dark); border-radius: 4px; padding: 2px 4px; }"));
    m_graphs->setSelectionMode(QAbstractItemView::NoSelection);
    const GraphEntry* current = m_document->currentGraph();
    for (const GraphEntry& graph : m_document->graphs()) {
        if (!graph.graph || graph.graph->isCyclic())
            continue;
        auto* item = new QListWidgetItem(tr("%1   %2 ops").arg(graph.name, words::count(static_cast<std::int64_t>(graph.ops))), m_graphs);
        item->setData(Qt::UserRole, graph.id);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsUserCheckable);
        item->setCheckState(current && graph.id == current->id ? Qt::Checked : Qt::Unchecked);
    }
    m_graphs->setFixedHeight(std::clamp(m_graphs->count(), 1, 4) * 24 + 10);
    connect(m_graphs, &QListWidget::itemChanged, this, &TrainDialog::refresh);
    m_devices = new QComboBox(box);
    m_devices->setObjectName(QStringLiteral("trainDevices"));
    for (std::size_t i = 0; i < m_document->deviceSets().size(); ++i) {
        const DeviceSet& set = m_document->deviceSets()[i];
        m_devices->addItem(tr("%1   %2 devices").arg(words::deviceSetTitle(set)).arg(set.count()));
        if (m_document->deviceHashAt(i) == m_document->devicesHash())
            m_devices->setCurrentIndex(static_cast<int>(i));
    }
    connect(m_devices, &QComboBox::currentIndexChanged, this, &TrainDialog::refresh);
    m_groups = new QSpinBox(box);
    m_groups->setRange(0, 100000);
    m_groups->setValue(static_cast<int>(m_document->grouping().targetGroups));
    m_groups->setSpecialValueText(tr("all"));
    connect(m_groups, &QSpinBox::valueChanged, this, &TrainDialog::refresh);
    addRow(grid, m_graphs->count() > 1 ? tr("Graphs") : tr("Graph"), m_graphs);
    addRow(grid, tr("On devices"), m_devices);
    addRow(grid, tr("Groups"), m_groups, noteLabel(tr("Ops are placed in at most this many groups."), box));
    addRow(grid, tr("Goal"), new QLabel(tr("Shortest step time that fits into the memory of every device"), box));
    return box;
}

QWidget* TrainDialog::makeEffort(QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(6);
    grid->setColumnStretch(2, 1);
    auto* lengths = new QWidget(box);
    auto* row = new QHBoxLayout(lengths);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    m_length = new QButtonGroup(this);
    const QString names[] = {tr("Quick, 1 min"), tr("Standard, 10 min"), tr("Thorough, 1 h"), tr("Own…")};
    for (int i = 0; i < 4; ++i) {
        auto* button = new QToolButton(lengths);
        button->setText(names[i]);
        button->setCheckable(true);
        button->setProperty("segment", true);
        m_length->addButton(button, i);
        row->addWidget(button);
    }
    m_length->button(0)->setChecked(true);
    m_ownSeconds = new QSpinBox(lengths);
    m_ownSeconds->setRange(1, 1000000);
    m_ownSeconds->setValue(300);
    m_ownSeconds->setSuffix(tr(" s"));
    m_ownSeconds->hide();
    row->addSpacing(8);
    row->addWidget(m_ownSeconds);
    row->addStretch(1);
    m_episodes = new QSpinBox(box);
    m_episodes->setRange(0, 10000000);
    m_episodes->setSpecialValueText(tr("no limit"));
    m_seed = new QSpinBox(box);
    m_seed->setRange(0, 1000000000);
    m_seed->setValue(1);
    m_repeat = new QSpinBox(box);
    m_repeat->setRange(1, 20);
    m_computeDevice = new QComboBox(box);
    m_computeDevice->addItem(tr("CPU"), QStringLiteral("cpu"));
    m_computeNote = noteLabel(tr("Looking for CUDA devices…"), box);
    m_preset = new QComboBox(box);
    m_preset->addItem(tr("Tuned: measured to learn well"), QStringLiteral("tuned"));
    m_preset->addItem(tr("Paper: the authors' samples"), QStringLiteral("paper"));
    addRow(grid, tr("Length"), lengths);
    addRow(grid, tr("Episodes"), m_episodes, noteLabel(tr("Ends earlier after this many."), box));
    addRow(grid, tr("Seed"), m_seed, noteLabel(tr("The same seed gives the same run."), box));
    addRow(grid, tr("Repeat"), m_repeat, noteLabel(tr("Runs with consecutive seeds; three show how far results vary."), box));
    addRow(grid, tr("Train on"), m_computeDevice, m_computeNote);
    addRow(grid, tr("Preset"), m_preset);
    connect(m_length, &QButtonGroup::idClicked, this, [this](int id) {
        m_ownSeconds->setVisible(id == kOwn);
        refresh();
    });
    for (QSpinBox* spin : {m_ownSeconds, m_episodes, m_seed, m_repeat})
        connect(spin, &QSpinBox::valueChanged, this, &TrainDialog::refresh);
    connect(m_computeDevice, &QComboBox::currentIndexChanged, this, &TrainDialog::refresh);
    connect(m_preset, &QComboBox::activated, this, &TrainDialog::choosePreset);
    return box;
}

QWidget* TrainDialog::makeParameters(QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    m_more = new QToolButton(box);
    m_more->setCheckable(true);
    m_more->setProperty("framed", true);
    m_more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_more->setText(tr("All parameters"));
    m_more->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_more->setFixedHeight(30);
    m_parametersBox = new QWidget(box);
    auto* inner = new QVBoxLayout(m_parametersBox);
    inner->setContentsMargins(0, 0, 0, 0);
    m_table = new QTableView(m_parametersBox);
    m_table->setModel(m_parameters);
    m_table->setMinimumHeight(180);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setEditTriggers(QAbstractItemView::AllEditTriggers);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(22);
    m_table->horizontalHeader()->setStretchLastSection(true);
    auto* reset = new QPushButton(tr("Back to defaults"), m_parametersBox);
    reset->setProperty("small", true);
    inner->addWidget(m_table, 1);
    inner->addWidget(reset, 0, Qt::AlignLeft);
    m_parametersBox->hide();
    column->addWidget(m_more);
    column->addWidget(m_parametersBox, 1);
    connect(m_more, &QToolButton::toggled, this, &TrainDialog::showParameters);
    connect(reset, &QPushButton::clicked, this, [this] {
        m_parameters->resetAll();
        m_preset->setCurrentIndex(0);
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TrainDialog::refreshSide);
    return box;
}

QWidget* TrainDialog::makeSide() {
    auto* side = new QWidget(this);
    side->setFixedWidth(310);
    side->setProperty("surface", "chrome");
    side->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(20, 16, 12, 16);
    column->setSpacing(8);
    m_help = new QLabel(side);
    m_help->setWordWrap(true);
    m_help->setTextFormat(Qt::RichText);
    column->addWidget(m_help);
    column->addWidget(titleLabel(tr("To beat on this graph"), side));
    m_beat = new FactsView(side);
    m_beat->setTheme(currentTheme());
    m_beat->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_beat);
    column->addSpacing(4);
    column->addWidget(titleLabel(tr("You get"), side));
    for (const QString& text : {tr("the best placement found, in the Library"), tr("a policy for other graphs on as many devices"),
                                tr("a run with every curve, in the Runs table")})
        column->addWidget(noteLabel(QStringLiteral("✓  ") + text, side));
    column->addWidget(noteLabel(tr("On one graph local search is hard to beat. A policy is worth having for graphs it never saw."), side));
    column->addWidget(noteLabel(tr("It runs in the background. Stop at any time and keep the best; resume later from the last checkpoint."), side));
    column->addStretch(1);
    return side;
}

QWidget* TrainDialog::makeFooter() {
    auto* footer = new QWidget(this);
    footer->setProperty("surface", "panel");
    footer->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(footer);
    row->setContentsMargins(20, 12, 20, 12);
    auto* copy = new QToolButton(footer);
    copy->setProperty("framed", true);
    copy->setIcon(viz::icon(QStringLiteral("copy"), currentTheme()));
    copy->setToolTip(tr("Copy the equal command line"));
    m_command = new QLineEdit(footer);
    m_command->setReadOnly(true);
    m_command->setAccessibleName(tr("The equal command line"));
    m_command->setStyleSheet(QStringLiteral("QLineEdit { border: none; font-family: 'Noto Sans Mono', 'DejaVu Sans Mono', monospace; font-size: 11px; }"));
    auto* cancel = new QPushButton(tr("Cancel"), footer);
    m_start = new QPushButton(tr("Start training"), footer);
    m_start->setObjectName(QStringLiteral("startTraining"));
    m_start->setProperty("primary", true);
    m_start->setIcon(viz::icon(QStringLiteral("play"), currentTheme(), viz::IconTone::OnAccent));
    m_start->setMinimumHeight(30);
    cancel->setMinimumHeight(30);
    m_start->setDefault(true);
    row->addWidget(copy);
    row->addWidget(m_command, 1);
    row->addWidget(cancel);
    row->addWidget(m_start);
    connect(copy, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(commandLine()); });
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_start, &QPushButton::clicked, this, [this] {
        Q_EMIT startRequested(requests());
        accept();
    });
    return footer;
}

void TrainDialog::loadLibrary() {
    struct Known {
        std::vector<learn::ParameterInfo> parameters;
        learn::LocalInfo local;
    };
    runAsync<Known>(
        this, tr("Loading the learned placers"),
        [load = m_services.loadLearning](JobContext&) -> Result<Known> {
            if (!load)
                return fail(ErrorCode::Unsupported, "this build has no learned placers");
            PW_TRY(const learn::Library* library, load());
            return Known{library->parameters("placeto"), library->localInfo(false)};
        },
        [this](Result<Known> known) {
            if (!known) {
                m_computeNote->setText(messageFor(known.error()).sentence);
                m_start->setEnabled(false);
                m_start->setToolTip(messageFor(known.error()).sentence);
                return;
            }
            m_parameters->setParameters(std::move(known->parameters));
            m_table->resizeColumnsToContents();
            bool cuda = false;
            for (const auto& device : known->local.devices) {
                if (device.name == "cpu")
                    continue;
                cuda = true;
                m_computeDevice->addItem(words::fromUtf8(device.name + ": " + device.model), words::fromUtf8(device.name));
            }
            m_computeNote->setText(cuda ? QString() : tr("No CUDA device found on this machine."));
            refresh();
        });
}

void TrainDialog::showParameters(bool on) {
    m_more->setChecked(on);
    m_parametersBox->setVisible(on);
    // The table takes the room that is otherwise left empty below.
    m_formLayout->setStretch(m_formLayout->count() - 2, on ? 1 : 0);
    m_formLayout->setStretch(m_formLayout->count() - 1, on ? 0 : 1);
    if (on)
        resize(std::max(width(), 1120), std::max(height(), 760));
    refresh();
}

void TrainDialog::choosePreset(int index) {
    m_parameters->setValue("preset", m_preset->itemData(index).toString().toStdString());
}

double TrainDialog::seconds() const {
    const int id = m_length->checkedId();
    return id == kOwn || id < 0 ? m_ownSeconds->value() : kLengths[id];
}

std::vector<TrainRequest> TrainDialog::requests() const {
    TrainRequest request;
    for (int i = 0; i < m_graphs->count(); ++i) {
        if (m_graphs->item(i)->checkState() != Qt::Checked)
            continue;
        const GraphEntry* graph = m_document->findGraph(m_graphs->item(i)->data(Qt::UserRole).toInt());
        if (!graph || !graph->graph)
            continue;
        const bool current = m_document->currentGraph() == graph; // why first: its best placement is followed live
        request.graphs.insert(current ? request.graphs.begin() : request.graphs.end(), graph->graph);
    }
    request.devices = m_document->deviceSets()[static_cast<std::size_t>(std::max(0, m_devices->currentIndex()))];
    request.groups = static_cast<std::size_t>(m_groups->value());
    request.sim = m_document->simOptions();
    request.maxEpisodes = m_episodes->value();
    request.maxSeconds = seconds();
    request.device = m_computeDevice->currentData().toString().toStdString();
    request.parameters = m_parameters->changed();
    std::vector<TrainRequest> all;
    for (int i = 0; i < m_repeat->value(); ++i) {
        request.seed = static_cast<std::uint64_t>(m_seed->value() + i);
        all.push_back(request);
    }
    return all;
}

QString TrainDialog::commandLine() const {
    QStringList parts = {QStringLiteral("placewright-cli train placeto --graphs")};
    for (int i = 0; i < m_graphs->count(); ++i)
        if (m_graphs->item(i)->checkState() == Qt::Checked)
            if (const GraphEntry* graph = m_document->findGraph(m_graphs->item(i)->data(Qt::UserRole).toInt()))
                parts.append(shellQuoted(graph->source));
    const auto all = requests();
    const TrainRequest& request = all.front();
    parts.append(QStringLiteral("--devices ") + shellQuoted(words::fromUtf8(request.devices.name())));
    parts.append(QStringLiteral("--groups %1 --budget-seconds %2").arg(request.groups).arg(request.maxSeconds));
    if (request.maxEpisodes > 0)
        parts.append(QStringLiteral("--episodes %1").arg(request.maxEpisodes));
    if (request.seed != 1)
        parts.append(QStringLiteral("--seed %1").arg(request.seed));
    if (request.device != "cpu")
        parts.append(QStringLiteral("--device ") + words::fromUtf8(request.device));
    for (const auto& [key, value] : request.parameters)
        parts.append(QStringLiteral("--set ") + shellQuoted(words::fromUtf8(key + "=" + value)));
    parts.append(QStringLiteral("--project FILE"));
    return parts.join(QLatin1Char(' '));
}

void TrainDialog::refresh() {
    if (!m_start)
        return; // the footer is made last
    const auto changed = m_parameters->changed();
    m_more->setText(m_parameters->parameters().empty()
                        ? tr("All parameters")
                        : tr("All parameters: %1, %2").arg(m_parameters->parameters().size())
                              .arg(changed.empty() ? tr("all at their defaults") : tr("%1 changed").arg(changed.size())));
    m_more->setIcon(viz::icon(m_more->isChecked() ? QStringLiteral("open-scope") : QStringLiteral("close-scope"), currentTheme()));
    const bool any = !requests().front().graphs.empty();
    m_start->setEnabled(any);
    m_start->setToolTip(any ? tr("Starts in the background") : tr("Tick at least one graph"));
    m_command->setText(commandLine());
    m_command->setCursorPosition(0);
    refreshSide();
}

void TrainDialog::refreshSide() {
    const int row = m_parametersBox->isVisible() ? m_table->currentIndex().row() : -1;
    m_help->setVisible(row >= 0);
    if (row >= 0) {
        const auto& parameter = m_parameters->parameters()[static_cast<std::size_t>(row)];
        QString text = QStringLiteral("<b>%1</b><br>%2").arg(words::fromUtf8(parameter.key).toHtmlEscaped(), words::fromUtf8(parameter.help).toHtmlEscaped());
        text += tr("<br><br>Default: %1 (source: %2)").arg(words::fromUtf8(parameter.defaultValue).toHtmlEscaped(), words::fromUtf8(parameter.source).toHtmlEscaped());
        if (const QStringList choices = m_parameters->choices(row); !choices.isEmpty())
            text += tr("<br>One of: %1").arg(choices.join(QStringLiteral(", ")).toHtmlEscaped());
        m_help->setText(text + QStringLiteral("<br>"));
    }
    std::vector<FactsView::Row> rows;
    const auto situation = m_document->situation();
    auto placements = m_document->placements();
    std::stable_sort(placements.begin(), placements.end(),
                     [](const auto* a, const auto* b) { return a->stepTimeUs < b->stepTimeUs; });
    bool singleListed = false;
    for (const PlacementEntry* placement : placements) {
        if (!placement->evaluated || !placement->valid || placement->live || rows.size() >= 8)
            continue;
        rows.push_back(FactsView::fact(placement->name, words::milliseconds(placement->stepTimeUs), tr("ms")));
        singleListed = singleListed || placement->method == QLatin1String("single");
    }
    if (situation && !singleListed) {
        rows.push_back(FactsView::fact(situation->single.valid ? tr("Single device") : tr("Single device, does not fit"),
                                       words::milliseconds(situation->single.stepTimeUs), tr("ms")));
    }
    if (situation)
        rows.push_back(FactsView::fact(tr("Lower bound"), words::milliseconds(situation->bounds.best()), tr("ms")));
    m_beat->setRows(std::move(rows));
}

} // namespace pw::ui
