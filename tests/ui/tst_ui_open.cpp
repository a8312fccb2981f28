// What the window says and does around opening: progress and cancel, the facts of a file, workloads, file dialogs.

#include "core/graph/graph_builder.h"
#include "core/graph/graph_stats.h"
#include "tests/ui/ui_fixture.h"
#include "ui/actions.h"
#include "ui/dialogs/groups_dialog.h"
#include "ui/dialogs/list_dialog.h"
#include "ui/dialogs/zoo_dialog.h"
#include "ui/docks/inspector_panel.h"
#include "ui/file_filters.h"
#include "ui/message_bar.h"
#include "ui/views/graph_page.h"
#include "ui/views/graph_strip.h"
#include "ui/views/opening_bar.h"
#include "viz/graph/graph_view.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProcess>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QtTest>

#include <condition_variable>
#include <mutex>

using namespace pw;
using namespace pw::ui;

namespace {

Op opOf(const std::string& name, const std::string& type) {
    Op op;
    op.name = name;
    op.type = type;
    return op;
}

/// Ops without formula, without name for it, a warning that names an op, devices in the file.
GraphPtr graphWithGaps() {
    GraphBuilder builder("gaps", "test");
    const auto add = [&](const char* name, const char* type, std::vector<TensorId> inputs, const char* device) {
        Op op = opOf(name, type);
        op.device = device;
        const OpId id = builder.addOp(std::move(op));
        for (const TensorId input : inputs)
            builder.addInput(id, input);
        Tensor tensor;
        tensor.bytes = 4000;
        tensor.dims = {1000};
        tensor.shapeKnown = true;
        tensor.dtype = "f32";
        return builder.addOutput(id, std::move(tensor));
    };
    const TensorId a = add("in/a", "Placeholder", {}, "gpu:0");
    const TensorId b = add("body/b", "Relu", {a}, "gpu:0");
    const TensorId c = add("body/c", "MagicOfOurs", {b}, "gpu:1");
    const TensorId d = add("body/d", "MagicOfOurs", {c}, "");
    add("body/e", "OtherMagic", {d}, "");
    builder.addWarning("bad_size", "body/c", "its size is odd");
    builder.addWarning("general", "", "something about the file");
    return *std::move(builder).build();
}

QPushButton* button(QWidget& parent, const char* name) {
    return parent.findChild<QPushButton*>(QLatin1String(name));
}

/// Waits until the dialog has shown figures or an error for what is in its fields now.
bool previewed(ZooDialog& dialog) {
    return QTest::qWaitFor([&] { return !dialog.isComputing(); }, 30000);
}

} // namespace

class TstUiOpen : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theBarShowsWhatIsBeingOpened();
    void cancellingLeavesTheOldGraph();
    void aFailedOpenLeavesTheOldGraph();
    void noFailedFileHidesAnother();
    void severalFilesOpenTogetherWithTheirPlacement();
    void theStripSaysWhatInfoSays_data();
    void theStripSaysWhatInfoSays();
    void unknownCostsAreSelected();
    void aWarningGoesToItsOp();
    void theStripClosesAndComesBack();
    void theZooDialogPreviewsEveryWorkload_data();
    void theZooDialogPreviewsEveryWorkload();
    void zooOptionsAreRefusedBesideTheirField();
    void theNewestPreviewWins();
    void theZooDialogOpensWhatItShows();
    void filtersNameAllFormats();
    void filtersOfferTheOriginalOnlyWhereThereIsOne();
    void opsInBodiesAreInspected();
    void coloursAreSwitchedFromTheMenu();
    void theWindowFitsASmallScreen();
    void aDroppedProfileMakesAMeasuredGraph();
    void aProfileWithoutGraphSaysSo();
    void aProfileOfAnotherGraphChangesNothing();
    void groupsAreMadeByHandAndUndone();
};

