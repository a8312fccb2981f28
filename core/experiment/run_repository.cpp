#include "core/experiment/run_repository.h"

namespace pw {

namespace {

constexpr RunStatus kStatuses[] = {RunStatus::Running, RunStatus::Done, RunStatus::Stopped, RunStatus::Failed,
                                   RunStatus::Interrupted};

} // namespace

const char* runStatusName(RunStatus status) {
    switch (status) {
    case RunStatus::Running: return "running";
    case RunStatus::Done: return "done";
    case RunStatus::Stopped: return "stopped";
    case RunStatus::Failed: return "failed";
    case RunStatus::Interrupted: return "interrupted";
    }
    return "failed";
}

std::optional<RunStatus> runStatusFromName(std::string_view name) {
    for (const RunStatus status : kStatuses) {
        if (name == runStatusName(status))
            return status;
    }
    return std::nullopt;
}

Status checkPlacement(const PlacementRecord& placement, std::size_t ops, std::size_t devices) {
    if (placement.placement.size() != ops) {
        return fail(ErrorCode::Invalid, "a placement of " + std::to_string(placement.placement.size()) +
                                            " ops does not fit a graph of " + std::to_string(ops));
    }
    for (std::size_t i = 0; i < ops; ++i) {
        const DeviceId device = placement.placement[i];
        if (!device.isValid() || device.index() >= devices) {
            return fail(ErrorCode::Invalid, "has no device of the set (" + std::to_string(devices) + " devices)",
                        "op " + std::to_string(i));
        }
    }
    return {};
}

} // namespace pw
