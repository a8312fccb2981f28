#include "viz/graph/graph_view.h"
#include "viz/graph/overlay.h"
#include "viz/graph/scene_job.h"

#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QPixmap>
#include <QSvgGenerator>

#include <algorithm>

namespace pw::viz {

namespace {

constexpr double kMargin = 20;
constexpr double kTitleHeight = 34;
constexpr double kReadableZoom = 0.62; ///< a closed scope still has two lines
constexpr int kMostSide = 20000;       ///< px; beyond it an image has over a gigabyte

struct Picture {
    std::shared_ptr<const Scene> scene;
    Viewport view;
};

double headHeight(const RenderOptions& options) {
    return kMargin + (options.title.isEmpty() ? 0 : kTitleHeight);
}

Viewport fitInto(const Scene& scene, const RenderOptions& options) {
    const double head = headHeight(options);
    const QSizeF room(options.size.width() - 2 * kMargin, options.size.height() - head - kMargin - 34);
    Viewport view;
    view.zoom = std::min({room.width() / std::max(1.0, scene.bounds.width()),
                          room.height() / std::max(1.0, scene.bounds.height()), 1.6});
    view.zoom = std::max(view.zoom, 1e-3);
    view.area = QRectF(QPointF(0, 0), QSizeF(options.size));
    const QPointF middle(options.size.width() / 2.0, head + room.height() / 2);
    view.origin = scene.bounds.center() - middle / view.zoom;
    return view;
}

/// The deepest opening, up to the wanted depth, that can still be read at this size.
Result<Picture> compose(const GraphPtr& graph, const RenderOptions& options) {
    const auto tree = SceneTree::build(graph, false);
    LayoutMemo memo;
    Picture best;
    std::size_t budget = 1200;
    for (int tries = 0; tries < 8; ++tries, budget = budget * 6 / 10) {
        const auto depth = static_cast<std::size_t>(std::max(0, options.depth));
        const OpenSet open = openUpTo(*tree, depth, std::max<std::size_t>(budget, 1), OpenBy::Size);
        PW_TRY(best.scene, buildScene(tree, open, memo, JobContext()));
        best.view = fitInto(*best.scene, options);
        if (best.view.zoom >= kReadableZoom || open.size() <= 1)
            break;
    }
    return best;
}

void paintPicture(QPainter& p, const Picture& picture, const Visuals& visuals, const RenderOptions& options) {
    const Theme& theme = options.theme;
    ScenePainter painter(theme, QGuiApplication::font());
    p.fillRect(picture.view.area, theme.canvas);
    painter.paint(p, *picture.scene, visuals, picture.view, lodFor(picture.view.zoom, Lod::Near), {true, false, true, true});
    if (!options.title.isEmpty()) {
        QFont font = painter.boldFont();
        font.setPixelSize(20);
        p.setFont(font);
        p.setPen(theme.text);
        const QRectF line(kMargin, kMargin - 6, picture.view.area.width() - 2 * kMargin, kTitleHeight);
        p.drawText(line, Qt::AlignLeft | Qt::AlignTop,
                   QFontMetricsF(font).elidedText(options.title, Qt::ElideRight, line.width()));
    }
    QStringList names;
    for (const QString& name : options.deviceNames)
        names << name;
    const Legend legend(painter, visuals, picture.scene->tree().node(0).hiddenCount, names);
    legend.paint(p, QPointF(kMargin, picture.view.area.bottom() - legend.height() - 10),
                 picture.view.area.width() - 2 * kMargin);
}

Status writePng(const Picture& picture, const Visuals& visuals, const RenderOptions& options, const QString& file) {
    QImage image(options.size, QImage::Format_ARGB32_Premultiplied);
    if (image.isNull())
        return fail(ErrorCode::TooLarge, "no memory for a picture of this size", {}, file.toStdString());
    QPainter p(&image);
    paintPicture(p, picture, visuals, options);
    p.end();
    if (!image.save(file, "PNG"))
        return fail(ErrorCode::Io, "cannot write the picture", {}, file.toStdString());
    return {};
}

Status writeSvg(const Picture& picture, const Visuals& visuals, const RenderOptions& options, const QString& file) {
    QFile out(file);
    if (!out.open(QIODevice::WriteOnly | QIODevice::Truncate))
        return fail(ErrorCode::Io, out.errorString().toStdString(), {}, file.toStdString());
    QSvgGenerator generator;
    generator.setOutputDevice(&out);
    generator.setSize(options.size);
    generator.setViewBox(QRect(QPoint(0, 0), options.size));
    generator.setTitle(options.title);
    generator.setDescription(QStringLiteral("Placewright " PW_VERSION));
    QPainter p;
    if (!p.begin(&generator))
        return fail(ErrorCode::Io, "cannot write the picture", {}, file.toStdString());
    paintPicture(p, picture, visuals, options);
    p.end();
    if (out.error() != QFileDevice::NoError)
        return fail(ErrorCode::Io, out.errorString().toStdString(), {}, file.toStdString());
    return {};
}

} // namespace

Status renderGraph(GraphPtr graph, const OpPlacement* placement, const std::vector<double>& opCostUs,
                   const RenderOptions& options, const QString& file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending != QLatin1String("png") && ending != QLatin1String("svg"))
        return fail(ErrorCode::Unsupported, "pictures end in .png or .svg", {}, file.toStdString());
    if (!graph || graph->opCount() == 0)
        return fail(ErrorCode::Invalid, "the graph has no ops");
    if (options.size.width() < 100 || options.size.height() < 100 || options.size.width() > kMostSide ||
        options.size.height() > kMostSide)
        return fail(ErrorCode::Invalid, "width and height of a picture are 100 to 20,000 px");
    if (placement != nullptr && placement->size() != graph->opCount())
        return fail(ErrorCode::Invalid, "the placement has another number of ops than the graph");
    PW_TRY(const Picture picture, compose(graph, options));
    VisualInput input;
    input.colorBy = options.colorBy;
    input.costUs = opCostUs;
    if (placement != nullptr)
        input.placement = std::make_shared<OpPlacement>(*placement);
    const Visuals visuals(*picture.scene, input);
    return ending == QLatin1String("png") ? writePng(picture, visuals, options, file)
                                          : writeSvg(picture, visuals, options, file);
}

} // namespace pw::viz
