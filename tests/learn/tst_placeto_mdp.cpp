#include "core/learn/placeto_episode.h"
#include "tests/learn/learn_support.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

#include <cmath>

using namespace pw;
using namespace pw::learn;

namespace {

const std::map<std::string, std::string> kRawCosts = {{"normalize_cost", "0"}, {"mem_penalty", "0"}};

/// Plays the actions 0,0,1,1,0,0 on W3 from all on device 0.
Episode playW3(const std::map<std::string, std::string>& parameters, PlacetoEnvironment& environment) {
    const auto config = test::config(parameters);
    const NetLayout layout(config.shape);
    Rng rng(1);
    const auto weights = initialWeights(layout, rng);
    PlacetoForward<float> forward(layout, environment.graph().topology);
    const std::vector<std::uint32_t> actions = {0, 0, 1, 1, 0, 0};
    Episode episode;
    runEpisode(environment, config, {weights, false, actions}, forward, rng, [] { return false; }, episode);
    return episode;
}

PlacetoEnvironment environmentOf(const ProblemPtr& problem, const std::map<std::string, std::string>& parameters,
                                 GroupPins pins = {}) {
    return PlacetoEnvironment::create(problem, test::config(parameters, problem->deviceCount()), std::move(pins), {}, 1).value();
}

void compareAll(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
    QCOMPARE(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        QVERIFY2(std::abs(actual[i] - expected[i]) < tolerance,
                 qPrintable(QString("%1: %2 against %3").arg(i).arg(actual[i]).arg(expected[i])));
}

} // namespace

class TestPlacetoMdp : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void episodeOnW3() {
        auto environment = environmentOf(test::problemOf(test::w3()), kRawCosts);
        const auto before = environment.evaluations;
        const auto episode = playW3(kRawCosts, environment);
        std::vector<double> us;
        for (const double cost : episode.costs)
            us.push_back(cost * 1e6);
        compareAll(us, {744.2, 744.2, 744.2, 538.5, 602.1, 602.1, 602.1}, 1e-6);
        QCOMPARE(environment.evaluations - before, 2); // the other actions change nothing
        QCOMPARE(environment.best.groups, test::placementOf({0, 0, 1, 0, 0, 0}));
        QCOMPARE(environment.best.outcome.evaluation.stepTimeUs, 538.5);
    }

    void returnsOnW3AreBeforeMinusAfter() {
        const std::vector<double> costs = {744.2, 744.2, 744.2, 538.5, 602.1, 602.1, 602.1};
        using Reward = PlacetoConfig::Reward;
        compareAll(returnsOf(costs, Reward::Intermediate, 0.0), {0, 0, 205.7, -63.6, 0, 0}, 1e-9);
        compareAll(returnsOf(costs, Reward::Intermediate, 1.0), {142.1, 142.1, 142.1, -63.6, 0, 0}, 1e-9);
        compareAll(returnsOf(costs, Reward::MinRuntime, 1.0), {205.7, 205.7, 205.7, -63.6, 0, 0}, 1e-9);
        compareAll(returnsOf(costs, Reward::Terminal, 1.0), std::vector<double>(6, -602.1), 1e-9);
    }

    void discountCountsFromTheStepOn() {
        // One reward at the end: 0.9^2, 0.9, 1 (the GiPH code has it the other way round).
        compareAll(returnsOf(std::vector<double>{2, 2, 2, 1}, PlacetoConfig::Reward::Intermediate, 0.9), {0.81, 0.9, 1}, 1e-12);
    }

    void costIsAShareOfTheSingleDeviceTime() {
        auto environment = environmentOf(test::problemOf(test::w3()), {});
        QCOMPARE(environment.singleDeviceUs(), 744.2);
        QVERIFY(std::abs(playW3({}, environment).costs.back() - 602.1 / 744.2) < 1e-12);
    }

    void memoryOverTheLimitCosts() {
        // Peak 950,000 bytes on one device, limit 0.5 MB, 1000 s per GB: 0.45 s more.
        const std::map<std::string, std::string> parameters = {
            {"normalize_cost", "0"}, {"mem_penalty", "1000"}, {"max_mem", "0.0005"}, {"cost_cap", "10"}};
        auto environment = environmentOf(test::problemOf(test::w3()), parameters);
        const auto outcome = environment.evaluate(test::placementOf({0, 0, 0, 0, 0, 0}));
        QVERIFY(std::abs(outcome.cost - (744.2e-6 + 0.45)) < 1e-9);
    }

    void costIsCapped() {
        const std::map<std::string, std::string> parameters = {
            {"normalize_cost", "0"}, {"mem_penalty", "1e9"}, {"max_mem", "0.0005"}, {"cost_cap", "10"}};
        auto environment = environmentOf(test::problemOf(test::w3()), parameters);
        QCOMPARE(environment.evaluate(test::placementOf({0, 0, 0, 0, 0, 0})).cost, 10.0);
    }

    void invalidPlacementsAreNotTheBestWhileOneIsValid() {
        // 1.5 MB per device (links model): everything on one device fits, so it must not lose to an invalid one.
        BestPlacement best;
        Outcome invalid;
        invalid.evaluation = {1.0, false};
        Outcome slow;
        slow.evaluation = {100.0, true};
        QVERIFY(best.offer(test::placementOf({1}), invalid));
        QVERIFY(best.offer(test::placementOf({0}), slow));
        QVERIFY(!best.offer(test::placementOf({1}), invalid));
        QCOMPARE(best.groups, test::placementOf({0}));
    }

    void pinsAreKeptAndOtherDevicesNeverChosen() {
        GroupPins pins(6);
        pins[1] = DeviceId(1);
        auto environment = environmentOf(test::problemOf(test::w3()), {}, pins);
        const auto config = test::config({});
        const NetLayout layout(config.shape);
        Rng rng(3);
        const auto weights = initialWeights(layout, rng);
        PlacetoForward<float> forward(layout, environment.graph().topology);
        Episode episode;
        for (int i = 0; i < 20; ++i) {
            QVERIFY(runEpisode(environment, config, {weights, false, {}}, forward, rng, [] { return false; }, episode));
            QCOMPARE(episode.placement[1], DeviceId(1));
        }
        QCOMPARE(environment.best.groups[1], DeviceId(1));
    }

    void tooManyGroupsIsAnError() {
        std::string chain = "a0";
        for (int i = 1; i < 2100; ++i)
            chain += " -> a" + std::to_string(i);
        const auto problem = test::problemOf(test::graph(chain));
        const auto environment = PlacetoEnvironment::create(problem, test::config({}), {}, {}, 1);
        QVERIFY(!environment);
        QVERIFY(environment.error().code == ErrorCode::TooLarge);
    }

    void aStopCutsTheEpisode() {
        auto environment = environmentOf(test::problemOf(test::w3()), {});
        const auto config = test::config({});
        const NetLayout layout(config.shape);
        Rng rng(3);
        const auto weights = initialWeights(layout, rng);
        PlacetoForward<float> forward(layout, environment.graph().topology);
        Episode episode;
        int asked = 0;
        QVERIFY(!runEpisode(environment, config, {weights, false, {}}, forward, rng, [&asked] { return ++asked == 3; }, episode));
        QCOMPARE(episode.actions.size(), 2U);
    }
};

QTEST_APPLESS_MAIN(TestPlacetoMdp)
#include "tst_placeto_mdp.moc"
