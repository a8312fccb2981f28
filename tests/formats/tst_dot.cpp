#include "core/formats/formats.h"
#include "core/graph/graph_builder.h"
#include "core/graph/graph_stats.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <thread>

using namespace pw;
using namespace pw::test;

namespace {

QJsonArray dotRecords() {
    QFile file(PW_SHARED_DATA "/EXPECTED.json");
    QJsonArray records;
    if (!file.open(QIODevice::ReadOnly))
        return records;
    for (const auto& value : QJsonDocument::fromJson(file.readAll()).object()["files"].toArray()) {
        if (value.toObject()["format"].toString() == "graphviz DOT")
            records.append(value);
    }
    return records;
}

} // namespace

class TestDot : public QObject {
    Q_OBJECT

    GraphPtr load(const std::string& text) {
        const auto graph = formats::loadGraph(m_folder.write("graph.dot", text));
        if (!graph)
            QTest::qFail(graph.error().toString().c_str(), __FILE__, __LINE__);
        return graph ? *graph : nullptr;
    }
    Error loadError(const std::string& text) {
        const auto graph = formats::loadGraph(m_folder.write("graph.dot", text));
        return graph ? Error{ErrorCode::Internal, "opened", {}, {}} : graph.error();
    }

    TempFolder m_folder;

private Q_SLOTS:
    void corpus_data() {
        if (dotRecords().isEmpty())
            QSKIP("the shared data folder is not here");
        QTest::addColumn<QJsonObject>("record");
        for (const auto& value : dotRecords())
            QTest::newRow(qPrintable(value.toObject()["file"].toString())) << value.toObject();
    }
    void corpus() {
        QFETCH(QJsonObject, record);
        const auto graph = formats::loadGraph(PW_SHARED_DATA "/" + record["file"].toString().toStdString());
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        const GraphStats stats = computeStats(**graph);
        QCOMPARE(qint64(stats.ops), qint64(record["nodes"].toInt()));
        QCOMPARE(qint64(stats.edges), qint64(record["edges"].toInt()));
        QCOMPARE(qint64(stats.edgesDistinct), qint64(record["edges_distinct"].toInt()));
        QCOMPARE(qint64(stats.depth.value_or(0)), qint64(record["depth"].toInt()));
    }

    void pipeDreamLabels() {
        const GraphPtr graph =
            load("digraph { n1 [label=\"LSTM(2, hidden=[3])\n[forward_compute_time=1.5,backward_compute_time=2.25,"
                 "activation_size=[100.0, 20.0],parameter_size=8.0]\"]; n1 -> n2 }");
        QVERIFY(graph);
        const Op& op = graph->op(OpId(0));
        QCOMPARE(op.type, std::string("LSTM"));
        QCOMPARE(op.costs[0].us, 3750.0);
        QCOMPARE(op.paramBytes, std::int64_t{8});
        QCOMPARE(graph->tensor(graph->outputs(OpId(0))[0]).bytes, std::int64_t{120});
    }

    void attributesAndClusters() {
        const GraphPtr graph =
            load("digraph G { b; a [cost_us=3, bytes=100, memory=7, device=\"gpu:1\", type=Conv, note=x, shape=box];\n"
                 "subgraph cluster_x { label=outer; a; subgraph cluster_y { b } subgraph plain { c } } a -> b; a -> b; "
                 "b -> c }");
        QVERIFY(graph);
        QCOMPARE(graph->op(OpId(0)).name, std::string("b")); // order of the file
        const Op& a = graph->op(OpId(1));
        QCOMPARE(a.costs[0].us, 3.0);
        QCOMPARE(a.paramBytes, std::int64_t{7});
        QCOMPARE(a.device, std::string("gpu:1"));
        QCOMPARE(a.type, std::string("Conv"));
        QCOMPARE(a.attributes.size(), std::size_t{1});
        QCOMPARE(graph->tensor(graph->outputs(OpId(1))[0]).bytes, std::int64_t{100});
        QCOMPARE(graph->scopePath(a.scope), std::string("outer"));
        QCOMPARE(graph->scopePath(graph->op(OpId(0)).scope), std::string("outer/y"));
        QCOMPARE(graph->scopePath(graph->op(OpId(2)).scope), std::string("outer"));
        QCOMPARE(computeStats(*graph).edges, std::size_t{3});
        QCOMPARE(computeStats(*graph).edgesDistinct, std::size_t{2});
    }

