// What opening, painting and pointing cost in the graph view, on graphs of 5,000 to 50,000 ops.
//
//   QT_QPA_PLATFORM=offscreen build/release/bench/bench_graph_view

#include "core/graph/graph_builder.h"
#include "viz/graph/scene_job.h"
#include "viz/graph/scene_painter.h"

#include <QElapsedTimer>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>

#include <algorithm>
#include <cstdio>

using namespace pw;
using namespace pw::viz;

namespace {

GraphPtr randomGraph(int ops, unsigned window, int perScope) {
    GraphBuilder b("random", "bench");
    std::vector<TensorId> all;
    unsigned state = 1;
    const auto next = [&state](unsigned below) {
        state = state * 1664525U + 1013904223U;
        return (state >> 8) % below;
    };
    for (int i = 0; i < ops; ++i) {
        Op op;
        op.name = (perScope > 0 ? "block_" + std::to_string(i / perScope) + "/" : std::string()) + "op" + std::to_string(i);
        op.type = i % 3 == 0 ? "MatMul" : "Add";
        const OpId id = b.addOp(std::move(op));
        const unsigned before = std::min(static_cast<unsigned>(i), window);
        for (unsigned k = 0; before > 0 && k < 1 + next(2); ++k)
            b.addInput(id, all[all.size() - 1 - next(before)]);
        all.push_back(b.addOutput(id));
    }
    return std::move(b).build().value();
}

double milliseconds(const QElapsedTimer& clock) {
    return static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

void paintAt(const SceneResult& result, const Visuals& visuals, double zoom, const char* what) {
    ScenePainter painter(Theme::light(), QGuiApplication::font());
    QImage image(1920, 1080, QImage::Format_ARGB32_Premultiplied);
    Viewport view;
    view.zoom = zoom;
    view.area = QRectF(image.rect());
    std::vector<double> times;
    for (int frame = 0; frame < 40; ++frame) { // pans along the picture's diagonal
        view.origin = result.scene->bounds.bottomRight() * (frame / 60.0);
        QElapsedTimer clock;
        clock.start();
        QPainter p(&image);
        p.fillRect(image.rect(), Qt::white);
        painter.paint(p, *result.scene, visuals, view, lodFor(zoom, Lod::Near), {});
        p.end();
        times.push_back(milliseconds(clock));
    }
    std::sort(times.begin(), times.end());
    std::printf("  paint %-8s zoom %6.3f   median %6.2f ms   95 %% %6.2f ms   max %6.2f ms\n", what, zoom,
                times[times.size() / 2], times[times.size() * 95 / 100], times.back());
}

void bench(const char* name, const GraphPtr& graph) {
    SceneRequest request;
    request.graph = graph;
    request.memo = std::make_shared<LayoutMemo>();
    QElapsedTimer clock;
    clock.start();
    const SceneResult first = makeScene(request, JobContext()).value();
    std::printf("%s: %zu ops, %zu edges\n  first picture (worker)   %8.1f ms, %zu boxes\n", name, graph->opCount(),
                graph->edges().size(), milliseconds(clock), first.scene->boxes.size());
    request.tree = first.scene->treePtr();
    request.open = openUpTo(first.scene->tree(), 100, 4000, OpenBy::Size);
    clock.restart();
    const SceneResult all = makeScene(request, JobContext()).value();
    std::printf("  expand all (worker)      %8.1f ms, %zu boxes\n", milliseconds(clock), all.scene->boxes.size());
    VisualInput input;
    auto placement = std::make_shared<OpPlacement>();
    for (std::size_t i = 0; i < graph->opCount(); ++i)
        placement->emplace_back(i / 100 % 4);
    input.placement = placement;
    clock.restart();
    const Visuals visuals(*all.scene, input);
    std::printf("  new placement (GUI)      %8.2f ms\n", milliseconds(clock));
    const double fit = std::min(1920 / all.scene->bounds.width(), 1080 / all.scene->bounds.height());
    for (const auto& [zoom, what] : {std::pair(fit, "fit"), {0.2, "far"}, {0.5, "middle"}, {1.0, "near"}, {2.0, "nearest"}})
        paintAt(all, visuals, zoom, what);
    clock.restart();
    std::size_t hits = 0;
    for (int i = 0; i < 10000; ++i)
        hits += all.scene->boxAt(all.scene->bounds.bottomRight() * (i / 10000.0)) ? 1 : 0;
    std::printf("  hit test                 %8.2f us (%zu of 10,000 hit)\n", milliseconds(clock) / 10, hits);
}

} // namespace

int main(int argc, char** argv) {
    const QGuiApplication app(argc, argv);
    bench("5,000 flat", randomGraph(5000, 40, 0));
    bench("50,000 flat", randomGraph(50000, 60, 0));
    bench("50,000 in scopes of 100", randomGraph(50000, 60, 100));
    bench("50,000 isolated", randomGraph(50000, 0, 0));
    return 0;
}
