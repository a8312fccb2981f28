#pragma once

#include "core/base/clock.h"
#include "core/place/placer.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

/// How good a placement is, valid or not: edges between devices without a path, then bytes above the capacities,
/// then time. Smaller is better. A search that minimises it moves towards validity first.
struct PlacementRank {
    std::int64_t brokenEdges = 0;
    std::int64_t excessBytes = 0;
    double stepTimeUs = std::numeric_limits<double>::infinity();

    bool valid() const { return brokenEdges == 0 && excessBytes == 0; }
    friend bool operator<(const PlacementRank& a, const PlacementRank& b) {
        if (a.brokenEdges != b.brokenEdges)
            return a.brokenEdges < b.brokenEdges;
        if (a.excessBytes != b.excessBytes)
            return a.excessBytes < b.excessBytes;
        return a.stepTimeUs < b.stepTimeUs;
    }
};

/// What every placer needs around its idea: checked inputs, the devices each group may take (pins and kinds), evaluations
/// that count against the budget, the best so far, samples and progress. One per call of Placer::place.
class PlacementSearch {
public:
    /// Checks pins, start and parameters, and that every group has a device. `parameters`: the keys that the method knows.
    /// `defaultEvaluations` holds when the options limit neither evaluations nor time; 0 = no limit of its own.
    static Result<PlacementSearch> create(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                                          const Placer::SampleSink& sink, std::int64_t defaultEvaluations,
                                          std::initializer_list<std::string_view> parameters = {});

    const PlacementProblem& problem() const { return *m_problem; }
    const PlaceOptions& options() const { return *m_options; }
    /// The devices that a group may take, in device order; one if it is pinned. Never empty.
    std::span<const DeviceId> choices(std::size_t group) const {
        return std::span(m_choices).subspan(m_firstChoice[group], m_firstChoice[group + 1] - m_firstChoice[group]);
    }
    bool mayTake(std::size_t group, DeviceId device) const;
    /// `wanted` if the group may take it, else its first choice.
    DeviceId choose(std::size_t group, DeviceId wanted) const;

    /// Leave the loop: budget used up, stop or abort asked for. False before the first evaluation unless aborted.
    bool finished() const;
    /// Simulates, counts, remembers the best, and tells the sink.
    PlacementRank evaluate(const GroupPlacement& groups);
    bool hasBest() const { return m_hasBest; }
    const GroupPlacement& best() const { return m_best; }
    const PlacementRank& bestRank() const { return m_bestRank; }

    /// The best so far. After an abort without any evaluation: a complete placement, not evaluated, not valid.
    PlaceResult result() const;

private:
    PlacementSearch(ProblemPtr problem, const PlaceOptions& options, JobContext& context, const Placer::SampleSink& sink);
    Status collectChoices();
    Status checkStart() const;
    void collectPaths();
    PlacementRank rankOf(const GroupPlacement& groups, const Evaluation& evaluation) const;
    std::int64_t countBrokenEdges(const GroupPlacement& groups) const;
    void publish(const PlacementRank& rank, bool improved);

    ProblemPtr m_problem;
    const PlaceOptions* m_options;
    JobContext* m_context;
    const Placer::SampleSink* m_sink;
    Simulator m_simulator;
    std::vector<std::uint32_t> m_firstChoice;
    std::vector<DeviceId> m_choices;
    std::vector<std::uint8_t> m_noPath; ///< see collectPaths
    std::int64_t m_maxEvaluations = 0;
    std::int64_t m_sampleStride = 1;
    std::int64_t m_evaluations = 0;
    Stopwatch m_watch;
    double m_nextReportSeconds = 0.0;
    bool m_hasBest = false;
    GroupPlacement m_best;
    PlacementRank m_bestRank;
    Evaluation m_bestEvaluation;
    std::vector<std::int64_t> m_bestPeakBytes;
};

} // namespace pw