    void undirectedGraphsOpenWithAWarning() {
        const GraphPtr graph = load("graph { a -- b -- c }");
        QVERIFY(graph);
        QCOMPARE(computeStats(*graph).edges, std::size_t{2});
        QCOMPARE(graph->warnings()[0].kind, std::string("undirected"));
    }

    void roundTrip() {
        for (const GraphPtr& graph : {w1(), w2(), w3(), generated(100)}) {
            QVERIFY(formats::saveGraph(*graph, m_folder.path("back.dot")));
            const auto back = formats::loadGraph(m_folder.path("back.dot"));
            QVERIFY2(back, back ? "" : back.error().toString().c_str());
            QCOMPARE((*back)->opCount(), graph->opCount());
            QCOMPARE((*back)->edges().size(), graph->edges().size());
            for (std::size_t i = 0; i < graph->opCount(); ++i) {
                QCOMPARE((*back)->op(OpId(i)).name, graph->op(OpId(i)).name);
                QCOMPARE((*back)->op(OpId(i)).costs[0].us, graph->op(OpId(i)).costs[0].us);
            }
        }
        const GraphPtr nested = test::graph("layer/layer/a -> layer/b -> c");
        QVERIFY(formats::saveGraph(*nested, m_folder.path("nested.dot")));
        const auto back = formats::loadGraph(m_folder.path("nested.dot"));
        QCOMPARE((*back)->scopePath((*back)->op(OpId(0)).scope), std::string("layer/layer"));
    }

    void oddNamesSurvive() {
        GraphBuilder builder("odd", "test");
        OpId previous;
        for (const char* name : {"a \"b\" c", "tail\\", "\\\"", "line\nbreak; }"}) {
            Op op;
            op.name = name;
            const OpId id = builder.addOp(std::move(op));
            builder.addOutput(id);
            if (previous.isValid())
                builder.addInput(id, builder.output(previous, 0));
            previous = id;
        }
        const GraphPtr graph = std::move(builder).build().value();
        QVERIFY(formats::saveGraph(*graph, m_folder.path("odd.gv")));
        const auto back = formats::loadGraph(m_folder.path("odd.gv"));
        QVERIFY2(back, back ? "" : back.error().toString().c_str());
        QCOMPARE((*back)->opCount(), std::size_t{4});
        QCOMPARE((*back)->edges().size(), std::size_t{3});
        QCOMPARE((*back)->op(OpId(0)).name, std::string("a \"b\" c"));
    }

    void errorsSayWhere() {
        QVERIFY2(loadError("digraph { a -> }").message.find("syntax error") != std::string::npos,
                 loadError("digraph { a -> }").message.c_str());
        QVERIFY(loadError("digraph { a ").code == ErrorCode::Parse);
        QVERIFY(loadError(std::string("digraph { a\0 }", 14)).code != ErrorCode::Internal);
        const Error error = loadError("digraph { a [cost_us=fast] }");
        QVERIFY2(error.where.find("\"a\"") != std::string::npos && error.where.find("cost_us") != std::string::npos,
                 error.toString().c_str());
    }

    /// A few kilobytes that stand for billions of edges.
    void edgeProductsAreRefused() {
        std::string group = "{";
        for (int i = 0; i < 20000; ++i)
            group += " n" + std::to_string(i);
        const Error error = loadError("digraph { " + group + "} -> " + group + "} }");
        QVERIFY(error.code == ErrorCode::TooLarge);
        const Error named = loadError("digraph { subgraph s " + group + "} subgraph s -> subgraph s }");
        QVERIFY(named.code == ErrorCode::TooLarge);
        QVERIFY(load("digraph { {a b c} -> {d e} -> f }")->edges().size() == 8);
        QVERIFY(loadError("digraph " + std::string(100000, '{')).code == ErrorCode::TooLarge);
    }

