#include "core/base/rng.h"
#include "core/graph/graph_builder.h"
#include "core/graph/grouping.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

#include <numeric>
#include <set>

using namespace pw;

namespace {

std::string numbered(const char* prefix, std::size_t number) {
    std::string name(prefix);
    name += std::to_string(number);
    return name;
}

struct RandomShape {
    std::size_t ops = 60;
    std::size_t keys = 0; ///< colocation keys to scatter over the ops
    bool freeCosts = false;
};

GraphPtr randomGraph(std::uint64_t seed, RandomShape shape, std::vector<double>& costs) {
    Rng rng = Rng::derive(seed, "grouping");
    GraphBuilder builder("random", "test");
    costs.clear();
    for (std::size_t i = 0; i < shape.ops; ++i) {
        Op op;
        op.name = numbered("n", i);
        op.type = "Op";
        if (shape.keys > 0 && rng.below(3) == 0)
            op.colocation = numbered("key", rng.below(shape.keys));
        const OpId id = builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = static_cast<std::int64_t>(rng.below(1000));
        builder.addOutput(id, tensor);
        const std::size_t inputs = i == 0 ? 0 : rng.below(4);
        for (std::size_t k = 0; k < inputs; ++k) {
            const std::size_t reach = std::min<std::size_t>(i, 1 + rng.below(12));
            const std::size_t from = i - 1 - rng.below(reach);
            if (rng.below(8) == 0)
                builder.addControl(OpId(from), id);
            else
                builder.addInput(id, builder.output(OpId(from), 0));
        }
        costs.push_back(shape.freeCosts || rng.below(4) == 0 ? 0.0 : rng.uniform() * 10.0);
    }
    return std::move(builder).build().value();
}

/// Every law of the header that holds for any grouping.
void checkLaws(const OpGraph& graph, const Grouping& grouping, std::span<const double> costs) {
    QCOMPARE(grouping.groupOf.size(), graph.opCount());
    std::size_t members = 0;
    for (std::size_t g = 0; g < grouping.groupCount(); ++g) {
        QVERIFY(!grouping.members[g].empty());
        members += grouping.members[g].size();
        std::string best = graph.op(grouping.members[g].front()).name;
        for (const OpId id : grouping.members[g]) {
            QCOMPARE(grouping.groupOf[id.index()], GroupId(g));
            QVERIFY(costs[id.index()] <= costs[grouping.centre[g].index()]);
            const std::string& name = graph.op(id).name;
            if (std::pair(name.size(), name) < std::pair(best.size(), best))
                best = name;
        }
        QCOMPARE(grouping.names[g], best);
    }
    QCOMPARE(members, graph.opCount());
    // The order holds every group once and every arc goes along it: the group graph is acyclic.
    QCOMPARE(grouping.order.size(), grouping.groupCount());
    std::vector<std::size_t> place(grouping.groupCount(), ~std::size_t{0});
    for (std::size_t i = 0; i < grouping.order.size(); ++i)
        place[grouping.order[i].index()] = i;
    std::set<std::pair<GroupId, GroupId>> arcs;
    for (const Grouping::Arc& arc : grouping.arcs) {
        QVERIFY(place[arc.from.index()] < place[arc.to.index()]);
        QVERIFY(arcs.emplace(arc.from, arc.to).second);
    }
    // Every edge between groups has an arc; against the order only where the grouping says so.
    std::set<std::pair<GroupId, GroupId>> against;
    for (const Edge& edge : graph.edges()) {
        const GroupId from = grouping.groupOf[edge.producer.index()];
        const GroupId to = grouping.groupOf[edge.consumer.index()];
        if (from == to)
            continue;
        if (!arcs.count({from, to})) {
            QVERIFY(arcs.count({to, from}));
            against.emplace(from, to);
        }
    }
    QCOMPARE(grouping.turnedArcs, against.size());
}

double heaviest(const Grouping& grouping, std::span<const double> costs) {
    double most = 0.0;
    for (const auto& members : grouping.members) {
        double sum = 0.0;
        for (const OpId id : members)
            sum += costs[id.index()];
        most = std::max(most, sum);
    }
    return most;
}

GroupId groupOf(const OpGraph& graph, const Grouping& grouping, const char* name) {
    return grouping.groupOf[graph.findOp(name)->index()];
}

GraphPtr withKeys(std::initializer_list<std::pair<const char*, const char*>> keys,
                  std::initializer_list<std::pair<int, int>> arcs) {
    GraphBuilder builder("keys", "test");
    for (const auto& [name, key] : keys) {
        Op op;
        op.name = name;
        op.colocation = key;
        Tensor tensor;
        tensor.bytes = 10;
        builder.addOutput(builder.addOp(std::move(op)), tensor);
    }
    for (const auto& [from, to] : arcs)
        builder.addInput(OpId(static_cast<std::size_t>(to)),
                         builder.output(OpId(static_cast<std::size_t>(from)), 0));
    return std::move(builder).build().value();
}

} // namespace

