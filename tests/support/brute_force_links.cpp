#include "tests/support/brute_force_links.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace pw::test {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kControl = 1000000; ///< "for each of its outputs in order, then for its control output"

using Name = std::pair<std::size_t, std::size_t>; ///< producer, output index or kControl
struct Event { // ends (kind 0) before arrivals (kind 1), each in op order
    double atUs;
    int kind;
    std::size_t op, output, device, finalDevice;
    bool operator<(const Event& o) const {
        return std::tie(atUs, kind, op, output, finalDevice) < std::tie(o.atUs, o.kind, o.op, o.output, o.finalDevice);
    }
};
struct Interval {
    std::size_t device;
    double fromUs, toUs;
    std::int64_t bytes;
};

class BruteForce {
public:
    BruteForce(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement)
        : g(graph), d(devices), where(placement), inputs(graph.opCount()), idleFrom(devices.count(), true) {
        for (const Edge& e : graph.edges()) {
            const Name name{e.producer.index(), e.kind == EdgeKind::Control ? kControl : graph.tensor(e.tensor).outputIndex};
            inputs[e.consumer.index()].insert(name);
            readers[name].insert(e.consumer.index());
        }
        start.assign(graph.opCount(), kNever);
        end.assign(graph.opCount(), kNever);
    }

    BruteForceResult run() {
        for (double now = 0.0;;) {
            if (!events.empty() && events.begin()->atUs <= now) {
                const Event event = *events.begin();
                events.erase(events.begin());
                event.kind == 0 ? handleEnd(event) : handleArrival(event);
            } else if (!startOne(now)) {
                if (events.empty())
                    break;
                now = events.begin()->atUs;
            }
        }
        BruteForceResult result{0.0, paths, start, {}};
        for (const double at : end)
            result.stepTimeUs = std::max(result.stepTimeUs, at);
        collectMemory();
        for (std::size_t x = 0; x < d.count(); ++x)
            result.peakBytes.push_back(peakOf(x));
        return result;
    }

private:
    std::int64_t bytesOf(Name n) const { return n.second == kControl ? 0 : g.tensor(g.outputs(OpId(n.first))[n.second]).bytes; }
    std::size_t at(std::size_t op) const { return where[op].index(); }

    bool startOne(double now) {
        for (std::size_t x = 0; x < d.count(); ++x) {
            std::pair<double, std::size_t> best{kNever, 0};
            for (std::size_t op = 0; op < g.opCount() && idleFrom[x]; ++op) {
                double ready = 0.0;
                for (const Name& n : inputs[op])
                    ready = std::max(ready, present.count({n, x}) ? present.at({n, x}) : kNever);
                if (at(op) == x && start[op] == kNever)
                    best = std::min(best, {ready, op});
            }
            if (best.first > now)
                continue;
            double cost = 0.0;
            for (const auto& c : g.op(OpId(best.second)).costs) {
                if (c.kind.empty() || c.kind == d.device(DeviceId(x)).kind)
                    cost = c.us;
            }
            start[best.second] = now;
            end[best.second] = cost > 0.0 ? now + d.device(DeviceId(x)).launchUs + cost : now;
            events.insert({end[best.second], 0, best.second, 0, x, x});
            idleFrom[x] = false;
            return true;
        }
        return false;
    }

    void handleEnd(const Event& event) {
        idleFrom[event.device] = true;
        for (auto it = readers.lower_bound({event.op, 0}); it != readers.end() && it->first.first == event.op; ++it) {
            present[{it->first, event.device}] = event.atUs;
            for (std::size_t to = 0; to < d.count(); ++to) {
                const bool needed = std::any_of(it->second.begin(), it->second.end(), [&](auto c) { return at(c) == to; });
                if (!needed || to == event.device)
                    continue;
                const std::size_t host = hostFor(event.device, to);
                if (d.linkBetween(DeviceId(event.device), DeviceId(to)).isValid())
                    transfer(it->first, event.device, to, to, event.atUs);
                else if (host < d.count())
                    transfer(it->first, event.device, host, to, event.atUs);
                else {
                    paths = false;
                    present[{it->first, to}] = event.atUs;
                    copyFrom[{it->first, to}] = event.atUs;
                }
            }
        }
    }

