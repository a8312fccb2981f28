#include "tests/learn/learn_support.h"

#include <QtTest>

#include <cmath>

using namespace pw;
using namespace pw::learn;

namespace {

/// 12 nodes, three branches that meet, and one node beside them.
PlacetoGraph branchedGraph(std::size_t devices) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 5}, {4, 6}, {5, 6},
                                                                 {3, 7}, {6, 8}, {7, 8}, {8, 9}, {3, 10}};
    return {Topology(12, arcs, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), devices,
            {5, 1, 2, 3, 8, 1, 4, 4, 9, 2, 3, 7}, {1, 5, 2, 8, 3, 0, 4, 4, 1, 6, 2, 3}};
}

void addVariants() {
    QTest::addColumn<QString>("variant");
    QTest::addColumn<QString>("messages");
    QTest::addColumn<QString>("aggregation");
    QTest::newRow("full radial sqrt") << "full" << "radial" << "sqrt";
    QTest::newRow("full radial sum") << "full" << "radial" << "sum";
    QTest::newRow("full sweep mean") << "full" << "sweep" << "mean";
    QTest::newRow("no messages") << "no_message_passing" << "radial" << "sqrt";
    QTest::newRow("simple aggregator") << "simple_aggregator" << "radial" << "sum";
}

PlacetoConfig configOfRow() {
    QFETCH(QString, variant);
    QFETCH(QString, messages);
    QFETCH(QString, aggregation);
    return test::config({{"variant", variant.toStdString()}, {"messages", messages.toStdString()},
                         {"aggregation", aggregation.toStdString()}, {"k", "3"}, {"mem_attribute", "1"}}, 3);
}

} // namespace

class TestPlacetoGradient : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void handWrittenForwardEqualsTheTape_data() { addVariants(); }
    void handWrittenForwardEqualsTheTape() {
        const auto graph = branchedGraph(3);
        const auto config = configOfRow();
        const NetLayout layout(config.shape);
        Rng rng(7);
        const auto weights = initialWeights(layout, rng);
        const auto batch = test::someSteps<float>(graph, config, 3);
        auto tape = PlacetoGradient<float>::create(layout, "cpu").value();
        const auto expected = tape.logits(weights, graph.topology, batch).value();
        PlacetoForward<float> forward(layout, graph.topology);
        const std::size_t n = graph.topology.nodeCount;
        const std::size_t width = config.shape.featureCount();
        std::vector<float> features(width * n);
        std::vector<float> logits(3);
        for (std::size_t s = 0; s < batch.steps; ++s) {
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < width; ++c)
                    features[c * n + i] = batch.features[(i * batch.steps + s) * width + c];
            forward.run(weights, features, batch.nodes[s], logits);
            for (std::size_t d = 0; d < 3; ++d)
                QVERIFY2(std::abs(logits[d] - expected[s * 3 + d]) < 1e-5F, qPrintable(QString::number(s)));
        }
    }

    void gradientEqualsFiniteDifferences_data() { addVariants(); }
    void gradientEqualsFiniteDifferences() {
        const auto graph = branchedGraph(3);
        const auto config = configOfRow();
        const NetLayout layout(config.shape);
        Rng rng(11);
        const auto initial = initialWeights(layout, rng);
        std::vector<double> weights(initial.begin(), initial.end());
        for (const auto& layer : layout.layers) // away from the kinks that zero biases put at empty sums
            for (std::size_t c = 0; c < layer.out; ++c)
                weights[layer.bias + c] = 0.1 * rng.normal();
        const auto batch = test::someSteps<double>(graph, config, 5);
        auto tape = PlacetoGradient<double>::create(layout, "cpu").value();
        std::vector<double> gradient(weights.size(), 0.0);
        std::vector<double> ignored(weights.size(), 0.0);
        QVERIFY(tape.addGradient(weights, graph.topology, batch, 0.3, gradient));
        const double step = 1e-6;
        const auto lossAt = [&](std::size_t i, double change) {
            const double before = weights[i];
            weights[i] = before + change;
            const double loss = tape.addGradient(weights, graph.topology, batch, 0.3, ignored).value();
            weights[i] = before;
            return loss;
        };
        for (const auto& layer : layout.layers) {
            for (const std::size_t i : {layer.weight, layer.weight + layer.in * layer.out / 2, layer.bias}) {
                const double slope = (lossAt(i, step) - lossAt(i, -step)) / (2.0 * step);
                QVERIFY2(std::abs(slope - gradient[i]) < 1e-5 * std::max(1.0, std::abs(slope)),
                         qPrintable(QString("weight %1: %2 against %3").arg(i).arg(gradient[i]).arg(slope)));
            }
        }
    }

    void gradientsOfPartsAddUp() {
        const auto graph = branchedGraph(2);
        const auto config = test::config({});
        const NetLayout layout(config.shape);
        Rng rng(2);
        const auto weights = initialWeights(layout, rng);
        const auto batch = test::someSteps<float>(graph, config, 9);
        auto tape = PlacetoGradient<float>::create(layout, "cpu").value();
        std::vector<float> once(weights.size(), 0.0F);
        std::vector<float> twice(weights.size(), 0.0F);
        QVERIFY(tape.addGradient(weights, graph.topology, batch, 0.1, once));
        QVERIFY(tape.addGradient(weights, graph.topology, batch, 0.1, twice));
        QVERIFY(tape.addGradient(weights, graph.topology, batch, 0.1, twice));
        for (std::size_t i = 0; i < once.size(); ++i)
            QVERIFY(std::abs(2.0F * once[i] - twice[i]) <= 1e-5F * std::max(1.0F, std::abs(twice[i])));
    }

    void forbiddenDevicesHaveNoProbability() {
        // With one device left, nothing the weights do can change the loss.
        const auto graph = branchedGraph(2);
        const auto config = test::config({});
        const NetLayout layout(config.shape);
        Rng rng(2);
        const auto weights = initialWeights(layout, rng);
        auto batch = test::someSteps<float>(graph, config, 9);
        for (std::size_t s = 0; s < batch.steps; ++s) {
            batch.actions[s] = 1;
            batch.allowed[2 * s] = 0;
        }
        auto tape = PlacetoGradient<float>::create(layout, "cpu").value();
        std::vector<float> gradient(weights.size(), 0.0F);
        QVERIFY(tape.addGradient(weights, graph.topology, batch, 0.1, gradient));
        for (const float value : gradient)
            QVERIFY(std::abs(value) < 1e-6F);
    }

    void aDeviceThatIsNotThereIsAnError_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"cuda:7", "cuda", "gpu", "", "cuda:-1", "cuda:0x", "cpu:1"})
            QTest::newRow(name) << name;
    }
    void aDeviceThatIsNotThereIsAnError() {
        QFETCH(QString, name);
        const NetLayout layout(test::config({}).shape);
        const auto tape = PlacetoGradient<float>::create(layout, name.toStdString());
        QVERIFY(!tape);
        QCOMPARE(tape.error().where, std::string("device"));
    }
};

QTEST_APPLESS_MAIN(TestPlacetoGradient)
#include "tst_placeto_gradient.moc"
