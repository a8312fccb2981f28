#include "core/learn/placeto_state.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

using namespace pw;
using namespace pw::learn;

namespace {

CheckpointContext someContext() {
    return {{{"k", "8"}, {"lr", "0.001"}}, {"hash"}, 2, 3, {4}};
}

PlacetoState someState() {
    PlacetoState state;
    state.weights = {1.0F, -2.0F, 3.5F};
    state.firstMoment = {0.1F, 0.2F, 0.3F};
    state.secondMoment = {0.4F, 0.5F, 0.6F};
    state.updates = 7;
    state.rng = {1, 2, 3, UINT64_MAX};
    state.seed = 99;
    state.episodes = 7;
    state.seconds = 1.25;
    ProblemState problem;
    problem.window = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    problem.best.groups = test::placementOf({0, 1, 1, 0});
    problem.best.outcome.evaluation = {12.5, true};
    problem.evaluations = 123;
    state.problems = {problem};
    return state;
}

PlacetoPolicy somePolicy() {
    PlacetoPolicy policy;
    policy.info = {"placeto", "placeto full radial k=8 sqrt", 2, 3, "W3 on 2xK80, 5 episodes", 1};
    policy.parameters = {{"k", "8"}};
    policy.weights = {1.0F, -2.5F, 3.0F};
    return policy;
}

} // namespace

class TestPlacetoState : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void checkpointReadsBack() {
        const auto bytes = writeCheckpoint(someState(), someContext());
        const auto read = readCheckpoint(bytes, someContext());
        QVERIFY(read);
        QCOMPARE(writeCheckpoint(*read, someContext()), bytes);
        QCOMPARE(read->problems[0].evaluations, 123);
        QCOMPARE(read->rng, someState().rng);
        QCOMPARE(read->problems[0].best.groups, someState().problems[0].best.groups);
    }

    void everyCutAndEveryFlippedByteIsAnError() {
        const auto bytes = writeCheckpoint(someState(), someContext());
        for (std::size_t size = 0; size < bytes.size(); ++size)
            QVERIFY(!readCheckpoint(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)), someContext()));
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            Bytes damaged = bytes;
            damaged[i] ^= 0x10U;
            QVERIFY(!readCheckpoint(damaged, someContext()));
        }
    }

    void sizesThatDoNotFitTheRunAreErrors() {
        auto state = someState();
        state.problems[0].best.groups[2] = DeviceId(9);
        QVERIFY(!readCheckpoint(writeCheckpoint(state, someContext()), someContext()));
        state = someState();
        state.problems[0].window[1].pop_back();
        QVERIFY(!readCheckpoint(writeCheckpoint(state, someContext()), someContext()));
        state = someState();
        state.weights.pop_back();
        QVERIFY(!readCheckpoint(writeCheckpoint(state, someContext()), someContext()));
    }

    void anotherRunsCheckpointIsAnErrorThatSaysWhatDiffers() {
        const auto bytes = writeCheckpoint(someState(), someContext());
        auto context = someContext();
        context.parameters["lr"] = "0.01";
        auto read = readCheckpoint(bytes, context);
        QVERIFY(!read);
        QVERIFY(QString::fromStdString(read.error().message).contains("lr = 0.001"));
        context = someContext();
        context.deviceCount = 4;
        read = readCheckpoint(bytes, context);
        QVERIFY(!read);
        QVERIFY(QString::fromStdString(read.error().message).contains("2 devices"));
        context = someContext();
        context.problemHashes = {"other"};
        QVERIFY(!readCheckpoint(bytes, context));
    }

    void policyReadsBack() {
        const auto read = readPolicy(writePolicy(somePolicy()));
        QVERIFY(read);
        QCOMPARE(read->weights, somePolicy().weights);
        QCOMPARE(read->info.method, std::string("placeto"));
        QCOMPARE(read->info.architecture, somePolicy().info.architecture);
        QCOMPARE(read->info.deviceCount, 2U);
        QCOMPARE(read->info.parameterCount, 3U);
        QCOMPARE(read->info.trainedOn, somePolicy().info.trainedOn);
        QCOMPARE(read->parameters, somePolicy().parameters);
    }

    void policyHeaderIsOneLineOfJson() {
        const auto bytes = writePolicy(somePolicy());
        const QByteArray all(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
        const auto header = QJsonDocument::fromJson(all.left(all.indexOf('\n'))).object();
        QCOMPARE(header["format"].toString(), QString("placewright-policy"));
        QCOMPARE(header["device_count"].toInt(), 2);
        QCOMPARE(all.size() - all.indexOf('\n') - 1, qsizetype(3 * sizeof(float)));
    }

    void damagedPoliciesAreErrors() {
        const auto bytes = writePolicy(somePolicy());
        for (std::size_t size = 0; size < bytes.size(); ++size)
            QVERIFY(!readPolicy(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
        Bytes damaged = bytes;
        damaged.back() ^= 1U;
        QVERIFY(!readPolicy(damaged));
        QVERIFY(!readPolicy(Bytes{'{', '}', '\n'}));
        QVERIFY(!readPolicy(Bytes{'[', '1', ']', '\n'}));
    }

    void anotherVersionIsAnErrorThatSaysSo() {
        const auto bytes = writePolicy(somePolicy());
        std::string text(bytes.begin(), bytes.end());
        const std::string was = "\"version\":1";
        text.replace(text.find(was), was.size(), "\"version\":7");
        const auto read = readPolicy(Bytes(text.begin(), text.end()));
        QVERIFY(!read);
        QVERIFY(read.error().code == ErrorCode::Unsupported);
        QVERIFY(QString::fromStdString(read.error().message).contains("version 7"));
    }
};

QTEST_APPLESS_MAIN(TestPlacetoState)
#include "tst_placeto_state.moc"
