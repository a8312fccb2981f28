#include "tests/viz/plot_fixtures.h"

#include "core/base/rng.h"
#include "core/graph/graph_builder.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace pw::test {

namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

struct Made {
    OpId op;
    TensorId out;
    int device = 0;
};

/// Builds the graph op by op and remembers where each is placed.
class InceptionBuilder {
public:
    InceptionBuilder()
        : m_builder("Inception, small", "test") {}

    Made add(const std::string& name, const std::string& type, double us, std::int64_t bytes, int device, Phase phase,
             const std::vector<Made>& inputs) {
        Op op;
        op.name = name;
        op.type = type;
        op.phase = phase;
        op.costs.push_back({"", us});
        op.paramBytes = type == "Conv2D" ? 8 * kMegabyte : 0;
        const OpId id = m_builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = bytes;
        const TensorId out = m_builder.addOutput(id, tensor);
        for (const Made& input : inputs)
            m_builder.addInput(id, input.out);
        m_placement.push_back(DeviceId(static_cast<std::size_t>(device)));
        return {id, out, device};
    }

    GraphPtr build() && {
        auto graph = std::move(m_builder).build();
        if (!graph)
            throw std::runtime_error(graph.error().toString());
        return *graph;
    }
    const OpPlacement& placement() const { return m_placement; }

private:
    GraphBuilder m_builder;
    OpPlacement m_placement;
};

std::vector<Made> addBranch(InceptionBuilder& b, const std::string& scope, int length, int device, double scale,
                            const Made& input) {
    std::vector<Made> ops;
    Made last = input;
    for (int i = 0; i < length; ++i) {
        const std::string layer = scope + "/Conv2d_" + std::to_string(i);
        for (const auto& [type, us] :
             {std::pair("Conv2D", 14000.0), std::pair("BatchNorm", 3200.0), std::pair("Relu", 1100.0)}) {
            last = b.add(layer + "/" + type, type, us * scale, 60 * kMegabyte, device, Phase::Forward, {last});
            ops.push_back(last);
        }
    }
    return ops;
}

} // namespace

