#include "tests/support/brute_force_reference.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace pw::test {

namespace {

struct Event {
    double atUs;
    std::string kind; ///< "remove_dependency" < "run_bus" < "run_dev"
    std::string first, second;
    std::size_t op, child, device; ///< what the names stand for
    bool operator<(const Event& o) const {
        return std::tie(atUs, kind, first, second) < std::tie(o.atUs, o.kind, o.first, o.second);
    }
};
struct Broadcast {
    double readyUs, durationUs;
    std::size_t parent;
    std::vector<std::size_t> children;
};

class BruteForce {
public:
    BruteForce(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement)
        : g(graph), d(devices), where(placement), parents(g.opCount()), children(g.opCount()), start(g.opCount(), 0.0),
          ready(d.count()), bus(d.count()), devicePending(d.count(), false), busPending(d.count(), false) {
        for (std::size_t c = 0; c < g.opCount(); ++c) {
            for (const Edge& e : g.inEdges(OpId(c))) {
                const std::size_t p = e.producer.index();
                const std::size_t index = e.kind == EdgeKind::Control ? 0 : g.tensor(e.tensor).outputIndex;
                if (parents[c].insert(p).second)
                    children[p].push_back({c, index});
                else
                    children[p].back().second = index; // the last one wins; c is the child listed last so far
            }
        }
    }

    BruteForceResult run() {
        BruteForceResult result;
        for (std::size_t op = 0; op < g.opCount(); ++op) {
            if (parents[op].empty())
                makeReady(op, 0.0);
        }
        while (!events.empty()) {
            const Event e = *events.begin();
            events.erase(events.begin());
            result.stepTimeUs = e.atUs;
            if (e.kind == "run_dev")
                runDevice(e.device, e.atUs);
            else if (e.kind == "run_bus")
                runBus(e.device, e.atUs);
            else if (parents[e.child].erase(e.op); parents[e.child].empty())
                makeReady(e.child, e.atUs);
        }
        result.startUs = start;
        for (std::size_t x = 0; x < d.count(); ++x)
            result.peakBytes.push_back(peakOf(x));
        return result;
    }

private:
    std::size_t at(std::size_t op) const { return where[op].index(); }
    std::string nameOf(std::size_t op) const { return g.op(OpId(op)).name; }
    std::string deviceName(std::size_t x) const { return d.device(DeviceId(x)).name; }
    double costOf(std::size_t op) const {
        double cost = 0.0;
        for (const auto& c : g.op(OpId(op)).costs)
            cost = c.kind.empty() || c.kind == d.device(DeviceId(0)).kind ? c.us : cost;
        return cost;
    }
    std::int64_t bytesOf(std::size_t op, std::size_t index) const {
        const auto outputs = g.outputs(OpId(op));
        return index < outputs.size() ? g.tensor(outputs[index]).bytes : 0;
    }

    void pushDevice(std::size_t x, double t) {
        devicePending[x] = true;
        events.insert({t, "run_dev", deviceName(x), "", 0, 0, x});
    }
    void pushBus(std::size_t x, double t) {
        busPending[x] = true;
        events.insert({t, "run_bus", deviceName(x), "", 0, 0, x});
    }
    void pushRemoval(std::size_t parent, std::size_t child, double t) {
        events.insert({t, "remove_dependency", nameOf(parent), nameOf(child), parent, child, 0});
    }
    void makeReady(std::size_t op, double t) {
        ready[at(op)].push_back(op); // pushed in time order, so first in, first out
        if (!devicePending[at(op)])
            pushDevice(at(op), t);
    }

    void runDevice(std::size_t x, double t) {
        devicePending[x] = false;
        if (ready[x].empty())
            return;
        const std::size_t op = ready[x].front();
        ready[x].pop_front();
        const double end = t + costOf(op);
        start[op] = t;
        pushDevice(x, costOf(op) > 0.0 ? end + d.device(DeviceId(0)).launchUs : end);
        std::vector<std::size_t> order;
        std::map<std::size_t, std::vector<std::size_t>> remote;
        for (const auto& [child, index] : children[op]) {
            if (at(child) == x) {
                pushRemoval(op, child, end);
                continue;
            }
            if (remote[index].empty())
                order.push_back(index);
            remote[index].push_back(child);
        }
        for (const std::size_t index : order) {
            const double speed = d.links()[0].bytesPerUs;
            bus[x].push_back({end, static_cast<double>(bytesOf(op, index)) / speed, op, remote[index]});
            if (!busPending[x])
                pushBus(x, end);
        }
    }

    void runBus(std::size_t x, double t) {
        busPending[x] = false;
        if (bus[x].empty())
            return;
        if (bus[x].front().readyUs > t) {
            pushBus(x, bus[x].front().readyUs);
            return;
        }
        const Broadcast head = bus[x].front();
        bus[x].pop_front();
        for (const std::size_t child : head.children)
            pushRemoval(head.parent, child, t + head.durationUs);
        pushBus(x, (t + head.durationUs) + d.links()[0].latencyUs);
    }

    std::int64_t peakOf(std::size_t x) const {
        std::vector<std::tuple<double, bool, std::int64_t>> changes; // allocations (false) before frees at one time
        for (std::size_t op = 0; op < g.opCount(); ++op) {
            std::int64_t bytes = 0;
            for (std::size_t k = 0; k < g.outputs(OpId(op)).size(); ++k)
                bytes += bytesOf(op, k);
            double freed = start[op];
            for (const auto& [child, index] : children[op])
                freed = std::max(freed, std::trunc(start[child]) + std::trunc(costOf(child)) - 1.0);
            if (at(op) == x && bytes > 0) {
                changes.push_back({start[op], false, bytes});
                changes.push_back({freed, true, -bytes});
            }
        }
        std::sort(changes.begin(), changes.end());
        std::int64_t now = 0;
        std::int64_t peak = 0;
        for (const auto& change : changes)
            peak = std::max(peak, now += std::get<2>(change));
        return peak;
    }

    const OpGraph& g;
    const DeviceSet& d;
    std::span<const DeviceId> where;
    std::vector<std::set<std::size_t>> parents; ///< remaining
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> children; ///< (child, output index)
    std::vector<double> start;
    std::vector<std::deque<std::size_t>> ready;
    std::vector<std::deque<Broadcast>> bus;
    std::vector<bool> devicePending, busPending;
    std::set<Event> events;
};

} // namespace

BruteForceResult bruteForceReference(const OpGraph& graph, const DeviceSet& devices, std::span<const DeviceId> placement) {
    return BruteForce(graph, devices, placement).run();
}

} // namespace pw::test