void TstUiOpen::theBarShowsWhatIsBeingOpened() {
    OpeningBar bar;
    JobHandle job(QStringLiteral("open"), [](JobContext& context) -> Status {
        context.report({"load", 0.25, 0.0, {}, -1.0, -1.0});
        std::mutex mutex;
        std::condition_variable_any woken;
        std::unique_lock lock(mutex);
        woken.wait(lock, context.abortToken(), [] { return false; });
        return {};
    }, nullptr);
    QSignalSpy finished(&job, &JobHandle::finished);
    bar.add(&job, QStringLiteral("model.onnx"));
    QVERIFY(bar.names().isEmpty()); // what opens at once never flashes up
    QTRY_COMPARE(bar.names(), QStringList{QStringLiteral("model.onnx")});
    auto* progress = bar.findChild<QProgressBar*>();
    QTRY_COMPARE(progress->value(), 250);
    QCOMPARE(progress->maximum(), 1000);
    button(bar, "cancelOpening")->click();
    QVERIFY(bar.names().isEmpty()); // at once, whatever the job still does
    QVERIFY(bar.isHidden());
    QTRY_COMPARE(finished.count(), 1);
}

void TstUiOpen::cancellingLeavesTheOldGraph() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    const GraphPtr before = fixture.document().graph();
    fixture.window().openSample(QStringLiteral("zoo:rnnlm"), {});
    QCOMPARE(fixture.window().jobs()->runningCount(), 1);
    button(*fixture.window().openingBar(), "cancelOpening")->click();
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
    QCOMPARE(fixture.document().graph(), before);
    QCOMPARE(fixture.document().graphs().size(), 1U);
    QVERIFY(fixture.window().messageBar()->text().isEmpty()); // who cancels knows that he did
}

void TstUiOpen::aFailedOpenLeavesTheOldGraph() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    const GraphPtr before = fixture.document().graph();
    fixture.window().openFiles({fixture.write(QStringLiteral("bad.onnx"), QByteArray(100, '\x9c'))});
    QTRY_VERIFY(fixture.window().messageBar()->text().contains(QStringLiteral("bad.onnx")));
    QCOMPARE(fixture.document().graph(), before);
    QCOMPARE(fixture.window().mode(), MainWindow::Mode::Graph);
}

void TstUiOpen::noFailedFileHidesAnother() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    fixture.window().openFiles({fixture.write(QStringLiteral("bad.onnx"), QByteArray(100, '\x9c')),
                                fixture.write(QStringLiteral("good.dot"), "digraph g { a -> b; }"),
                                fixture.write(QStringLiteral("worse.onnx"), QByteArray())});
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
    QVERIFY(fixture.document().graph());
    QTRY_COMPARE(fixture.window().messageBar()->details().size(), 2);
    const QString details = fixture.window().messageBar()->details().join(QLatin1Char('|'));
    QVERIFY(details.contains(QStringLiteral("bad.onnx")) && details.contains(QStringLiteral("worse.onnx")));
}

void TstUiOpen::severalFilesOpenTogetherWithTheirPlacement() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const QString graph = fixture.write(QStringLiteral("g.dot"), "digraph g { a [cost=5]; b [cost=5]; a -> b; }");
    const QString other = fixture.write(QStringLiteral("h.dot"), "digraph h { a -> b -> c -> d; }");
    const QString placement = fixture.write(QStringLiteral("p.placement.json"),
        R"({"format":"placewright-placement","version":1,"devices":["gpu:0"],"default":"gpu:0","assignment":{}})");
    fixture.window().openFiles({placement, other, graph}); // the placement first: it waits for the graphs
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
    QTRY_COMPARE(fixture.document().placements().size(), 1U);
    QCOMPARE(fixture.document().graphs().size(), 2U);
    QVERIFY(fixture.window().messageBar()->text().isEmpty());
}

void TstUiOpen::theStripSaysWhatInfoSays_data() {
    QTest::addColumn<QString>("source");
    QTest::newRow("zoo") << QStringLiteral("zoo:inception_v3");
    for (const char* model : {"loop_default", "rnnt_if_param", "qlstm_scan", "mobilenetv1_train", "lgbm_classifier_tensor"})
        QTest::newRow(model) << QStringLiteral(PW_SHARED_DATA "/onnx/%1.onnx").arg(QLatin1String(model));
}

