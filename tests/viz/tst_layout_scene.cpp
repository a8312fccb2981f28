#include "viz/graph/op_text.h"
#include "viz/graph/scene.h"

#include "graph_samples.h"

#include <QtTest>

#include <set>

using namespace pw;
using namespace pw::viz;
using namespace pw::test;

namespace {

GraphPtr isolated(int ops) {
    GraphBuilder b("isolated", "test");
    for (int i = 0; i < ops; ++i)
        addOp(b, "op" + std::to_string(i), "Add");
    return built(std::move(b));
}

GraphPtr cyclic() {
    GraphBuilder b("cyclic", "test");
    std::vector<OpId> ops;
    for (int i = 0; i < 30; ++i)
        ops.push_back(addOp(b, "loop/op" + std::to_string(i), "Add", i == 0 ? std::vector<OpId>{} : std::vector<OpId>{ops.back()}));
    b.addInput(ops.front(), b.output(ops.back(), 0)); // and back
    b.addInput(ops[4], b.output(ops[4], 0));          // itself
    return built(std::move(b));
}

GraphPtr hub(int readers) {
    GraphBuilder b("hub", "test");
    const OpId source = addOp(b, "source", "Relu");
    std::vector<OpId> all;
    for (int i = 0; i < readers; ++i)
        all.push_back(addOp(b, "reader" + std::to_string(i), "Relu", {source}));
    addOp(b, "sum", "AddN", all);
    return built(std::move(b));
}

GraphPtr longNames() {
    GraphBuilder b("long", "test");
    std::string deep;
    while (deep.size() < 3990)
        deep += "a/";
    const OpId a = addOp(b, deep + "x", "Add");
    const OpId c = addOp(b, deep + "y", "Add", {a});
    addOp(b, std::string(4000, 'z'), "Add", {c});
    return built(std::move(b));
}

GraphPtr dense() { // every op reads all before it: far more lines than dot may get
    GraphBuilder b("dense", "test");
    std::vector<OpId> all;
    for (int i = 0; i < 80; ++i)
        all.push_back(addOp(b, "op" + std::to_string(i), "Concat", all));
    return built(std::move(b));
}

std::shared_ptr<const Scene> sceneOf(const GraphPtr& graph, const OpenSet* open = nullptr, bool variables = false) {
    const auto tree = SceneTree::build(graph, variables);
    LayoutMemo memo;
    return buildScene(tree, open != nullptr ? *open : openUpTo(*tree, 100, 3000, OpenBy::Size), memo, JobContext()).value();
}

constexpr double kTolerance = 0.1; // px: dot gets sizes in 1/1000 inch

} // namespace

class TestLayoutScene : public QObject {
    Q_OBJECT

private:
    static void addGraphs() {
        QTest::addColumn<GraphPtr>("graph");
        QTest::newRow("blocks") << blocks(11);
        QTest::newRow("chain of 20,000") << chain(20000);
        QTest::newRow("hub of 10,000") << hub(10000);
        QTest::newRow("5,000 flat") << flat(5000, 40);
        QTest::newRow("isolated") << isolated(400);
        QTest::newRow("cyclic") << cyclic();
        QTest::newRow("long names") << longNames();
        QTest::newRow("dense") << dense();
        QTest::newRow("one op") << isolated(1);
    }

private Q_SLOTS:
    /// Between one and two limits long the cut once reached before the start of the name.
    void namesAreShortenedAtEveryLength() {
        for (std::size_t length = 0; length <= 900; ++length) {
            const QString text = pw::viz::shortName(std::string(length, 'n'), 120);
            QVERIFY(text.size() <= 121);
            QCOMPARE(text.contains(QChar(0x2026)), length > 120);
        }
        QVERIFY(pw::viz::shortName(std::string(121, 'n') + "end", 120).endsWith(QStringLiteral("end")));
    }

