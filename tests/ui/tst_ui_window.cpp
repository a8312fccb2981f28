#include "tests/ui/ui_fixture.h"
#include "ui/actions.h"
#include "ui/docks/inspector_panel.h"
#include "ui/message_bar.h"
#include "ui/views/graph_page.h"
#include "ui/views/sample_card.h"
#include "ui/views/search_field.h"
#include "ui/views/summary_strip.h"
#include "ui/views/welcome_page.h"
#include "viz/graph/graph_view.h"
#include "viz/plots/timeline_view.h"

#include <QAction>
#include <QComboBox>
#include <QSignalSpy>
#include <QtTest>

using namespace pw;
using namespace pw::ui;

class TstUiWindow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void welcomePageWhenThereIsNothingToRestore();
    void aSampleIsOneClickAway();
    void aGraphFileOpensThroughAJob();
    void filesWaitForTheProject();
    void realFilesOpen_data();
    void realFilesOpen();
    void badFilesGiveOneClearMessage_data();
    void badFilesGiveOneClearMessage();
    void droppedFilesOpen();
    void oneSelectionRunsThroughAllViews();
    void digitsAssignAndCtrlZUndoes();
    void inspectorPricesAMove();
    void searchFindsOpsScopesAndCommands();
    void theSummarySaysWhatTheScheduleSays();
    void theSessionComesBack();
    void themesApply();
};

void TstUiWindow::welcomePageWhenThereIsNothingToRestore() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QCOMPARE(fixture.window().mode(), MainWindow::Mode::Welcome);
    QVERIFY(fixture.window().findChild<WelcomePage*>()->isVisible());
    QVERIFY(!fixture.window().findChild<GraphPage*>()->isVisible());
    QVERIFY(!(*fixture.window().actions())[ActionId::Train]->isEnabled());
    QCOMPARE((*fixture.window().actions())[ActionId::Train]->toolTip(), QStringLiteral("Open a graph first"));
}

void TstUiWindow::aSampleIsOneClickAway() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    auto* card = fixture.window().findChild<SampleCard*>(QStringLiteral("sample_inception_v3"));
    QVERIFY(card);
    QTest::mouseClick(card, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(fixture.document().problem(), 20000);
    QCOMPARE(fixture.window().mode(), MainWindow::Mode::Graph);
    QVERIFY(fixture.document().graph()->opCount() > 500);
    QCOMPARE(fixture.document().devices().name(), std::string("2xK80"));
    QTRY_COMPARE(fixture.repository->graphs()->size(), 1U); // kept without being asked
    QVERIFY(QTest::qWaitFor([&] { return !fixture.window().graphPage()->view()->isLayoutRunning(); }, 20000));
}

void TstUiWindow::aGraphFileOpensThroughAJob() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const QString file = fixture.write(QStringLiteral("two.graph.json"), R"({"format":"placewright-graph","version":1,"name":"two",
        "ops":[{"name":"a","type":"X","cost_us":5,"outputs":[{"bytes":8}]},{"name":"b","type":"Y","cost_us":7,"inputs":["a"]}]})");
    fixture.window().openFiles({file});
    QVERIFY(!fixture.document().graph()); // nothing is read on the GUI thread
    QTRY_VERIFY(fixture.document().problem());
    QCOMPARE(fixture.document().currentGraph()->name, QStringLiteral("two"));
    QCOMPARE(fixture.document().graph()->opCount(), 2U);
    QCOMPARE(fixture.settings->recentFiles().value(0), file);
}

void TstUiWindow::filesWaitForTheProject() {
    test::UiFixture fixture;
    const QString file = fixture.write(QStringLiteral("d.dot"), "digraph d { a -> b; }");
    fixture.window().show();
    fixture.window().start({});
    fixture.window().openFiles({file}); // the project is not there yet, and opening it clears the screen
    QTRY_VERIFY(fixture.document().graph());
    QTRY_COMPARE(fixture.repository->graphs()->size(), 1U);
    QCOMPARE(fixture.window().mode(), MainWindow::Mode::Graph);
}

void TstUiWindow::realFilesOpen_data() {
    QTest::addColumn<QString>("folder");
    for (const char* folder : {"dot", "json", "onnx", "onnx_text"})
        QTest::newRow(folder) << QStringLiteral(PW_SHARED_DATA) + QLatin1Char('/') + QLatin1String(folder);
}