void TstUiOpen::theStripSaysWhatInfoSays() {
    QFETCH(QString, source);
    if (!source.startsWith(QStringLiteral("zoo:")) && !QFileInfo::exists(source))
        QSKIP("this file is not on this machine");
    QProcess cli;
    cli.start(QStringLiteral(PW_CLI), {QStringLiteral("info"), source, QStringLiteral("--json"), QStringLiteral("--costs")});
    QVERIFY(cli.waitForFinished(60000));
    QCOMPARE(cli.exitCode(), 0);
    const QJsonObject info = QJsonDocument::fromJson(cli.readAllStandardOutput()).object();
    test::UiFixture fixture;
    fixture.workerProgram = PW_CLI;
    fixture.recreateWindow();
    QVERIFY(fixture.open());
    fixture.window().openFiles({source});
    GraphStrip* strip = fixture.window().graphPage()->strip();
    QTRY_VERIFY_WITH_TIMEOUT(strip->facts(), 30000);
    const GraphFacts& facts = *strip->facts();
    QCOMPARE(double(facts.stats.ops), info[QStringLiteral("ops")].toDouble());
    QCOMPARE(double(facts.stats.opsTotal), info[QStringLiteral("ops_total")].toDouble());
    QCOMPARE(double(facts.stats.tensors), info[QStringLiteral("tensors")].toDouble());
    QCOMPARE(double(facts.stats.parameterBytes), info[QStringLiteral("parameter_bytes")].toDouble());
    QCOMPARE(facts.flops, info[QStringLiteral("flops")].toDouble());
    double unknown = 0;
    const QJsonObject types = info[QStringLiteral("costs")].toObject()[QStringLiteral("unknown")].toObject();
    for (const QJsonValue& count : types)
        unknown += count.toDouble();
    QCOMPARE(double(facts.unknownOps.size()), unknown);
    QCOMPARE(qsizetype(facts.unknownTypes.size()), types.size());
    const QJsonObject devices = info[QStringLiteral("devices")].toObject();
    QCOMPARE(qsizetype(facts.stats.devices.size()), devices.size());
    for (const auto& [device, ops] : facts.stats.devices)
        QCOMPARE(double(ops), devices[QString::fromStdString(device)].toDouble());
    const QStringList texts = strip->texts();
    const QString ops = words::count(static_cast<std::int64_t>(info[QStringLiteral("ops")].toDouble()));
    QVERIFY2(texts.first().startsWith(QStringLiteral("Ops ") + ops), qPrintable(texts.join(QLatin1Char('|'))));
    QVERIFY(texts.contains(QStringLiteral("Parameters ") + words::bytes(info[QStringLiteral("parameter_bytes")].toDouble())));
}

void TstUiOpen::unknownCostsAreSelected() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(graphWithGaps()));
    GraphStrip* strip = fixture.window().graphPage()->strip();
    QTRY_VERIFY(strip->facts());
    QVERIFY(strip->texts().contains(QStringLiteral("3 unknown costs")));
    QVERIFY(strip->texts().contains(QStringLiteral("In the file: gpu:0 2, gpu:1 1, unassigned 2")));
    strip->selectUnknown();
    QCOMPARE(fixture.window().selection()->ops(), (QList<quint32>{2, 3, 4}));
    auto* menu = strip->findChild<QMenu*>(QStringLiteral("unknownTypes"));
    QVERIFY(menu);
    QStringList types;
    for (const QAction* action : menu->actions())
        types.append(action->text());
    QVERIFY(types.contains(QStringLiteral("MagicOfOurs\t2")));
    menu->close();
    const auto& rows = fixture.window().inspector()->facts()->rows();
    QVERIFY(std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.label == QStringLiteral("MagicOfOurs"); }));
    // Everything of the picture that is coloured by cost marks them.
    fixture.window().graphPage()->setColorBy(viz::ColorBy::Cost);
    QCOMPARE(fixture.window().graphPage()->view()->colorBy(), viz::ColorBy::Cost);
}