    void everyOpHasAPlaceInTheTree_data() { addGraphs(); }
    void everyOpHasAPlaceInTheTree() {
        QFETCH(GraphPtr, graph);
        const auto tree = SceneTree::build(graph, true);
        std::size_t ops = 0;
        for (NodeIndex i = 0; i < tree->nodeCount(); ++i) {
            const TreeNode& node = tree->node(i);
            ops += node.isOp() ? 1 : 0;
            QVERIFY(node.childCount <= SceneTree::kMaxChildren);
            QVERIFY(node.isOp() || node.childCount > 0);
            QVERIFY(i == 0 || (node.parent < i && i < tree->node(node.parent).end));
        }
        QCOMPARE(ops, graph->opCount());
        QCOMPARE(static_cast<std::size_t>(tree->node(0).opCount), graph->opCount());
        for (std::size_t i = 0; i < graph->opCount(); ++i)
            QCOMPARE(tree->node(tree->nodeOf(OpId(i))).op, OpId(i));
    }

    void everyEdgeIsFiledOnce_data() { addGraphs(); }
    void everyEdgeIsFiledOnce() {
        QFETCH(GraphPtr, graph);
        const auto tree = SceneTree::build(graph, true);
        std::set<EdgeId> seen;
        for (NodeIndex i = 0; i < tree->nodeCount(); ++i) {
            for (const TreeEdge& edge : tree->edges(i)) {
                QVERIFY(seen.insert(edge.edge).second);
                QCOMPARE(tree->node(edge.from).parent, i);
                QCOMPARE(tree->node(edge.to).parent, i);
                QVERIFY(tree->isInside(tree->nodeOf(graph->edge(edge.edge).producer), edge.from));
                QVERIFY(tree->isInside(tree->nodeOf(graph->edge(edge.edge).consumer), edge.to));
            }
        }
        std::size_t expected = 0;
        for (const Edge& edge : graph->edges())
            expected += edge.producer != edge.consumer ? 1 : 0;
        QCOMPARE(seen.size(), expected);
    }

    void boxesAreInsideTheirParentAndApart_data() { addGraphs(); }
    void boxesAreInsideTheirParentAndApart() {
        QFETCH(GraphPtr, graph);
        const auto scene = sceneOf(graph);
        QVERIFY(scene->boxes.size() > 1);
        for (const SceneScope& scope : scene->scopes) {
            const QRectF frame = scene->boxes[scope.box].rect.adjusted(-kTolerance, -kTolerance, kTolerance, kTolerance);
            for (std::uint32_t i = scope.firstBox; i < scope.firstBox + scope.boxCount; ++i) {
                const QRectF rect = scene->boxes[i].rect;
                QVERIFY(rect.width() > 0 && rect.height() > 0);
                QVERIFY(frame.contains(rect));
                const QRectF inner = rect.adjusted(kTolerance, kTolerance, -kTolerance, -kTolerance);
                for (std::uint32_t k = scope.firstBox; k < i; ++k)
                    QVERIFY2(!inner.intersects(scene->boxes[k].rect), qPrintable(QString::number(i)));
            }
        }
    }

    void hitTestFindsEveryBox_data() { addGraphs(); }
    void hitTestFindsEveryBox() {
        QFETCH(GraphPtr, graph);
        const auto scene = sceneOf(graph);
        for (std::uint32_t i = 1; i < scene->boxes.size(); ++i) {
            if (!scene->boxes[i].isOpen())
                QCOMPARE(scene->boxAt(scene->boxes[i].rect.center()).value_or(0), i);
        }
        QVERIFY(!scene->boxAt(scene->bounds.topLeft() - QPointF(50, 50)));
    }

    void sameGraphSamePicture_data() { addGraphs(); }
    void sameGraphSamePicture() {
        QFETCH(GraphPtr, graph);
        const auto a = sceneOf(graph);
        const auto b = sceneOf(graph);
        QCOMPARE(a->boxes.size(), b->boxes.size());
        for (std::size_t i = 0; i < a->boxes.size(); ++i)
            QCOMPARE(a->boxes[i].rect, b->boxes[i].rect);
        QCOMPARE(a->points, b->points);
    }

