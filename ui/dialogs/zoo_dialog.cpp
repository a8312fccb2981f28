#include "ui/dialogs/zoo_dialog.h"

#include "ui/words.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFrame>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace pw::ui {

namespace {

constexpr int kMargin = 20;
constexpr int kListWidth = 220;
constexpr int kEditorWidth = 150;
constexpr int kCaptionHeight = 26;
constexpr int kDelayMs = 120; ///< between the last key and the preview
constexpr auto kMostSpin = std::numeric_limits<int>::max();

QLabel* label(const QString& text, const char* role, QWidget* parent) {
    auto* made = new QLabel(text, parent);
    made->setProperty("role", role);
    made->setWordWrap(true);
    return made;
}

/// "seq_len" as a person writes it: "Seq len".
QString title(const std::string& key) {
    QString text = words::fromUtf8(key).replace(QLatin1Char('_'), QLatin1Char(' '));
    return text.left(1).toUpper() + text.mid(1);
}

/// An option that is off or on.
bool isSwitch(const ZooField& field) {
    return field.choices == QStringList{QStringLiteral("0"), QStringLiteral("1")};
}

/// "1: gradient ops share a device" beside a box to tick: without the "1: ".
std::string withoutSwitchWord(const std::string& help) {
    return help.starts_with("1: ") ? help.substr(3) : help;
}

double totalMemory(const DeviceSet& set) {
    double sum = 0.0;
    for (const Device& device : set.devices())
        sum += static_cast<double>(device.memoryBytes);
    return sum;
}

} // namespace

ZooDialog::ZooDialog(const std::vector<DeviceSet>& deviceSets, const DeviceSet& current, const viz::Theme& theme, QWidget* parent)
    : QDialog(parent), m_workloads(zoo::workloads()), m_deviceSets{current}, m_theme(theme) {
    for (const DeviceSet& set : deviceSets)
        if (set.hash() != current.hash())
            m_deviceSets.push_back(set);
    setWindowTitle(tr("New from zoo"));
    setObjectName(QStringLiteral("zooDialog"));
    resize(860, 600);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    outer->setSpacing(16);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(20);
    columns->addWidget(makeList());
    columns->addWidget(makeForm(), 1);
    outer->addLayout(columns, 1);
    outer->addWidget(makePreview());
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(label(tr("Devices"), "secondary", this));
    m_devices = new QComboBox(this);
    for (const DeviceSet& set : m_deviceSets)
        m_devices->addItem(words::deviceSetTitle(set));
    m_devices->setItemText(0, tr("Keep %1").arg(words::deviceSetTitle(current)));
    m_devices->setMinimumWidth(150);
    m_devices->setAccessibleName(tr("Devices"));
    m_open = new QPushButton(tr("Open"), this);
    m_open->setObjectName(QStringLiteral("zooOpen"));
    m_open->setProperty("primary", true);
    m_open->setDefault(true);
    m_open->setMinimumWidth(96);
    auto* cancel = new QPushButton(tr("Cancel"), this);
    buttons->addWidget(m_devices);
    buttons->addStretch(1);
    buttons->addWidget(cancel);
    buttons->addWidget(m_open);
    outer->addLayout(buttons);
    m_delay.setSingleShot(true);
    m_delay.setInterval(kDelayMs);
    connect(&m_delay, &QTimer::timeout, this, &ZooDialog::preview);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_open, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_devices, &QComboBox::currentIndexChanged, this, [this] {
        if (m_graph)
            requestMemory();
    });
    fillList({});
    m_list->setCurrentRow(0);
}