void TstUiOpen::aWarningGoesToItsOp() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(graphWithGaps()));
    GraphStrip* strip = fixture.window().graphPage()->strip();
    QTRY_VERIFY(strip->facts());
    QVERIFY(strip->texts().contains(QStringLiteral("2 warnings")));
    QSignalSpy revealed(fixture.window().selection(), &Selection::revealRequested);
    strip->showWarnings();
    auto* dialog = fixture.window().findChild<ListDialog*>();
    QVERIFY(dialog);
    QVERIFY(!dialog->isModal());
    QCOMPARE(dialog->lines(), (QStringList{QStringLiteral("body/c: its size is odd"), QStringLiteral("something about the file")}));
    dialog->choose(1); // names no op: nothing moves
    QVERIFY(fixture.window().selection()->isEmpty());
    dialog->choose(0);
    QCOMPARE(fixture.window().selection()->ops(), QList<quint32>{2});
    QCOMPARE(revealed.count(), 1);
    QTRY_VERIFY(!fixture.window().graphPage()->view()->rectOfOp(2).isNull());
    // Another graph has other warnings.
    QVERIFY(fixture.show(test::layeredGraph(2)));
    QTRY_VERIFY(!fixture.window().findChild<ListDialog*>());
}

void TstUiOpen::theStripClosesAndComesBack() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    GraphStrip* strip = fixture.window().graphPage()->strip();
    QVERIFY(strip->isVisible());
    Q_EMIT strip->closeRequested();
    QVERIFY(!strip->isVisible());
    QAction* action = (*fixture.window().actions())[ActionId::ShowFacts];
    QVERIFY(!action->isChecked());
    fixture.recreateWindow(); // remembered
    QVERIFY(fixture.window().graphPage()->strip()->isHidden());
    (*fixture.window().actions())[ActionId::ShowFacts]->trigger();
    QVERIFY(!fixture.window().graphPage()->strip()->isHidden());
}

void TstUiOpen::theZooDialogPreviewsEveryWorkload_data() {
    QTest::addColumn<QString>("name");
    for (const zoo::WorkloadInfo& workload : zoo::workloads())
        QTest::newRow(workload.name.c_str()) << QString::fromStdString(workload.name);
}

void TstUiOpen::theZooDialogPreviewsEveryWorkload() {
    QFETCH(QString, name);
    const DeviceSet devices = *devicePreset("2xK80");
    ZooDialog dialog({devices}, devices, viz::Theme::light());
    dialog.show();
    dialog.chooseWorkload(name);
    QCOMPARE(dialog.workload(), name);
    QVERIFY(previewed(dialog));
    const auto graph = zoo::make(name.toStdString());
    QVERIFY(graph);
    QCOMPARE(dialog.figure(QStringLiteral("ops")), words::count(static_cast<std::int64_t>((*graph)->opCount())));
    QCOMPARE(dialog.figure(QStringLiteral("edges")), words::count(static_cast<std::int64_t>((*graph)->edges().size())));
    QCOMPARE(dialog.figure(QStringLiteral("parameters")), words::bytes(static_cast<double>(computeStats(**graph).parameterBytes)));
    QVERIFY(dialog.figure(QStringLiteral("memory")) != QStringLiteral("–"));
    QCOMPARE(dialog.spec(), QStringLiteral("zoo:") + name);
    // A field for every option, of the kind that fits: choices to choose from, numbers to step through.
    for (const zoo::WorkloadInfo& workload : zoo::workloads()) {
        if (QString::fromStdString(workload.name) != name)
            continue;
        for (const zoo::OptionInfo& option : workload.options) {
            const QWidget* field = dialog.field(QString::fromStdString(option.key));
            QVERIFY2(field, option.key.c_str());
            if (option.key == "level" || option.key == "mode" || option.key == "optimizer")
                QVERIFY2(qobject_cast<const QComboBox*>(field), option.key.c_str());
            if (option.key == "batch" || option.key == "index")
                QVERIFY2(qobject_cast<const QSpinBox*>(field), option.key.c_str());
            if (option.key == "index")
                QCOMPARE(qobject_cast<const QSpinBox*>(field)->maximum(), 31);
        }
    }
}

