#pragma once

#include "core/sim/simulator.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace pw {

/// What an engine tells about a run when somebody wants the full story. NoRecorder costs nothing: every call is behind
/// `if constexpr (Recorder::kEnabled)`.
struct NoRecorder {
    static constexpr bool kEnabled = false;
};

struct FullRecorder {
    static constexpr bool kEnabled = true;
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    /// Why an op became ready, or a transfer was there to be sent: the op or transfer that finished last.
    struct Cause {
        std::uint32_t op = kNone;
        std::uint32_t transfer = kNone;
    };
    struct SentTransfer {
        Transfer transfer;
        Cause cause;                       ///< what made the data available
        std::uint32_t previous = kNone;    ///< the transfer before it in the same queue
    };

    std::vector<double> readyUs, endUs; ///< per op
    std::vector<Cause> cause;           ///< per op
    std::vector<std::uint32_t> previousOnDevice; ///< per op
    std::vector<SentTransfer> transfers;
    std::vector<std::uint32_t> lastInQueue;  ///< per queue
    std::vector<std::uint32_t> lastOnDevice; ///< per device
    std::vector<std::vector<MemoryPoint>> memory;
    Fault noPath; ///< the first one

    FullRecorder(std::size_t ops, std::size_t devices, std::size_t queues)
        : readyUs(ops, 0.0), endUs(ops, 0.0), cause(ops), previousOnDevice(ops, kNone), lastInQueue(queues, kNone),
          lastOnDevice(devices, kNone), memory(devices) {}

    /// An input of `op` arrives; the latest arrival is the cause, the first one of several at one time.
    void arrives(std::uint32_t op, double atUs, Cause by) {
        if (cause[op].op == kNone && cause[op].transfer == kNone) {
            cause[op] = by;
            readyUs[op] = atUs;
        } else if (atUs > readyUs[op]) {
            cause[op] = by;
            readyUs[op] = atUs;
        }
    }
    /// Memory of a device from that time on.
    void level(std::uint32_t device, double atUs, std::int64_t bytes) {
        std::vector<MemoryPoint>& points = memory[device];
        if (points.empty() || points.back().bytes != bytes)
            points.push_back({atUs, bytes});
    }
    void starts(std::uint32_t op, std::uint32_t device, double end) {
        endUs[op] = end;
        previousOnDevice[op] = lastOnDevice[device];
        lastOnDevice[device] = op;
    }
    std::uint32_t sends(const Transfer& transfer, Cause by, std::uint32_t queue) {
        const auto index = static_cast<std::uint32_t>(transfers.size());
        transfers.push_back({transfer, by, queue == kNone ? kNone : lastInQueue[queue]});
        if (queue != kNone)
            lastInQueue[queue] = index;
        return index;
    }
};

} // namespace pw
