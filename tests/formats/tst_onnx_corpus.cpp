// Every ONNX file of the shared data against the values that python-onnx measured.

#include "core/formats/formats.h"
#include "core/graph/graph_stats.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <set>

using namespace pw;

namespace {

std::string thisProgram;

QJsonArray expectedFiles() {
    QFile file(PW_SHARED_DATA "/EXPECTED.json");
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll()).object()["files"].toArray();
}

bool isOnnx(const QJsonObject& record) {
    return record["format"].toString().startsWith("onnx");
}

void addOnnxRows() {
    QTest::addColumn<QJsonObject>("record");
    for (const auto& value : expectedFiles()) {
        const QJsonObject record = value.toObject();
        if (isOnnx(record))
            QTest::newRow(qPrintable(record["file"].toString())) << record;
    }
}

std::string pathOf(const QJsonObject& record) {
    return PW_SHARED_DATA "/" + record["file"].toString().toStdString();
}

formats::LoadOptions withWorker() {
    formats::LoadOptions options;
    options.workerProgram = thisProgram;
    return options;
}

std::size_t distinctPairs(const OpGraph& graph) {
    std::set<std::pair<OpId, OpId>> pairs;
    for (const Edge& edge : graph.edges())
        pairs.emplace(edge.producer, edge.consumer);
    return pairs.size();
}

struct ShapeCounts {
    int isStatic = 0, symbolic = 0, unknown = 0;
};

ShapeCounts countShapes(const OpGraph& graph) {
    ShapeCounts counts;
    for (const Tensor& tensor : graph.tensors()) {
        if (tensor.name.empty())
            continue; // an optional output that is not there
        const bool isOpen =
            std::any_of(tensor.dims.begin(), tensor.dims.end(), [](std::int64_t dim) { return dim < 0; });
        ++(!tensor.shapeKnown ? counts.unknown : isOpen ? counts.symbolic : counts.isStatic);
    }
    return counts;
}

bool hasNegativeDims(const QJsonObject& record) {
    for (const char* list : {"graph_inputs", "graph_outputs"}) {
        for (const auto& value : record[list].toArray()) {
            for (const auto& dim : value.toObject()["shape"].toArray()) {
                if (dim.toDouble(0.0) < 0.0)
                    return true;
            }
        }
    }
    return false;
}

} // namespace

