// GraphML, read back by an XML reader.

#include "core/formats/formats.h"
#include "core/graph/graph_builder.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QXmlStreamReader>
#include <QtTest>

using namespace pw;
using namespace pw::test;

namespace {

using Data = QMap<QString, QString>; ///< by the name of the key

/// What a GraphML file says.
struct Document {
    QString error;
    QMap<QString, QString> keyTypes; ///< by "node name"
    QVector<Data> nodes;
    QVector<std::pair<QString, QString>> ends;
    QVector<Data> edges;
    int undeclared = 0;
};

Document parsed(const std::string& text) {
    Document document;
    QMap<QString, std::pair<QString, QString>> keys; // by id: domain, name
    QXmlStreamReader xml(QByteArray::fromStdString(text));
    QString domain;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        const auto attributes = xml.attributes();
        const auto value = [&](const char* name) { return attributes.value(QLatin1String(name)).toString(); };
        if (xml.name() == QLatin1String("key")) {
            keys[value("id")] = {value("for"), value("attr.name")};
            document.keyTypes[value("for") + " " + value("attr.name")] = value("attr.type");
        } else if (xml.name() == QLatin1String("node")) {
            domain = "node";
            document.nodes.append(Data());
        } else if (xml.name() == QLatin1String("edge")) {
            domain = "edge";
            document.ends.append({value("source"), value("target")});
            document.edges.append(Data());
        } else if (xml.name() == QLatin1String("data")) {
            const auto key = keys.value(value("key"));
            document.undeclared += key.first == domain ? 0 : 1;
            Data& data = domain == "node" ? document.nodes.last() : document.edges.last();
            data[key.second] = xml.readElementText();
        }
    }
    if (xml.hasError())
        document.error = xml.errorString();
    return document;
}

} // namespace

class TestGraphml : public QObject {
    Q_OBJECT

    TempFolder m_folder;

    Document written(const OpGraph& graph) {
        const std::string path = m_folder.path("g.graphml");
        const Status saved = formats::saveGraph(graph, path);
        return saved ? parsed(TempFolder::read(path)) : Document{"not saved", {}, {}, {}, {}, 0};
    }

private Q_SLOTS:
    void countsAndTypes() {
        const GraphPtr graph = generated(300);
        const Document document = written(*graph);
        QCOMPARE(document.error, QString());
        QCOMPARE(document.undeclared, 0);
        QCOMPARE(std::size_t(document.nodes.size()), graph->opCount());
        QCOMPARE(std::size_t(document.edges.size()), graph->edges().size());
        QCOMPARE(document.keyTypes.value("node flops"), QString("double"));
        QCOMPARE(document.keyTypes.value("node param_bytes"), QString("long"));
        QCOMPARE(document.keyTypes.value("edge bytes"), QString("long"));
        QCOMPARE(document.keyTypes.value("edge kind"), QString("string"));
        for (std::size_t i = 0; i < graph->opCount(); ++i)
            QCOMPARE(document.nodes[qsizetype(i)]["name"].toStdString(), graph->op(OpId(i)).name);
        for (std::size_t i = 0; i < graph->edges().size(); ++i) {
            const Edge& edge = graph->edges()[i];
            QCOMPARE(document.ends[qsizetype(i)].first, "n" + QString::number(edge.producer.value()));
            QCOMPARE(document.ends[qsizetype(i)].second, "n" + QString::number(edge.consumer.value()));
        }
    }

    void everyValue() {
        GraphBuilder builder("g", "test");
        Op op;
        op.name = "outer/<a&\"b\">\x01\xff\n";
        op.type = "T";
        op.flops = 0.5;
        op.bytesMoved = 6;
        op.paramBytes = 7;
        op.stateBytes = 8;
        op.device = "gpu:1";
        op.colocation = "c";
        op.phase = Phase::Backward;
        op.costs = {{"", 1.5}, {"gpu", 0.25}, {"a \"kind\"", 3.0}};
        const OpId a = builder.addOp(op);
        op = {};
        op.name = "b";
        const OpId b = builder.addOp(op);
        Tensor tensor;
        tensor.bytes = 1234;
        const TensorId unused = builder.addOutput(a);
        builder.addInput(b, builder.addOutput(a, tensor), 3);
        builder.addCapture(b, unused);
        builder.addControl(a, b);
        builder.setScope(a, "outer");
        const Document document = written(*std::move(builder).build().value());
        QCOMPARE(document.error, QString());
        const Data& node = document.nodes[0];
        QCOMPARE(node["name"], QString::fromUtf8("outer/<a&\"b\">\xef\xbf\xbd\xef\xbf\xbd\n"));
        QCOMPARE(node["type"], QString("T"));
        QCOMPARE(node["scope"], QString("outer"));
        QCOMPARE(node["phase"], QString("backward"));
        QCOMPARE(node["device"], QString("gpu:1"));
        QCOMPARE(node["colocation"], QString("c"));
        QCOMPARE(node["flops"].toDouble(), 0.5);
        QCOMPARE(node["bytes_moved"], QString("6"));
        QCOMPARE(node["param_bytes"], QString("7"));
        QCOMPARE(node["state_bytes"], QString("8"));
        QCOMPARE(node["output_bytes"], QString("1234"));
        QCOMPARE(node["cost_us"].toDouble(), 1.5);
        QCOMPARE(node["cost_us_gpu"].toDouble(), 0.25);
        QCOMPARE(node["cost_us_a \"kind\""].toDouble(), 3.0);
        QVERIFY(!document.nodes[1].contains("flops")); // unknown is left out, not 0
        QCOMPARE(document.edges[0]["kind"], QString("data"));
        QCOMPARE(document.edges[0]["slot"], QString("3"));
        QCOMPARE(document.edges[0]["tensor"], QString("1"));
        QCOMPARE(document.edges[0]["bytes"], QString("1234"));
        QCOMPARE(document.edges[1]["kind"], QString("capture"));
        QCOMPARE(document.edges[2]["kind"], QString("control"));
        QVERIFY(!document.edges[2].contains("bytes"));
    }

    void placementIsWritten() {
        const GraphPtr graph = w2();
        const DeviceSet devices =
            DeviceSet::create("two", {{"gpu:0", "gpu", "", 0, 1.0, 1.0, 0.0}, {"gpu:1", "gpu", "", 0, 1.0, 1.0, 0.0}},
                              {})
                .value();
        const auto placement = placementOf({0, 1, 0, 1, 1});
        const std::string path = m_folder.path("p.graphml");
        QVERIFY(formats::saveGraph(*graph, path, {placement, &devices, {}}));
        const Document document = parsed(TempFolder::read(path));
        for (int i = 0; i < document.nodes.size(); ++i)
            QCOMPARE(document.nodes[i]["device"].toStdString(), devices.device(placement[std::size_t(i)]).name);
    }
};

QTEST_APPLESS_MAIN(TestGraphml)
#include "tst_graphml.moc"