QWidget* ZooDialog::makeList() {
    auto* box = new QWidget(this);
    box->setFixedWidth(kListWidth);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto* filter = new QLineEdit(box);
    filter->setPlaceholderText(tr("Find a workload"));
    filter->setClearButtonEnabled(true);
    m_list = new QListWidget(box);
    m_list->setObjectName(QStringLiteral("zooList"));
    m_list->setProperty("role", "card");
    m_list->setAccessibleName(tr("Workloads"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setTextElideMode(Qt::ElideRight);
    column->addWidget(filter);
    column->addWidget(m_list, 1);
    connect(filter, &QLineEdit::textChanged, this, &ZooDialog::fillList);
    connect(m_list, &QListWidget::currentItemChanged, this, [this] { showWorkload(); });
    return box;
}

void ZooDialog::fillList(const QString& filter) {
    const QString chosen = workload();
    m_list->clear();
    for (const zoo::WorkloadInfo& entry : m_workloads) {
        const QString text = words::fromUtf8(entry.title);
        const QString all = text + QLatin1Char(' ') + words::fromUtf8(entry.name) + QLatin1Char(' ') + words::fromUtf8(entry.help);
        if (!all.contains(filter, Qt::CaseInsensitive))
            continue;
        auto* item = new QListWidgetItem(text, m_list);
        item->setData(Qt::UserRole, words::fromUtf8(entry.name));
        item->setToolTip(words::fromUtf8(entry.help));
        item->setSizeHint(QSize(0, 24));
        if (item->data(Qt::UserRole).toString() == chosen)
            m_list->setCurrentItem(item);
    }
    if (!m_list->currentItem() && m_list->count() > 0)
        m_list->setCurrentRow(0);
}

QWidget* ZooDialog::makeForm() {
    auto* box = new QWidget(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    m_title = label({}, "page", box);
    m_help = label({}, "secondary", box);
    m_area = new QScrollArea(box);
    m_area->setWidgetResizable(true);
    m_area->setFrameShape(QFrame::NoFrame);
    m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(m_area);
    page->setProperty("surface", "chrome");
    page->setAttribute(Qt::WA_StyledBackground);
    m_formPlace = new QVBoxLayout(page);
    m_formPlace->setContentsMargins(0, 8, 8, 0);
    m_formPlace->addStretch(1);
    m_area->setWidget(page);
    m_error = label({}, "danger", box);
    m_error->setTextFormat(Qt::PlainText);
    m_error->hide();
    column->addWidget(m_title);
    column->addWidget(m_help);
    column->addWidget(m_area, 1);
    column->addWidget(m_error);
    return box;
}

QWidget* ZooDialog::makePreview() {
    auto* card = new QFrame(this);
    card->setProperty("role", "card");
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(12, 10, 12, 10);
    column->setSpacing(6);
    auto* row = new QHBoxLayout;
    row->setSpacing(28);
    const std::pair<QString, QString> figures[] = {{QStringLiteral("ops"), tr("Ops")},
                                                   {QStringLiteral("edges"), tr("Edges")},
                                                   {QStringLiteral("parameters"), tr("Parameters")},
                                                   {QStringLiteral("work"), tr("Work of one step")},
                                                   {QStringLiteral("memory"), tr("Peak on one device, simulated")}};
    for (const auto& [name, text] : figures) {
        auto* cell = new QVBoxLayout;
        cell->setSpacing(1);
        auto* value = new QLabel(QStringLiteral("–"), card);
        value->setProperty("role", "title");
        value->setTextInteractionFlags(Qt::TextSelectableByMouse);
        value->setMinimumWidth(value->fontMetrics().horizontalAdvance(QStringLiteral("000,000 GB")));
        auto* caption = label(text, "muted", card);
        caption->setWordWrap(false);
        cell->addWidget(caption);
        cell->addWidget(value);
        row->addLayout(cell);
        m_figures[name] = value;
    }
    row->addStretch(1);
    auto* line = new QHBoxLayout;
    m_verdict = label({}, "secondary", card);
    m_verdict->setWordWrap(false);
    m_busy = new QProgressBar(card);
    m_busy->setRange(0, 0);
    m_busy->setTextVisible(false);
    m_busy->setFixedWidth(120);
    QSizePolicy keep = m_busy->sizePolicy();
    keep.setRetainSizeWhenHidden(true); // why: the row must not jump while figures come and go
    m_busy->setSizePolicy(keep);
    line->addWidget(m_verdict, 1);
    line->addWidget(m_busy);
    column->addLayout(row);
    column->addLayout(line);
    return card;
}

// --- the form --------------------------------------------------------------------------------------------------------

QString ZooDialog::workload() const {
    const QListWidgetItem* item = m_list->currentItem();
    return item ? item->data(Qt::UserRole).toString() : QString();
}

const zoo::WorkloadInfo* ZooDialog::info() const {
    const std::string name = workload().toStdString();
    const auto found = std::find_if(m_workloads.begin(), m_workloads.end(), [&](const auto& entry) { return entry.name == name; });
    return found == m_workloads.end() ? nullptr : &*found;
}

void ZooDialog::chooseWorkload(const QString& name) {
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->data(Qt::UserRole).toString() == name)
            m_list->setCurrentRow(i);
}

void ZooDialog::showWorkload() {
    const zoo::WorkloadInfo* chosen = info();
    m_sizeJob.cancel();
    m_memoryJob.cancel();
    m_rows.clear();
    m_graph.reset();
    delete m_formBox;
    m_formBox = nullptr;
    m_error->hide();
    for (const auto& [name, value] : m_figures)
        value->setText(QStringLiteral("–"));
    m_verdict->clear();
    m_open->setEnabled(chosen != nullptr);
    m_title->setText(chosen ? words::fromUtf8(chosen->title) : tr("No workload matches"));
    m_help->setText(chosen ? words::fromUtf8(chosen->help) : tr("Clear the search field to see all of them."));
    if (!chosen) {
        m_formJob.cancel();
        setBusy(false);
        return;
    }
    setBusy(true);
    m_formJob.start<std::vector<ZooField>>(
        tr("Asking %1").arg(words::fromUtf8(chosen->name)),
        [workload = *chosen](JobContext&) -> Result<std::vector<ZooField>> { return zooFields(workload); },
        [this](Result<std::vector<ZooField>> fields) {
            if (fields)
                buildForm(std::move(*fields));
        });
}

void ZooDialog::buildForm(std::vector<ZooField> fields) {
    m_formBox = new QWidget(this);
    auto* grid = new QGridLayout(m_formBox);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(8);
    grid->setColumnStretch(2, 1);
    for (ZooField& field : fields) {
        const int at = grid->rowCount();
        if (isSwitch(field))
            field.option.help = withoutSwitchWord(field.option.help);
        QWidget* editor = makeEditor(field);
        editor->setFixedWidth(kEditorWidth);
        editor->setObjectName(QStringLiteral("zoo_") + words::fromUtf8(field.option.key));
        auto* name = new QLabel(title(field.option.key), m_formBox);
        name->setBuddy(editor);
        name->setFixedHeight(kCaptionHeight);
        auto* help = label(words::fromUtf8(field.option.help), "muted", m_formBox);
        help->setMinimumHeight(kCaptionHeight);
        help->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        auto* error = label({}, "danger", m_formBox);
        error->setTextFormat(Qt::PlainText);
        error->hide();
        grid->addWidget(name, at, 0, Qt::AlignTop);
        grid->addWidget(editor, at, 1, Qt::AlignTop);
        grid->addWidget(help, at, 2);
        grid->addWidget(error, at + 1, 1, 1, 2);
        editor->setAccessibleName(name->text());
        editor->setToolTip(words::fromUtf8(field.option.help));
        m_rows.push_back({std::move(field), editor, error});
    }
    if (m_rows.empty())
        grid->addWidget(label(tr("This workload has no options."), "secondary", m_formBox), 0, 0);
    m_formPlace->insertWidget(0, m_formBox);
    preview();
}

QWidget* ZooDialog::makeEditor(const ZooField& field) {
    const QString value = words::fromUtf8(field.option.defaultValue);
    if (isSwitch(field)) {
        auto* box = new QCheckBox(m_formBox);
        box->setChecked(value == QLatin1String("1"));
        box->setFixedHeight(kCaptionHeight);
        connect(box, &QCheckBox::toggled, this, &ZooDialog::changed);
        return box;
    }
    if (!field.choices.isEmpty()) {
        auto* box = new QComboBox(m_formBox);
        for (const QString& choice : field.choices)
            box->addItem(choice, choice);
        box->setCurrentIndex(std::max(0, box->findData(value)));
        connect(box, &QComboBox::currentIndexChanged, this, &ZooDialog::changed);
        return box;
    }
    const bool fits = field.minimum && field.maximum && *field.minimum >= std::numeric_limits<int>::min() && *field.maximum <= kMostSpin;
    if (fits) {
        auto* box = new QSpinBox(m_formBox);
        box->setRange(static_cast<int>(*field.minimum), static_cast<int>(*field.maximum));
        box->setLocale(QLocale(QLocale::English, QLocale::UnitedStates)); // as all figures of the window
        box->setGroupSeparatorShown(true);
        box->setValue(value.toInt());
        connect(box, &QSpinBox::valueChanged, this, &ZooDialog::changed);
        return box;
    }
    auto* line = new QLineEdit(value, m_formBox);
    connect(line, &QLineEdit::textChanged, this, &ZooDialog::changed);
    return line;
}

QWidget* ZooDialog::field(const QString& key) const {
    for (const Row& row : m_rows)
        if (words::fromUtf8(row.info.option.key) == key)
            return row.editor;
    return nullptr;
}

ZooValues ZooDialog::values() const {
    ZooValues values;
    for (const Row& row : m_rows) {
        QString text;
        if (const auto* combo = qobject_cast<const QComboBox*>(row.editor))
            text = combo->currentData().toString();
        else if (const auto* box = qobject_cast<const QCheckBox*>(row.editor))
            text = box->isChecked() ? QStringLiteral("1") : QStringLiteral("0");
        else if (const auto* spin = qobject_cast<const QSpinBox*>(row.editor))
            text = QString::number(spin->value());
        else if (const auto* line = qobject_cast<const QLineEdit*>(row.editor))
            text = line->text().trimmed();
        values[row.info.option.key] = text.toStdString();
    }
    return values;
}

QString ZooDialog::spec() const {
    const zoo::WorkloadInfo* chosen = info();
    return chosen ? zooSpec(*chosen, values()) : QString();
}

const DeviceSet& ZooDialog::devices() const {
    return m_deviceSets[static_cast<std::size_t>(std::max(0, m_devices->currentIndex()))];
}

// --- the preview -----------------------------------------------------------------------------------------------------

void ZooDialog::setBusy(bool busy) {
    m_busy->setVisible(busy);
    for (const auto& [name, value] : m_figures)
        value->setEnabled(!busy); // pale: of the options before
}

bool ZooDialog::isComputing() const {
    return m_busy->isVisibleTo(this);
}

void ZooDialog::changed() {
    setBusy(true);
    m_delay.start();
}

void ZooDialog::preview() {
    const zoo::WorkloadInfo* chosen = info();
    if (!chosen)
        return;
    setBusy(true);
    m_memoryJob.cancel();
    m_sizeJob.start<ZooSize>(
        tr("Preview"),
        [previewer = m_previewer, name = chosen->name, given = values()](JobContext& context) {
            return previewer.size(name, given, context);
        },
        [this](Result<ZooSize> size) { showSize(std::move(size)); });
}

void ZooDialog::showSize(Result<ZooSize> size) {
    for (const Row& row : m_rows)
        row.error->hide();
    m_error->hide();
    if (!size) {
        showError(size.error());
        return;
    }
    const auto count = [](std::size_t n) { return words::count(static_cast<std::int64_t>(n)); };
    m_figures[QStringLiteral("ops")]->setText(count(size->ops));
    m_figures[QStringLiteral("edges")]->setText(count(size->edges));
    m_figures[QStringLiteral("parameters")]->setText(words::bytes(static_cast<double>(size->parameterBytes)));
    m_figures[QStringLiteral("work")]->setText(tr("%1 GFLOP").arg(words::fixed(size->flops / 1e9, 1)));
    for (const char* name : {"ops", "edges", "parameters", "work"})
        m_figures[QLatin1String(name)]->setEnabled(true);
    m_open->setEnabled(true);
    m_graph = size->graph;
    requestMemory();
}

void ZooDialog::requestMemory() {
    m_busy->show();
    m_memoryJob.start<std::int64_t>(
        tr("Preview"),
        [previewer = m_previewer, graph = m_graph, set = devices()](JobContext& context) {
            return previewer.memory(graph, set, context);
        },
        [this](Result<std::int64_t> bytes) { showMemory(std::move(bytes)); });
}

void ZooDialog::showMemory(Result<std::int64_t> bytes) {
    setBusy(false);
    QLabel* value = m_figures[QStringLiteral("memory")];
    if (!bytes) {
        value->setText(QStringLiteral("–"));
        m_verdict->setText(messageFor(bytes.error()).sentence);
        Q_EMIT previewed();
        return;
    }
    const double peak = static_cast<double>(*bytes);
    value->setText(words::bytes(peak));
    const DeviceSet& set = devices();
    const double one = static_cast<double>(set.device(DeviceId(0)).memoryBytes);
    const QString name = words::deviceSetTitle(set);
    const auto gigabytes = [](double b) { return words::fixed(b / 1e9, 1); };
    if (one <= 0.0 || peak <= one) {
        m_verdict->setText(tr("One device of %1 holds it (%2 GB each).").arg(name, gigabytes(one)));
    } else if (peak <= totalMemory(set)) {
        m_verdict->setText(tr("Too large for one device of %1 (%2 GB): it has to be split over several.").arg(name, gigabytes(one)));
    } else {
        QString better;
        for (const DeviceSet& other : m_deviceSets)
            if (better.isEmpty() && totalMemory(other) >= peak)
                better = tr(" %1 would hold it.").arg(words::deviceSetTitle(other));
        m_verdict->setText(tr("More than all devices of %1 hold together (%2 GB).").arg(name, gigabytes(totalMemory(set))) + better);
    }
    Q_EMIT previewed();
}

void ZooDialog::showError(const Error& error) {
    setBusy(false);
    m_graph.reset();
    m_open->setEnabled(false);
    for (const auto& [name, value] : m_figures)
        value->setText(QStringLiteral("–"));
    m_verdict->clear();
    const auto [key, reason] = zooComplaint(*info(), values(), error);
    QLabel* place = m_error;
    for (const Row& row : m_rows)
        if (row.info.option.key == key)
            place = row.error;
    const QString text = reason.left(1).toUpper() + reason.mid(1);
    place->setText(QStringLiteral("⚠ ") + text);
    place->setMinimumHeight(place->heightForWidth(std::max(place->width(), kEditorWidth))); // why: a scroll area does not ask
    place->show();
    if (place != m_error)
        QTimer::singleShot(0, place, [this, place] { m_area->ensureWidgetVisible(place, 0, 8); });
    Q_EMIT previewed();
}

QString ZooDialog::errorAt(const QString& key) const {
    const auto text = [](const QLabel* label) { return label->isHidden() ? QString() : label->text(); };
    if (key.isEmpty())
        return text(m_error);
    for (const Row& row : m_rows)
        if (words::fromUtf8(row.info.option.key) == key)
            return text(row.error);
    return {};
}

QString ZooDialog::figure(const QString& name) const {
    const auto found = m_figures.find(name);
    return found == m_figures.end() ? QString() : found->second->text();
}

void ZooDialog::done(int result) {
    m_delay.stop();
    m_formJob.cancel();
    m_sizeJob.cancel();
    m_memoryJob.cancel();
    if (result == QDialog::Accepted && info())
        Q_EMIT openRequested(spec(), m_devices->currentIndex() > 0 ? words::fromUtf8(devices().hash()) : QString());
    QDialog::done(result);
}

} // namespace pw::ui
