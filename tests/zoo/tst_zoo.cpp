#include "core/graph/grouping.h"
#include "tests/zoo/zoo_checks.h"

#include <QtTest>

#include <map>
#include <set>

using namespace pw;
using namespace pw::test;

namespace {

bool isUpdate(const Op& op) {
    return op.type.rfind("Apply", 0) == 0 || op.type == "AssignSub" || op.type == "ScatterSub";
}

/// Groups that tensors lead to from `seed` (or, backwards, from which they lead there), along the true direction of edges.
std::vector<bool> reached(const OpGraph& graph, const Grouping& grouping, GroupId seed, bool backwards) {
    std::vector<std::vector<GroupId>> next(grouping.groupCount());
    for (const Edge& edge : graph.edges()) {
        const GroupId from = grouping.groupOf[edge.producer.index()];
        const GroupId to = grouping.groupOf[edge.consumer.index()];
        next[(backwards ? to : from).index()].push_back(backwards ? from : to);
    }
    std::vector<bool> seen(grouping.groupCount(), false);
    std::vector<GroupId> open{seed};
    seen[seed.index()] = true;
    while (!open.empty()) {
        const GroupId at = open.back();
        open.pop_back();
        for (const GroupId to : next[at.index()]) {
            if (!seen[to.index()])
                open.push_back(to);
            seen[to.index()] = true;
        }
    }
    return seen;
}

} // namespace

