#include "tests/learn/learn_support.h"

#include <QtTest>

#include <cmath>
#include <numeric>

using namespace pw;
using namespace pw::learn;

namespace {

bool near(double actual, double expected) {
    // The note prints six digits.
    return std::abs(actual - expected) <= 1e-6;
}

struct OracleRun {
    std::vector<double> logits;
    std::vector<double> embedding;
    std::vector<double> pooled;
};

OracleRun runOracle(const std::string& k) {
    const auto graph = test::w3Graph();
    const auto config = test::config({{"preset", "paper"}, {"k", k}});
    const NetLayout layout(config.shape);
    const auto weights = test::oracleWeights(layout);
    std::vector<double> features(config.shape.featureCount() * 6);
    writeFeatures(graph, config, test::oracleState().view(), features.data(), 1, 6);
    PlacetoForward<double> forward(layout, graph.topology);
    OracleRun run;
    run.logits.resize(2);
    forward.run(weights, features, 2, run.logits);
    run.embedding.assign(forward.embedding().begin(), forward.embedding().end());
    run.pooled.assign(forward.pooled().begin(), forward.pooled().end());
    return run;
}

} // namespace

class TestPlacetoNet : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void parameterCountFollowsTheFormula_data() {
        QTest::addColumn<int>("devices");
        QTest::addColumn<int>("count");
        QTest::newRow("2") << 2 << 15962;
        QTest::newRow("3") << 3 << 20827;
        QTest::newRow("4") << 4 << 26338;
        QTest::newRow("8") << 8 << 54842;
    }
    void parameterCountFollowsTheFormula() {
        QFETCH(int, devices);
        QFETCH(int, count);
        const auto config = test::config({}, static_cast<std::size_t>(devices));
        const NetLayout layout(config.shape);
        QCOMPARE(layout.parameterCount, static_cast<std::size_t>(count));
        QCOMPARE(layout.layers.size(), 26U);
        const std::size_t d = config.shape.featureCount();
        const std::size_t formula = 11 * (d * d + d) + 12 * (4 * d * d + 2 * d) + (8 * d * 16 * d + 16 * d) +
                                    (16 * d * 8 * d + 8 * d) + (8 * d * static_cast<std::size_t>(devices) +
                                                                static_cast<std::size_t>(devices));
        QCOMPARE(layout.parameterCount, formula);
    }

    void variantsHaveTheirSizes() {
        const NetLayout pools(test::config({{"variant", "no_message_passing"}}).shape);
        QCOMPARE(pools.pooledSize, 4U * 7U);
        QCOMPARE(pools.layers.size(), 15U);
        const NetLayout simple(test::config({{"variant", "simple_aggregator"}}).shape);
        QCOMPARE(simple.pooledSize, 7U);
        QCOMPARE(simple.layers.size(), 7U);
    }

    void masksAreThoseOfTheOracle() {
        const auto graph = test::w3Graph();
        const auto list = [](std::span<const std::uint32_t> row) { return std::vector<std::uint32_t>(row.begin(), row.end()); };
        QCOMPARE(list(graph.topology.ancestors[2]), (std::vector<std::uint32_t>{0}));
        QCOMPARE(list(graph.topology.descendants[2]), (std::vector<std::uint32_t>{4, 5}));
        QCOMPARE(list(graph.topology.parallel[2]), (std::vector<std::uint32_t>{1, 3}));
        QCOMPARE(list(graph.topology.ancestors[4]), (std::vector<std::uint32_t>{0, 1, 2, 3}));
    }

    void featuresAreThoseOfTheOracle() {
        const auto graph = test::w3Graph();
        const auto config = test::config({{"preset", "paper"}});
        std::vector<double> rows(6 * 7);
        writeFeatures(graph, config, test::oracleState().view(), rows.data(), 7, 1);
        const double expected[6][7] = {
            {0.2, 1, 1, 0, -0.181305, 1, 0},  {1, 0.5, 1, 0, -0.089243, 1, 0}, {1, 0.5, 0, 1, 0, 0, 1},
            {1, 0.5, 0, 0, 0.414384, 0, 1},   {0.3, 0.02, 0, 0, 0.867647, 1, 0}, {0.05, 0.002632, 0, 0, 1, 1, 0}};
        for (std::size_t n = 0; n < 6; ++n)
            for (std::size_t c = 0; c < 7; ++c)
                QVERIFY2(near(rows[n * 7 + c], expected[n][c]), qPrintable(QString("%1,%2").arg(n).arg(c)));
    }

    void startColumnOfTheLastStarter() {
        // Placeto's released code leaves raw microseconds where the current node starts last.
        const auto graph = test::w3Graph();
        auto state = test::oracleState();
        const StepView last{state.placement, state.visits, state.startUs, 5};
        std::vector<double> rows(6 * 7);
        writeFeatures(graph, test::config({{"features", "reference"}}), last, rows.data(), 7, 1);
        QVERIFY(rows[4] < -586.0);
        writeFeatures(graph, test::config({{"features", "safe"}}), last, rows.data(), 7, 1);
        QVERIFY(near(rows[4], -1.0));
    }

    void forwardPassMatchesTheOracle_data() {
        QTest::addColumn<QString>("k");
        QTest::addColumn<QList<double>>("expected"); // logits, softmax, sum of H, sum of z
        QTest::newRow("0") << "0" << QList<double>{0.005649, 0.184833, 0.455324, 0.544676, -0.569911, 0.675268};
        QTest::newRow("1") << "1" << QList<double>{-0.017629, 0.140385, 0.460579, 0.539421, 0.949121, 0.983050};
        QTest::newRow("2") << "2" << QList<double>{-0.017729, 0.139859, 0.460684, 0.539316, 0.945570, 0.983766};
        QTest::newRow("8") << "8" << QList<double>{-0.017735, 0.139864, 0.460682, 0.539318, 0.945601, 0.983762};
    }
    void forwardPassMatchesTheOracle() {
        QFETCH(QString, k);
        QFETCH(QList<double>, expected);
        const auto run = runOracle(k.toStdString());
        const double first = 1.0 / (1.0 + std::exp(run.logits[1] - run.logits[0]));
        const double actual[] = {run.logits[0], run.logits[1], first, 1.0 - first,
                                 std::accumulate(run.embedding.begin(), run.embedding.end(), 0.0),
                                 std::accumulate(run.pooled.begin(), run.pooled.end(), 0.0)};
        for (int i = 0; i < 6; ++i)
            QVERIFY2(near(actual[i], expected[i]), qPrintable(QString("%1: %2").arg(i).arg(actual[i], 0, 'g', 9)));
    }

    void embeddingOfTheNodeMatchesTheOracle() {
        const double expected[] = {0.03432,  -0.015051, -0.027141, 0.147526, 0.118754, -0.080949, -0.092792,
                                   0.051824, 0.00527,   -0.027141, 0.076191, 0.065345, -0.008371, -0.037293};
        const auto run = runOracle("2");
        for (std::size_t c = 0; c < 14; ++c)
            QVERIFY2(near(run.embedding[c * 6 + 2], expected[c]), qPrintable(QString::number(c)));
    }

    void sweepEqualsRadialOnceTheDepthIsCovered() {
        // On a graph of depth 1 both forms are one exchange with direct neighbours.
        const PlacetoGraph graph(Topology(3, {{0, 1}, {0, 2}}, {0, 1, 2}), 2, {1, 2, 3}, {3, 2, 1});
        const auto radial = test::config({{"k", "1"}});
        const auto sweep = test::config({{"messages", "sweep"}});
        const NetLayout layout(radial.shape);
        const NetLayout sweepLayout(sweep.shape);
        const auto weights = test::oracleWeights(layout);
        std::vector<double> features(7 * 3);
        const std::vector<DeviceId> placement(3, DeviceId(0));
        const std::vector<std::uint32_t> visits(3, 0);
        const std::vector<float> starts = {0, 10, 20};
        writeFeatures(graph, radial, {placement, visits, starts, 1}, features.data(), 1, 3);
        std::vector<double> a(2);
        std::vector<double> b(2);
        PlacetoForward<double>(layout, graph.topology).run(weights, features, 1, a);
        PlacetoForward<double>(sweepLayout, graph.topology).run(weights, features, 1, b);
        QVERIFY(std::abs(a[0] - b[0]) < 1e-12 && std::abs(a[1] - b[1]) < 1e-12);
    }
};

QTEST_APPLESS_MAIN(TestPlacetoNet)
#include "tst_placeto_net.moc"
