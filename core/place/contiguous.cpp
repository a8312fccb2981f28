#include "core/place/contiguous.h"

#include "core/place/group_times.h"

#include <algorithm>

namespace pw {

namespace {

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

GroupPlacement contiguousBlocks(const PlacementSearch& search, const JobContext& context) {
    const PlacementProblem& problem = search.problem();
    const std::vector<double> timesUs = groupTimesUs(problem);
    GroupPlacement groups(problem.groupCount());
    double low = 0.0;
    double high = 0.0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const auto row = timesUs.begin() + static_cast<std::ptrdiff_t>(group * problem.deviceCount());
        high += *std::max_element(row, row + static_cast<std::ptrdiff_t>(problem.deviceCount()));
    }
    // Bisection on the time of the busiest block; 50 halvings are below the precision of the costs.
    for (int i = 0; i < 50 && !context.abortRequested(); ++i) {
        const double middle = 0.5 * (low + high);
        (cutBlocks(search, timesUs, middle, groups) ? high : low) = middle;
    }
    cutBlocks(search, timesUs, high, groups);
    return groups;
}

} // namespace pw