class TestZoo : public QObject {
    Q_OBJECT

private Q_SLOTS:
    // Totals of the published architectures; within 1 %, op counts within 4 % ("about").
    void totals_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<double>("parameters"); // millions
        QTest::addColumn<double>("forward");    // TFLOP
        QTest::addColumn<double>("ops");
        const double inception = 2.0 * 5.713e9 * 64 / 1e12;
        QTest::newRow("inception training") << "zoo:inception_v3" << 23.82 + 3.33 << inception << 2300.0;
        QTest::newRow("inception inference") << "zoo:inception_v3?mode=inference" << 23.82 << inception << 0.0;
        QTest::newRow("rnnlm 2 L0") << "zoo:rnnlm?level=L0" << 108.1 << 0.392 << 2800.0;
        QTest::newRow("rnnlm 4 L0") << "zoo:rnnlm?layers=4&level=L0" << 175.2 << 0.693 << 5100.0;
        QTest::newRow("rnnlm 8 L0") << "zoo:rnnlm?layers=8&level=L0" << 309.5 << 1.294 << 9800.0;
        QTest::newRow("rnnlm 2 L1") << "zoo:rnnlm" << 108.1 << 0.392 << 5400.0;
        QTest::newRow("rnnlm 4 L1") << "zoo:rnnlm?layers=4" << 175.2 << 0.693 << 10200.0;
        QTest::newRow("rnnlm 8 L1") << "zoo:rnnlm?layers=8" << 309.5 << 1.294 << 19800.0;
        QTest::newRow("rnnlm 2 L2") << "zoo:rnnlm?level=L2" << 108.1 << 0.392 << 7600.0;
        QTest::newRow("rnnlm 4 L2") << "zoo:rnnlm?layers=4&level=L2" << 175.2 << 0.693 << 14600.0;
        QTest::newRow("rnnlm 8 L2") << "zoo:rnnlm?layers=8&level=L2" << 309.5 << 1.294 << 28500.0;
    }

    void totals() {
        QFETCH(QString, spec);
        QFETCH(double, parameters);
        QFETCH(double, forward);
        QFETCH(double, ops);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        double products = 0.0; // the totals count multiply-adds of products and convolutions
        for (const Op& op : graph->ops()) {
            if (op.phase == Phase::Forward && (op.type == "Conv2D" || op.type == "MatMul"))
                products += op.flops;
        }
        QVERIFY2(within(parametersM(*graph), parameters, 0.01), qPrintable(QString::number(parametersM(*graph))));
        QVERIFY2(within(products / 1e12, forward, 0.01), qPrintable(QString::number(products / 1e12)));
        if (ops > 0.0)
            QVERIFY2(within(static_cast<double>(graph->opCount()), ops, 0.04), qPrintable(QString::number(graph->opCount())));
    }

    void inceptionHasItsConvolutions() {
        const GraphPtr graph = emitted("zoo:inception_v3?mode=inference");
        QCOMPARE(computeStats(*graph).opTypes.at("Conv2D"), std::size_t{94});
        double convBytes = 0.0;
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            if (graph->op(OpId(i)).type == "Conv2D")
                convBytes += static_cast<double>(graph->tensor(graph->outputs(OpId(i))[0]).bytes);
        }
        QVERIFY2(within(convBytes / 64, 36e6, 0.03), qPrintable(QString::number(convBytes / 64)));
        // sizes at the joins, 10.6
        const auto shapeOf = [&](const char* name) {
            const auto id = graph->findOp(name);
            return id ? graph->tensor(graph->outputs(*id)[0]).dims : std::vector<std::int64_t>();
        };
        QCOMPARE(shapeOf("InceptionV3/Mixed_5b/ConcatV2"), (std::vector<std::int64_t>{64, 35, 35, 256}));
        QCOMPARE(shapeOf("InceptionV3/Mixed_6a/ConcatV2"), (std::vector<std::int64_t>{64, 17, 17, 768}));
        QCOMPARE(shapeOf("InceptionV3/Mixed_7a/ConcatV2"), (std::vector<std::int64_t>{64, 8, 8, 1280}));
        QCOMPARE(shapeOf("InceptionV3/Mixed_7c/ConcatV2"), (std::vector<std::int64_t>{64, 8, 8, 2048}));
    }

    /// Nodes per LSTM cell and time step, the table of 10.2, as a second difference over layers and steps.
    void lstmCellHasItsOps_data() {
        QTest::addColumn<QString>("options");
        QTest::addColumn<int>("ops");
        QTest::newRow("L0") << "level=L0" << 33;
        QTest::newRow("L1") << "level=L1" << 68;
        QTest::newRow("L2") << "level=L2" << 99;
        QTest::newRow("L0 dropout") << "level=L0&dropout=1" << 40;
        QTest::newRow("L1 dropout") << "level=L1&dropout=1" << 89;
        QTest::newRow("L2 dropout") << "level=L2&dropout=1" << 126;
    }

    void lstmCellHasItsOps() {
        QFETCH(QString, options);
        QFETCH(int, ops);
        const auto count = [&](int layers, int steps) {
            const QString spec = QStringLiteral("zoo:rnnlm?hidden=8&vocabulary=16&layers=%1&steps=%2&%3");
            return static_cast<int>(emitted(spec.arg(layers).arg(steps).arg(options).toStdString())->opCount());
        };
        QCOMPARE(count(3, 6) - count(3, 5) - count(2, 6) + count(2, 5), ops);
    }

    void laws_data() {
        QTest::addColumn<QString>("spec");
        for (const char* spec :
             {"zoo:inception_v3?batch=2", "zoo:inception_v3?batch=2&level=L2&colocate_gradients=0",
              "zoo:inception_v3?batch=2&mode=inference", "zoo:inception_v3?batch=1&aux=0&optimizer=adam",
              "zoo:rnnlm?hidden=1024&steps=5&level=L0", "zoo:rnnlm?hidden=1024&steps=5&level=L1&dropout=1",
              "zoo:rnnlm?hidden=1024&steps=5&level=L2&colocate_gradients=1", "zoo:rnnlm?hidden=1024&steps=1",
              "zoo:rnnlm?hidden=1024&steps=5&mode=inference", "zoo:chain", "zoo:fork_join", "zoo:crown", "zoo:layered"})
            QTest::newRow(spec) << spec;
    }

    void laws() {
        QFETCH(QString, spec);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        QVERIFY(!graph->isCyclic());
        QCOMPARE(componentCount(*graph), std::size_t{1});
        QVERIFY(graph->warnings().empty()); // no duplicate names
        std::map<std::string, int> updates;
        std::set<std::string> variables;
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            const Op& op = graph->op(OpId(i));
            QVERIFY(op.flops >= 0.0 && op.bytesMoved >= 0);
            QCOMPARE(op.paramBytes > 0, op.type == "Variable");
            if (op.type == "Variable") {
                variables.insert(op.name);
                QCOMPARE(op.colocation, op.name);
            }
            if (isUpdate(op)) {
                const Op& variable = graph->op(graph->inEdges(OpId(i))[0].producer);
                QCOMPARE(variable.type, std::string("Variable"));
                QCOMPARE(op.colocation, variable.name); // an update runs where its variable lives
                ++updates[variable.name];
            }
            for (const TensorId tensor : graph->outputs(OpId(i)))
                QVERIFY(graph->tensor(tensor).shapeKnown && !graph->tensor(tensor).dtype.empty());
        }
        const bool training = spec.contains("inception") || spec.contains("rnnlm") ? !spec.contains("inference") : false;
        QCOMPARE(updates.size(), training ? variables.size() : std::size_t{0});
        for (const auto& [name, count] : updates)
            QVERIFY2(count == 1, name.c_str());
        if (training) {
            const double ratio = phaseFlops(*graph, Phase::Backward) / phaseFlops(*graph, Phase::Forward);
            QVERIFY2(ratio > 1.8 && ratio < 2.1, qPrintable(QString::number(ratio)));
        }
    }

    void namesAreScoped() {
        const GraphPtr graph = emitted("zoo:inception_v3?batch=1");
        for (const char* name :
             {"InceptionV3/Mixed_5b/Branch_1/Conv2d_0b_5x5/Conv2D", "InceptionV3/Conv2d_1a_3x3/weights",
              "InceptionV3/Mixed_5b/Branch_1/Conv2d_0b_5x5/BatchNorm/beta",
              "gradients/InceptionV3/Mixed_5b/Branch_1/Conv2d_0b_5x5/Conv2DBackpropFilter",
              "train/InceptionV3/Conv2d_1a_3x3/weights/ApplyMomentum"})
            QVERIFY2(graph->findOp(name), name);
        // images need no gradient
        QVERIFY(!graph->findOp("gradients/InceptionV3/Conv2d_1a_3x3/Conv2DBackpropInput"));
    }

    void gradientsAreColocatedWhenAsked() {
        const char* forward = "InceptionV3/Mixed_5b/Branch_0/Conv2d_0a_1x1/Conv2D";
        const char* backward = "gradients/InceptionV3/Mixed_5b/Branch_0/Conv2d_0a_1x1/Conv2DBackpropFilter";
        const GraphPtr together = emitted("zoo:inception_v3?batch=1");
        QCOMPARE(together->op(*together->findOp(backward)).colocation, together->op(*together->findOp(forward)).colocation);
        QVERIFY(!together->op(*together->findOp(forward)).colocation.empty());
        const GraphPtr apart = emitted("zoo:inception_v3?batch=1&colocate_gradients=0");
        QVERIFY(apart->op(*apart->findOp(backward)).colocation.empty());
    }

    /// Why core/graph turns the arcs of cycles that colocation makes, instead of contracting the cycles (ARCHITECTURE.md).
    void contractingTheCyclesOfColocationWouldFoldATrainingGraph_data() {
        QTest::addColumn<QString>("spec");
        QTest::newRow("inception_v3") << QStringLiteral("zoo:inception_v3");
        QTest::newRow("rnnlm") << QStringLiteral("zoo:rnnlm");
    }
    void contractingTheCyclesOfColocationWouldFoldATrainingGraph() {
        QFETCH(QString, spec);
        const GraphPtr graph = emitted(spec.toStdString());
        const auto grouping = makeGrouping(*graph, std::vector<double>(graph->opCount(), 1.0), {});
        QVERIFY(grouping);
        std::size_t mostGroups = 0;
        std::size_t mostOps = 0;
        std::vector<bool> done(grouping->groupCount(), false);
        for (std::size_t seed = 0; seed < done.size(); ++seed) {
            if (done[seed])
                continue;
            const std::vector<bool> before = reached(*graph, *grouping, GroupId(seed), true);
            const std::vector<bool> behind = reached(*graph, *grouping, GroupId(seed), false);
            std::size_t groups = 0;
            std::size_t ops = 0;
            for (std::size_t g = 0; g < done.size(); ++g) {
                if (!before[g] || !behind[g])
                    continue;
                done[g] = true;
                ++groups;
                ops += grouping->members[g].size();
            }
            mostGroups = std::max(mostGroups, groups);
            mostOps = std::max(mostOps, ops);
        }
        qInfo("%zu of %zu groups (%zu of %zu ops) lie on cycles with each other", mostGroups, grouping->groupCount(),
              mostOps, graph->opCount());
        QVERIFY(2 * mostOps > graph->opCount());
    }

    void optimizersHaveTheirSlots() {
        for (const auto& [optimizer, slots] : {std::pair("sgd", 0), std::pair("momentum", 1), std::pair("adam", 2)}) {
            const GraphPtr graph = emitted(std::string("zoo:inception_v3?batch=1&optimizer=") + optimizer);
            const Op& weights = graph->op(*graph->findOp("InceptionV3/Conv2d_1a_3x3/weights"));
            QCOMPARE(weights.paramBytes, std::int64_t{3 * 3 * 3 * 32 * 4});
            QCOMPARE(weights.stateBytes, slots * weights.paramBytes);
            const Op& moving = graph->op(*graph->findOp("InceptionV3/Conv2d_1a_3x3/BatchNorm/moving_mean"));
            QCOMPARE(moving.stateBytes, std::int64_t{0});
        }
    }

    void emissionIsDeterministic() {
        for (const char* spec : {"zoo:inception_v3", "zoo:rnnlm", "zoo:layered?seed=3"})
            QCOMPARE(emitted(spec)->hash(), emitted(spec)->hash());
        QVERIFY(emitted("zoo:layered?seed=3")->hash() != emitted("zoo:layered?seed=4")->hash());
    }

    void shapesAreWhatTheySay() {
        QCOMPARE(emitted("zoo:chain?n=7")->opCount(), std::size_t{7});
        QCOMPARE(computeStats(*emitted("zoo:chain?n=7")).depth, std::optional<std::size_t>(7));
        const GraphStats fork = computeStats(*emitted("zoo:fork_join?n=3&width=5"));
        QCOMPARE(fork.ops, std::size_t{17});
        QCOMPARE(fork.depth, std::optional<std::size_t>(5));
        const GraphStats crown = computeStats(*emitted("zoo:crown?n=4&width=3"));
        QCOMPARE(crown.ops, std::size_t{13});
        QCOMPARE(crown.edges, std::size_t{3 * 3 + 2 * 4 + 4});
        const GraphStats layered = computeStats(*emitted("zoo:layered?n=6&width=4"));
        QCOMPARE(layered.ops, std::size_t{6 * 4 + 2});
        QCOMPARE(layered.depth, std::optional<std::size_t>(8));
    }

    void badOptionsAreExplained_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("part");
        QTest::newRow("no prefix") << "rnnlm" << "zoo:name";
        QTest::newRow("unknown workload") << "zoo:nothing" << "inception_v3";
        QTest::newRow("unknown key") << "zoo:rnnlm?wheels=4" << "layers";
        QTest::newRow("not a number") << "zoo:rnnlm?layers=two" << "layers=two";
        QTest::newRow("half a number") << "zoo:rnnlm?layers=2x" << "layers=2x";
        QTest::newRow("out of range") << "zoo:rnnlm?layers=0" << "from 1";
        QTest::newRow("too large") << "zoo:layered?n=5000000&width=1000" << "5,000,000";
        QTest::newRow("bad level") << "zoo:rnnlm?level=L9" << "L0, L1, L2";
        QTest::newRow("bad mode") << "zoo:inception_v3?mode=fast" << "inference";
        QTest::newRow("bad flag") << "zoo:inception_v3?aux=yes" << "one of 0, 1";
        QTest::newRow("no value") << "zoo:rnnlm?layers=" << "key=value";
        QTest::newRow("twice") << "zoo:rnnlm?layers=2&layers=4" << "twice";
    }

    void badOptionsAreExplained() {
        QFETCH(QString, spec);
        QFETCH(QString, part);
        const auto graph = zoo::makeFromSpec(spec.toStdString());
        QVERIFY(!graph);
        QVERIFY2(graph.error().message.find(part.toStdString()) != std::string::npos, graph.error().message.c_str());
    }

    void specsMayUseCommas() {
        QCOMPARE(emitted("zoo:chain?n=5,seed=2")->hash(), emitted("zoo:chain?n=5&seed=2")->hash());
        QCOMPARE(emitted("zoo:rnnlm?hidden=8&layers=4")->name(), std::string("rnnlm?layers=4&hidden=8"));
    }

    void everyWorkloadIsListedAndEmits() {
        for (const auto& info : zoo::workloads()) {
            QVERIFY(!info.title.empty() && !info.help.empty());
            std::set<std::string> keys;
            for (const auto& option : info.options)
                QVERIFY(keys.insert(option.key).second);
            for (const char* key : {"level", "mode", "seed"})
                QVERIFY(keys.count(key));
            QVERIFY(zoo::make(info.name));
        }
    }
};

QTEST_APPLESS_MAIN(TestZoo)
#include "tst_zoo.moc"