    void handleArrival(const Event& event) {
        const Name name{event.op, event.output};
        if (event.device == event.finalDevice)
            present[{name, event.device}] = event.atUs;
        else
            transfer(name, event.device, event.finalDevice, event.finalDevice, event.atUs);
    }

    void transfer(Name name, std::size_t from, std::size_t to, std::size_t finalDevice, double now) {
        const Link& link = d.link(d.linkBetween(DeviceId(from), DeviceId(to)));
        const std::string queue = link.shared.empty() ? std::to_string(from) + ">" + std::to_string(to) : "@" + link.shared;
        const double begin = std::max(now, queueFree[queue]);
        const double time = static_cast<double>(bytesOf(name)) / link.bytesPerUs;
        const double arrive = begin + link.latencyUs + time;
        queueFree[queue] = begin + time;
        events.insert({arrive, 1, name.first, name.second, to, finalDevice});
        if (from == at(name.first))
            leaves[name] = std::max(leaves[name], arrive);
        else
            memory.push_back({from, hopStart[{name, finalDevice}], arrive, bytesOf(name)});
        if (to == finalDevice)
            copyFrom[{name, to}] = begin;
        else
            hopStart[{name, finalDevice}] = begin;
    }

    std::size_t hostFor(std::size_t from, std::size_t to) const {
        for (std::size_t h = 0; h < d.count(); ++h) {
            if (d.device(DeviceId(h)).kind == "cpu" && h != from && h != to &&
                d.linkBetween(DeviceId(from), DeviceId(h)).isValid() && d.linkBetween(DeviceId(h), DeviceId(to)).isValid())
                return h;
        }
        return d.count();
    }

    double lastReader(Name name, std::size_t device) {
        double last = -1.0;
        for (const std::size_t c : readers[name])
            last = at(c) == device ? std::max(last, end[c]) : last;
        return last;
    }

    void collectMemory() {
        for (std::size_t op = 0; op < g.opCount(); ++op) {
            const Op& o = g.op(OpId(op));
            memory.push_back({at(op), 0.0, kNever, o.paramBytes + o.stateBytes});
            memory.push_back({at(op), start[op], end[op], o.workspaceBytes});
            for (std::size_t k = 0; k < g.outputs(OpId(op)).size(); ++k) {
                double until = lastReader({op, k}, at(op));
                if (leaves.count({op, k}))
                    until = std::max(until, leaves[{op, k}]);
                memory.push_back({at(op), start[op], until < 0.0 ? end[op] : until, bytesOf({op, k})});
            }
        }
        for (const auto& [key, from] : copyFrom)
            memory.push_back({key.second, from, lastReader(key.first, key.second), bytesOf(key.first)});
    }

    std::int64_t peakOf(std::size_t device) const {
        std::int64_t peak = 0;
        for (const Interval& moment : memory) {
            std::int64_t sum = 0;
            for (const Interval& i : memory)
                sum += i.device == device && i.fromUs <= moment.fromUs && moment.fromUs < i.toUs ? i.bytes : 0;
            peak = std::max(peak, sum);
        }
        return peak;
    }

    const OpGraph& g;
    const DeviceSet& d;
    std::span<const DeviceId> where;
    std::vector<std::set<Name>> inputs;
    std::map<Name, std::set<std::size_t>> readers;
    std::map<std::pair<Name, std::size_t>, double> present, copyFrom, hopStart; ///< by (name, device)
    std::map<Name, double> leaves;
    std::map<std::string, double> queueFree;
    std::set<Event> events;
    std::vector<bool> idleFrom;
    std::vector<double> start, end;
    std::vector<Interval> memory;
    bool paths = true;
};

} // namespace

BruteForceResult bruteForceLinks(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement) {
    return BruteForce(graph, devices, placement).run();
}

} // namespace pw::test
