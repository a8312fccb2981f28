#include "app/cli/chrome_trace.h"

#include <nlohmann/json.hpp>

namespace pw::cli {

namespace {

using Json = nlohmann::ordered_json;

Json nameEvent(const char* kind, std::size_t process, std::size_t thread, const std::string& name) {
    return {{"ph", "M"}, {"name", kind}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json slice(const std::string& name, const char* category, std::size_t process, std::size_t thread, double startUs,
           double endUs, Json arguments) {
    return {{"ph", "X"},     {"name", name},         {"cat", category},         {"pid", process}, {"tid", thread},
            {"ts", startUs}, {"dur", endUs - startUs}, {"args", std::move(arguments)}};
}

} // namespace

std::string toChromeTrace(const PlacementProblem& problem, const Schedule& schedule) {
    const OpGraph& graph = problem.graph();
    const DeviceSet& devices = problem.devices();
    Json events = Json::array();
    for (std::size_t d = 0; d < devices.count(); ++d) {
        events.push_back(nameEvent("process_name", d, 0, devices.device(DeviceId(d)).name));
        events.push_back(nameEvent("thread_name", d, 0, "compute"));
        for (std::size_t to = 0; to < devices.count(); ++to) {
            if (to != d)
                events.push_back(nameEvent("thread_name", d, to + 1, "send to " + devices.device(DeviceId(to)).name));
        }
    }
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const Op& op = graph.op(OpId(i));
        events.push_back(slice(op.name, phaseName(op.phase), schedule.placement[i].index(), 0, schedule.startUs[i],
                               schedule.endUs[i], {{"type", op.type}, {"ready_us", schedule.readyUs[i]}}));
    }
    for (const Transfer& transfer : schedule.transfers) {
        events.push_back(slice(graph.op(transfer.producer).name, "transfer", transfer.from.index(), transfer.to.index() + 1,
                               transfer.startUs, transfer.arriveUs,
                               {{"bytes", transfer.bytes}, {"ready_us", transfer.readyUs}}));
    }
    const Json document = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace pw::cli