void TstUiWindow::realFilesOpen() {
    QFETCH(QString, folder);
    if (!QFileInfo::exists(folder))
        QSKIP("the shared graphs are not on this machine");
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const QFileInfoList files = QDir(folder).entryInfoList(QDir::Files);
    for (const QFileInfo& file : files) {
        static const QStringList kGraphs = {QStringLiteral("dot"), QStringLiteral("gv"), QStringLiteral("json"), QStringLiteral("onnx"),
                                            QStringLiteral("onnxtxt")};
        if (!kGraphs.contains(file.suffix()))
            continue;
        fixture.window().messageBar()->hide();
        QSignalSpy changed(&fixture.document(), &Document::currentGraphChanged);
        const auto before = fixture.document().graphs().size();
        fixture.window().openFiles({file.absoluteFilePath()});
        QTRY_VERIFY2_WITH_TIMEOUT(fixture.window().jobs()->runningCount() == 0, qPrintable(file.fileName()), 60000);
        QVERIFY2(changed.count() > 0 || fixture.document().graphs().size() > before || !fixture.window().messageBar()->text().isEmpty(),
                 qPrintable(file.fileName()));
    }
    QVERIFY(!fixture.document().graphs().empty()); // what could not be opened was answered with a message
}

void TstUiWindow::badFilesGiveOneClearMessage_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("said");
    QTest::newRow("missing") << QString() << QByteArray() << QStringLiteral("missing.onnx");
    QTest::newRow("empty") << QStringLiteral("empty.onnx") << QByteArray() << QStringLiteral("empty.onnx");
    QTest::newRow("truncated") << QStringLiteral("cut.graph.json") << QByteArray(R"({"format":"placewright-graph","version":1,"ops":[{"na)")
                               << QStringLiteral("cut.graph.json");
    QTest::newRow("noise") << QStringLiteral("noise.bin") << QByteArray(2000, '\x9c') << QStringLiteral("noise.bin");
    QTest::newRow("no devices") << QStringLiteral("none.devices.json")
                                << QByteArray(R"({"format":"placewright-devices","version":1,"name":"none","devices":[],"links":[]})")
                                << QStringLiteral("none.devices.json");
    QTest::newRow("placement without graph") << QStringLiteral("p.placement.json")
        << QByteArray(R"({"format":"placewright-placement","version":1,"devices":["gpu:0"],"default":"gpu:0","assignment":{}})")
        << QStringLiteral("p.placement.json");
}

void TstUiWindow::badFilesGiveOneClearMessage() {
    QFETCH(QString, name);
    QFETCH(QByteArray, content);
    QFETCH(QString, said);
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const QString file = name.isEmpty() ? fixture.filePath(said) : fixture.write(name, content);
    fixture.window().openFiles({file});
    QTRY_VERIFY(!fixture.window().messageBar()->text().isEmpty());
    QVERIFY2(fixture.window().messageBar()->text().contains(said), qPrintable(fixture.window().messageBar()->text()));
    QVERIFY(!fixture.document().graph());
    QCOMPARE(fixture.window().mode(), MainWindow::Mode::Welcome);
}

void TstUiWindow::droppedFilesOpen() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const QString file = fixture.write(QStringLiteral("d.dot"), "digraph d { a -> b -> c; }");
    QVERIFY(fixture.drop(file));
    QTRY_VERIFY(fixture.document().graph());
    QCOMPARE(fixture.document().graph()->opCount(), 3U);
}

void TstUiWindow::oneSelectionRunsThroughAllViews() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    QVERIFY(fixture.place("contiguous"));
    Selection* selection = fixture.window().selection();
    // From the graph to everybody.
    Q_EMIT fixture.window().graphPage()->view()->selectionChanged({4});
    QCOMPARE(selection->ops(), QList<quint32>{4});
    const auto& rows = fixture.window().inspector()->facts()->rows();
    QVERIFY(std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.label == QStringLiteral("Start"); }));
    // From the timeline.
    Q_EMIT fixture.window().timeline()->selectionChanged({7});
    QCOMPARE(selection->ops(), QList<quint32>{7});
    // From the inspector: a click on an input goes there.
    Q_EMIT fixture.window().inspector()->facts()->opClicked(2);
    QCOMPARE(selection->ops(), QList<quint32>{2});
    // Another graph has other ops.
    QVERIFY(fixture.show(test::layeredGraph(2)));
    QVERIFY(selection->isEmpty());
}

