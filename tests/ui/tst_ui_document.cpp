#include "core/graph/graph_builder.h"
#include "tests/ui/ui_fixture.h"

#include <QSignalSpy>
#include <QtTest>

using namespace pw;
using namespace pw::ui;

class TstUiDocument : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void movesByHandCopyUndoAndRedo();
    void pinnedOpsStay();
    void colocatedOpsMoveTogether();
    void newestSimulationWins();
    void aCyclicGraphOpensWithoutAProblem();
    void manualPlacementsAreKeptInTheProject();
    void undoBelongsToItsGraph();
};

void TstUiDocument::movesByHandCopyUndoAndRedo() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    QVERIFY(fixture.place("single"));
    Document& document = fixture.document();
    const int single = document.currentPlacement()->id;
    const double before = document.schedule()->stepTimeUs;
    document.assign({1}, DeviceId(1), false);
    QCOMPARE(document.placements().size(), 2U);
    QVERIFY(document.currentPlacement()->id != single);
    QCOMPARE(document.currentPlacement()->method, QStringLiteral("manual"));
    QCOMPARE((*document.currentPlacement()->ops)[1], DeviceId(1));
    QCOMPARE((*document.findPlacement(single)->ops)[1], DeviceId(0)); // the method's own result stays what it was
    QTRY_VERIFY(document.schedule() && document.schedule()->placement[1] == DeviceId(1));
    QVERIFY(document.schedule()->stepTimeUs != before);
    document.assign({2}, DeviceId(1), false);
    QCOMPARE(document.placements().size(), 2U);

    document.undoGroup()->undo();
    QCOMPARE((*document.currentPlacement()->ops)[2], DeviceId(0));
    document.undoGroup()->undo();
    QCOMPARE(document.currentPlacement()->id, single);
    QCOMPARE(document.placements().size(), 1U);
    QVERIFY(!document.undoGroup()->canUndo());
    document.undoGroup()->redo();
    document.undoGroup()->redo();
    QCOMPARE((*document.currentPlacement()->ops)[1], DeviceId(1));
    QCOMPARE((*document.currentPlacement()->ops)[2], DeviceId(1));
}

void TstUiDocument::pinnedOpsStay() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    QVERIFY(fixture.place("single"));
    Document& document = fixture.document();
    document.setPinned({1}, true);
    QVERIFY(document.isPinned(1));
    document.assign({1, 2}, DeviceId(1), false);
    QCOMPARE((*document.currentPlacement()->ops)[1], DeviceId(0));
    QCOMPARE((*document.currentPlacement()->ops)[2], DeviceId(1));
    QVERIFY(document.isPinned(1)); // the copy keeps its pins
}

void TstUiDocument::colocatedOpsMoveTogether() {
    GraphBuilder builder("g", "json");
    for (const char* key : {"k", "", "k"}) {
        Op op;
        op.type = "X";
        op.colocation = key;
        builder.addOp(std::move(op));
    }
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(*std::move(builder).build()));
    QCOMPARE(fixture.document().movedWith({0}, false), (QList<quint32>{0, 2}));
    QCOMPARE(fixture.document().movedWith({1}, false), (QList<quint32>{1}));
}

void TstUiDocument::newestSimulationWins() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(30)));
    QVERIFY(fixture.place("single"));
    Document& document = fixture.document();
    for (quint32 op = 0; op < 40; ++op)
        document.assign({op}, DeviceId(1), false);
    QTRY_VERIFY(document.schedule() && document.schedule()->placement == *document.currentPlacement()->ops);
    QCOMPARE(document.schedule()->placement[39], DeviceId(1));
}

void TstUiDocument::aCyclicGraphOpensWithoutAProblem() {
    GraphBuilder builder("loop", "json");
    const OpId a = builder.addOp({});
    const OpId b = builder.addOp({});
    builder.addInput(b, builder.addOutput(a));
    builder.addInput(a, builder.addOutput(b));
    const GraphPtr graph = *std::move(builder).build();
    QVERIFY(graph->isCyclic());
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    GraphEntry entry;
    entry.name = QStringLiteral("loop");
    entry.hash = graph->hash();
    entry.graph = graph;
    QSignalSpy failures(&fixture.document(), &Document::failed);
    fixture.document().setCurrentGraph(fixture.document().addGraph(entry));
    QCOMPARE(fixture.document().graph(), graph);
    QVERIFY(!fixture.document().problem());
    QCOMPARE(failures.count(), 0);
    QCOMPARE(fixture.window().mode(), MainWindow::Mode::Graph);
}

void TstUiDocument::manualPlacementsAreKeptInTheProject() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    const GraphPtr graph = test::layeredGraph(3);
    QVERIFY(fixture.show(graph));
    QVERIFY(fixture.place("single"));
    fixture.document().assign({5}, DeviceId(1), false);
    fixture.window().project()->flush();
    QTRY_VERIFY(fixture.window().project()->isIdle());
    fixture.recreateWindow(); // as after a crash: nothing was said to the old window
    QVERIFY(fixture.open());
    QTRY_COMPARE(fixture.document().placements().size(), 2U);
    bool found = false;
    for (const PlacementEntry* placement : fixture.document().placements())
        found = found || (placement->method == QLatin1String("manual") && (*placement->ops)[5] == DeviceId(1));
    QVERIFY(found);
}

void TstUiDocument::undoBelongsToItsGraph() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    const int first = fixture.document().currentGraph()->id;
    fixture.document().assign({0}, DeviceId(1), false);
    QVERIFY(fixture.document().undoGroup()->canUndo());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    QVERIFY(!fixture.document().undoGroup()->canUndo());
    fixture.document().setCurrentGraph(first);
    QVERIFY(fixture.document().undoGroup()->canUndo());
}

QTEST_MAIN(TstUiDocument)
#include "tst_ui_document.moc"
