// Every published workload of the shared data against the values that independent parsers measured, and the published
// loads of pipelines computed anew from what was loaded.

#include "core/formats/formats.h"
#include "core/graph/graph_stats.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

using namespace pw;

namespace {

constexpr double kUsPerUnit = 1000.0;

const std::string kShared = PW_SHARED_DATA "/";
const std::string kWorkloads = kShared + "placement/dnn-partitioning/";

QJsonObject readJson(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll()).object();
}

bool isClose(double a, double b, double relative) {
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

double costOf(const Op& op, std::string_view kind) {
    for (const MeasuredCost& cost : op.costs) {
        if (cost.kind == kind)
            return cost.us;
    }
    return 0.0;
}

double sumOfCosts(const OpGraph& graph, std::string_view kind) {
    double sum = 0.0;
    for (const Op& op : graph.ops())
        sum += costOf(op, kind);
    return sum / kUsPerUnit;
}

std::string attributeOf(const Op& op, std::string_view key) {
    for (const auto& [name, value] : op.attributes) {
        if (name == key)
            return value;
    }
    return {};
}

double sumOfAttribute(const OpGraph& graph, std::string_view key) {
    double sum = 0.0;
    for (const Op& op : graph.ops()) {
        if (const std::string value = attributeOf(op, key); !value.empty())
            sum += std::stod(value);
    }
    return sum;
}

void compareCounts(const OpGraph& graph, const QJsonObject& record) {
    const GraphStats stats = computeStats(graph);
    QCOMPARE(static_cast<int>(stats.ops), record["nodes"].toInt());
    QCOMPARE(static_cast<int>(stats.edges), record["edges"].toInt());
    QCOMPARE(static_cast<int>(stats.edgesDistinct), record["edges_distinct"].toInt());
    QVERIFY(stats.depth.has_value());
    QCOMPARE(static_cast<int>(*stats.depth), record["depth"].toInt());
    const char* key = record.contains("op_histogram") ? "op_histogram" : "name_prefix_histogram";
    const QJsonObject histogram = record[key].toObject();
    for (auto type = histogram.begin(); type != histogram.end(); ++type) {
        const auto found = stats.opTypes.find(type.key().toStdString());
        QVERIFY2(found != stats.opTypes.end(), qPrintable(type.key()));
        QCOMPARE(static_cast<int>(found->second), type.value().toInt());
    }
    // The histograms of names stop at the 15 commonest.
    if (!histogram.isEmpty() && histogram.size() < 15)
        QCOMPARE(static_cast<int>(stats.opTypes.size()), static_cast<int>(histogram.size()));
    const QJsonValue bytes =
        record.contains("param_bytes") ? record["param_bytes"] : record["parameter_and_constant_bytes"];
    if (!bytes.isUndefined())
        QCOMPARE(static_cast<double>(stats.parameterBytes), bytes.toDouble());
}

int countIf(const OpGraph& graph, bool (*predicate)(const Op&)) {
    return static_cast<int>(std::count_if(graph.ops().begin(), graph.ops().end(), predicate));
}

double memoryBytesOf(const DeviceSet& devices, std::string_view name) {
    return static_cast<double>(devices.device(*devices.find(name)).memoryBytes);
}

int devicesOfKind(const DeviceSet& devices, std::string_view kind) {
    return static_cast<int>(std::count_if(devices.devices().begin(), devices.devices().end(),
                                          [&](const Device& device) { return device.kind == kind; }));
}

/// What it takes to move an op's output between an accelerator and the CPU, in the file's unit.
double edgeCost(const OpGraph& graph, OpId producer, const DeviceSet& devices) {
    const LinkId link = devices.linkBetween(*devices.find("acc:0"), *devices.find("cpu:0"));
    std::int64_t bytes = 0;
    for (const TensorId output : graph.outputs(producer))
        bytes = std::max(bytes, graph.tensor(output).bytes);
    return static_cast<double>(bytes) / devices.link(link).bytesPerUs / kUsPerUnit;
}

/// The largest load of a device, straight from the definition: an accelerator computes its ops and pays once for every
/// op of its own with a consumer elsewhere and once for every op elsewhere with a consumer here; the CPU computes only.
double maxLoad(const OpGraph& graph, const DeviceSet& devices, const std::vector<DeviceId>& placement) {
    std::vector<double> load(devices.count(), 0.0);
    const auto isCpu = [&](DeviceId device) { return devices.device(device).kind == "cpu"; };
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const OpId op(i);
        const DeviceId home = placement[i];
        load[home.index()] += costOf(graph.op(op), devices.device(home).kind) / kUsPerUnit;
        std::set<DeviceId> readers;
        for (const EdgeId edge : graph.outEdges(op))
            readers.insert(placement[graph.edge(edge).consumer.index()]);
        readers.erase(home);
        if (readers.empty())
            continue;
        readers.insert(home);
        for (const DeviceId device : readers)
            load[device.index()] += isCpu(device) ? 0.0 : edgeCost(graph, op, devices);
    }
    return *std::max_element(load.begin(), load.end());
}

