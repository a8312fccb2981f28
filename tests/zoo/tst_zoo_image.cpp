#include "core/graph/graph_stats.h"
#include "core/zoo/zoo.h"

#include <QtTest>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

using namespace pw;

namespace {

using Dims = std::vector<std::int64_t>;

GraphPtr emitted(const std::string& spec) {
    auto graph = zoo::makeFromSpec(spec);
    if (!graph)
        qWarning("%s", graph.error().message.c_str());
    return graph ? *graph : nullptr;
}

bool within(double value, double expected, double share) {
    return std::abs(value - expected) <= share * expected;
}

bool endsWith(const std::string& text, const std::string& ending) {
    return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

/// Moving averages are variables that no optimiser changes.
bool isTrainable(const Op& op) {
    return op.type == "Variable" && op.name.find("/moving_") == std::string::npos;
}

bool isProduct(const Op& op) {
    return op.type == "Conv2D" || op.type == "Conv1D" || op.type == "DepthwiseConv2dNative" || op.type == "MatMul";
}

struct Totals {
    double parametersM = 0.0; ///< trainable ones
    double products = 0.0;    ///< FLOPs of the forward pass
    double forward = 0.0;
    double backward = 0.0;
    std::size_t forwardOps = 0; ///< without variables and the losses of weights
    std::size_t convolutions = 0;
};

Totals totalsOf(const OpGraph& graph, bool withBiases = true) {
    Totals totals;
    for (const Op& op : graph.ops()) {
        if (isTrainable(op) && (withBiases || !endsWith(op.name, "_bias")))
            totals.parametersM += static_cast<double>(op.paramBytes) / 4e6;
        totals.backward += op.phase == Phase::Backward ? op.flops : 0.0;
        if (op.phase != Phase::Forward)
            continue;
        totals.forward += op.flops;
        totals.products += isProduct(op) ? op.flops : 0.0;
        totals.convolutions += op.type == "Conv2D" ? 1 : 0;
        totals.forwardOps += op.type != "Variable" && op.type != "L2Loss" ? 1 : 0;
    }
    return totals;
}

std::size_t componentCount(const OpGraph& graph) {
    std::vector<std::size_t> parent(graph.opCount());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t at) {
        while (parent[at] != at)
            at = parent[at] = parent[parent[at]];
        return at;
    };
    std::size_t count = graph.opCount();
    for (const Edge& edge : graph.edges()) {
        const std::size_t a = root(edge.producer.index());
        const std::size_t b = root(edge.consumer.index());
        count -= a != b ? 1 : 0;
        parent[a] = b;
    }
    return count;
}

const std::string* attribute(const Op& op, std::string_view key) {
    for (const auto& [name, value] : op.attributes) {
        if (name == key)
            return &value;
    }
    return nullptr;
}

} // namespace