void TstUiOpen::zooOptionsAreRefusedBesideTheirField() {
    const DeviceSet devices = *devicePreset("2xK80");
    ZooDialog dialog({devices}, devices, viz::Theme::light());
    dialog.show();
    dialog.chooseWorkload(QStringLiteral("rnnlm"));
    QVERIFY(previewed(dialog));
    const QString ops = dialog.figure(QStringLiteral("ops"));
    auto* seed = qobject_cast<QLineEdit*>(dialog.field(QStringLiteral("seed")));
    QVERIFY(seed);
    seed->setText(QStringLiteral("many"));
    QVERIFY(dialog.isComputing());
    QVERIFY(previewed(dialog));
    QVERIFY2(dialog.errorAt(QStringLiteral("seed")).contains(QStringLiteral("Must be a whole number")), qPrintable(dialog.errorAt(QStringLiteral("seed"))));
    QVERIFY(dialog.errorAt(QStringLiteral("batch")).isEmpty());
    QCOMPARE(dialog.figure(QStringLiteral("ops")), QStringLiteral("–"));
    QVERIFY(!button(dialog, "zooOpen")->isEnabled());
    seed->setText(QStringLiteral("1"));
    QVERIFY(previewed(dialog));
    QVERIFY(dialog.errorAt(QStringLiteral("seed")).isEmpty());
    QCOMPARE(dialog.figure(QStringLiteral("ops")), ops);
    QVERIFY(button(dialog, "zooOpen")->isEnabled());
}

void TstUiOpen::theNewestPreviewWins() {
    const DeviceSet devices = *devicePreset("2xK80");
    ZooDialog dialog({devices}, devices, viz::Theme::light());
    dialog.show();
    dialog.chooseWorkload(QStringLiteral("rnnlm"));
    QVERIFY(previewed(dialog));
    auto* level = qobject_cast<QComboBox*>(dialog.field(QStringLiteral("level")));
    QVERIFY(level);
    QSignalSpy shown(&dialog, &ZooDialog::previewed);
    level->setCurrentIndex(level->findData(QStringLiteral("L2")));
    level->setCurrentIndex(level->findData(QStringLiteral("L0")));
    QVERIFY(previewed(dialog));
    QCOMPARE(shown.count(), 1); // what was outdated never shows up
    const auto graph = zoo::make("rnnlm", {{"level", "L0"}});
    QCOMPARE(dialog.figure(QStringLiteral("ops")), words::count(static_cast<std::int64_t>((*graph)->opCount())));
    QCOMPARE(dialog.spec(), QStringLiteral("zoo:rnnlm?level=L0"));
}

void TstUiOpen::theZooDialogOpensWhatItShows() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    (*fixture.window().actions())[ActionId::NewFromZoo]->trigger();
    auto* dialog = fixture.window().findChild<ZooDialog*>();
    QVERIFY(dialog);
    dialog->chooseWorkload(QStringLiteral("inception_v3"));
    QVERIFY(previewed(*dialog));
    qobject_cast<QSpinBox*>(dialog->field(QStringLiteral("batch")))->setValue(32);
    QVERIFY(previewed(*dialog));
    const QString ops = dialog->figure(QStringLiteral("ops"));
    button(*dialog, "zooOpen")->click();
    QTRY_VERIFY_WITH_TIMEOUT(fixture.document().problem(), 20000);
    QCOMPARE(words::count(static_cast<std::int64_t>(fixture.document().graph()->opCount())), ops);
    QCOMPARE(fixture.document().currentGraph()->source, QStringLiteral("zoo:inception_v3?batch=32"));
    QTRY_VERIFY(!fixture.window().findChild<ZooDialog*>());
}

void TstUiOpen::filtersNameAllFormats() {
    const QString open = filters::openFilter();
    for (const formats::FormatInfo& format : formats::knownFormats())
        for (const std::string& ending : format.canRead ? format.endings : std::vector<std::string>())
            QCOMPARE(open.contains(QStringLiteral("*") + QString::fromStdString(ending)), true);
    QVERIFY(open.endsWith(QStringLiteral("All files (*)")));
    const QString placements = filters::saveFilter(formats::FileKind::Placement);
    for (const formats::FormatInfo& format : formats::knownFormats())
        if (format.kind == formats::FileKind::Placement)
            QCOMPARE(placements.contains(QString::fromStdString(format.title)), format.canWrite);
    QCOMPARE(filters::firstEnding(QStringLiteral("Placewright graph (*.graph.json *.json)")), QStringLiteral("graph.json"));
    QCOMPARE(filters::firstEnding(QStringLiteral("CSV (a,b) (*.csv)")), QStringLiteral("csv"));
    QCOMPARE(filters::firstEnding(QStringLiteral("All files (*)")), QString());
}

