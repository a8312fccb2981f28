#include "core/place/placement_search.h"

#include <algorithm>
#include <limits>

namespace pw {

namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSamplesPerRun = 2000; ///< a curve needs no more points; improvements come on top
constexpr double kReportSeconds = 0.05;

Status checkParameters(const PlaceOptions& options, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : options.parameters) {
        if (std::find(known.begin(), known.end(), key) != known.end())
            continue;
        std::string names;
        for (const std::string_view name : known)
            names.append(names.empty() ? "" : ", ").append(name);
        return fail(ErrorCode::Invalid, "unknown parameter; this method takes " + (names.empty() ? "none" : names),
                    "parameter \"" + key + "\"");
    }
    if (options.maxEvaluations < 0 || !(options.maxSeconds >= 0.0))
        return fail(ErrorCode::Invalid, "a budget must not be negative");
    return {};
}

std::string groupName(const PlacementProblem& problem, std::size_t group) {
    const auto& names = problem.grouping().names;
    return "group \"" + (group < names.size() ? names[group] : std::to_string(group)) + "\"";
}

} // namespace

PlacementSearch::PlacementSearch(ProblemPtr problem, const PlaceOptions& options, JobContext& context,
                                 const Placer::SampleSink& sink)
    : m_problem(std::move(problem)), m_options(&options), m_context(&context), m_sink(&sink), m_simulator(m_problem) {}

Result<PlacementSearch> PlacementSearch::create(const ProblemPtr& problem, const PlaceOptions& options,
                                                JobContext& context, const Placer::SampleSink& sink,
                                                std::int64_t defaultEvaluations,
                                                std::initializer_list<std::string_view> parameters) {
    if (!problem)
        return fail(ErrorCode::Invalid, "no problem to place");
    PW_CHECK(checkParameters(options, parameters));
    PlacementSearch search(problem, options, context, sink);
    PW_CHECK(search.collectChoices());
    PW_CHECK(search.checkStart());
    search.collectPaths();
    if (options.maxEvaluations > 0)
        search.m_maxEvaluations = options.maxEvaluations;
    else if (options.maxSeconds > 0.0 || defaultEvaluations == 0)
        search.m_maxEvaluations = kUnlimited; // why: whoever gives seconds alone wants them used
    else
        search.m_maxEvaluations = defaultEvaluations;
    if (search.m_maxEvaluations != kUnlimited)
        search.m_sampleStride = std::max<std::int64_t>(1, search.m_maxEvaluations / kSamplesPerRun);
    else
        search.m_sampleStride = 100;
    return search;
}

Status PlacementSearch::collectChoices() {
    const std::size_t groups = m_problem->groupCount();
    const auto& pinned = m_options->pinned;
    if (!pinned.empty() && pinned.size() != groups)
        return fail(ErrorCode::Invalid, "pins are given for " + std::to_string(pinned.size()) + " groups of " + std::to_string(groups));
    m_firstChoice.assign(1, 0);
    for (std::size_t group = 0; group < groups; ++group) {
        const bool isPinned = !pinned.empty() && pinned[group].has_value();
        for (std::size_t d = 0; d < m_problem->deviceCount(); ++d) {
            const DeviceId device(d);
            if (m_problem->allowed(GroupId(group), device) && (!isPinned || *pinned[group] == device))
                m_choices.push_back(device);
        }
        if (m_choices.size() == m_firstChoice.back())
            return fail(ErrorCode::Invalid, isPinned ? "pinned to a device that it may not use or that is not there"
                                                     : "no device of the set is of a kind that it may use",
                        groupName(*m_problem, group));
        m_firstChoice.push_back(static_cast<std::uint32_t>(m_choices.size()));
    }
    return {};
}

Status PlacementSearch::checkStart() const {
    const GroupPlacement& start = m_options->start;
    if (start.empty())
        return {};
    if (start.size() != m_problem->groupCount())
        return fail(ErrorCode::Invalid, "the start is for " + std::to_string(start.size()) + " groups of " +
                                            std::to_string(m_problem->groupCount()));
    for (std::size_t group = 0; group < start.size(); ++group) {
        if (!start[group].isValid() || start[group].index() >= m_problem->deviceCount())
            return fail(ErrorCode::Invalid, "the start names a device that is not there", groupName(*m_problem, group));
    }
    return {};
}

bool PlacementSearch::mayTake(std::size_t group, DeviceId device) const {
    const auto list = choices(group);
    return std::binary_search(list.begin(), list.end(), device);
}

DeviceId PlacementSearch::choose(std::size_t group, DeviceId wanted) const {
    return mayTake(group, wanted) ? wanted : choices(group).front();
}

bool PlacementSearch::finished() const {
    if (m_context->abortRequested())
        return true;
    if (!m_hasBest)
        return false; // why: any-time means that there is something to return
    return m_context->stopRequested() || m_evaluations >= m_maxEvaluations ||
           (m_options->maxSeconds > 0.0 && m_watch.seconds() >= m_options->maxSeconds);
}

