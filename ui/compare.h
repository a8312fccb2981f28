#pragma once

#include "core/sim/simulator.h"
#include "core/jobs/job_context.h"

#include <QList>

#include <memory>
#include <optional>
#include <vector>

namespace pw::ui {

/// The ops of one group that went from one device to another.
struct Move {
    GroupId group;
    DeviceId from;
    DeviceId to;
    QList<quint32> ops;
    std::int64_t outputBytes = 0;
    /// Step time of the candidate minus that of the candidate with these ops back at `from`; nothing if not computed.
    std::optional<double> effectUs;
};

/// Two placements of one problem, everything simulated. Immutable, made on a job.
struct Comparison {
    ProblemPtr problem;
    std::shared_ptr<const Schedule> base;
    std::shared_ptr<const Schedule> candidate;
    double boundUs = 0.0;
    std::vector<bool> moved;                     ///< per op
    std::vector<Move> moves;                     ///< by effect, largest gain first
    std::vector<std::vector<std::size_t>> flow;  ///< ops by device in base (row) and candidate (column)
    std::size_t movedOps = 0;
};

/// Effects are computed for at most this many moves, those with the dearest ops first.
constexpr std::size_t kMaxEffects = 2000;

Comparison comparePlacements(const ProblemPtr& problem, const OpPlacement& base, const OpPlacement& candidate,
                             const JobContext& context);

} // namespace pw::ui