void TstUiOpen::filtersOfferTheOriginalOnlyWhereThereIsOne() {
    for (const formats::FormatInfo& format : formats::knownFormats()) {
        if (format.kind != formats::FileKind::Graph || !format.canWrite)
            continue;
        const QString ending = QString::fromStdString(format.endings.front());
        const QString pattern = QLatin1Char('*') + ending;
        QCOMPARE(filters::saveFilter(formats::FileKind::Graph).contains(pattern), !format.needsSource);
        QCOMPARE(filters::saveFilter(formats::FileKind::Graph, QStringLiteral("zoo:rnnlm")).contains(pattern), !format.needsSource);
        QCOMPARE(filters::saveFilter(formats::FileKind::Graph, QStringLiteral("/a/model") + ending).count(pattern), 1);
    }
}

void TstUiOpen::opsInBodiesAreInspected() {
    GraphBuilder inner("then", "test");
    inner.addOp(opOf("inner_relu", "Relu"));
    GraphBuilder builder("outer", "test");
    const OpId choice = builder.addOp(opOf("choice", "If"));
    builder.op(choice).bodies = {{"then_branch", *std::move(inner).build()}};
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(*std::move(builder).build()));
    viz::GraphView* view = fixture.window().graphPage()->view();
    QTRY_VERIFY(!view->isLayoutRunning());
    QSignalSpy chosen(view, &viz::GraphView::bodySelectionChanged);
    view->openBodies(0);
    QTRY_VERIFY(!view->isLayoutRunning() && !view->rectOfOp(0).isNull());
    QTest::mouseClick(view, Qt::LeftButton, {}, view->rectOfOp(0).center().toPoint());
    QCOMPARE(chosen.last().at(1).value<QList<quint32>>(), QList<quint32>{0});
    const auto labels = fixture.window().inspector()->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().contains(QStringLiteral("inner_relu")); }));
    QVERIFY(fixture.window().selection()->isEmpty()); // the main graph's selection is another matter
    QTest::keyClick(view, Qt::Key_Backspace);
    QVERIFY(!chosen.last().at(0).value<pw::GraphPtr>());
}

void TstUiOpen::coloursAreSwitchedFromTheMenu() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    const Actions& actions = *fixture.window().actions();
    viz::GraphView* view = fixture.window().graphPage()->view();
    QVERIFY(actions[ActionId::ColorDevice]->isChecked());
    actions[ActionId::ColorTime]->trigger();
    QCOMPARE(view->colorBy(), viz::ColorBy::Time);
    QVERIFY(!actions[ActionId::ColorDevice]->isChecked());
    fixture.window().graphPage()->setColorBy(viz::ColorBy::Phase);
    QVERIFY(actions[ActionId::ColorPhase]->isChecked());
    actions[ActionId::ShowVariables]->trigger();
    QVERIFY(fixture.window().graphPage()->findChild<QCheckBox*>(QStringLiteral("showVariables"))->isChecked());
}

void TstUiOpen::theWindowFitsASmallScreen() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(4)));
    QVERIFY(fixture.place("contiguous"));
    fixture.window().selection()->setOps({1});
    fixture.window().resize(1024, 700);
    QVERIFY(QTest::qWaitFor([&] { return !fixture.window().graphPage()->view()->isLayoutRunning(); }));
    QCOMPARE(fixture.window().size(), QSize(1024, 700));
    QVERIFY(fixture.window().graphPage()->view()->width() > 400);
    QVERIFY(fixture.window().graphPage()->view()->height() > 160);
}