    void linesStayInsideTheirScope_data() { addGraphs(); }
    void linesStayInsideTheirScope() {
        QFETCH(GraphPtr, graph);
        const auto scene = sceneOf(graph);
        for (const SceneScope& scope : scene->scopes) {
            // A line may swing out of its content by a gap, never out of the frame's neighbourhood.
            const QRectF room = scene->boxes[scope.box].rect.adjusted(-60, -60, 60, 60);
            for (std::uint32_t i = scope.firstEdge; i < scope.firstEdge + scope.edgeCount; ++i)
                QVERIFY(room.contains(scene->edges[i].bounds));
        }
    }

    void emptyGraphHasNoBoxes() {
        GraphBuilder b("empty", "test");
        const auto scene = sceneOf(built(std::move(b)));
        QCOMPARE(scene->boxes.size(), std::size_t(1));
        QVERIFY(!scene->boxAt(QPointF(0, 0)));
    }

    void variablesAreCountedNotDrawn() {
        const GraphPtr graph = blocks(3);
        const auto hidden = SceneTree::build(graph, false);
        const auto shown = SceneTree::build(graph, true);
        QCOMPARE(hidden->node(0).hiddenCount, 12U);
        QCOMPARE(shown->node(0).hiddenCount, 0U);
        QCOMPARE(hidden->node(0).opCount + 12, shown->node(0).opCount);
        QCOMPARE(hidden->nodeOf(*graph->findOp("net/block_0/branch_0/weights")), kNoNode);
    }

    void passThroughScopesAreOneBox() {
        GraphBuilder b("merged", "test");
        const OpId first = addOp(b, "a/b/c/x", "Add");
        addOp(b, "a/b/c/y", "Add", {first});
        addOp(b, "other", "Add");
        const auto tree = SceneTree::build(built(std::move(b)), false);
        QCOMPARE(tree->node(0).childCount, 2U);
        QCOMPARE(tree->node(tree->children(0)[0]).label, std::string("a/b/c"));
        for (std::size_t i = 1; i < tree->graph().scopeCount(); ++i)
            QCOMPARE(tree->nodeOf(ScopeId(i)), tree->children(0)[0]);
    }

    void longChainsWrapIntoColumns() {
        const auto scene = sceneOf(chain(40));
        const double aspect = scene->bounds.width() / scene->bounds.height();
        QVERIFY2(aspect > 0.6 && aspect < 4, qPrintable(QString::number(aspect)));
        const auto low = sceneOf(chain(12)); // short enough to stay one stack
        QVERIFY(low->bounds.width() < 1.5 * scene::kOpWidth);
    }

    void tallScopesStandBesideEachOther() {
        // Three scopes in a row: few boxes when closed, one above the other far too tall when open.
        GraphBuilder b("trio", "test");
        OpId x = addOp(b, "input", "Placeholder");
        for (const char* scope : {"net/", "loss/", "train/"}) {
            for (int i = 0; i < 9; ++i)
                x = addOp(b, scope + std::string("op_") + std::to_string(i), "Relu", {x});
        }
        const auto scene = sceneOf(built(std::move(b)));
        const double aspect = scene->bounds.width() / scene->bounds.height();
        QVERIFY2(aspect > 0.9, qPrintable(QString::number(aspect)));
    }

