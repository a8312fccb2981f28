// What the colours of a picture say: scales, unknown costs, shares of scopes.

#include "viz/graph/visuals.h"

#include "graph_samples.h"

#include <QtTest>

#include <cmath>
#include <numeric>

using namespace pw;
using namespace pw::viz;
using namespace pw::test;

namespace {

struct Picture {
    explicit Picture(GraphPtr graph) {
        const auto tree = SceneTree::build(std::move(graph), true);
        LayoutMemo memo;
        scene = buildScene(tree, openUpTo(*tree, 1, 100, OpenBy::Level), memo, JobContext()).value();
    }
    std::shared_ptr<const Scene> scene;
};

/// Scope "s" with one op per cost.
GraphPtr withOps(std::size_t count) {
    GraphBuilder b("ops", "test");
    for (std::size_t i = 0; i < count; ++i)
        addOp(b, "s/op" + std::to_string(i), "Relu");
    return built(std::move(b));
}

VisualInput costs(std::vector<double> us, ColorBy by = ColorBy::Cost) {
    VisualInput input;
    input.costUs = std::move(us);
    input.colorBy = by;
    return input;
}

} // namespace

class TestVisuals : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aWideRangeIsLogarithmic() {
        const Picture picture(withOps(4));
        const Visuals visuals(*picture.scene, costs({1.0, 10.0, 1000.0, 0.0}));
        QVERIFY(visuals.isScaleLog());
        QCOMPARE(visuals.scaleRange(), std::make_pair(1.0, 1000.0));
        QCOMPARE(visuals.scale(OpId(0)), 0.0);
        QCOMPARE(visuals.scale(OpId(1)), 1.0 / 3.0);
        QCOMPARE(visuals.scale(OpId(2)), 1.0);
        QCOMPARE(visuals.scale(OpId(3)), 0.0);
    }
    void aNarrowRangeIsLinear() {
        const Picture picture(withOps(3));
        const Visuals visuals(*picture.scene, costs({10.0, 15.0, 20.0}));
        QVERIFY(!visuals.isScaleLog());
        QCOMPARE(visuals.scale(OpId(1)), 0.5);
    }
    void costsAllAlikeStandInTheMiddle() {
        const Picture picture(withOps(2));
        const Visuals visuals(*picture.scene, costs({7.0, 7.0}));
        QCOMPARE(visuals.scale(OpId(0)), 0.5);
    }
    void unknownCostsAreMarkedAndCounted() {
        const Picture picture(withOps(3));
        VisualInput input = costs({1.0, 2.0, 1.0});
        input.costSources = {CostSource::Measured, CostSource::Default, CostSource::Formula};
        const Visuals byCost(*picture.scene, input);
        QVERIFY(byCost.isUnknown(OpId(1)));
        QVERIFY(!byCost.isUnknown(OpId(0)) && !byCost.isUnknown(OpId(2)));
        QCOMPARE(byCost.unknownCount(), std::size_t(1));
        QCOMPARE(byCost.costSource(OpId(2)), std::optional(CostSource::Formula));
        input.colorBy = ColorBy::Memory; // says nothing about costs
        const Visuals byMemory(*picture.scene, input);
        QVERIFY(!byMemory.isUnknown(OpId(1)));
        QCOMPARE(byMemory.unknownCount(), std::size_t(0));
    }
    void scopesShowWhereTheirCostComesFrom() {
        const Picture picture(withOps(4));
        VisualInput input = costs({1.0, 1.0, 98.0, 100.0});
        input.costSources = {CostSource::Formula, CostSource::Formula, CostSource::Formula, CostSource::Default};
        const Visuals visuals(*picture.scene, input);
        const auto shades = visuals.shades(0);
        QCOMPARE(shades.size(), Visuals::kHeatSteps + 1);
        QVERIFY(std::abs(std::accumulate(shades.begin(), shades.end(), 0.0F) - 1.0F) < 1e-5F);
        QVERIFY(std::abs(shades[0] - 0.01F) < 1e-4F);                       // the two cheap ones
        QVERIFY(std::abs(shades[Visuals::kHeatSteps - 1] - 0.49F) < 1e-4F); // the dear one
        QVERIFY(std::abs(shades[Visuals::kHeatSteps] - 0.5F) < 1e-4F);      // what nobody knows
        QCOMPARE(visuals.total(0), 200.0);
    }
    void timeNeedsASchedule() {
        const Picture picture(withOps(2));
        VisualInput input = costs({10.0, 20.0}, ColorBy::Time);
        const Visuals without(*picture.scene, input);
        QVERIFY(without.isTimeMissing());
        QCOMPARE(without.scaleRange(), std::make_pair(10.0, 20.0)); // the costs stand in, and it is said
        auto schedule = std::make_shared<Schedule>();
        schedule->startUs = {0.0, 5.0};
        schedule->endUs = {5.0, 8.0};
        input.schedule = schedule;
        const Visuals with(*picture.scene, input);
        QVERIFY(!with.isTimeMissing());
        QCOMPARE(with.scaleRange(), std::make_pair(3.0, 5.0));
        input.colorBy = ColorBy::Cost; // a schedule does not change what an op costs
        QCOMPARE(Visuals(*picture.scene, input).scaleRange(), std::make_pair(10.0, 20.0));
    }
    void phasesHaveShares() {
        GraphBuilder b("phases", "test");
        const OpId forward = addOp(b, "s/f", "Relu");
        const OpId backward = addOp(b, "s/b", "ReluGrad", {forward});
        b.op(backward).phase = Phase::Backward;
        const Picture picture(built(std::move(b)));
        const Visuals visuals(*picture.scene, costs({1.0, 3.0}, ColorBy::Phase));
        const auto shades = visuals.shades(0);
        QCOMPARE(shades.size(), std::size_t(4));
        QVERIFY(std::abs(shades[0] - 0.25F) < 1e-4F);
        QVERIFY(std::abs(shades[1] - 0.75F) < 1e-4F);
        QVERIFY(Visuals(*picture.scene, costs({1.0, 3.0}, ColorBy::Device)).shades(0).empty());
    }
};

QTEST_APPLESS_MAIN(TestVisuals)
#include "tst_visuals.moc"