class TestGrouping : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void trivialHasOneGroupPerOp() {
        const GraphPtr graph = test::w1();
        const Grouping grouping = trivialGrouping(*graph);
        QCOMPARE(grouping.groupCount(), graph->opCount());
        QCOMPARE(grouping.turnedArcs, std::size_t{0});
        checkLaws(*graph, grouping, std::vector<double>(graph->opCount(), 1.0));
        QCOMPARE(grouping.arcs.size(), std::size_t{8});
        QCOMPARE(grouping.arcs.front().bytes, std::int64_t{760000});
    }

    void trivialOfACyclicGraphStillHoldsAllOps() {
        const GraphPtr graph = test::graph("a -> b -> c -> b");
        const Grouping grouping = trivialGrouping(*graph);
        for (const auto& members : grouping.members)
            QCOMPARE(members.size(), std::size_t{1});
        QVERIFY(!makeGrouping(*graph, std::vector<double>(3, 1.0), {}));
    }

    void tensorsThatCrossAreCountedOncePerGroup() {
        // b and c are one group and both read a's one tensor
        const GraphPtr graph = withKeys({{"a", ""}, {"b", "k"}, {"c", "k"}}, {{0, 1}, {0, 2}});
        const auto grouping = makeGrouping(*graph, std::vector<double>(3, 1.0), {true, false, 0});
        QCOMPARE(grouping->groupCount(), std::size_t{2});
        QCOMPARE(grouping->arcs.size(), std::size_t{1});
        QCOMPARE(grouping->arcs.front().bytes, std::int64_t{10});
    }

    void colocationAcrossTheGraphTurnsArcsAndKeepsTheRestApart() {
        // a variable, its use, the gradient and the update: v -> f -> g -> u, where v and u share a key
        const GraphPtr graph = withKeys({{"v", "var"}, {"f", ""}, {"g", ""}, {"u", "var"}}, {{0, 1}, {1, 2}, {2, 3}});
        const auto grouping = makeGrouping(*graph, std::vector<double>(4, 1.0), {true, false, 0});
        QCOMPARE(grouping->groupCount(), std::size_t{3});
        QCOMPARE(groupOf(*graph, *grouping, "v"), groupOf(*graph, *grouping, "u"));
        QVERIFY(groupOf(*graph, *grouping, "f") != groupOf(*graph, *grouping, "g"));
        QCOMPARE(grouping->turnedArcs, std::size_t{1});
        checkLaws(*graph, *grouping, std::vector<double>(4, 1.0));
    }

    void colocationWithoutACycleKeepsEveryArc() {
        // the set {a2, b1} starts late in file order, yet nothing is turned
        const GraphPtr graph = withKeys({{"b1", "k"}, {"a1", ""}, {"a2", "k"}}, {{1, 2}});
        const auto grouping = makeGrouping(*graph, std::vector<double>(3, 1.0), {true, false, 0});
        QCOMPARE(grouping->turnedArcs, std::size_t{0});
        QCOMPARE(grouping->arcs.front().from, groupOf(*graph, *grouping, "a1"));
    }

    void coplacementJoinsTheOnlyConsumer() {
        const GraphPtr graph = test::graph("a -> b -> d; c -> d; d -> e; d -> f; a -> f");
        const auto grouping = makeGrouping(*graph, std::vector<double>(6, 1.0), {true, true, 0});
        checkLaws(*graph, *grouping, std::vector<double>(6, 1.0));
        QCOMPARE(groupOf(*graph, *grouping, "b"), groupOf(*graph, *grouping, "d"));
        QCOMPARE(groupOf(*graph, *grouping, "c"), groupOf(*graph, *grouping, "d"));
        QVERIFY(groupOf(*graph, *grouping, "a") != groupOf(*graph, *grouping, "d")); // feeds f too
        QVERIFY(groupOf(*graph, *grouping, "e") != groupOf(*graph, *grouping, "d"));
        QCOMPARE(grouping->groupCount(), std::size_t{4});
    }

    void mergingTakesTheHeaviestArcThatMakesNoCycle() {
        // a -> c is the heaviest arc but b lies between the two
        const GraphPtr graph = test::graph("a*900 -> c; a => b; b*5 -> c; b -> f; c*700 -> d; c -> e");
        const auto grouping = makeGrouping(*graph, std::vector<double>(6, 0.0), {true, false, 5});
        checkLaws(*graph, *grouping, std::vector<double>(6, 0.0));
        QVERIFY(groupOf(*graph, *grouping, "a") != groupOf(*graph, *grouping, "c"));
        QCOMPARE(groupOf(*graph, *grouping, "c"), groupOf(*graph, *grouping, "d"));
    }

    void lawsHoldOnRandomGraphs_data() {
        QTest::addColumn<int>("keys");
        QTest::addColumn<bool>("freeCosts");
        QTest::newRow("plain") << 0 << false;
        QTest::newRow("many keys") << 20 << false;
        QTest::newRow("few keys") << 3 << false;
        QTest::newRow("without costs") << 5 << true;
    }

    void lawsHoldOnRandomGraphs() {
        QFETCH(int, keys);
        QFETCH(bool, freeCosts);
        for (std::uint64_t seed = 0; seed < 150; ++seed) {
            std::vector<double> costs;
            const RandomShape shape{20 + seed % 60, static_cast<std::size_t>(keys), freeCosts};
            const GraphPtr graph = randomGraph(seed, shape, costs);
            const auto sets = makeGrouping(*graph, costs, {true, false, 0});
            checkLaws(*graph, *sets, costs);
            if (keys == 0)
                QCOMPARE(sets->groupCount(), graph->opCount());
            for (const bool coplacement : {false, true}) {
                for (const std::size_t target : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{15}}) {
                    const auto grouping = makeGrouping(*graph, costs, {true, coplacement, target});
                    QVERIFY(grouping.has_value());
                    checkLaws(*graph, *grouping, costs);
                    if (QTest::currentTestFailed())
                        return;
                    if (keys == 0)
                        QCOMPARE(grouping->turnedArcs, std::size_t{0});
                    if (target > 0)
                        QCOMPARE(grouping->groupCount(), std::min(target, sets->groupCount()));
                }
            }
        }
    }

    void groupsOfOneKeyAreOneGroup() {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            std::vector<double> costs;
            const GraphPtr graph = randomGraph(seed, {80, 9, false}, costs);
            const auto grouping = makeGrouping(*graph, costs, {true, true, 6});
            std::map<std::string, GroupId> groups;
            for (std::size_t i = 0; i < graph->opCount(); ++i) {
                const std::string& key = graph->op(OpId(i)).colocation;
                if (!key.empty())
                    QCOMPARE(groups.try_emplace(key, grouping->groupOf[i]).first->second, grouping->groupOf[i]);
            }
        }
    }

    void joinsAddUpToTheMembers() {
        for (const std::size_t target : {std::size_t{0}, std::size_t{7}, std::size_t{40}}) {
            std::vector<double> costs;
            const GraphPtr graph = randomGraph(5 + target, {90, 8, false}, costs);
            GroupingOptions options{true, false, target};
            options.byHand = {{"n3", "n50", "n80"}, {"n4", "n5"}};
            const auto grouping = makeGrouping(*graph, costs, options);
            QCOMPARE(grouping->joins.size(), grouping->groupCount());
            std::uint32_t byHand = 0;
            for (std::size_t g = 0; g < grouping->groupCount(); ++g) {
                const Grouping::Joins& joins = grouping->joins[g];
                QCOMPARE(std::size_t{joins.colocation} + joins.byHand + joins.scope + joins.coplacement + joins.traffic +
                             joins.neighbours + 1,
                         grouping->members[g].size());
                byHand += joins.byHand;
            }
            QCOMPARE(byHand, 3U);
        }
    }

    void handMadeGroupsStayAsTheyAre() {
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            std::vector<double> costs;
            const GraphPtr graph = randomGraph(seed, {70, 0, false}, costs);
            GroupingOptions options{true, true, 5};
            options.byHand = {{"n10", "n40", "n60"}, {"n20"}, {"nobody", "n33", "n34"}};
            options.scopeDepth = 1;
            const auto grouping = makeGrouping(*graph, costs, options);
            checkLaws(*graph, *grouping, costs);
            const auto& first = grouping->members[groupOf(*graph, *grouping, "n10").index()];
            QVERIFY((std::set<OpId>(first.begin(), first.end()) ==
                     std::set<OpId>{*graph->findOp("n10"), *graph->findOp("n40"), *graph->findOp("n60")}));
            QCOMPARE(grouping->members[groupOf(*graph, *grouping, "n20").index()].size(), std::size_t{1});
            QCOMPARE(grouping->members[groupOf(*graph, *grouping, "n33").index()].size(), std::size_t{2});
            QCOMPARE(grouping->report.front(), std::string("by hand: 6 ops in 3 groups, 1 name not in the graph"));
        }
    }

    void aKeyStillBindsHandMadeGroups() {
        const GraphPtr graph = withKeys({{"a", "k"}, {"b", ""}, {"c", "k"}, {"d", ""}}, {{0, 1}, {1, 2}, {2, 3}});
        GroupingOptions options{true, false, 0};
        options.byHand = {{"a", "b"}};
        const auto grouping = makeGrouping(*graph, std::vector<double>(4, 1.0), options);
        QCOMPARE(groupOf(*graph, *grouping, "c"), groupOf(*graph, *grouping, "b"));
        QCOMPARE(grouping->groupCount(), std::size_t{2});
        QCOMPARE(whyGrouped(*grouping, groupOf(*graph, *grouping, "a")),
                 std::string("3 ops: 1 joined by hand, 1 joined by colocation"));
    }

    void scopesBecomeGroups() {
        GraphBuilder builder("scopes", "test");
        const auto add = [&](const char* name, const char* key) {
            Op op;
            op.name = name;
            op.colocation = key;
            builder.addOutput(builder.addOp(std::move(op)), Tensor{});
        };
        add("net/a/w", "net/a/w");
        add("net/a/mul", "");
        add("net/b/mul", "");
        add("loss", "");
        add("train/a", "net/a/w"); // goes with its variable, not with its scope
        add("train/step", "");
        const std::pair<int, int> arcs[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 5}};
        for (const auto& [from, to] : arcs)
            builder.addInput(OpId(static_cast<std::size_t>(to)), builder.output(OpId(static_cast<std::size_t>(from)), 0));
        const GraphPtr graph = std::move(builder).build().value();
        const std::vector<double> costs(6, 1.0);
        GroupingOptions options;
        options.scopeDepth = 1;
        const auto shallow = makeGrouping(*graph, costs, options);
        checkLaws(*graph, *shallow, costs);
        QCOMPARE(shallow->groupCount(), std::size_t{3}); // net and train/a, loss, train/step
        QCOMPARE(groupOf(*graph, *shallow, "train/a"), groupOf(*graph, *shallow, "net/b/mul"));
        QVERIFY(groupOf(*graph, *shallow, "train/step") != groupOf(*graph, *shallow, "train/a"));
        options.scopeDepth = 2;
        const auto deep = makeGrouping(*graph, costs, options);
        QCOMPARE(deep->groupCount(), std::size_t{4});
        QVERIFY(groupOf(*graph, *deep, "net/a/mul") != groupOf(*graph, *deep, "net/b/mul"));
        QVERIFY(deep->report[1] == "scopes to depth 2: 1 scope");
    }

    void mergesStayBalanced() {
        // enough freedom: 400 ops of similar cost into 20 groups, no group above twice the mean
        std::vector<double> costs;
        const GraphPtr graph = randomGraph(4, {400, 0, false}, costs);
        const auto grouping = makeGrouping(*graph, costs, {true, true, 20});
        const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
        QVERIFY(heaviest(*grouping, costs) <= 2.0 * total / 20 + 1e-9);
    }

    void sameInputSameGroups() {
        std::vector<double> costs;
        const GraphPtr graph = randomGraph(11, {300, 10, false}, costs);
        const auto first = makeGrouping(*graph, costs, {true, true, 25});
        const auto second = makeGrouping(*graph, costs, {true, true, 25});
        QVERIFY(first->groupOf == second->groupOf);
        QVERIFY(first->report == second->report);
    }

    void aHubDoesNotMakeItSlow() {
        GraphBuilder builder("hub", "test");
        const auto add = [&](const std::string& name) {
            Op op;
            op.name = name;
            const OpId id = builder.addOp(std::move(op));
            builder.addOutput(id, Tensor{});
            return id;
        };
        const OpId hub = add("hub");
        OpId previous = hub;
        const std::size_t n = 20000;
        for (std::size_t i = 1; i < n; ++i) {
            const OpId id = add(numbered("n", i));
            builder.addInput(id, builder.output(hub, 0));
            if (i % 3 != 0 && previous != hub)
                builder.addInput(id, builder.output(previous, 0));
            previous = id;
        }
        const GraphPtr graph = std::move(builder).build().value();
        const std::vector<double> costs(n, 1.0);
        QElapsedTimer timer;
        timer.start();
        const auto grouping = makeGrouping(*graph, costs, {true, true, 100});
        QCOMPARE(grouping->groupCount(), std::size_t{100});
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed()))); // a quadratic walk takes minutes
        checkLaws(*graph, *grouping, costs);
    }
};

QTEST_APPLESS_MAIN(TestGrouping)
#include "tst_grouping.moc"
