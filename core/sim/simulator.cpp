#include "core/sim/simulator.h"

#include "core/sim/links_engine.h"
#include "core/sim/reference_engine.h"
#include "core/sim/schedule_builder.h"

#include <algorithm>
#include <optional>

namespace pw {

namespace {

/// The memory of the reference model as a step function. Allocations come before frees at one time, so a moment can
/// have two points: with both, and after the frees.
std::vector<std::vector<MemoryPoint>> referenceMemory(const PlacementProblem& problem, const ReferenceEngine& engine,
                                                      std::span<const DeviceId> placement) {
    struct Change {
        double atUs;
        std::int64_t bytes;
    };
    std::vector<std::vector<Change>> changes(problem.deviceCount());
    for (std::size_t i = 0; i < placement.size(); ++i) {
        const std::int64_t bytes = problem.compiled().reference.outputBytes[i];
        if (bytes <= 0)
            continue;
        changes[placement[i].index()].push_back({engine.startsUs()[i], bytes});
        changes[placement[i].index()].push_back({engine.freedUs(static_cast<std::uint32_t>(i)), -bytes});
    }
    std::vector<std::vector<MemoryPoint>> memory(problem.deviceCount());
    for (std::size_t d = 0; d < memory.size(); ++d) {
        std::sort(changes[d].begin(), changes[d].end(), [](const Change& a, const Change& b) {
            return a.atUs < b.atUs || (a.atUs == b.atUs && a.bytes > b.bytes);
        });
        memory[d].push_back({0.0, 0});
        bool freeing = false;
        for (const Change& change : changes[d]) {
            const std::int64_t bytes = memory[d].back().bytes + change.bytes;
            if (change.atUs == memory[d].back().atUs && freeing == (change.bytes < 0))
                memory[d].back().bytes = bytes;
            else
                memory[d].push_back({change.atUs, bytes});
            freeing = change.bytes < 0;
        }
    }
    return memory;
}

} // namespace

struct Simulator::Impl {
    explicit Impl(ProblemPtr owned) : problem(std::move(owned)) {
        if (problem->options().model == SimModel::Links)
            links.emplace(*problem);
        else
            reference.emplace(*problem);
        expanded.resize(problem->opCount());
        capacities.resize(problem->deviceCount());
        for (std::size_t d = 0; d < capacities.size(); ++d)
            capacities[d] = problem->capacityBytes(DeviceId(d));
    }

    /// A device of the set for every op; everything else would read outside the arrays.
    bool isComplete(std::span<const DeviceId> placement) const {
        const std::size_t devices = problem->deviceCount();
        return placement.size() == problem->opCount() &&
               std::all_of(placement.begin(), placement.end(), [=](DeviceId id) { return id.index() < devices; });
    }
    /// The first op that may not run where it is.
    OpId forbiddenOp(std::span<const DeviceId> placement) const {
        const std::vector<std::uint8_t>& allowed = problem->compiled().opAllowed;
        for (std::size_t i = 0; !allowed.empty() && i < placement.size(); ++i) {
            if (allowed[i * problem->deviceCount() + placement[i].index()] == 0)
                return OpId(i);
        }
        return OpId();
    }
    std::span<const std::int64_t> peaks() const { return links ? links->peakBytes() : reference->peakBytes(); }
    std::span<const double> starts() const { return links ? links->startsUs() : reference->startsUs(); }
    /// The first device whose peak is above its capacity.
    DeviceId overfullDevice() const {
        for (std::size_t d = 0; d < capacities.size(); ++d) {
            if (capacities[d] > 0 && peaks()[d] > capacities[d])
                return DeviceId(d);
        }
        return DeviceId();
    }
    template<class Recorder>
    double run(std::span<const DeviceId> placement, Recorder& recorder) {
        if (links) {
            links->run(placement, recorder);
            return links->stepTimeUs();
        }
        reference->run(placement, recorder);
        return reference->stepTimeUs();
    }
    bool everyPathExists() const { return !links || links->everyPathExists(); }
    Fault findFault(std::span<const DeviceId> placement, const Fault& noPath, const Schedule& schedule) const;

