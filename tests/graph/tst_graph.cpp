#include "core/graph/graph_builder.h"
#include "core/graph/graph_stats.h"
#include "core/graph/reachability.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

using namespace pw;

namespace {

Op named(std::string name, std::string type = "Op") {
    Op op;
    op.name = std::move(name);
    op.type = std::move(type);
    return op;
}

/// Two ops joined by one tensor; `change` may alter the first op or the tensor.
std::string hashWith(const std::function<void(Op&, Tensor&)>& change) {
    GraphBuilder builder("g", "test");
    Op a = named("a");
    Tensor tensor;
    tensor.bytes = 8;
    change(a, tensor);
    const OpId first = builder.addOp(std::move(a));
    const OpId second = builder.addOp(named("b"));
    builder.addInput(second, builder.addOutput(first, tensor));
    return std::move(builder).build().value()->hash();
}

Error buildError(const std::function<void(GraphBuilder&)>& fill) {
    GraphBuilder builder("g", "test");
    fill(builder);
    auto graph = std::move(builder).build();
    return graph ? Error{} : graph.error();
}

} // namespace

class TestGraph : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sumsOfHostileSizesSaturate() {
        GraphBuilder builder("hostile", "test");
        for (int i = 0; i < 3; ++i) {
            Op op;
            op.paramBytes = INT64_MAX - 1;
            builder.addOp(std::move(op));
            builder.addUnattachedParameterBytes(INT64_MAX - 1);
        }
        const auto graph = std::move(builder).build();
        QVERIFY(graph);
        QCOMPARE((*graph)->unattachedParameterBytes(), INT64_MAX);
        QCOMPARE(computeStats(**graph).parameterBytes, INT64_MAX);
    }

    /// Outputs made in turns and outputs made in one go are found alike.
    void outputsInAnyOrder() {
        GraphBuilder builder("g", "test");
        const OpId a = builder.addOp(Op());
        const OpId b = builder.addOp(Op());
        std::vector<TensorId> ofA, ofB;
        for (int i = 0; i < 3; ++i) {
            ofA.push_back(builder.addOutput(a));
            ofB.push_back(builder.addOutput(b));
        }
        ofB.push_back(builder.addOutput(b));
        for (std::size_t i = 0; i < 3; ++i)
            QCOMPARE(builder.output(a, i), ofA[i]);
        QCOMPARE(builder.outputCount(b), std::size_t{4});
        const auto graph = std::move(builder).build();
        QVERIFY(std::equal(ofA.begin(), ofA.end(), (*graph)->outputs(a).begin(), (*graph)->outputs(a).end()));
        QVERIFY(std::equal(ofB.begin(), ofB.end(), (*graph)->outputs(b).begin(), (*graph)->outputs(b).end()));
    }

    void namesAreMadeUnique() {
        GraphBuilder builder("g", "test");
        for (const char* name : {"x", "x", "", "x#2", "x"})
            builder.addOp(named(name, "Relu"));
        const GraphPtr graph = std::move(builder).build().value();
        QCOMPARE(graph->op(OpId(0)).name, std::string("x"));
        QCOMPARE(graph->op(OpId(1)).name, std::string("x#2"));
        QCOMPARE(graph->op(OpId(2)).name, std::string("Relu_2"));
        QSet<QString> names;
        for (const Op& op : graph->ops())
            names.insert(QString::fromStdString(op.name));
        QCOMPARE(names.size(), 5);
        for (std::size_t i = 0; i < graph->opCount(); ++i)
            QCOMPARE(graph->findOp(graph->op(OpId(i)).name), std::optional(OpId(i)));
        QVERIFY(!graph->findOp("nobody"));
        QVERIFY(!graph->warnings().empty());
        QCOMPARE(graph->warnings().front().kind, std::string("duplicate_name"));
    }

    void namesBecomeUtf8() {
        GraphBuilder builder("g", "test");
        builder.addOp(named("a\xff"));
        QCOMPARE(std::move(builder).build().value()->op(OpId(0)).name, std::string("a\xef\xbf\xbd"));
    }

    void scopesComeFromNames_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("scope");
        QTest::newRow("slashes") << "a/b/op" << "a/b";
        QTest::newRow("leading slash") << "/a/op" << "a";
        QTest::newRow("dots") << "model.layer.op" << "model/layer";
        QTest::newRow("slash before dot") << "a/b.c" << "a";
        QTest::newRow("colons") << "ns::op" << "ns";
        QTest::newRow("none") << "op" << "";
    }

    void scopesComeFromNames() {
        QFETCH(QString, name);
        QFETCH(QString, scope);
        GraphBuilder builder("g", "test");
        const OpId id = builder.addOp(named(name.toStdString()));
        const GraphPtr graph = std::move(builder).build().value();
        QCOMPARE(QString::fromStdString(graph->scopePath(graph->op(id).scope)), scope);
    }

    void scopesFormATree() {
        GraphBuilder builder("g", "test");
        for (const char* name : {"a/x", "a/b/y", "c"})
            builder.addOp(named(name));
        const OpId set = builder.addOp(named("plain"));
        builder.setScope(set, "a/b");
        const GraphPtr graph = std::move(builder).build().value();
        QCOMPARE(graph->scopeCount(), std::size_t{3});
        std::size_t members = 0;
        for (std::size_t i = 0; i < graph->scopeCount(); ++i) {
            const Scope& scope = graph->scope(ScopeId(i));
            members += scope.ops.size();
            for (const ScopeId child : scope.children)
                QCOMPARE(graph->scope(child).parent, ScopeId(i));
        }
        QCOMPARE(members, graph->opCount());
        QCOMPARE(graph->op(set).scope, graph->op(*graph->findOp("a/b/y")).scope);
    }

    void deepScopesAreCutOff() {
        std::string name;
        for (int i = 0; i < 5000; ++i)
            name += "s/";
        GraphBuilder builder("g", "test");
        builder.addOp(named(name + "op"));
        const GraphPtr graph = std::move(builder).build().value();
        QVERIFY(graph->scopeCount() <= 65);
    }

    void edgesAreSortedAndLinkedBothWays() {
        const GraphPtr graph = test::w2();
        std::size_t out = 0;
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            for (const Edge& edge : graph->inEdges(OpId(i)))
                QCOMPARE(edge.consumer, OpId(i));
            for (const EdgeId id : graph->outEdges(OpId(i))) {
                QCOMPARE(graph->edge(id).producer, OpId(i));
                ++out;
            }
        }
        QCOMPARE(out, graph->edges().size());
        const auto in = graph->inEdges(*graph->findOp("u"));
        QCOMPARE(in.size(), std::size_t{2});
        QCOMPARE(in[0].slot, 0U);
        QCOMPARE(in[1].slot, 1U);
        QCOMPARE(graph->outputs(*graph->findOp("p")).size(), std::size_t{2});
    }

    void orderIsTopologicalSmallestFirst() {
        const GraphPtr graph = test::graph("c -> d; a -> d; b -> a");
        std::string order;
        for (const OpId id : graph->topologicalOrder())
            order += graph->op(id).name;
        QCOMPARE(order, std::string("cbad"));
    }

    void cyclesAreNamedAndOpenable() {
        const GraphPtr graph = test::graph("a -> b -> c -> d -> b; d -> e");
        QVERIFY(graph->isCyclic());
        const auto cycle = graph->cycle();
        QCOMPARE(cycle.size(), std::size_t{3});
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            bool follows = false;
            for (const EdgeId id : graph->outEdges(cycle[i]))
                follows = follows || graph->edge(id).consumer == cycle[(i + 1) % cycle.size()];
            QVERIFY(follows);
        }
        QCOMPARE(graph->warnings().back().kind, std::string("cycle"));
        QVERIFY(test::w1()->cycle().empty());
    }

    void badValuesNameTheOp() {
        const auto with = [](const std::function<void(Op&)>& change) {
            return buildError([&](GraphBuilder& builder) {
                Op op = named("guilty");
                change(op);
                builder.addOp(std::move(op));
            });
        };
        for (const Error& error :
             {with([](Op& op) { op.paramBytes = -1; }), with([](Op& op) { op.workspaceBytes = -1; }),
              with([](Op& op) { op.flops = std::nan(""); }), with([](Op& op) { op.costs = {{"", -1.0}}; }),
              with([](Op& op) { op.costs = {{"gpu", std::numeric_limits<double>::infinity()}}; })}) {
            QCOMPARE(error.code, ErrorCode::Invalid);
            QVERIFY(error.where.find("guilty") != std::string::npos);
        }
        const Error tensor = buildError([](GraphBuilder& builder) {
            Tensor bad;
            bad.bytes = -5;
            builder.addOutput(builder.addOp(named("guilty")), bad);
        });
        QVERIFY(tensor.where.find("guilty") != std::string::npos);
    }

    void warningsAreCapped() {
        GraphBuilder builder("g", "test");
        for (int i = 0; i < 250; ++i)
            builder.addWarning("noise", "here", "again");
        const GraphPtr graph = std::move(builder).build().value();
        QCOMPARE(graph->warnings().size(), GraphBuilder::kMaxWarningsPerKind + 1);
        QVERIFY(graph->warnings().back().detail.find("150") != std::string::npos);
    }

    void hashFollowsTheContent() {
        const std::string base = hashWith([](Op&, Tensor&) {});
        QCOMPARE(base, hashWith([](Op&, Tensor&) {}));
        const std::function<void(Op&, Tensor&)> changes[] = {
            [](Op& op, Tensor&) { op.name = "other"; },
            [](Op& op, Tensor&) { op.type = "Other"; },
            [](Op& op, Tensor&) { op.flops = 1.0; },
            [](Op& op, Tensor&) { op.paramBytes = 4; },
            [](Op& op, Tensor&) { op.colocation = "k"; },
            [](Op& op, Tensor&) { op.phase = Phase::Backward; },
            [](Op& op, Tensor&) { op.costs = {{"gpu", 1.0}}; },
            [](Op& op, Tensor&) { op.allowedKinds = {"cpu"}; },
            [](Op&, Tensor& tensor) { tensor.bytes = 9; },
        };
        std::set<std::string> hashes = {base};
        for (const auto& change : changes)
            QVERIFY(hashes.insert(hashWith(change)).second);
        QCOMPARE(test::w1()->hash(), test::w1()->hash());
        QVERIFY(test::w1()->hash() != test::w3()->hash());
        QVERIFY(test::graph("a -> b")->hash() != test::graph("a => b")->hash());
    }

    void statsCountByTheConventions() {
        // u reads p twice, s waits for p
        const GraphStats stats = computeStats(*test::w2());
        QCOMPARE(stats.ops, std::size_t{5});
        QCOMPARE(stats.edges, std::size_t{5});
        QCOMPARE(stats.edgesDistinct, std::size_t{4});
        QCOMPARE(stats.controlEdges, std::size_t{1});
        QCOMPARE(stats.depth, std::optional<std::size_t>(2));
        QCOMPARE(stats.opTypes.at("Op"), std::size_t{5});
        QCOMPARE(stats.devices.at("(none)"), std::size_t{5});
        QVERIFY(!computeStats(*test::graph("a -> b -> a")).depth);
    }

    void statsLookIntoBodies() {
        GraphBuilder inner("body", "test");
        Op weight = named("w");
        weight.paramBytes = 100;
        inner.addOp(std::move(weight));
        const GraphPtr body = std::move(inner).build().value();
        GraphBuilder builder("g", "test");
        const OpId source = builder.addOp(named("source"));
        Op loop = named("loop", "Loop");
        loop.bodies = {{"body", body}};
        loop.paramBytes = 11;
        const OpId id = builder.addOp(std::move(loop));
        builder.addCapture(id, builder.addOutput(source));
        const GraphStats stats = computeStats(*std::move(builder).build().value());
        QCOMPARE(stats.ops, std::size_t{2});
        QCOMPARE(stats.opsTotal, std::size_t{3});
        QCOMPARE(stats.parameterBytes, std::int64_t{111});
        QCOMPARE(stats.edges, std::size_t{0});
        QCOMPARE(stats.depth, std::optional<std::size_t>(2)); // a capture counts for depth only
    }

    void longChainsNeedNoStack() {
        std::string chain = "n0";
        for (int i = 1; i < 100000; ++i)
            chain += " -> n" + QByteArray::number(i).toStdString();
        const GraphPtr graph = test::graph(chain);
        QCOMPARE(computeStats(*graph).depth, std::optional<std::size_t>(100000));
    }

    void reachabilityFindsAllPaths() {
        const std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs = {{0, 1}, {1, 2}, {0, 3}, {70, 0}};
        std::vector<std::uint32_t> order = {70};
        for (std::uint32_t i = 0; i < 70; ++i)
            order.push_back(i);
        const Reachability reach(71, arcs, order);
        QVERIFY(reach.reaches(0, 2));
        QVERIFY(reach.reaches(70, 3));
        QVERIFY(!reach.reaches(2, 0));
        QVERIFY(!reach.reaches(3, 2));
        QVERIFY(!reach.reaches(0, 0));
    }

    void elementCountsSaturate() {
        QCOMPARE(elementCount(std::vector<std::int64_t>{2, 3}), std::optional<std::int64_t>(6));
        QCOMPARE(elementCount({}), std::optional<std::int64_t>(1));
        QVERIFY(!elementCount(std::vector<std::int64_t>{2, -1}));
        QCOMPARE(elementCount(std::vector<std::int64_t>{1'000'000'000'000, 0}), std::optional<std::int64_t>(0));
        const auto huge = elementCount(std::vector<std::int64_t>(6, 1'000'000'000'000));
        QVERIFY(huge.has_value() && *huge > 0 && *huge <= std::numeric_limits<std::int64_t>::max() / 16);
        QCOMPARE(dtypeBytes("bf16"), std::int64_t{2});
        QCOMPARE(dtypeBytes("string"), std::int64_t{0});
    }

    void dslReadsCostsBytesAndDevices() {
        const GraphPtr graph = test::graph("a:3*100 -> b:5@gpu1 => c; a -> c");
        QCOMPARE(graph->op(*graph->findOp("a")).costs.front().us, 3.0);
        QCOMPARE(graph->tensor(graph->outputs(*graph->findOp("a"))[0]).bytes, std::int64_t{100});
        QCOMPARE(graph->op(*graph->findOp("b")).device, std::string("gpu1"));
        const auto in = graph->inEdges(*graph->findOp("c"));
        QCOMPARE(in.size(), std::size_t{2});
        QVERIFY(in[0].kind == EdgeKind::Data && in[1].kind == EdgeKind::Control);
        QVERIFY_EXCEPTION_THROWN(test::graph("a:x -> b"), std::runtime_error);
    }
};

QTEST_APPLESS_MAIN(TestGraph)
#include "tst_graph.moc"
