#include "tests/ui/ui_fixture.h"
#include "ui/compare.h"
#include "ui/models/library_model.h"
#include "ui/models/moves_model.h"
#include "ui/models/parameters_model.h"
#include "ui/models/runs_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QtTest>

using namespace pw;
using namespace pw::ui;

namespace {

RunRecord makeRun(RowId id, const std::string& method, double stepUs) {
    RunRecord run;
    run.id = id;
    run.spec.kind = "train";
    run.spec.method = method;
    run.spec.graphName = "Inception-v3";
    run.spec.deviceSetName = "2xK80";
    run.spec.graphHashes = {"h"};
    run.status = RunStatus::Done;
    run.bestStepTimeUs = stepUs;
    run.steps = 10 * id;
    run.tags = {"first", "slow"};
    return run;
}

} // namespace

class TstUiModels : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void runsAreShownSortedAndFiltered();
    void editingTagsAndNotesIsTold();
    void aRefreshOfTheSameRunsKeepsRows();
    void parametersTellOnlyWhatChanged();
    void libraryFollowsTheDocument();
    void movesAreListedByEffect();
};

void TstUiModels::runsAreShownSortedAndFiltered() {
    RunsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns({makeRun(1, "placeto", 3333600), makeRun(2, "local_search", 990000), makeRun(3, "placeto", 11000000)});
    QCOMPARE(model.index(0, RunsModel::StepMs).data().toString(), QStringLiteral("3,333.6"));
    QCOMPARE(model.index(0, RunsModel::Run).data().toString(), QStringLiteral("Placeto, seed 1"));
    QCOMPARE(model.index(0, RunsModel::Tags).data().toString(), QStringLiteral("first, slow"));
    QSortFilterProxyModel proxy;
    proxy.setSourceModel(&model);
    proxy.setSortRole(RunsModel::SortRole);
    proxy.sort(RunsModel::StepMs);
    QCOMPARE(proxy.index(0, 0).data(RunsModel::IdRole).toLongLong(), 2); // by value: as text 11,000 would come first
    QCOMPARE(proxy.index(2, 0).data(RunsModel::IdRole).toLongLong(), 3);
    QVERIFY(model.matches(1, QStringLiteral("local 2xK80")));
    QVERIFY(!model.matches(0, QStringLiteral("local")));
    QVERIFY(model.matches(0, QString()));
}

void TstUiModels::editingTagsAndNotesIsTold() {
    RunsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns({makeRun(7, "placeto", 1000)});
    QSignalSpy tags(&model, &RunsModel::tagsEdited);
    QSignalSpy notes(&model, &RunsModel::noteEdited);
    QVERIFY(model.setData(model.index(0, RunsModel::Tags), QStringLiteral(" a, b ,,"), Qt::EditRole));
    QVERIFY(model.setData(model.index(0, RunsModel::Note), QStringLiteral("good"), Qt::EditRole));
    QVERIFY(!model.setData(model.index(0, RunsModel::Run), QStringLiteral("x"), Qt::EditRole));
    QCOMPARE(tags.count(), 1);
    QCOMPARE(tags.first().at(0).toLongLong(), 7);
    QCOMPARE(tags.first().at(1).value<std::vector<std::string>>(), (std::vector<std::string>{"a", "b"}));
    QCOMPARE(notes.first().at(1).toString(), QStringLiteral("good"));
    QCOMPARE(model.index(0, RunsModel::Tags).data().toString(), QStringLiteral("a, b"));
}

void TstUiModels::aRefreshOfTheSameRunsKeepsRows() {
    RunsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns({makeRun(1, "placeto", 5000)});
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    model.setRuns({makeRun(1, "placeto", 4000)});
    QCOMPARE(reset.count(), 0);
    QCOMPARE(model.index(0, RunsModel::StepMs).data().toString(), QStringLiteral("4.0"));
    model.setRuns({});
    QCOMPARE(reset.count(), 1);
}

void TstUiModels::parametersTellOnlyWhatChanged() {
    ParametersModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setParameters(test::FakeLibrary().parameters("placeto"));
    QVERIFY(model.changed().empty());
    QVERIFY(model.setData(model.index(1, ParametersModel::Value), QStringLiteral("0.01"), Qt::EditRole));
    QVERIFY(!model.setData(model.index(0, ParametersModel::Value), QStringLiteral("unheard"), Qt::EditRole));
    QVERIFY(!model.setData(model.index(1, ParametersModel::Default), QStringLiteral("1"), Qt::EditRole));
    QCOMPARE(model.changed(), (std::map<std::string, std::string>{{"lr", "0.01"}}));
    model.setValue("preset", "paper");
    QCOMPARE(model.changed().size(), 2U);
    model.resetAll();
    QVERIFY(model.changed().empty());
}

void TstUiModels::libraryFollowsTheDocument() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    LibraryModel model(&fixture.document(), fixture.window().project());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), int(LibraryModel::SectionCount));
    QCOMPARE(model.rowCount(model.sectionIndex(LibraryModel::Graphs)), 0);
    QVERIFY(model.rowCount(model.sectionIndex(LibraryModel::DeviceSets)) >= 5);
    QVERIFY(fixture.show(test::layeredGraph(3)));
    const QModelIndex graphs = model.sectionIndex(LibraryModel::Graphs);
    QCOMPARE(model.rowCount(graphs), 1);
    QCOMPARE(model.index(0, 1, graphs).data().toString(), QStringLiteral("12"));
    QVERIFY(model.index(0, 0, graphs).data(LibraryModel::CurrentRole).toBool());
    QVERIFY(fixture.place("single"));
    QVERIFY(fixture.place("contiguous"));
    const QModelIndex placements = model.sectionIndex(LibraryModel::Placements);
    QCOMPARE(model.rowCount(placements), 2);
    fixture.document().removePlacement(fixture.document().placements().front()->id);
    QCOMPARE(model.rowCount(placements), 1);
    fixture.document().setCurrentDevices(devicePreset("4xK80")->hash());
    QCOMPARE(model.rowCount(placements), 0); // placements belong to their device set
}

void TstUiModels::movesAreListedByEffect() {
    const GraphPtr graph = test::layeredGraph(4);
    const auto problem = PlacementProblem::compile(graph, *devicePreset("2xK80"), trivialGrouping(*graph), {});
    QVERIFY(problem);
    const OpPlacement base(graph->opCount(), DeviceId(0));
    OpPlacement candidate = base;
    candidate[1] = candidate[2] = DeviceId(1);
    JobContext context;
    const auto comparison = std::make_shared<const Comparison>(comparePlacements(*problem, base, candidate, context));
    QCOMPARE(comparison->movedOps, 2U);
    QCOMPARE(comparison->flow[0][1], 2U);
    QCOMPARE(comparison->flow[0][0], graph->opCount() - 2);
    MovesModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setComparison(comparison);
    QCOMPARE(model.rowCount(), 2);
    QVERIFY(model.moves()[0].effectUs.value() <= model.moves()[1].effectUs.value());
    // The effect of a move is what undoing it alone would give back.
    OpPlacement undone = candidate;
    undone[model.moves()[0].ops.front()] = DeviceId(0);
    Simulator simulator(*problem);
    const double with = simulator.evaluate(candidate).stepTimeUs;
    const double without = simulator.evaluate(undone).stepTimeUs;
    QCOMPARE(model.moves()[0].effectUs.value(), with - without);
    QCOMPARE(model.index(0, MovesModel::FromTo).data().toString(), QStringLiteral("A → B"));
}

QTEST_MAIN(TstUiModels)
#include "tst_ui_models.moc"