/// Per (from, to) 1 where data cannot get there, not even over a host; empty if it always can.
void PlacementSearch::collectPaths() {
    const DeviceSet& devices = m_problem->devices();
    const std::size_t count = devices.count();
    if (m_problem->options().model == SimModel::Reference)
        return; // why: that model has a link between all
    std::vector<DeviceId> hosts;
    for (std::size_t h = 0; h < count; ++h) {
        if (devices.device(DeviceId(h)).kind == "cpu")
            hosts.emplace_back(h);
    }
    const auto reachable = [&](DeviceId from, DeviceId to) {
        return from == to || devices.linkBetween(from, to).isValid() ||
               std::any_of(hosts.begin(), hosts.end(), [&](DeviceId host) {
                   return devices.linkBetween(from, host).isValid() && devices.linkBetween(host, to).isValid();
               });
    };
    std::vector<std::uint8_t> noPath(count * count, 0);
    bool any = false;
    for (std::size_t from = 0; from < count; ++from) {
        for (std::size_t to = 0; to < count; ++to) {
            noPath[from * count + to] = reachable(DeviceId(from), DeviceId(to)) ? 0 : 1;
            any = any || noPath[from * count + to] != 0;
        }
    }
    if (any)
        m_noPath = std::move(noPath);
}

std::int64_t PlacementSearch::countBrokenEdges(const GroupPlacement& groups) const {
    if (m_noPath.empty())
        return 0;
    const Grouping& grouping = m_problem->grouping();
    std::int64_t broken = 0;
    for (const Edge& edge : m_problem->graph().edges()) {
        const DeviceId from = groups[grouping.groupOf[edge.producer.index()].index()];
        const DeviceId to = groups[grouping.groupOf[edge.consumer.index()].index()];
        broken += m_noPath[from.index() * m_problem->deviceCount() + to.index()];
    }
    return broken;
}

PlacementRank PlacementSearch::rankOf(const GroupPlacement& groups, const Evaluation& evaluation) const {
    PlacementRank rank{0, 0, evaluation.stepTimeUs};
    if (evaluation.valid)
        return rank;
    for (std::size_t d = 0; d < m_problem->deviceCount(); ++d) {
        const std::int64_t capacity = m_problem->capacityBytes(DeviceId(d));
        if (capacity > 0)
            rank.excessBytes += std::max<std::int64_t>(0, m_simulator.peakBytes()[d] - capacity);
    }
    rank.brokenEdges = countBrokenEdges(groups);
    if (rank.valid())
        rank.brokenEdges = kUnlimited; // why: whatever else made it invalid, it must never rank as valid
    return rank;
}

PlacementRank PlacementSearch::evaluate(const GroupPlacement& groups) {
    const Evaluation evaluation = m_simulator.evaluateGroups(groups);
    ++m_evaluations;
    const PlacementRank rank = rankOf(groups, evaluation);
    const bool improved = !m_hasBest || rank < m_bestRank;
    if (improved) {
        m_hasBest = true;
        m_best = groups;
        m_bestRank = rank;
        m_bestEvaluation = evaluation;
        m_bestPeakBytes.assign(m_simulator.peakBytes().begin(), m_simulator.peakBytes().end());
    }
    publish(rank, improved);
    return rank;
}

void PlacementSearch::publish(const PlacementRank& rank, bool improved) {
    if (*m_sink && (improved || m_evaluations % m_sampleStride == 0)) {
        PlaceSample sample;
        sample.step = m_evaluations;
        sample.evaluations = m_evaluations;
        sample.seconds = m_watch.seconds();
        sample.stepTimeUs = rank.stepTimeUs;
        sample.bestStepTimeUs = m_bestRank.stepTimeUs;
        if (!m_bestRank.valid())
            sample.values["excess_bytes"] = static_cast<double>(m_bestRank.excessBytes);
        (*m_sink)(sample);
    }
    const double seconds = m_watch.seconds();
    if (seconds < m_nextReportSeconds)
        return;
    m_nextReportSeconds = seconds + kReportSeconds;
    Progress progress;
    progress.stage = "search";
    progress.unit = "evaluation";
    progress.rate = seconds > 0.0 ? static_cast<double>(m_evaluations) / seconds : 0.0;
    if (m_maxEvaluations != kUnlimited)
        progress.fraction = static_cast<double>(m_evaluations) / static_cast<double>(m_maxEvaluations);
    if (m_options->maxSeconds > 0.0)
        progress.fraction = std::max(progress.fraction, std::min(1.0, seconds / m_options->maxSeconds));
    if (progress.fraction > 0.0)
        progress.etaSeconds = seconds * (1.0 - progress.fraction) / progress.fraction;
    if (m_bestRank.valid())
        progress.bestStepTimeUs = m_bestRank.stepTimeUs;
    m_context->report(progress);
}

PlaceResult PlacementSearch::result() const {
    PlaceResult result;
    result.groups = m_best;
    if (!m_hasBest) {
        for (std::size_t group = 0; group < m_problem->groupCount(); ++group)
            result.groups.push_back(choices(group).front());
    }
    result.placement = expandPlacement(m_problem->grouping(), result.groups);
    result.evaluation = m_bestEvaluation;
    result.peakBytes = m_bestPeakBytes;
    result.peakBytes.resize(m_problem->deviceCount(), 0);
    result.evaluations = m_evaluations;
    result.seconds = m_watch.seconds();
    return result;
}

} // namespace pw