class TestZooImage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void totals_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<double>("parameters"); // millions
        QTest::addColumn<double>("macs");       // billions per image
        const auto row = [](const char* spec, double parameters, double macs) {
            QTest::newRow(spec) << QString(spec) << parameters << macs;
        };
        row("zoo:amoebanet_d?batch=1&mode=inference", 81.51, 0.0);
        row("zoo:amoebanet_d?batch=1&width=256&mode=inference", 122.5, 15.2);
        row("zoo:amoebanet_d?batch=1&width=256&image=299&form=tf&mode=inference", 121.9, 27.0);
        row("zoo:nasnet_a?batch=1&mode=inference", 88.76, 23.78);
        row("zoo:nasnet_a?config=mobile&batch=1&mode=inference", 5.29, 0.564);
        row("zoo:nasnet_a?config=cifar&batch=1&mode=inference", 3.35, 0.544);
        row("zoo:inception_v3?batch=1&mode=inference", 23.82, 5.713);
        row("zoo:inception_v3?batch=1", 23.82 + 3.33, 0.0);
        row("zoo:resnet50?batch=1&mode=inference", 25.56, 4.09);
    }

    void totals() {
        QFETCH(QString, spec);
        QFETCH(double, parameters);
        QFETCH(double, macs);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        const Totals totals = totalsOf(*graph);
        const double macsG = totals.products / 2e9;
        qInfo("%zu ops, %zu forward, %zu convolutions, %.3f M parameters, %.4f GMAC", graph->opCount(), totals.forwardOps,
              totals.convolutions, totals.parametersM, macsG);
        if (parameters > 0.0)
            QVERIFY2(within(totals.parametersM, parameters, 0.01), qPrintable(QString::number(totals.parametersM)));
        if (macs > 0.0)
            QVERIFY2(within(macsG, macs, 0.01), qPrintable(QString::number(macsG)));
    }

    /// A factorised reduction is two convolutions; AmoebaNet-D has four of them, and the published count takes each as one.
    void amoebanetHasItsConvolutions() {
        const Totals totals = totalsOf(*emitted("zoo:amoebanet_d?batch=1&mode=inference"));
        QCOMPARE(totals.convolutions, std::size_t{275 + 4});
        QVERIFY2(within(static_cast<double>(totals.forwardOps), 1040.0, 0.04),
                 qPrintable(QString::number(totals.forwardOps)));
        const GraphPtr graph = emitted("zoo:amoebanet_d");
        qInfo("%zu ops with backward pass and optimiser", graph->opCount());
    }

    void wavenetHasItsTotals_data() {
        QTest::addColumn<int>("stacks");
        QTest::addColumn<double>("parameters"); // millions, without biases
        QTest::addColumn<double>("tflop");
        QTest::addColumn<int>("receptiveField");
        QTest::newRow("2 stacks") << 2 << 0.80 << 0.159 << 1024;
        QTest::newRow("4 stacks") << 4 << 1.18 << 0.237 << 2046;
    }

    void wavenetHasItsTotals() {
        QFETCH(int, stacks);
        QFETCH(double, parameters);
        QFETCH(double, tflop);
        QFETCH(int, receptiveField);
        const GraphPtr graph = emitted("zoo:wavenet?stacks=" + std::to_string(stacks));
        const Totals totals = totalsOf(*graph, false);
        qInfo("%zu ops, %zu forward, %.4f M parameters without biases, %.4f TFLOP of products, %.4f forward",
              graph->opCount(), totals.forwardOps, totals.parametersM, totals.products / 1e12, totals.forward / 1e12);
        QVERIFY2(within(totals.parametersM, parameters, 0.01), qPrintable(QString::number(totals.parametersM)));
        QVERIFY2(within(totals.products / 1e12, tflop, 0.01), qPrintable(QString::number(totals.products / 1e12)));
        // Every predicted sample sees a whole receptive field: that much more is read than predicted.
        const Dims audio = graph->tensor(graph->outputs(*graph->findOp("wavenet/audio"))[0]).dims;
        QCOMPARE(audio, (Dims{1, 100'000 + receptiveField - 1}));
    }

    void laws_data() {
        QTest::addColumn<QString>("spec");
        for (const char* workload : {"amoebanet_d?batch=2", "nasnet_a?batch=2", "nasnet_a?batch=2&config=mobile&drop_path=1",
                                     "nasnet_a?batch=2&config=cifar", "resnet50?batch=2", "resnet50?batch=2&variant=v1",
                                     "inception_v3?batch=2", "inception_v3?batch=2&aux=0", "wavenet?samples=2000",
                                     "wavenet?stacks=4&samples=2000&batch=2", "enas_cifar10?batch=8", "enas_cifar10?index=31",
                                     "enas_cifar10?cell=best&layers=15&filters=36&batch=144",
                                     "amoebanet_d?batch=2&aux=1&drop_path=1&form=tf&cells=6&width=64&image=128"}) {
            for (const char* level : {"L0", "L1", "L2"}) {
                for (const char* mode : {"training", "inference"}) {
                    const QString spec = QStringLiteral("zoo:%1&level=%2&mode=%3").arg(workload, level, mode);
                    QTest::newRow(qPrintable(spec)) << spec;
                }
            }
        }
    }

    void laws() {
        QFETCH(QString, spec);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        QVERIFY(!graph->isCyclic());
        QCOMPARE(componentCount(*graph), std::size_t{1});
        QVERIFY(graph->warnings().empty());
        std::map<std::string, int> updates;
        std::size_t variables = 0;
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            const Op& op = graph->op(OpId(i));
            QVERIFY2(op.flops >= 0.0 && op.bytesMoved >= 0, op.name.c_str());
            QVERIFY2(attribute(op, "expert_layer") || attribute(op, "expert_branch"), op.name.c_str());
            variables += isTrainable(op) ? 1 : 0;
            if (op.type.rfind("Apply", 0) != 0)
                continue;
            const Op& variable = graph->op(graph->inEdges(OpId(i))[0].producer);
            QVERIFY2(isTrainable(variable), op.name.c_str());
            QCOMPARE(op.colocation, variable.name);
            ++updates[variable.name];
        }
        const bool training = spec.contains("=training");
        QCOMPARE(updates.size(), training ? variables : std::size_t{0});
        for (const auto& [name, count] : updates)
            QVERIFY2(count == 1, name.c_str());
        const Totals totals = totalsOf(*graph);
        if (training)
            QVERIFY2(totals.backward > 1.8 * totals.forward && totals.backward < 2.1 * totals.forward,
                     qPrintable(QString::number(totals.backward / totals.forward)));
        else
            QCOMPARE(totals.backward, 0.0);
    }
};

QTEST_APPLESS_MAIN(TestZooImage)
#include "tst_zoo_image.moc"
