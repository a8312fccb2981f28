#include "core/place/fixed_placers.h"

#include "core/place/contiguous.h"
#include "core/place/placement_search.h"

#include <algorithm>

namespace pw {

namespace {

/// Gpus before other devices, each in device order.
std::vector<DeviceId> devicesGpuFirst(const DeviceSet& devices) {
    std::vector<DeviceId> order;
    for (std::size_t d = 0; d < devices.count(); ++d)
        order.emplace_back(d);
    std::stable_partition(order.begin(), order.end(), [&](DeviceId id) { return devices.device(id).kind == "gpu"; });
    return order;
}

GroupPlacement allOn(const PlacementSearch& search, DeviceId device) {
    GroupPlacement groups;
    for (std::size_t group = 0; group < search.problem().groupCount(); ++group)
        groups.push_back(search.choose(group, device));
    return groups;
}

} // namespace

Result<PlaceResult> SinglePlacer::place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                                        const SampleSink& sink) const {
    PW_TRY(PlacementSearch search, PlacementSearch::create(problem, options, context, sink, 0, {"device"}));
    std::vector<DeviceId> order = devicesGpuFirst(problem->devices());
    if (const auto wanted = options.parameters.find("device"); wanted != options.parameters.end()) {
        const std::optional<DeviceId> device = problem->devices().find(wanted->second);
        if (!device)
            return fail(ErrorCode::NotFound, "no device \"" + wanted->second + "\" in set \"" + problem->devices().name() + "\"",
                        "parameter \"device\"");
        order = {*device};
    }
    for (const DeviceId device : order) {
        if (search.finished() || search.evaluate(allOn(search, device)).valid())
            break;
    }
    return search.result();
}

Result<PlaceResult> RandomPlacer::place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                                        const SampleSink& sink) const {
    PW_TRY(PlacementSearch search, PlacementSearch::create(problem, options, context, sink, 1));
    Rng rng = Rng::derive(options.seed, "random");
    GroupPlacement groups(problem->groupCount());
    while (!search.finished()) {
        for (std::size_t group = 0; group < groups.size(); ++group) {
            const auto choices = search.choices(group);
            groups[group] = choices[rng.below(choices.size())];
        }
        search.evaluate(groups);
    }
    return search.result();
}

Result<PlaceResult> RoundRobinPlacer::place(const ProblemPtr& problem, const PlaceOptions& options,
                                            JobContext& context, const SampleSink& sink) const {
    PW_TRY(PlacementSearch search, PlacementSearch::create(problem, options, context, sink, 0));
    GroupPlacement groups(problem->groupCount());
    std::size_t turn = 0;
    for (const GroupId group : problem->grouping().order) {
        DeviceId device(turn++ % problem->deviceCount());
        for (std::size_t tries = 0; tries < problem->deviceCount() && !search.mayTake(group.index(), device); ++tries)
            device = DeviceId((device.index() + 1) % problem->deviceCount());
        groups[group.index()] = device;
    }
    if (!search.finished())
        search.evaluate(groups);
    return search.result();
}

Result<PlaceResult> ContiguousPlacer::place(const ProblemPtr& problem, const PlaceOptions& options,
                                            JobContext& context, const SampleSink& sink) const {
    PW_TRY(PlacementSearch search, PlacementSearch::create(problem, options, context, sink, 0));
    if (!search.finished())
        search.evaluate(contiguousBlocks(search, context));
    return search.result();
}

} // namespace pw