void TstUiWindow::digitsAssignAndCtrlZUndoes() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    QVERIFY(fixture.place("single"));
    MainWindow& window = fixture.window();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    (*window.actions())[ActionId::WholeGroups]->setChecked(false);
    window.selection()->setOps({3, 6});
    window.graphPage()->view()->setFocus();
    QTest::keyClick(window.graphPage()->view(), Qt::Key_2);
    QCOMPARE((*fixture.document().currentPlacement()->ops)[3], DeviceId(1));
    QCOMPARE((*fixture.document().currentPlacement()->ops)[6], DeviceId(1));
    QTest::keyClick(window.graphPage()->view(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE((*fixture.document().currentPlacement()->ops)[3], DeviceId(0));
    QTest::keyClick(window.graphPage()->view(), Qt::Key_Y, Qt::ControlModifier);
    QCOMPARE((*fixture.document().currentPlacement()->ops)[3], DeviceId(1));
    QTest::keyClick(window.graphPage()->view(), Qt::Key_8); // there is no device H here
    QCOMPARE((*fixture.document().currentPlacement()->ops)[3], DeviceId(1));
    QTest::keyClick(window.graphPage()->view(), Qt::Key_Escape);
    QVERIFY(window.selection()->isEmpty());
}

void TstUiWindow::inspectorPricesAMove() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    QVERIFY(fixture.place("single"));
    InspectorPanel* inspector = fixture.window().inspector();
    inspector->setMovesWholeGroups(false);
    fixture.window().selection()->setOps({1});
    QTRY_COMPARE(inspector->prices()->rows().size(), 3U); // heading and two devices
    QCOMPARE(inspector->prices()->rows()[1].extra, QStringLiteral("as now"));
    OpPlacement moved = *fixture.document().currentPlacement()->ops;
    moved[1] = DeviceId(1);
    Simulator simulator(fixture.document().problem());
    const double expected = simulator.evaluate(moved).stepTimeUs;
    QCOMPARE(inspector->prices()->rows()[2].value, words::milliseconds(expected));
    // Choosing a device moves the op.
    auto* combo = inspector->findChild<QComboBox*>(QStringLiteral("deviceCombo"));
    Q_EMIT combo->activated(1);
    QCOMPARE((*fixture.document().currentPlacement()->ops)[1], DeviceId(1));
    QTRY_VERIFY(fixture.document().schedule() && fixture.document().schedule()->placement[1] == DeviceId(1));
    QCOMPARE(fixture.document().schedule()->stepTimeUs, expected);
}

void TstUiWindow::searchFindsOpsScopesAndCommands() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(5)));
    auto* field = fixture.window().findChild<SearchField*>();
    QList<quint32> all;
    const auto hits = field->search(QStringLiteral("conv LAYER3"), 10, &all);
    QCOMPARE(all, (QList<quint32>{13, 14}));
    QVERIFY(std::any_of(hits.begin(), hits.end(), [](const auto& hit) { return hit.text == QStringLiteral("layer3/left"); }));
    const auto commands = field->search(QStringLiteral("keyboard"), 10);
    QVERIFY(!commands.empty() && commands.front().kind == SearchField::Hit::Kind::Command);
    field->focusNow();
    QTest::keyClicks(field, QStringLiteral("layer2/join"));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(fixture.window().selection()->ops(), QList<quint32>{11});
}

void TstUiWindow::theSummarySaysWhatTheScheduleSays() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    QVERIFY(fixture.window().summary()->cellTexts().first().startsWith(QStringLiteral("No placement shown")));
    QVERIFY(fixture.place("contiguous"));
    const QStringList cells = fixture.window().summary()->cellTexts();
    const auto schedule = fixture.document().schedule();
    QCOMPARE(cells[0], QStringLiteral("Step time, simulated: %1 ms links model").arg(words::milliseconds(schedule->stepTimeUs)));
    QVERIFY(cells[1].contains(words::milliseconds(fixture.document().situation()->single.stepTimeUs)));
    QVERIFY(cells[2].contains(words::milliseconds(fixture.document().situation()->bounds.best())));
    QVERIFY(cells[3].contains(words::bytes(double(schedule->transferBytes))));
}

void TstUiWindow::theSessionComesBack() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    QVERIFY(fixture.show(test::layeredGraph(4)));
    const std::string last = fixture.document().graph()->hash();
    QVERIFY(fixture.place("contiguous"));
    QTRY_VERIFY(fixture.window().project()->isIdle());
    fixture.window().resize(1300, 800);
    QVERIFY(fixture.window().close());
    fixture.recreateWindow();
    QVERIFY(fixture.open());
    QTRY_VERIFY(fixture.document().problem());
    QCOMPARE(fixture.document().graphs().size(), 2U);
    QCOMPARE(fixture.document().graph()->hash(), last);
    QTRY_COMPARE(fixture.document().placements().size(), 1U);
    QTRY_VERIFY(fixture.document().schedule());
    QCOMPARE(fixture.window().mode(), MainWindow::Mode::Graph);
    QCOMPARE(fixture.window().size(), QSize(1300, 800));
}

void TstUiWindow::themesApply() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    for (const char* theme : {"dark", "contrast", "light"}) {
        fixture.settings->setValue(SettingId::Theme, QString::fromLatin1(theme));
        const viz::Theme& expected = viz::Theme::of(theme[0] == 'd' ? viz::Theme::Kind::Dark : theme[0] == 'c' ? viz::Theme::Kind::HighContrast : viz::Theme::Kind::Light);
        QCOMPARE(QApplication::palette().color(QPalette::Window), expected.chrome);
    }
}

QTEST_MAIN(TstUiWindow)
#include "tst_ui_window.moc"