DeviceSet gpus(std::size_t count) {
    std::vector<Device> devices;
    std::vector<Link> links;
    for (std::size_t i = 0; i < count; ++i) {
        devices.push_back({"gpu:" + std::to_string(i), "gpu", "", 12'000 * kMegabyte, 4e6, 2e5, 0.0});
        for (std::size_t j = 0; j < count; ++j) {
            if (i != j)
                links.push_back({DeviceId(i), DeviceId(j), 8000.0, 50.0, ""});
        }
    }
    auto set = DeviceSet::create("test", std::move(devices), std::move(links));
    if (!set)
        throw std::runtime_error(set.error().toString());
    return *set;
}

PlacedStep inceptionStep(int blocks) {
    InceptionBuilder b;
    std::vector<Made> forward;
    Made last = b.add("Input", "Placeholder", 10.0, 40 * kMegabyte, 3, Phase::Forward, {});
    for (int i = 0; i < 4; ++i) {
        last = b.add("Conv2d_" + std::to_string(i + 1) + "a/Conv2D", "Conv2D", 40000.0 + 30000.0 * i, 300 * kMegabyte,
                     i < 3 ? 3 : 0, Phase::Forward, {last});
        forward.push_back(last);
    }
    for (int block = 0; block < blocks; ++block) {
        const std::string scope =
            "Mixed_" + std::to_string(5 + block / 4) + std::string(1, static_cast<char>('b' + block % 4));
        const double scale = 1.0 + 0.25 * (block % 5);
        std::vector<Made> ends;
        for (int branch = 0; branch < 4; ++branch) {
            const int device = (block * 3 + branch * (block % 2 + 1)) % 4;
            const auto ops =
                addBranch(b, scope + "/Branch_" + std::to_string(branch), 1 + branch % 3, device, scale, last);
            forward.insert(forward.end(), ops.begin(), ops.end());
            ends.push_back(ops.back());
        }
        last =
            b.add(scope + "/Concat", "ConcatV2", 900.0 * scale, 80 * kMegabyte, (block + 1) % 4, Phase::Forward, ends);
        forward.push_back(last);
    }
    std::reverse(forward.begin(), forward.end());
    for (std::size_t i = 0; i < forward.size(); ++i) {
        const double us = 2000.0 + 9000.0 * static_cast<double>(i % 7 == 0) + 4000.0 * static_cast<double>(i % 3);
        last = b.add("gradients/op_" + std::to_string(i) + "/Grad", "Conv2DBackprop", us, 30 * kMegabyte,
                     forward[i].device, Phase::Backward, {last, forward[i]});
        if (i % 4 == 0)
            b.add("train/update_" + std::to_string(i) + "/Apply", "ApplyAdam", 1500.0, 0, forward[i].device,
                  Phase::Optimizer, {last});
    }
    const OpPlacement placement = b.placement();
    auto problem =
        PlacementProblem::compile(std::move(b).build(), gpus(4), GroupingOptions{false, false, 0}, SimOptions{});
    if (!problem)
        throw std::runtime_error(problem.error().toString());
    Simulator simulator(*problem);
    return {*problem, std::make_shared<Schedule>(simulator.schedule(placement))};
}

HandMade fourOps() {
    GraphBuilder builder("four", "test");
    std::vector<OpId> ops;
    for (const char* name : {"net/a", "net/b", "other/c", "net/d"}) {
        Op op;
        op.name = name;
        op.type = "MatMul";
        op.phase = std::string(name) == "net/d" ? Phase::Backward : Phase::Forward;
        ops.push_back(builder.addOp(std::move(op)));
    }
    const TensorId a = builder.addOutput(ops[0]);
    const TensorId b = builder.addOutput(ops[1]);
    builder.addInput(ops[1], a);
    builder.addInput(ops[2], a);
    builder.addInput(ops[3], b);
    HandMade made{*std::move(builder).build(), gpus(2), std::make_shared<Schedule>()};
    Schedule& s = *made.schedule;
    s.stepTimeUs = 30.0;
    s.valid = true;
    s.placement = {DeviceId(0), DeviceId(1), DeviceId(0), DeviceId(1)};
    s.startUs = {0.0, 14.0, 12.0, 20.0};
    s.endUs = {10.0, 20.0, 30.0, 22.0};
    s.readyUs = {0.0, 14.0, 10.0, 20.0};
    Transfer t;
    t.producer = ops[0];
    t.tensor = a;
    t.from = DeviceId(0);
    t.to = DeviceId(1);
    t.bytes = 1000;
    t.readyUs = 10.0;
    t.startUs = 12.0;
    t.endUs = 13.5;
    t.arriveUs = 14.0;
    s.transfers = {t};
    s.busyUs = {28.0, 8.0};
    s.peakBytes = {3000, 13'000};
    s.peakAtUs = {12.0, 14.0};
    s.memory = {{{0.0, 1000}, {12.0, 3000}, {30.0, 0}}, {{14.0, 13'000}, {22.0, 0}}};
    s.criticalPath = {
        {ops[0], 0, 0.0, 10.0}, {OpId(), 0, 12.0, 14.0}, {ops[1], 0, 14.0, 20.0}, {ops[3], 0, 20.0, 22.0}};
    return made;
}

HandMade manyBars(std::size_t bars, std::size_t devices) {
    GraphBuilder builder("many", "test");
    Rng rng(7);
    auto schedule = std::make_shared<Schedule>();
    std::vector<double> clock(devices, 0.0);
    for (std::size_t i = 0; i < bars; ++i) {
        Op op;
        op.name = "block" + std::to_string(i / 50) + "/op" + std::to_string(i);
        op.type = "Conv2D";
        op.phase = i < bars / 3 ? Phase::Forward : i < bars * 9 / 10 ? Phase::Backward : Phase::Optimizer;
        const OpId id = builder.addOp(std::move(op));
        const TensorId out = builder.addOutput(id);
        const std::size_t device = rng.below(devices);
        const double start = clock[device] + (rng.below(4) == 0 ? 3.0 : 0.0);
        const double end = start + 1.0 + static_cast<double>(rng.below(100)) / 10.0;
        clock[device] = end;
        schedule->placement.push_back(DeviceId(device));
        schedule->startUs.push_back(start);
        schedule->endUs.push_back(end);
        schedule->readyUs.push_back(start);
        if (i % 10 == 0 && devices > 1) {
            Transfer t;
            t.producer = id;
            t.tensor = out;
            t.from = DeviceId(device);
            t.to = DeviceId((device + 1) % devices);
            t.bytes = 1000;
            t.readyUs = t.startUs = end;
            t.endUs = t.arriveUs = end + 2.0;
            schedule->transfers.push_back(t);
        }
    }
    schedule->stepTimeUs = *std::max_element(clock.begin(), clock.end());
    schedule->valid = true;
    schedule->busyUs = clock;
    return {*std::move(builder).build(), gpus(devices), schedule};
}

} // namespace pw::test
