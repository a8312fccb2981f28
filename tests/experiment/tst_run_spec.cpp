#include "core/experiment/run_spec.h"

#include <QTest>

#include <functional>

namespace {

pw::RunSpec full() {
    pw::RunSpec spec;
    spec.kind = "train";
    spec.method = "placeto";
    spec.graphHashes = {"aa", "bb"};
    spec.graphName = "incéption \"v3\"";
    spec.deviceSetHash = "dd";
    spec.deviceSetName = "2xK80";
    spec.grouping.targetGroups = 64;
    spec.grouping.scopeDepth = 2;
    spec.grouping.byHand = {{"a", "b"}, {"c"}};
    spec.sim = {pw::SimModel::Reference, 12.5};
    spec.seed = 18446744073709551615ULL;
    spec.maxEvaluations = 1000;
    spec.maxEpisodes = 50;
    spec.maxSeconds = 0.1;
    spec.device = "cuda:0";
    spec.parameters = {{"lr", "1e-3"}, {"x", ""}};
    spec.pins = {{"conv", "gpu:1"}};
    return spec;
}

} // namespace

class TestRunSpec : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void jsonComesBack() {
        for (const pw::RunSpec& spec : {pw::RunSpec(), full()}) {
            const auto back = pw::RunSpec::fromJson(spec.toJson());
            QVERIFY2(back.has_value(), back ? "" : back.error().toString().c_str());
            QVERIFY(*back == spec);
            QCOMPARE(back->hash(), spec.hash());
            QCOMPARE(back->toJson(), spec.toJson());
        }
    }

    void everyFieldButNamesIsHashed() {
        const std::vector<std::function<void(pw::RunSpec&)>> changes = {
            [](auto& s) { s.kind = "place"; },
            [](auto& s) { s.method = "gdp"; },
            [](auto& s) { s.graphHashes = {"aabb"}; },
            [](auto& s) { s.deviceSetHash = "ee"; },
            [](auto& s) { s.grouping.targetGroups = 65; },
            [](auto& s) { s.grouping.scopeDepth = 0; },
            [](auto& s) { s.grouping.colocation = false; },
            [](auto& s) { s.grouping.coplacement = true; },
            [](auto& s) { s.grouping.byHand = {{"a"}, {"b", "c"}}; },
            [](auto& s) { s.sim.model = pw::SimModel::Links; },
            [](auto& s) { s.sim.memoryHeadroomPct = 0.0; },
            [](auto& s) { s.seed = 1; },
            [](auto& s) { s.maxEvaluations = 1; },
            [](auto& s) { s.maxEpisodes = 51; },
            [](auto& s) { s.maxSeconds = 0.2; },
            [](auto& s) { s.device = "cpu"; },
            [](auto& s) { s.parameters["lr"] = "1e-4"; },
            [](auto& s) { s.pins["conv"] = "gpu:0"; },
            [](auto& s) { s.pins.clear(); },
        };
        for (std::size_t i = 0; i < changes.size(); ++i) {
            pw::RunSpec changed = full();
            changes[i](changed);
            QVERIFY2(changed.hash() != full().hash(), std::to_string(i).c_str());
            QVERIFY2(changed.toJson() != full().toJson(), std::to_string(i).c_str());
        }
        pw::RunSpec renamed = full();
        renamed.graphName = "other";
        renamed.deviceSetName = "other";
        QCOMPARE(renamed.hash(), full().hash());
    }

    void badJsonNamesTheKey_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("where");
        QTest::newRow("not JSON") << QByteArray("{") << QByteArray();
        QTest::newRow("not an object") << QByteArray("[1]") << QByteArray();
        QTest::newRow("text as number") << QByteArray(R"({"seed": "1"})") << QByteArray("key \"seed\"");
        QTest::newRow("negative") << QByteArray(R"({"max_episodes": -1})") << QByteArray("key \"max_episodes\"");
        QTest::newRow("group of numbers") << QByteArray(R"({"grouping": {"by_hand": [[1]]}})") << QByteArray("key \"by_hand\"");
        QTest::newRow("grouping as text") << QByteArray(R"({"grouping": "x"})") << QByteArray("key \"grouping\"");
        QTest::newRow("fraction") << QByteArray(R"({"groups": 1.5})") << QByteArray("key \"groups\"");
        QTest::newRow("too large") << QByteArray(R"({"max_episodes": 18446744073709551615})")
                                   << QByteArray("key \"max_episodes\"");
        QTest::newRow("nested") << QByteArray(R"({"parameters": {"a": 1}})") << QByteArray("key \"parameters\"");
        QTest::newRow("list") << QByteArray(R"({"graph_hashes": ["a", 1]})") << QByteArray("key \"graph_hashes\"");
        QTest::newRow("model") << QByteArray(R"({"sim_model": "magic"})") << QByteArray("key \"sim_model\"");
        QTest::newRow("kind") << QByteArray(R"({"kind": "magic"})") << QByteArray("key \"kind\"");
    }
    void badJsonNamesTheKey() {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, where);
        const auto spec = pw::RunSpec::fromJson(json.toStdString());
        QVERIFY(!spec);
        QCOMPARE(QByteArray::fromStdString(spec.error().where), where);
    }

    void unknownKeysAreLeftAlone() {
        QVERIFY(pw::RunSpec::fromJson(R"({"method": "metis", "later": [1, {"a": 2}]})").has_value());
    }

    void namesThatAreNotUtf8DoNotThrow() {
        pw::RunSpec spec;
        spec.graphName = "\xff\xfe";
        QVERIFY(pw::RunSpec::fromJson(spec.toJson()).has_value());
    }
};

QTEST_APPLESS_MAIN(TestRunSpec)
#include "tst_run_spec.moc"
