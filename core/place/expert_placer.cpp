#include "core/place/expert_placer.h"

#include "core/place/contiguous.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace pw {

namespace {

/// A whole number of at least 0 in an attribute; -1 if there is none.
int tagOf(const Op& op, std::string_view key) {
    for (const auto& [name, value] : op.attributes) {
        if (name != key)
            continue;
        int tag = -1;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), tag);
        return error == std::errc() && end == value.data() + value.size() ? tag : -1;
    }
    return -1;
}

/// Per group: the tag that most of its time carries (the smallest on ties), -1 where no op has one.
std::vector<int> groupTags(const PlacementProblem& problem, std::string_view key) {
    std::vector<int> tags;
    for (const auto& members : problem.grouping().members) {
        std::map<int, double> votes;
        for (const OpId op : members) {
            if (const int tag = tagOf(problem.graph().op(op), key); tag >= 0)
                votes[tag] += problem.costs().at(op, DeviceId(0)) + 1e-6; // why: an op that costs nothing has a vote too
        }
        const auto most = std::max_element(votes.begin(), votes.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        tags.push_back(most == votes.end() ? -1 : most->first);
    }
    return tags;
}

std::vector<DeviceId> expertDevices(const DeviceSet& devices) {
    std::vector<DeviceId> gpus;
    std::vector<DeviceId> all;
    for (std::size_t d = 0; d < devices.count(); ++d) {
        all.emplace_back(d);
        if (devices.device(DeviceId(d)).kind == "gpu")
            gpus.emplace_back(d);
    }
    return gpus.empty() ? all : gpus;
}

/// Groups without a tag take the one of the group that sends them most bytes, else of the one that they send most to.
void fillGaps(const Grouping& grouping, std::vector<int>& tags) {
    std::vector<std::int64_t> most(tags.size(), -1);
    const std::vector<int> given = tags;
    std::vector<std::vector<const Grouping::Arc*>> incoming(tags.size());
    for (const Grouping::Arc& arc : grouping.arcs)
        incoming[arc.to.index()].push_back(&arc);
    for (const GroupId group : grouping.order) {
        if (given[group.index()] >= 0)
            continue;
        for (const Grouping::Arc* arc : incoming[group.index()]) {
            if (tags[arc->from.index()] >= 0 && arc->bytes > most[group.index()]) {
                most[group.index()] = arc->bytes;
                tags[group.index()] = tags[arc->from.index()];
            }
        }
    }
    for (auto group = grouping.order.rbegin(); group != grouping.order.rend(); ++group) { // sources: from what they feed
        for (const Grouping::Arc* arc : incoming[group->index()]) {
            const std::size_t from = arc->from.index();
            if (given[from] < 0 && tags[group->index()] >= 0 && (tags[from] < 0 || arc->bytes > most[from])) {
                most[from] = arc->bytes;
                tags[from] = tags[group->index()];
            }
        }
    }
}

bool anyTag(const std::vector<int>& tags) {
    return std::any_of(tags.begin(), tags.end(), [](int tag) { return tag >= 0; });
}

GroupPlacement expertPlacement(const PlacementSearch& search, const JobContext& context) {
    const PlacementProblem& problem = search.problem();
    const std::vector<DeviceId> devices = expertDevices(problem.devices());
    std::vector<int> tags = groupTags(problem, "expert_layer");
    const bool layered = anyTag(tags);
    if (!layered)
        tags = groupTags(problem, "expert_branch");
    if (!anyTag(tags))
        return contiguousBlocks(search, context);
    fillGaps(problem.grouping(), tags);
    const auto layers = static_cast<std::size_t>(*std::max_element(tags.begin(), tags.end())) + 1;
    GroupPlacement groups;
    for (std::size_t group = 0; group < tags.size(); ++group) {
        const auto tag = static_cast<std::size_t>(std::max(tags[group], 0));
        const std::size_t index = layered ? tag * devices.size() / layers : tag % devices.size();
        groups.push_back(search.choose(group, devices[index]));
    }
    return groups;
}

} // namespace

Result<PlaceResult> ExpertPlacer::place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                                        const SampleSink& sink) const {
    PW_TRY(PlacementSearch search, PlacementSearch::create(problem, options, context, sink, 0));
    if (!search.finished())
        search.evaluate(expertPlacement(search, context));
    return search.result();
}

} // namespace pw
