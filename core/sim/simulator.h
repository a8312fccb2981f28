#pragma once

#include "core/sim/problem.h"

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pw {

/// Device per op of a graph, in op order.
using OpPlacement = std::vector<DeviceId>;
/// Device per group of a grouping.
using GroupPlacement = std::vector<DeviceId>;

OpPlacement expandPlacement(const Grouping& grouping, std::span<const DeviceId> groups);

/// What learning and search need of one simulated step. Simulated, not measured.
struct Evaluation {
    double stepTimeUs = std::numeric_limits<double>::infinity();
    bool valid = false; ///< fits in memory, every transfer has a path, every op may run where it is
};

/// Why a placement is not valid: the first fault found. Words for people are made elsewhere.
struct Fault {
    enum class Kind { None, OverCapacity, NoPath, ForbiddenKind };
    Kind kind = Kind::None;
    DeviceId device;       ///< over capacity: where; no path: sender
    DeviceId otherDevice;  ///< no path: receiver
    OpId op;               ///< forbidden kind, no path: the op
    double atUs = 0.0;     ///< over capacity: the time of the peak
    std::int64_t excessBytes = 0;
};

struct Transfer {
    OpId producer;
    TensorId tensor; ///< invalid for a control dependency
    DeviceId from;
    DeviceId to; ///< in the reference model: the first receiver (one broadcast serves all)
    std::int64_t bytes = 0;
    double readyUs = 0.0;   ///< when the data was there to be sent
    double startUs = 0.0;   ///< start > ready: the link was busy
    double endUs = 0.0;     ///< the link is free of it
    double arriveUs = 0.0;
};

/// One piece of the critical path: an op or a transfer (index into Schedule::transfers).
struct PathStep {
    OpId op; ///< invalid for a transfer
    std::size_t transfer = 0;
    double startUs = 0.0;
    double endUs = 0.0;
};

/// A step function: `bytes` holds from `atUs` to the next point.
struct MemoryPoint {
    double atUs = 0.0;
    std::int64_t bytes = 0;
};

/// Everything about one simulated step. Immutable, shared with the views.
struct Schedule {
    double stepTimeUs = 0.0;
    bool valid = false;
    Fault fault;
    OpPlacement placement;
    std::vector<double> startUs; ///< per op
    std::vector<double> endUs;   ///< per op; the stream is free again then (links) or a launch later (reference)
    std::vector<double> readyUs; ///< per op: all inputs there; start > ready: the device was busy
    std::vector<Transfer> transfers; ///< by start time
    std::vector<double> busyUs;      ///< per device: compute
    std::vector<std::int64_t> peakBytes; ///< per device
    std::vector<double> peakAtUs;        ///< per device
    std::vector<std::vector<MemoryPoint>> memory; ///< per device, from time 0
    std::vector<PathStep> criticalPath;  ///< in time order, without gaps where the model has none
    std::int64_t transferBytes = 0;
};

/// Runs the simulator of a problem again and again without allocating. One per thread; the problem must outlive it.
/// Same placement, same numbers, on every thread.
class Simulator {
public:
    explicit Simulator(ProblemPtr problem);
    ~Simulator();
    Simulator(Simulator&&) noexcept;
    Simulator& operator=(Simulator&&) noexcept;

    /// Step time, peaks, validity. `placement` has a valid device per op.
    Evaluation evaluate(std::span<const DeviceId> placement);
    /// The same for a device per group.
    Evaluation evaluateGroups(std::span<const DeviceId> groups);

    /// Of the last evaluation: start per op (us), peak memory per device (bytes).
    std::span<const double> startsUs() const;
    std::span<const std::int64_t> peakBytes() const;

    /// The full story of one placement; costs several times an evaluation. A NoPath fault still gives a schedule in which
    /// that transfer takes no time.
    Schedule schedule(std::span<const DeviceId> placement);

    /// `links` only: of the ops that are ready on a device, the one of largest priority starts; one number per op, empty =
    /// first come, first served (the default). Ignored in the reference model.
    void setPriorities(std::vector<double> priorities);

    const PlacementProblem& problem() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Bounds that no valid placement can beat (us): total work shared by all devices, and the longest chain of ops, each on
/// its fastest device, without any transfer.
struct LowerBounds {
    double workUs = 0.0;
    double criticalPathUs = 0.0;
    double best() const { return workUs > criticalPathUs ? workUs : criticalPathUs; }
};
LowerBounds lowerBounds(const PlacementProblem& problem);

/// Something that occupies memory of a device at some moment.
struct LiveBuffer {
    enum class Kind { Resident, Output, Received, Workspace };
    Kind kind = Kind::Output;
    OpId op;         ///< owner or producer
    TensorId tensor; ///< Output and Received in the `links` model
    std::int64_t bytes = 0;
};
/// What is alive on a device at a time of a schedule, largest first; at `peakAtUs` the sizes add up to the peak. For the
/// explanation of one moment: takes time in the order of the whole graph.
std::vector<LiveBuffer> liveBuffers(const PlacementProblem& problem, const Schedule& schedule, DeviceId device, double atUs);

/// English for logs and the command line: "gpu:0 needs 13.1 GB of 12.0 GB at 2,180.0 ms". Empty for no fault.
std::string describeFault(const PlacementProblem& problem, const Fault& fault);

} // namespace pw
