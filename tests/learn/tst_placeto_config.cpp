#include "core/learn/placeto_config.h"

#include <QtTest>

using namespace pw;
using namespace pw::learn;

class TestPlacetoConfig : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyParameterIsDeclaredInFull() {
        const auto infos = placetoParameters();
        QVERIFY(infos.size() > 20);
        for (const auto& info : infos) {
            QVERIFY2(!info.help.empty() && info.help.back() == '.', info.key.c_str());
            QVERIFY2(info.source == "measured" || info.source == "code" || info.source == "chosen", info.key.c_str());
            if (!info.choices.empty())
                QVERIFY2(std::find(info.choices.begin(), info.choices.end(), info.defaultValue) != info.choices.end(),
                         info.key.c_str());
        }
    }

    void defaultsAreTheTunedOnes() {
        const auto config = makePlacetoConfig({}, 2).value();
        QCOMPARE(config.gamma, 0.9);
        QCOMPARE(config.shape.rounds, 8U);
        QVERIFY(config.shape.aggregation == NetShape::Aggregation::Sqrt);
        QVERIFY(!config.baselineIncludesCurrent);
    }

    void paperPresetIsABaseThatKeysOverride() {
        const auto config = makePlacetoConfig({{"preset", "paper"}, {"k", "3"}}, 2).value();
        QCOMPARE(config.gamma, 1.0);
        QCOMPARE(config.memPenaltySPerGb, 2.0);
        QCOMPARE(config.maxMemGb, 8.0);
        QVERIFY(config.baselineIncludesCurrent);
        QVERIFY(config.features == PlacetoConfig::Features::Reference);
        QCOMPARE(config.shape.rounds, 3U);
    }

    void badValuesAreErrorsThatNameTheKey_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::newRow("unknown key") << "gama" << "1";
        QTest::newRow("unknown choice") << "variant" << "big";
        QTest::newRow("unknown preset") << "preset" << "best";
        QTest::newRow("not a number") << "lr" << "fast";
        QTest::newRow("trailing text") << "lr" << "0.1x";
        QTest::newRow("empty") << "gamma" << "";
        QTest::newRow("not finite") << "gamma" << "nan";
        QTest::newRow("below") << "gamma" << "-0.1";
        QTest::newRow("above") << "k" << "1000";
        QTest::newRow("not whole") << "rollouts" << "1.5";
        QTest::newRow("batch baseline of one") << "baseline" << "batch";
    }
    void badValuesAreErrorsThatNameTheKey() {
        QFETCH(QString, key);
        QFETCH(QString, value);
        const auto config = makePlacetoConfig({{key.toStdString(), value.toStdString()}}, 2);
        QVERIFY(!config);
        QVERIFY2(QString::fromStdString(config.error().toString()).contains(key), config.error().toString().c_str());
    }
};

QTEST_APPLESS_MAIN(TestPlacetoConfig)
#include "tst_placeto_config.moc"
