// Every TensorFlow and TensorFlow.js file of the shared data against the values that independent parsers measured.

#include "core/formats/formats.h"
#include "core/formats/tf_devices.h"
#include "core/graph/graph_stats.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <map>

using namespace pw;

namespace {

QJsonArray expectedFiles() {
    QFile file(PW_SHARED_DATA "/EXPECTED.json");
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll()).object()["files"].toArray();
}

bool isTensorFlow(const QJsonObject& record) {
    return record.contains("const_bytes");
}

void addRows() {
    QTest::addColumn<QJsonObject>("record");
    for (const auto& value : expectedFiles()) {
        if (isTensorFlow(value.toObject()))
            QTest::newRow(qPrintable(value.toObject()["file"].toString())) << value.toObject();
    }
}

std::string pathOf(const QString& file) {
    return PW_SHARED_DATA "/" + file.toStdString();
}

bool warns(const OpGraph& graph, const std::string& kind) {
    return std::any_of(graph.warnings().begin(), graph.warnings().end(),
                       [&](const Warning& warning) { return warning.kind == kind; });
}

} // namespace

class TestTensorflowCorpus : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        if (expectedFiles().isEmpty())
            QSKIP("the shared data folder is not here");
    }

    void counts_data() { addRows(); }
    void counts() {
        QFETCH(QJsonObject, record);
        const auto graph = formats::loadGraph(pathOf(record["file"].toString()));
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        const GraphStats stats = computeStats(**graph);
        QCOMPARE(qint64(stats.ops), qint64(record["nodes"].toInt()));
        // why: the reference does not look into the library of a TensorFlow.js file; its records say so.
        if (record["library_in_json"].toBool())
            QVERIFY(stats.opsTotal >= std::size_t(record["nodes_total"].toInt()));
        else
            QCOMPARE(qint64(stats.opsTotal), qint64(record["nodes_total"].toInt()));
        QCOMPARE(qint64(stats.edges), qint64(record["edges"].toInt()));
        QCOMPARE(qint64(stats.controlEdges), qint64(record["control_edges"].toInt()));
        QCOMPARE(qint64(stats.edgesDistinct), qint64(record["edges_distinct"].toInt()));
        QCOMPARE((*graph)->isCyclic(), !record["acyclic"].toBool());
        QCOMPARE(warns(**graph, "cycle"), !record["acyclic"].toBool());
        QCOMPARE(stats.depth.has_value(), !record["depth"].isNull());
        if (stats.depth)
            QCOMPARE(qint64(*stats.depth), qint64(record["depth"].toInt()));
        QCOMPARE(qint64(stats.parameterBytes),
                 qint64(record["const_bytes"].toDouble() + record["variable_bytes"].toDouble()));
        QCOMPARE(qint64(stats.opTypes.size()), qint64(record["op_types"].toInt()));
        const QJsonObject histogram = record["op_histogram"].toObject();
        for (auto it = histogram.begin(); it != histogram.end(); ++it)
            QCOMPARE(qint64(stats.opTypes.at(it.key().toStdString())), qint64(it.value().toInt()));
    }

    /// The reference lists devices as written; each must be the device that our name for it says.
    void devices_data() { addRows(); }
    void devices() {
        QFETCH(QJsonObject, record);
        const auto graph = formats::loadGraph(pathOf(record["file"].toString()));
        QVERIFY(graph);
        const QJsonObject written = record["devices"].toObject();
        formats::TfDeviceNames names;
        for (const QString& device : written.keys()) {
            if (device != "(none)")
                names.add(device.toStdString());
        }
        std::map<std::string, std::size_t> expected;
        for (auto it = written.begin(); it != written.end(); ++it) {
            const std::string device = it.key().toStdString();
            expected[device == "(none)" ? device : names.nameOf(device)] += static_cast<std::size_t>(it.value().toInt());
        }
        QVERIFY(computeStats(**graph).devices == expected);
    }
};

QTEST_APPLESS_MAIN(TestTensorflowCorpus)
#include "tst_tensorflow_corpus.moc"