    ProblemPtr problem;
    std::optional<LinksEngine> links;
    std::optional<ReferenceEngine> reference;
    OpPlacement expanded;
    std::vector<std::int64_t> capacities;
};

OpPlacement expandPlacement(const Grouping& grouping, std::span<const DeviceId> groups) {
    OpPlacement placement(grouping.groupOf.size());
    for (std::size_t i = 0; i < placement.size(); ++i)
        placement[i] = groups[grouping.groupOf[i].index()];
    return placement;
}

Simulator::Simulator(ProblemPtr problem) : m_impl(std::make_unique<Impl>(std::move(problem))) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

Evaluation Simulator::evaluate(std::span<const DeviceId> placement) {
    if (!m_impl->isComplete(placement))
        return {};
    NoRecorder recorder;
    Evaluation evaluation;
    evaluation.stepTimeUs = m_impl->run(placement, recorder);
    evaluation.valid = m_impl->everyPathExists() && !m_impl->forbiddenOp(placement).isValid() &&
                       !m_impl->overfullDevice().isValid();
    return evaluation;
}

Evaluation Simulator::evaluateGroups(std::span<const DeviceId> groups) {
    const Grouping& grouping = m_impl->problem->grouping();
    if (groups.size() != grouping.groupCount())
        return {};
    for (std::size_t i = 0; i < m_impl->expanded.size(); ++i)
        m_impl->expanded[i] = groups[grouping.groupOf[i].index()];
    return evaluate(m_impl->expanded);
}

std::span<const double> Simulator::startsUs() const {
    return m_impl->starts();
}

std::span<const std::int64_t> Simulator::peakBytes() const {
    return m_impl->peaks();
}

void Simulator::setPriorities(std::vector<double> priorities) {
    if (m_impl->links && (priorities.empty() || priorities.size() == m_impl->problem->opCount()))
        m_impl->links->setPriorities(std::move(priorities));
}

const PlacementProblem& Simulator::problem() const {
    return *m_impl->problem;
}

Fault Simulator::Impl::findFault(std::span<const DeviceId> placement, const Fault& noPath, const Schedule& schedule) const {
    if (const OpId op = forbiddenOp(placement); op.isValid())
        return {Fault::Kind::ForbiddenKind, placement[op.index()], DeviceId(), op, 0.0, 0};
    if (noPath.kind != Fault::Kind::None)
        return noPath;
    const DeviceId full = overfullDevice();
    if (!full.isValid())
        return {};
    const std::size_t d = full.index();
    return {Fault::Kind::OverCapacity, full, DeviceId(), OpId(), schedule.peakAtUs[d],
            schedule.peakBytes[d] - capacities[d]};
}

Schedule Simulator::schedule(std::span<const DeviceId> placement) {
    if (!m_impl->isComplete(placement)) {
        Schedule nothing;
        nothing.stepTimeUs = std::numeric_limits<double>::infinity();
        return nothing;
    }
    const PlacementProblem& problem = *m_impl->problem;
    const std::size_t queues = m_impl->links ? problem.compiled().links.queueCount : problem.deviceCount();
    FullRecorder recorder(problem.opCount(), problem.deviceCount(), queues);
    const double stepTimeUs = m_impl->run(placement, recorder);
    if (m_impl->reference)
        recorder.memory = referenceMemory(problem, *m_impl->reference, placement);
    const Fault noPath = recorder.noPath;
    Schedule schedule = buildSchedule(problem, placement, std::move(recorder), m_impl->starts());
    schedule.stepTimeUs = stepTimeUs;
    schedule.fault = m_impl->findFault(placement, noPath, schedule);
    schedule.valid = schedule.fault.kind == Fault::Kind::None;
    return schedule;
}

} // namespace pw
