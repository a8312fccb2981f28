#include "core/place/fixed_placers.h"

#include "core/place/group_times.h"
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

/// Cuts the topological order greedily into blocks of at most `limitUs`, device after device. False if groups are left over;
/// they go to the last device. Groups that may not use a device's block do not count towards it.
bool cutBlocks(const PlacementSearch& search, const std::vector<double>& timesUs, double limitUs, GroupPlacement& groups) {
    const std::size_t devices = search.problem().deviceCount();
    std::size_t device = 0;
    double loadUs = 0.0;
    bool fits = true;
    for (const GroupId id : search.problem().grouping().order) {
        const std::size_t group = id.index();
        while (device < devices) {
            if (!search.mayTake(group, DeviceId(device)))
                break;
            const double timeUs = timesUs[group * devices + device];
            if (loadUs + timeUs <= limitUs) {
                loadUs += timeUs;
                break;
            }
            ++device;
            loadUs = 0.0;
        }
        fits = fits && device < devices;
        groups[group] = search.choose(group, DeviceId(std::min(device, devices - 1)));
    }
    return fits;
}

} // namespace

std::vector<double> groupTimesUs(const PlacementProblem& problem) {
    const std::size_t devices = problem.deviceCount();
    std::vector<double> timesUs(problem.groupCount() * devices, 0.0);
    for (std::size_t i = 0; i < problem.opCount(); ++i) {
        for (std::size_t d = 0; d < devices; ++d) {
            const double costUs = problem.costs().at(OpId(i), DeviceId(d));
            if (costUs > 0.0)
                timesUs[problem.grouping().groupOf[i].index() * devices + d] +=
                    costUs + problem.devices().device(DeviceId(d)).launchUs;
        }
    }
    return timesUs;
}

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
    const std::vector<double> timesUs = groupTimesUs(*problem);
    GroupPlacement groups(problem->groupCount());
    double low = 0.0;
    double high = 0.0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const auto row = timesUs.begin() + static_cast<std::ptrdiff_t>(group * problem->deviceCount());
        high += *std::max_element(row, row + static_cast<std::ptrdiff_t>(problem->deviceCount()));
    }
    // Bisection on the time of the busiest block; 50 halvings are below the precision of the costs.
    for (int i = 0; i < 50 && !context.abortRequested(); ++i) {
        const double middle = 0.5 * (low + high);
        (cutBlocks(search, timesUs, middle, groups) ? high : low) = middle;
    }
    cutBlocks(search, timesUs, high, groups);
    if (!search.finished())
        search.evaluate(groups);
    return search.result();
}

} // namespace pw
