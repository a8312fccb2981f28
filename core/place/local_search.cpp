#include "core/place/local_search.h"

#include "core/place/placement_search.h"

#include <algorithm>

namespace pw {

namespace {

/// The given start with pins applied, else the best of "everything on one device" within the budget.
void evaluateStart(PlacementSearch& search) {
    const GroupPlacement& given = search.options().start;
    const std::size_t candidates = given.empty() ? search.problem().deviceCount() : 1;
    GroupPlacement groups(search.problem().groupCount());
    for (std::size_t d = 0; d < candidates && !search.finished(); ++d) {
        for (std::size_t group = 0; group < groups.size(); ++group)
            groups[group] = search.choose(group, given.empty() ? DeviceId(d) : given[group]);
        search.evaluate(groups);
    }
}

/// A device that the group may take and does not have.
DeviceId otherDevice(const PlacementSearch& search, std::size_t group, DeviceId current, Rng& rng) {
    const auto choices = search.choices(group);
    const DeviceId picked = choices[rng.below(choices.size() - 1)];
    return picked == current ? choices.back() : picked;
}

} // namespace

Result<PlaceResult> LocalSearchPlacer::place(const ProblemPtr& problem, const PlaceOptions& options,
                                             JobContext& context, const SampleSink& sink) const {
    PW_TRY(PlacementSearch search, PlacementSearch::create(problem, options, context, sink, kDefaultEvaluations));
    Rng rng = Rng::derive(options.seed, "local_search");
    std::vector<std::size_t> movable;
    std::size_t moves = 0; // N (D - 1) when everything may go everywhere
    for (std::size_t group = 0; group < problem->groupCount(); ++group) {
        if (search.choices(group).size() > 1) {
            movable.push_back(group);
            moves += search.choices(group).size() - 1;
        }
    }
    evaluateStart(search);
    if (movable.empty() || !search.hasBest())
        return search.result();

    GroupPlacement current = search.best();
    PlacementRank currentRank = search.bestRank();
    const std::size_t kickSize = std::max<std::size_t>(1, movable.size() / 15);
    std::size_t failures = 0;
    while (!search.finished()) {
        if (failures >= 3 * moves) {
            current = search.best();
            for (std::size_t i = 0; i < kickSize; ++i) {
                const std::size_t group = movable[rng.below(movable.size())];
                current[group] = otherDevice(search, group, current[group], rng);
            }
            currentRank = search.evaluate(current);
            failures = 0;
            continue;
        }
        const std::size_t group = movable[rng.below(movable.size())];
        const DeviceId before = current[group];
        current[group] = otherDevice(search, group, before, rng);
        const PlacementRank rank = search.evaluate(current);
        failures = rank < currentRank ? 0 : failures + 1;
        if (currentRank < rank)
            current[group] = before;
        else
            currentRank = rank;
    }
    return search.result();
}

} // namespace pw
