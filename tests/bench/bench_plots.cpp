// Cost of one frame of the timeline and the memory view, and of one drawing of reward curves.

#include "core/base/rng.h"
#include "tests/viz/plot_fixtures.h"
#include "viz/plots/curve_data.h"
#include "viz/plots/memory_geometry.h"
#include "viz/plots/memory_view.h"
#include "viz/plots/timeline_geometry.h"
#include "viz/plots/timeline_view.h"

#include <QApplication>
#include <QImage>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

using namespace pw;
using namespace pw::viz;

namespace {

/// Processor time of this process, ms: what a frame costs, whoever else uses the machine.
double cpuMs() {
    return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Median of `rounds` runs, ms of processor time.
double medianMs(int rounds, const std::function<void(int)>& work) {
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const double start = cpuMs();
        work(i);
        times.push_back(cpuMs() - start);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void timeline(std::size_t bars) {
    const test::HandMade made = test::manyBars(bars, 8);
    TimelineView view;
    view.resize(1400, 400);
    QImage image(view.size(), QImage::Format_RGB32);
    const double build = medianMs(3, [&](int) { TimelineModel::build(*made.graph, 8, *made.schedule); });
    view.setSchedule(made.graph, made.devices, made.schedule);
    const double end = made.schedule->stepTimeUs;
    // Every frame has another range, so that nothing comes from the last one.
    const double whole = medianMs(31, [&](int i) {
        view.setRange(0.0, end * (1.0 - 1e-4 * i));
        view.render(&image);
    });
    const double tenth = medianMs(31, [&](int i) {
        view.setRange(end * (0.4 + 1e-3 * i), end * (0.5 + 1e-3 * i));
        view.render(&image);
    });
    const double still = medianMs(31, [&](int) { view.render(&image); });
    std::printf("timeline %8zu bars: model %8.2f ms, frame whole %6.2f ms, a tenth %6.2f ms, unchanged %6.2f ms\n",
                bars, build, whole, tenth, still);
}

void memory(std::size_t points) {
    Rng rng(5);
    auto schedule = std::make_shared<Schedule>();
    schedule->memory.resize(1);
    for (std::size_t i = 0; i < points; ++i)
        schedule->memory[0].push_back({static_cast<double>(i), static_cast<std::int64_t>(rng.below(12'000'000'000))});
    schedule->stepTimeUs = static_cast<double>(points);
    schedule->peakBytes = {12'000'000'000};
    schedule->peakAtUs = {0.0};
    MemoryView view;
    view.resize(540, 216);
    QImage image(view.size(), QImage::Format_RGB32);
    view.setSchedule(test::gpus(1), {12'000'000'000}, schedule);
    const double columns =
        medianMs(31, [&](int) { memoryColumns(schedule->memory[0], 0.0, schedule->stepTimeUs, 400); });
    const double frame = medianMs(31, [&](int i) {
        view.setRange(0.0, schedule->stepTimeUs - i);
        view.render(&image);
    });
    std::printf("memory   %8zu points: columns %6.2f ms, frame %6.2f ms\n", points, columns, frame);
}

void curves(std::size_t points) {
    Rng rng(9);
    std::vector<double> x(points);
    std::vector<double> y(points);
    for (std::size_t i = 0; i < points; ++i) {
        x[i] = static_cast<double>(i);
        y[i] = rng.normal();
    }
    Curve curve;
    curve.setSmoothing(0.9);
    const double load = medianMs(3, [&](int) { curve.setData(x, y); });
    const auto last = static_cast<double>(points);
    const double zoom = medianMs(31, [&](int i) {
        drawnLine(curve, curve.smoothed(), i, last - i, 1000);
        drawnBand(curve, i, last - i, 170);
    });
    std::printf("curve    %8zu points: load and smooth %8.2f ms, line and band per zoom step %6.2f ms\n", points, load,
                zoom);
}

} // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    timeline(10'000);
    timeline(100'000);
    timeline(1'000'000);
    memory(1'000'000);
    curves(1'000'000);
    curves(10'000'000);
    return 0;
}
