#include "core/devices/op_rules.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>
#include <QtTest>

using namespace pw;

namespace {

/// What has no formula, on purpose.
const QSet<QString> kWithoutFormula = {
    // containers: their bodies are costed
    QStringLiteral("If"), QStringLiteral("Loop"), QStringLiteral("Scan"), QStringLiteral("StatelessIf"),
    QStringLiteral("StatelessWhile"), QStringLiteral("StatefulPartitionedCall"),
    // whole modules or compiled subgraphs under one name: only a measurement can tell
    QStringLiteral("NGraphEncapsulate"), QStringLiteral("Classifier"), QStringLiteral("EmuBidirLSTM"),
    QStringLiteral("RecurrentAttention"), QStringLiteral("hidden")};

} // namespace

/// Every op type of the real graphs at hand has a formula.
class TestOpCoverage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyTypeHasARule() {
        QFile file(QStringLiteral(PW_SHARED_DATA "/EXPECTED.json"));
        if (!file.open(QIODevice::ReadOnly))
            QSKIP("the folder of real graphs is not there");
        const QJsonArray files = QJsonDocument::fromJson(file.readAll()).object()[QStringLiteral("files")].toArray();
        QSet<QString> types;
        for (const QJsonValue& entry : files) {
            for (const char* key : {"op_histogram", "op_histogram_with_subgraphs"}) {
                const QJsonObject histogram = entry.toObject()[QLatin1String(key)].toObject();
                for (auto type = histogram.begin(); type != histogram.end(); ++type)
                    types.insert(type.key());
            }
        }
        QVERIFY(types.size() > 200);
        QStringList missing;
        for (const QString& type : qAsConst(types)) {
            const bool hasRule = devices::ruleFor(type.toStdString()).rule != devices::WorkRule::Unknown;
            if (!hasRule && !kWithoutFormula.contains(type))
                missing.append(type);
            QVERIFY2(!(hasRule && kWithoutFormula.contains(type)), qPrintable(type + QStringLiteral(" has a formula now")));
        }
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join(QStringLiteral(", "))));
    }

    void unknownTypesStayUnknown() {
        for (const char* type : {"", "Frobnicate", "com.example::Conv3000", "v2", "_"})
            QVERIFY2(devices::ruleFor(type).rule == devices::WorkRule::Unknown, type);
    }
};

QTEST_APPLESS_MAIN(TestOpCoverage)
#include "tst_op_coverage.moc"