    /// Other ways to make a small file stand for much: attributes that all nodes get, nodes in subgraphs in subgraphs,
    /// high output numbers.
    void multipliedContentIsRefused_data() {
        QTest::addColumn<QString>("content");
        QTest::addColumn<QString>("reason");
        const auto list = [](int count, const char* pattern) {
            QString text;
            for (int i = 0; i < count; ++i)
                text += QString(pattern).arg(i);
            return text;
        };
        const QString nodes = list(20000, "n%1; ");
        QTest::newRow("default attributes") << "digraph { node [" + list(1000, "k%1=1, ") + "]; " + nodes + "}"
                                            << "too many attributes (1000)";
        QTest::newRow("long default attributes")
            << "digraph { node [a=\"" + QString(2000, 'x') + "\"]; " + nodes + "}" << "that all nodes get";
        QTest::newRow("graph attributes") << "digraph { " + list(3000, "k%1=1; ") + list(20000, "{ n%1 } ") + "}"
                                          << "too many attributes (3000)";
        QTest::newRow("nested subgraphs")
            << "digraph { " + QString("subgraph { ").repeated(400) + nodes + QString("} ").repeated(401)
            << "subgraphs in subgraphs";
        QTest::newRow("output numbers") << "digraph { " + list(1000, "n%1 -> x [out=65535]; ") + "}" << "output numbers";
    }
    void multipliedContentIsRefused() {
        QFETCH(QString, content);
        QFETCH(QString, reason);
        const Error error = loadError(content.toStdString());
        QVERIFY2(error.code == ErrorCode::TooLarge, error.toString().c_str());
        QVERIFY2(error.message.find(reason.toStdString()) != std::string::npos, error.toString().c_str());
    }

    /// The same in the measure that programs use.
    void usualMultiplesOpen() {
        std::string content = "digraph { rankdir=LR; node [shape=box, team=a, zone=\"b\"]; edge [k=1, l=2, m=3];\n";
        for (int depth = 0; depth < 12; ++depth)
            content += "subgraph cluster_" + std::to_string(depth) + " { label=\"module\";\n";
        for (int i = 0; i < 20000; ++i)
            content += "layer_" + std::to_string(i) + " -> layer_" + std::to_string(i + 1) + " [out=1];\n";
        const GraphPtr graph = load(content + std::string(13, '}'));
        QCOMPARE(graph->opCount(), std::size_t(20001));
        QCOMPARE(graph->tensors().size(), std::size_t(40001));
    }

    void truncatedAnywhereAndBitFlips() {
        const std::string whole = "digraph \"g\" { node [type=X]; subgraph cluster_a { a [label=<b>, cost=3] } /* c */ "
                                  "a -> b:n [bytes=4] // d\n}\n";
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const auto graph = formats::loadGraph(m_folder.write("cut.dot", std::string_view(whole).substr(0, length)));
            QVERIFY(graph || !graph.error().message.empty());
        }
        for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
            std::string damaged = whole;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
            const auto graph = formats::loadGraph(m_folder.write("flip.dot", damaged));
            QVERIFY(graph || !graph.error().message.empty());
        }
        QVERIFY(load(whole)); // and the parser is in order afterwards
    }

    /// Crashes without the gate.
    void fourThreadsAtOnce() {
        std::string text = "digraph {";
        for (int i = 0; i < 300; ++i)
            text += " n" + std::to_string(i) + " [label=\"x\"]; n" + std::to_string(i) + " -> n" +
                    std::to_string(i + 1) + ";";
        const std::string path = m_folder.write("threads.dot", text + "}");
        std::atomic<int> opened = 0;
        {
            std::vector<std::jthread> threads;
            for (int t = 0; t < 4; ++t) {
                threads.emplace_back([&] {
                    for (int i = 0; i < 20; ++i) {
                        const auto graph = formats::loadGraph(path);
                        opened += graph && (*graph)->opCount() == 301 ? 1 : 0;
                    }
                });
            }
        }
        QCOMPARE(opened.load(), 80);
    }
};

QTEST_APPLESS_MAIN(TestDot)
#include "tst_dot.moc"