    void openingKeepsTheColumns() {
        const GraphPtr graph = blocks(20);
        const auto tree = SceneTree::build(graph, false);
        LayoutMemo memo;
        OpenSet open = openUpTo(*tree, 1, 100, OpenBy::Size);
        const auto closed = buildScene(tree, open, memo, JobContext()).value();
        const std::size_t before = memo.layoutsMade();
        const NodeIndex net = tree->children(0)[1];
        const auto blocksOf = tree->children(net);
        open.insert(blocksOf[3]);
        const auto opened = buildScene(tree, open, memo, JobContext()).value();
        QCOMPARE(memo.layoutsMade() - before, std::size_t(3)); // the scope, "net", the root
        // Boxes keep their order within a column and their column.
        for (std::size_t i = 0; i + 1 < blocksOf.size(); ++i) {
            const auto below = [&](const Scene& s) {
                return s.boxes[*s.boxOf(blocksOf[i + 1])].rect.top() > s.boxes[*s.boxOf(blocksOf[i])].rect.top();
            };
            QCOMPARE(below(*opened), below(*closed));
        }
    }

    void layoutsAreStoredAndFoundAgain() {
        const GraphPtr graph = flat(100, 8);
        const auto tree = SceneTree::build(graph, false);
        std::map<std::string, std::string> stored;
        LayoutMemo first;
        first.save = [&](const std::string& key, const std::string& value) { stored[key] = value; };
        const auto a = buildScene(tree, {0}, first, JobContext()).value();
        QCOMPARE(stored.size(), std::size_t(1));
        LayoutMemo second;
        second.load = [&](const std::string& key) -> std::optional<std::string> {
            const auto found = stored.find(key);
            return found == stored.end() ? std::nullopt : std::optional(found->second);
        };
        const auto b = buildScene(tree, {0}, second, JobContext()).value();
        QCOMPARE(second.layoutsMade(), std::size_t(0));
        for (std::size_t i = 0; i < a->boxes.size(); ++i)
            QVERIFY((a->boxes[i].rect.topLeft() - b->boxes[i].rect.topLeft()).manhattanLength() < 0.03);
        // A damaged entry is not believed.
        for (auto& [key, value] : stored)
            value.resize(value.size() / 2);
        LayoutMemo third;
        third.load = second.load;
        QVERIFY(buildScene(tree, {0}, third, JobContext()).has_value());
        QCOMPARE(third.layoutsMade(), std::size_t(1));
    }

    void codecRefusesWhatItDidNotWrite_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("other") << QByteArray("hello");
        QTest::newRow("short") << QByteArray("pwlayout1 100 100 0");
        QTest::newRow("huge count") << QByteArray("pwlayout1 100 100 0 0 0 0 99999999999 0");
        QTest::newRow("negative count") << QByteArray("pwlayout1 100 100 0 0 0 0 -1 0");
        QTest::newRow("curve of 2") << QByteArray("pwlayout1 100 100 0 0 0 0 2 1 0 0 0 0");
        QTest::newRow("huge value") << QByteArray("pwlayout1 100 100 0 0 0 99999999999999999 0 0");
        QTest::newRow("trailing") << QByteArray("pwlayout1 100 100 0 0 0 0 0 0 7");
    }
    void codecRefusesWhatItDidNotWrite() {
        QFETCH(QByteArray, text);
        LayoutInput input;
        input.boxes = {{10, 10}, {10, 10}};
        input.links = {{0, 1}};
        QVERIFY(!decodeLayout(std::string_view(text.constData(), static_cast<std::size_t>(text.size())), input));
        const auto again = decodeLayout(encodeLayout(layoutScope(input)), input);
        QVERIFY(again.has_value());
        QCOMPARE(again->positions.size(), std::size_t(2));
    }

    void abortStopsTheLayout() {
        std::stop_source stop;
        stop.request_stop();
        const auto tree = SceneTree::build(blocks(5), false);
        LayoutMemo memo;
        const auto result = buildScene(tree, {0}, memo, JobContext({}, stop.get_token(), {}));
        QVERIFY(!result);
        QCOMPARE(result.error().code, ErrorCode::Busy);
    }
};

QTEST_APPLESS_MAIN(TestLayoutScene)
#include "tst_layout_scene.moc"