void TstUiOpen::groupsAreMadeByHandAndUndone() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const GraphPtr graph = test::layeredGraph(3);
    QVERIFY(fixture.show(graph));
    const Actions& actions = *fixture.window().actions();
    QVERIFY(!actions[ActionId::GroupTogether]->isEnabled());
    const std::size_t before = fixture.document().problem()->groupCount();
    fixture.window().selection()->setOps({1, 2, 6});
    QVERIFY(actions[ActionId::GroupTogether]->isEnabled());
    QVERIFY(!actions[ActionId::Ungroup]->isEnabled());
    actions[ActionId::GroupTogether]->trigger();
    QTRY_VERIFY(fixture.document().problem());
    const Grouping& grouping = fixture.document().problem()->grouping();
    QCOMPARE(grouping.groupOf[1], grouping.groupOf[2]);
    QCOMPARE(grouping.groupOf[1], grouping.groupOf[6]);
    QVERIFY(fixture.document().problem()->groupCount() < before);
    QVERIFY(actions[ActionId::Ungroup]->isEnabled());
    actions[ActionId::Groups]->trigger();
    auto* dialog = fixture.window().findChild<GroupsDialog*>();
    QVERIFY(dialog && !dialog->isModal());
    QVERIFY(!dialog->report().isEmpty());
    fixture.document().undoGroup()->undo();
    QTRY_VERIFY(fixture.document().problem());
    QCOMPARE(fixture.document().problem()->groupCount(), before);
    QVERIFY(fixture.document().grouping().byHand.empty());
    fixture.document().undoGroup()->redo();
    QTRY_VERIFY(fixture.document().problem());
    // An op that joins another group leaves its own.
    fixture.document().groupTogether({2, 3});
    QCOMPARE(fixture.document().grouping().byHand.size(), std::size_t(2));
    QCOMPARE(fixture.document().grouping().byHand[0].size(), std::size_t(2));
    fixture.document().ungroup({3});
    QCOMPARE(fixture.document().grouping().byHand.size(), std::size_t(1));
}

void TstUiOpen::aDroppedProfileMakesAMeasuredGraph() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const GraphPtr graph = test::layeredGraph(2);
    QVERIFY(fixture.show(graph));
    QVERIFY(fixture.place("contiguous"));
    const OpPlacement placed = *fixture.document().currentPlacement()->ops;
    const QString file = fixture.write(QStringLiteral("run.csv"), "op,us\nlayer0/head,7.5\nlayer0/left,250\nnobody/knows,1000\n");
    QVERIFY(fixture.drop(file));
    QTRY_VERIFY2(fixture.document().graphs().size() == 2U, qPrintable(fixture.window().messageBar()->text()));
    QTRY_VERIFY(fixture.document().schedule());
    const GraphEntry* entry = fixture.document().currentGraph();
    QVERIFY(entry->hash != graph->hash());
    QCOMPARE(entry->name, QStringLiteral("layered + run.csv"));
    QCOMPARE(entry->graph->op(OpId(0)).costs.size(), 1U);
    QCOMPARE(entry->graph->op(OpId(0)).costs.front().us, 7.5);
    QCOMPARE(*fixture.document().currentPlacement()->ops, placed); // kept
    const QString said = fixture.window().messageBar()->text();
    QVERIFY2(said.contains(QStringLiteral("2 of 8 ops")), qPrintable(said));
    QVERIFY2(said.contains(QStringLiteral("1 name of the profile (1.0 of 1.3 ms)")), qPrintable(said));
    QCOMPARE(fixture.window().messageBar()->details(), QStringList{QStringLiteral("nobody/knows")});
    button(*fixture.window().messageBar(), "messageDetails")->click();
    auto* details = fixture.window().findChild<ListDialog*>();
    QVERIFY(details);
    QCOMPARE(details->lines(), QStringList{QStringLiteral("nobody/knows")});
    // Its name survives the project.
    QCOMPARE(words::graphTitle(QStringLiteral("layered"), entry->source), entry->name);
}

void TstUiOpen::aProfileWithoutGraphSaysSo() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    fixture.window().openFiles({fixture.write(QStringLiteral("run.csv"), "op,us\na,1\n")});
    QTRY_VERIFY(fixture.window().messageBar()->text().contains(QStringLiteral("open the graph first")));
}

void TstUiOpen::aProfileOfAnotherGraphChangesNothing() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    fixture.window().openFiles({fixture.write(QStringLiteral("run.csv"), "op,us\nnobody,1\n")});
    QTRY_VERIFY(fixture.window().messageBar()->text().contains(QStringLiteral("run.csv")));
    QCOMPARE(fixture.document().graphs().size(), 1U);
}

QTEST_MAIN(TstUiOpen)
#include "tst_ui_open.moc"