std::string splitPath(const QString& folder, const QString& workload, const char* ending) {
    return kWorkloads + folder.toStdString() + "/" + workload.toStdString() + ending;
}

/// Ops that a split does not name go where their colour class is.
std::vector<DeviceId> byColour(const OpGraph& graph, const DeviceSet& devices, const formats::PlacementFile& split) {
    std::map<std::string, DeviceId> ofColour;
    std::vector<DeviceId> placement(graph.opCount());
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < graph.opCount(); ++i) {
            const Op& op = graph.op(OpId(i));
            if (const auto named = split.assignment.find(attributeOf(op, "id")); named != split.assignment.end()) {
                placement[i] = *devices.find(named->second);
                ofColour[op.colocation] = placement[i];
            } else if (round == 1) {
                placement[i] = ofColour.at(op.colocation);
            }
        }
    }
    return placement;
}

} // namespace

class TestPublishedCorpus : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        if (!std::filesystem::exists(kShared + "EXPECTED.json"))
            QSKIP("the shared data folder is not here");
    }

    void countsAreThoseOfOtherParsers_data() {
        QTest::addColumn<QJsonObject>("record");
        const QJsonArray files = readJson(kShared + "EXPECTED.json")["files"].toArray();
        for (const auto& value : files) {
            const QJsonObject record = value.toObject();
            const QString file = record["file"].toString();
            if ((file.startsWith("placement/") || file.startsWith("json/")) && record.contains("nodes"))
                QTest::newRow(qPrintable(file)) << record;
        }
    }
    void countsAreThoseOfOtherParsers() {
        QFETCH(QJsonObject, record);
        const auto graph = formats::loadGraph(kShared + record["file"].toString().toStdString());
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().toString().c_str());
        compareCounts(**graph, record);
        const QString format = record["format"].toString();
        if (format.startsWith("PipeDream")) {
            QVERIFY(isClose(sumOfAttribute(**graph, "forward_ms"), record["sum_forward_ms"].toDouble(), 1e-9));
            QVERIFY(isClose(sumOfAttribute(**graph, "backward_ms"), record["sum_backward_ms"].toDouble(), 1e-9));
            QVERIFY(isClose(sumOfCosts(**graph, ""),
                            record["sum_forward_ms"].toDouble() + record["sum_backward_ms"].toDouble(), 1e-9));
            double bytes = 0.0;
            for (const Tensor& tensor : (*graph)->tensors())
                bytes += static_cast<double>(tensor.bytes);
            QCOMPARE(bytes, record["sum_activation_bytes"].toDouble());
        }
    }

    void workloadsKeepTheirSums_data() {
        QTest::addColumn<QJsonObject>("record");
        const QJsonArray files = readJson(kShared + "EXPECTED.json")["files"].toArray();
        for (const auto& value : files) {
            const QJsonObject record = value.toObject();
            if (record["format"].toString() == "dnn-partitioning JSON")
                QTest::newRow(qPrintable(record["file"].toString())) << record;
        }
    }
    void workloadsKeepTheirSums() {
        QFETCH(QJsonObject, record);
        const std::string path = kShared + record["file"].toString().toStdString();
        const auto loaded = formats::loadGraph(path);
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY2(loaded && devices, devices ? "" : devices.error().toString().c_str());
        const OpGraph& graph = **loaded;
        QVERIFY(isClose(sumOfCosts(graph, "gpu"), record["sum_fpgaLatency"].toDouble(), 1e-9));
        QVERIFY(isClose(sumOfCosts(graph, "cpu"), record["sum_cpuLatency"].toDouble(), 1e-9));
        QCOMPARE(countIf(graph, [](const Op& op) { return op.phase == Phase::Backward; }),
                 record["backward_nodes"].toInt());
        QCOMPARE(countIf(graph, [](const Op& op) { return !op.colocation.empty(); }), record["coloured_nodes"].toInt());
        QCOMPARE(countIf(graph, [](const Op& op) { return !op.allowedKinds.empty(); }),
                 record["not_supported_on_accelerator"].toInt());
        std::set<std::string> colours;
        for (const Op& op : graph.ops())
            colours.insert(op.colocation);
        colours.erase("");
        QCOMPARE(static_cast<int>(colours.size()), record["color_classes"].toInt());

        QCOMPARE(devicesOfKind(*devices, "gpu"), record["maxFPGAs"].toInt());
        QCOMPARE(devicesOfKind(*devices, "cpu"), record["maxCPUs"].toInt());
        QCOMPARE(memoryBytesOf(*devices, "acc:0"), record["maxSizePerFPGA"].toDouble());
        double sum = 0.0;
        double dearest = 0.0;
        double worst = 0.0;
        for (const Edge& edge : graph.edges()) {
            const double cost = edgeCost(graph, edge.producer, *devices);
            const std::string raw = attributeOf(graph.op(edge.producer), "edge_cost");
            QVERIFY(!raw.empty());
            dearest = std::max(dearest, std::stod(raw));
            worst = std::max(worst, std::abs(cost - std::stod(raw)));
            sum += cost;
        }
        QVERIFY(worst <= 1e-7 * dearest); // rounding to whole bytes
        QVERIFY(isClose(sum, record["sum_edge_cost"].toDouble(), 1e-6));
    }

    void networksAreComplete_data() {
        QTest::addColumn<QString>("file");
        for (const char* file : {"fft_32", "gauss_elim_10", "gpt2_tensor_sh12_prefill"})
            QTest::newRow(file) << file;
    }
    void networksAreComplete() {
        QFETCH(QString, file);
        const std::string path = kShared + "placement/dagbench/" + file.toStdString() + "_graph.json";
        QJsonObject record;
        for (const auto& value : readJson(kShared + "EXPECTED.json")["files"].toArray()) {
            if (path == kShared + value.toObject()["file"].toString().toStdString())
                record = value.toObject();
        }
        const auto graph = formats::loadGraph(path);
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY(graph && devices);
        QVERIFY(isClose(sumOfCosts(**graph, ""), record["sum_cost"].toDouble(), 1e-9));
        double bytes = 0.0;
        for (const Tensor& tensor : (*graph)->tensors())
            bytes += static_cast<double>(tensor.bytes);
        QCOMPARE(bytes, record["sum_edge_size"].toDouble());
        const auto count = static_cast<int>(devices->count());
        QCOMPARE(count, record["network_nodes"].toInt());
        QCOMPARE(static_cast<int>(devices->links().size()), count * (count - 1)); // listed one way, true both ways
        // Every op has a measured cost on every device: cost / speed.
        const QJsonObject network = readJson(path)["network"].toObject();
        for (const auto& value : network["nodes"].toArray()) {
            const auto device = devices->find(value.toObject()["name"].toString().toStdString());
            QVERIFY(device.has_value());
            const double sum = sumOfCosts(**graph, devices->device(*device).kind);
            QVERIFY(isClose(sum, record["sum_cost"].toDouble() / value.toObject()["speed"].toDouble(), 1e-9));
        }
    }

    void partitionedGraphsArePlacements() {
        const std::string path = kShared + "placement/pipedream/vgg16_partitioned.txt";
        const auto graph = formats::loadGraph(path);
        const auto placement = formats::loadPlacement(path);
        QVERIFY(graph && placement);
        QCOMPARE(placement->assignment.size(), (*graph)->opCount());
        for (const Op& op : (*graph)->ops())
            QCOMPARE(placement->assignment.at(op.name), op.device);
        QVERIFY(placement->devices.size() > 1);
        QVERIFY(!formats::loadPlacement(kShared + "placement/pipedream/vgg16_graph.txt").has_value());
        QCOMPARE(formats::loadDevicesOfGraph(path).error().code, ErrorCode::NotFound);
    }

    /// That nothing is lost on the way: the published loads follow from the graph, the devices and the placement.
    void loadsAreThePublishedOnes_data() {
        QTest::addColumn<QString>("workload");
        const QJsonObject workloads = readJson(kWorkloads + "REFERENCE.json")["workloads"].toObject();
        for (const QString& workload : workloads.keys()) {
            if (QFile::exists(QString::fromStdString(splitPath("reference-splits", workload, ".dp.json"))))
                QTest::newRow(qPrintable(workload)) << workload;
        }
    }
    void loadsAreThePublishedOnes() {
        QFETCH(QString, workload);
        const QJsonObject reference =
            readJson(kWorkloads + "REFERENCE.json")["workloads"].toObject()[workload].toObject();
        const std::string path =
            kWorkloads + "throughput-inputs/" + QString(workload).replace('.', '/').toStdString() + ".json";
        const auto graph = formats::loadGraph(path);
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY2(graph && devices, path.c_str());
        const std::vector<DeviceId> onOne((*graph)->opCount(), *devices->find("acc:0"));
        QVERIFY(isClose(maxLoad(**graph, *devices, onOne), reference["all_on_one_accelerator"].toDouble(), 1e-5));

        const std::string dp = splitPath("reference-splits", workload, ".dp.json");
        const auto split = formats::loadPlacement(dp);
        QVERIFY2(split.has_value(), split ? "" : split.error().toString().c_str());
        std::vector<Warning> warnings;
        const auto placement = formats::applyPlacement(*split, **graph, *devices, warnings);
        QVERIFY2(placement.has_value(), placement ? "" : placement.error().toString().c_str());
        QVERIFY(warnings.empty());
        const double load = maxLoad(**graph, *devices, *placement);
        QVERIFY(isClose(load, reference["optimal_contiguous_dp"].toDouble(), 1e-5));
        QVERIFY(isClose(load, readJson(dp)["maxLoad"].toDouble(), 1e-6));
    }

    void humanExpertsToo_data() {
        QTest::addColumn<QString>("workload");
        QTest::addColumn<QString>("split");
        for (const char* name :
             {"bert24_inference", "bert24_training", "gnmt_inference", "gnmt_training", "resnet50_inference"})
            QTest::newRow(name) << name << name;
        QTest::newRow("resnet50_training") << "resnet50_training"
                                           << "resnet50_inference"; // the backward ops by colour
    }
    void humanExpertsToo() {
        QFETCH(QString, workload);
        QFETCH(QString, split);
        const std::string path = kWorkloads + "throughput-inputs/LayerGraphs/" + workload.toStdString() + ".json";
        const auto graph = formats::loadGraph(path);
        const auto devices = formats::loadDevicesOfGraph(path);
        const auto expert = formats::loadPlacement(splitPath("human-experts", split, "_expert.json"));
        QVERIFY2(graph && devices && expert, expert ? "" : expert.error().toString().c_str());
        const double load = maxLoad(**graph, *devices, byColour(**graph, *devices, *expert));
        const QJsonObject workloads = readJson(kWorkloads + "REFERENCE.json")["workloads"].toObject();
        QVERIFY(isClose(load, workloads["LayerGraphs." + workload].toObject()["human_expert"].toDouble(), 1e-5));
    }
};

QTEST_APPLESS_MAIN(TestPublishedCorpus)
#include "tst_published_corpus.moc"