class TestOnnxCorpus : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        if (expectedFiles().isEmpty())
            QSKIP("the shared data folder is not here");
    }

    void counts_data() { addOnnxRows(); }
    void counts() {
        QFETCH(QJsonObject, record);
        const auto graph = formats::loadGraph(pathOf(record), withWorker());
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        const GraphStats stats = computeStats(**graph);
        QCOMPARE(qint64(stats.ops), qint64(record["nodes"].toInt()));
        QCOMPARE(qint64(stats.opsTotal), qint64(record["nodes_total"].toInt()));
        QCOMPARE(qint64(stats.edges), qint64(record["edges"].toInt()));
        QCOMPARE(qint64(stats.edgesDistinct), qint64(record["edges_distinct"].toInt()));
        QCOMPARE(qint64(distinctPairs(**graph)), qint64(record["edges_distinct_with_captures"].toInt()));
        QCOMPARE((*graph)->isCyclic(), !record["acyclic"].toBool());
        QVERIFY(stats.depth);
        QCOMPARE(qint64(*stats.depth), qint64(record["depth"].toInt()));
        QCOMPARE(qint64(stats.parameterBytes), qint64(record["weights_bytes"].toDouble()));
        QCOMPARE(qint64(stats.opTypes.size()), qint64(record["op_types"].toInt()));
        const QJsonObject histogram = record["op_histogram"].toObject();
        for (auto it = histogram.begin(); it != histogram.end(); ++it)
            QCOMPARE(qint64(stats.opTypes.at(it.key().toStdString())), qint64(it.value().toInt()));
    }

    void shapesByLibrary_data() { addOnnxRows(); }
    void shapesByLibrary() {
        QFETCH(QJsonObject, record);
        const QJsonObject expected = record["shape_inference_onnx1.12"].toObject();
        const auto graph = formats::loadGraph(pathOf(record), withWorker());
        QVERIFY(graph);
        const auto failed = std::count_if((*graph)->warnings().begin(), (*graph)->warnings().end(),
                                          [](const Warning& warning) { return warning.kind == "shape_inference"; });
        QCOMPARE(failed == 0, expected["ok"].toBool());
        if (failed != 0)
            return;
        const ShapeCounts counts = countShapes(**graph);
        if (hasNegativeDims(record)) { // python counts the size -1 as a size, here it is an open dimension
            QCOMPARE(counts.isStatic + counts.symbolic, expected["static"].toInt() + expected["symbolic"].toInt());
            return;
        }
        QCOMPARE(counts.isStatic, expected["static"].toInt());
        QCOMPARE(counts.symbolic, expected["symbolic"].toInt());
        QCOMPARE(counts.unknown, expected["unknown"].toInt());
    }

    /// Where both our rules and the library know a size, they agree.
    void ownRulesAgree_data() { addOnnxRows(); }
    void ownRulesAgree() {
        QFETCH(QJsonObject, record);
        const auto reference = formats::loadGraph(pathOf(record), withWorker());
        const auto own = formats::loadGraph(pathOf(record));
        QVERIFY(reference && own);
        for (std::size_t i = 0; i < (*own)->tensorCount(); ++i) {
            const Tensor& left = (*own)->tensor(TensorId(i));
            const Tensor& right = (*reference)->tensor(TensorId(i));
            if (!left.shapeKnown || !right.shapeKnown)
                continue;
            QVERIFY2(left.dims.size() == right.dims.size(), left.name.c_str());
            for (std::size_t d = 0; d < left.dims.size(); ++d)
                QVERIFY2(left.dims[d] < 0 || right.dims[d] < 0 || left.dims[d] == right.dims[d], left.name.c_str());
            QVERIFY2(left.dtype.empty() || right.dtype.empty() || left.dtype == right.dtype, left.name.c_str());
        }
    }

    /// And our rules alone know most of what the library knows.
    void ownRulesKnowMost() {
        int own = 0;
        int library = 0;
        for (const auto& value : expectedFiles()) {
            const QJsonObject record = value.toObject();
            const QJsonObject expected = record["shape_inference_onnx1.12"].toObject();
            if (!isOnnx(record) || !expected["ok"].toBool())
                continue;
            const auto graph = formats::loadGraph(pathOf(record));
            QVERIFY(graph);
            const int known = countShapes(**graph).isStatic;
            if (known < expected["static"].toInt())
                qInfo("%s: %d static shapes, the library has %d", qPrintable(record["file"].toString()), known,
                      expected["static"].toInt());
            own += std::min(known, expected["static"].toInt());
            library += expected["static"].toInt();
        }
        qInfo("own rules: %d of %d static shapes", own, library);
        QVERIFY(own >= library * 95 / 100);
    }

    void roundTripThroughJson_data() { addOnnxRows(); }
    void roundTripThroughJson() {
        QFETCH(QJsonObject, record);
        const auto graph = formats::loadGraph(pathOf(record));
        QVERIFY(graph);
        const auto back = formats::fromGraphJson(formats::toGraphJson(**graph));
        QVERIFY2(back, back ? "" : back.error().toString().c_str());
        QCOMPARE((*back)->hash(), (*graph)->hash());
        QCOMPARE(computeStats(**back).parameterBytes, computeStats(**graph).parameterBytes);
        QCOMPARE((*back)->scopeCount(), (*graph)->scopeCount());
    }
};

int main(int argc, char** argv) {
    if (argc > 2 && std::string(argv[1]) == "--worker")
        return formats::runOnnxShapeWorker();
    thisProgram = std::string(argv[0]).find('/') != std::string::npos ? argv[0] : "/proc/self/exe";
    TestOnnxCorpus test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_onnx_corpus.moc"
