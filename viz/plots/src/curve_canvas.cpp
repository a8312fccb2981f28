#include "viz/plots/src/curve_canvas.h"

#include "viz/plots/plot_common.h"

#include <qcustomplot.h>

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

constexpr double kBandWindowPx = 6.0;
constexpr double kMarkerSpacingPx = 90.0;
/// A decade and a half: below it a logarithmic axis with a tick per decade would carry no figures.
constexpr double kDecadeTicksFrom = 50.0;
/// References further away than this many spans of the data are named at the edge instead of flattening the curves.
constexpr double kReferenceReach = 1.0;

/// Round ticks, figures with thousands comma and true minus.
class FigureTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override {
        const Ticks ticks = niceTicks(range.lower, range.upper, std::max(2, mTickCount));
        m_decimals = ticks.decimals;
        return ticks.step;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override { return figure(tick, m_decimals); }

private:
    int m_decimals = 0;
};

class FigureLogTicker : public QCPAxisTickerLog {
protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return figure(tick, tick >= 1.0 ? 0 : std::min(9, static_cast<int>(std::ceil(-std::log10(tick) - 1e-9))));
    }
};

QPen runPen(const RunStyle& style, double width) {
    QPen pen(style.color, width);
    QList<qreal> dash = style.dash;
    for (qreal& part : dash)
        part /= width; // Qt counts dashes in pen widths
    if (!dash.isEmpty())
        pen.setDashPattern(dash);
    pen.setCapStyle(Qt::FlatCap);
    pen.setJoinStyle(Qt::RoundJoin);
    return pen;
}

QCPScatterStyle::ScatterShape shapeOf(const RunStyle& style) {
    switch (style.marker) {
    case 1:
        return QCPScatterStyle::ssSquare;
    case 2:
        return QCPScatterStyle::ssTriangle;
    case 3:
        return QCPScatterStyle::ssDiamond;
    default:
        return QCPScatterStyle::ssCircle;
    }
}

QVector<double> scaled(const std::vector<double>& values, double scale) {
    QVector<double> result(static_cast<qsizetype>(values.size()));
    std::transform(values.begin(), values.end(), result.begin(), [scale](double v) { return v * scale; });
    return result;
}

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double value) {
        if (!std::isfinite(value))
            return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool isEmpty() const { return !(low <= high); }
};

double smallestPositive(const Series& series) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < series.size(); ++i) {
        if (series[i] > 0.0)
            least = std::min(least, series[i]);
    }
    return least;
}

} // namespace

struct CurveCanvas::Private {
    /// The parts of one run's picture; owned by the plot.
    struct Parts {
        QCPGraph* bandHigh = nullptr;
        QCPGraph* bandLow = nullptr;
        QCPGraph* raw = nullptr;
        QCPGraph* line = nullptr;
        QCPGraph* markers = nullptr;
        QCPGraph* end = nullptr;
    };
    struct ReferenceParts {
        QCPItemStraightLine* line = nullptr;
        QCPItemText* label = nullptr;
    };

    Private(QWidget* parent, const CanvasContent& c, Callbacks cb)
        : plot(new QCustomPlot(parent))
        , content(c)
        , callbacks(std::move(cb)) {}

    QCustomPlot* plot; ///< owned by the parent widget
    const CanvasContent& content;
    Callbacks callbacks;
    Theme theme = Theme::light();
    QFont font;
    bool follow = true;
    bool settingRange = false;
    int replots = 0;
    double leftLabelWidth = 0.0; ///< only grows, so that the plot keeps its width while live
    std::vector<Parts> parts;
    std::vector<ReferenceParts> references;
    QCPItemStraightLine* cursorLine = nullptr;
    QCPItemText* cursorTag = nullptr;
    QCPItemText* liveTag = nullptr;
    QSharedPointer<FigureTicker> xTicker = QSharedPointer<FigureTicker>::create();
    QSharedPointer<FigureTicker> yTicker = QSharedPointer<FigureTicker>::create();
    QSharedPointer<FigureLogTicker> logTicker = QSharedPointer<FigureLogTicker>::create();

    void setUp() {
        plot->setFocusPolicy(Qt::NoFocus);
        plot->setMouseTracking(true);
        plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
        plot->setNoAntialiasingOnDrag(true);
        plot->axisRect()->setAutoMargins(QCP::msNone);
        plot->xAxis->setTicker(xTicker);
        plot->addLayer(QStringLiteral("live"), plot->layer(QStringLiteral("main")), QCustomPlot::limAbove);
        plot->addLayer(QStringLiteral("marks"), plot->layer(QStringLiteral("live")), QCustomPlot::limAbove);
        plot->setCurrentLayer(QStringLiteral("marks"));
        cursorLine = new QCPItemStraightLine(plot);
        cursorTag = makeText(false);
        cursorTag->position->setTypeX(QCPItemPosition::ptPlotCoords);
        cursorTag->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        cursorTag->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
        cursorTag->setPadding(QMargins(6, 1, 6, 1));
        liveTag = makeText(true);
        liveTag->setText(QStringLiteral("live"));
        plot->setCurrentLayer(QStringLiteral("main"));
        connectPlot();
    }

    QCPItemText* makeText(bool clipped) {
        auto* text = new QCPItemText(plot);
        text->setClipToAxisRect(clipped);
        text->setSelectable(false);
        return text;
    }

    void connectPlot() {
        QObject::connect(plot, &QCustomPlot::beforeReplot, plot, [this] { prepare(); });
        QObject::connect(plot, &QCustomPlot::afterReplot, plot, [this] { ++replots; });
        QObject::connect(plot, &QCustomPlot::mouseMove, plot, [this](QMouseEvent* event) {
            const bool inside = plot->axisRect()->rect().contains(event->pos());
            callbacks.hovered(inside ? plot->xAxis->pixelToCoord(event->position().x())
                                     : std::numeric_limits<double>::quiet_NaN());
        });
        QObject::connect(plot, &QCustomPlot::mousePress, plot, [this](QMouseEvent*) { callbacks.pressed(); });
        QObject::connect(plot, &QCustomPlot::mouseDoubleClick, plot,
                         [this](QMouseEvent*) { callbacks.doubleClicked(); });
        const auto onRange = [this] {
            if (!settingRange)
                callbacks.rangeChangedByUser();
        };
        QObject::connect(plot->xAxis, QOverload<const QCPRange&>::of(&QCPAxis::rangeChanged), plot, onRange);
        QObject::connect(plot->yAxis, QOverload<const QCPRange&>::of(&QCPAxis::rangeChanged), plot, onRange);
    }

    QCPGraph* makeGraph(const QString& layer) {
        QCPGraph* graph = plot->addGraph();
        graph->setLayer(layer);
        graph->setSelectable(QCP::stNone);
        graph->setAdaptiveSampling(false); // the extremes per column are kept before the points get here
        graph->removeFromLegend();
        return graph;
    }

    /// Graphs of all runs: runs and styles change seldom, data often.
    void syncParts() {
        while (parts.size() > content.runs.size()) {
            const Parts& last = parts.back();
            last.bandHigh->setChannelFillGraph(nullptr);
            for (QCPGraph* graph : {last.bandHigh, last.bandLow, last.raw, last.line, last.markers, last.end})
                plot->removeGraph(graph);
            parts.pop_back();
        }
        while (parts.size() < content.runs.size()) {
            Parts p;
            for (QCPGraph** graph : {&p.bandLow, &p.bandHigh, &p.raw, &p.line, &p.markers, &p.end})
                *graph = makeGraph(QStringLiteral("main"));
            parts.push_back(p);
        }
        while (references.size() > content.references.size()) {
            plot->removeItem(references.back().line);
            plot->removeItem(references.back().label);
            references.pop_back();
        }
        plot->setCurrentLayer(QStringLiteral("marks"));
        while (references.size() < content.references.size())
            references.push_back({new QCPItemStraightLine(plot), makeText(true)});
        plot->setCurrentLayer(QStringLiteral("main"));
    }

    Range dataRange() const {
        Range range;
        for (const CanvasContent::Run& run : content.runs) {
            const Extremes e = run.curve->extremes();
            if (e.count == 0)
                continue;
            if (content.logY && e.min <= 0.0) {
                range.include(smallestPositive(run.curve->raw()) * content.scale);
                if (e.max > 0.0)
                    range.include(e.max * content.scale);
                continue;
            }
            range.include(e.min * content.scale);
            range.include(e.max * content.scale);
        }
        return range;
    }

    void fitY() {
        Range range = dataRange();
        if (range.isEmpty())
            range.include(content.logY ? 1.0 : 0.0);
        const double span = range.high - range.low;
        for (const CanvasContent::Reference& reference : content.references) {
            const double value = reference.value * content.scale;
            const double away = std::max(range.low - value, value - range.high);
            if ((!content.logY && away <= kReferenceReach * span) ||
                (content.logY && value > range.low / 10 && value < range.high * 10))
                range.include(value);
        }
        if (content.logY) {
            const double ratio = std::pow(std::max(range.high / range.low, 1.2), 0.05);
            plot->yAxis->setRange(range.low / ratio, range.high * ratio);
            return;
        }
        // Outwards to the next half tick: the axis grows in steps and does not jump with every point.
        double room = range.high - range.low;
        if (!(room > 0.0))
            room = std::max(std::abs(range.high), 1.0) * 0.2;
        const double step = niceTicks(0.0, room, 5).step / 2;
        plot->yAxis->setRange(std::floor((range.low - 0.02 * room) / step) * step,
                              std::ceil((range.high + 0.02 * room) / step) * step);
    }

    void fitX() {
        Range range;
        for (const CanvasContent::Run& run : content.runs) {
            if (run.curve->size() == 0)
                continue;
            range.include(run.curve->x(0));
            range.include(run.curve->x(run.curve->size() - 1));
        }
        if (range.isEmpty())
            range.include(0.0);
        const double low = range.low >= 0.0 && range.low < 0.25 * range.high ? 0.0 : range.low;
        const double span = niceCeil(std::max(range.high - low, 1e-9));
        plot->xAxis->setRange(low, low + (range.high > low ? span : 1.0));
    }

    void prepare() {
        syncParts();
        settingRange = true;
        plot->yAxis->setScaleType(content.logY ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        if (follow) {
            fitX();
            fitY();
        }
        settingRange = false;
        const QCPRange range = plot->yAxis->range();
        const bool decades = content.logY && range.lower > 0.0 && range.upper / range.lower >= kDecadeTicksFrom;
        plot->yAxis->setTicker(decades ? QSharedPointer<QCPAxisTicker>(logTicker)
                                       : QSharedPointer<QCPAxisTicker>(yTicker));
        plot->xAxis->setLabel(content.xLabel);
        plot->yAxis->setLabel(content.yLabel);
        setMargins(decades);
        layOut();
        for (std::size_t i = 0; i < parts.size(); ++i)
            drawRun(content.runs[i], parts[i], static_cast<int>(i));
        drawLiveTag();
        drawReferences();
        drawCursor();
    }

    void setMargins(bool decades) {
        const QFontMetricsF metrics(labelFont(font));
        const double height = plot->viewport().height();
        yTicker->setTickCount(std::clamp(static_cast<int>(height / (3.2 * metrics.height())), 2, 8));
        xTicker->setTickCount(std::clamp(
            static_cast<int>(plot->viewport().width() / metrics.horizontalAdvance(QStringLiteral("00,000,000"))), 2,
            10));
        double widest = metrics.horizontalAdvance(QStringLiteral("0,000"));
        const QCPRange range = plot->yAxis->range();
        const Ticks ticks = niceTicks(range.lower, range.upper, yTicker->tickCount());
        if (decades)
            widest = std::max(widest, metrics.horizontalAdvance(figure(range.upper, 0)));
        else
            for (const double tick : ticks.values)
                widest = std::max(widest, metrics.horizontalAdvance(figure(tick, ticks.decimals)));
        leftLabelWidth = std::max(leftLabelWidth, widest);
        const int line = static_cast<int>(std::ceil(metrics.height()));
        const int labelRoom = content.yLabel.isEmpty() ? 0 : line + 4;
        const int bottom = line + 8 + (content.xLabel.isEmpty() ? 0 : line);
        plot->axisRect()->setMargins(
            QMargins(labelRoom + static_cast<int>(std::ceil(leftLabelWidth)) + 12, line + 8, 12, bottom));
    }

    /// Curves are thinned to the width of the axes: that has to be the width they are about to be drawn in, not the
    /// last.
    void layOut() {
        plot->plotLayout()->setOuterRect(plot->viewport());
        for (const auto phase :
             {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins, QCPLayoutElement::upLayout})
            plot->plotLayout()->update(phase);
    }

    void drawRun(const CanvasContent::Run& run, const Parts& p, int order) {
        const QCPRange x = plot->xAxis->range();
        const auto columns = static_cast<std::size_t>(std::max(1, plot->axisRect()->width()));
        const Curve& curve = *run.curve;
        const QString layer = run.live ? QStringLiteral("live") : QStringLiteral("main");
        for (QCPGraph* graph : {p.bandLow, p.bandHigh, p.raw, p.line, p.markers, p.end})
            graph->setLayer(layer);

        DrawnBand band;
        if (content.smoothed)
            band = drawnBand(curve, x.lower, x.upper,
                             static_cast<std::size_t>(static_cast<double>(columns) / kBandWindowPx) + 1);
        QColor veil = run.style.color;
        veil.setAlphaF(theme.isDark() ? 0.22F : 0.20F);
        const QVector<double> bandX(band.x.begin(), band.x.end());
        p.bandLow->setData(bandX, scaled(band.low, content.scale), true);
        p.bandHigh->setData(bandX, scaled(band.high, content.scale), true);
        p.bandHigh->setChannelFillGraph(p.bandLow);
        p.bandHigh->setBrush(veil);
        p.bandHigh->setPen(Qt::NoPen);
        p.bandLow->setPen(Qt::NoPen);

        // Few points: the raw values themselves, pale, say more than a band.
        DrawnLine raw;
        if (content.smoothed && band.x.empty())
            raw = drawnLine(curve, curve.raw(), x.lower, x.upper, columns);
        QColor pale = run.style.color;
        pale.setAlphaF(0.4F);
        p.raw->setData(QVector<double>(raw.x.begin(), raw.x.end()), scaled(raw.y, content.scale), true);
        p.raw->setPen(QPen(pale, 1));

        const Series& series = content.smoothed ? curve.smoothed() : curve.raw();
        const DrawnLine line = drawnLine(curve, series, x.lower, x.upper, columns);
        p.line->setData(QVector<double>(line.x.begin(), line.x.end()), scaled(line.y, content.scale), true);
        p.line->setPen(runPen(run.style, run.live ? 2.5 : 1.6));
        drawMarkers(run, p, series, order);
    }

    /// Markers tell runs apart without colour; at fixed distances on screen, shifted per run so that they do not meet.
    void drawMarkers(const CanvasContent::Run& run, const Parts& p, const Series& series, int order) {
        const Curve& curve = *run.curve;
        const QCPRange x = plot->xAxis->range();
        const double spacing = x.size() * kMarkerSpacingPx / std::max(1, plot->axisRect()->width());
        QVector<double> xs;
        QVector<double> ys;
        if (curve.size() > 0) {
            const double shift = spacing * (0.3 + 0.17 * (order % 5));
            for (double at = std::floor(x.lower / spacing) * spacing + shift; at < x.upper; at += spacing) {
                const std::size_t i = curve.nearest(at);
                if (std::abs(curve.x(i) - at) > spacing / 2 || !std::isfinite(series[i]) || curve.x(i) < x.lower)
                    continue;
                xs.push_back(curve.x(i));
                ys.push_back(series[i] * content.scale);
            }
        }
        const QColor inside = run.style.marker == 4 ? run.style.color : theme.lane;
        p.markers->setData(xs, ys, true);
        p.markers->setLineStyle(QCPGraph::lsNone);
        p.markers->setPen(Qt::NoPen);
        p.markers->setScatterStyle(QCPScatterStyle(shapeOf(run.style), QPen(run.style.color, 1.5), QBrush(inside), 7));
        QVector<double> endX;
        QVector<double> endY;
        if (run.live && curve.size() > 0) {
            endX.push_back(curve.x(curve.size() - 1));
            endY.push_back(series[curve.size() - 1] * content.scale);
        }
        p.end->setData(endX, endY, true);
        p.end->setLineStyle(QCPGraph::lsNone);
        p.end->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.lane, 1.5), QBrush(run.style.color), 10));
    }

    void drawLiveTag() {
        liveTag->setVisible(false);
        for (std::size_t i = 0; i < content.runs.size(); ++i) {
            const QSharedPointer<QCPGraphDataContainer> end = parts[i].end->data();
            if (end->isEmpty() || !std::isfinite(end->constBegin()->value))
                continue;
            liveTag->setVisible(true);
            liveTag->setFont(boldFont(labelFont(font)));
            liveTag->setColor(content.runs[i].style.color);
            liveTag->position->setCoords(end->constBegin()->key, end->constBegin()->value);
            liveTag->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
            liveTag->setPadding(QMargins(8, 0, 2, 4));
        }
    }

    void drawReferences() {
        const QCPRange y = plot->yAxis->range();
        for (std::size_t i = 0; i < references.size(); ++i) {
            const double value = content.references[i].value * content.scale;
            const ReferenceParts& p = references[i];
            QPen dash(theme.text2, 1);
            dash.setDashPattern({5, 3});
            p.line->setPen(dash);
            p.line->point1->setCoords(0, value);
            p.line->point2->setCoords(1, value);
            const bool inside = y.contains(value) && (!content.logY || value > 0.0);
            p.line->setVisible(inside);
            const QString arrow = inside ? QString() : value < y.lower ? QStringLiteral(" ↓") : QStringLiteral(" ↑");
            p.label->setText(QStringLiteral("%1 %2%3").arg(content.references[i].name, figure(value, 1), arrow));
            p.label->setFont(labelFont(font));
            p.label->setColor(theme.text2);
            QColor patch = theme.lane;
            patch.setAlphaF(0.75F);
            p.label->setBrush(patch);
            p.label->setPadding(QMargins(3, 0, 3, 1));
            p.label->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
            p.label->position->setTypeY(inside ? QCPItemPosition::ptPlotCoords : QCPItemPosition::ptAxisRectRatio);
            const bool atTop = !inside && value > y.upper;
            p.label->setPositionAlignment(Qt::AlignRight | (atTop ? Qt::AlignTop : Qt::AlignBottom));
            p.label->position->setCoords(1.0, inside ? value : atTop ? 0.0 : 1.0);
        }
    }

    void drawCursor() {
        const bool visible = std::isfinite(content.cursor) && plot->xAxis->range().contains(content.cursor);
        cursorLine->setVisible(visible);
        cursorTag->setVisible(visible);
        if (!visible)
            return;
        cursorLine->setPen(QPen(theme.text, 1));
        cursorLine->point1->setCoords(content.cursor, 1);
        cursorLine->point2->setCoords(content.cursor, 2);
        cursorTag->setText(QStringLiteral("%1 %2").arg(
            content.xLabel, figure(content.cursor, content.cursor == std::floor(content.cursor) ? 0 : 2)));
        cursorTag->setFont(labelFont(font));
        cursorTag->setColor(theme.text);
        cursorTag->setBrush(theme.panel);
        cursorTag->setPen(QPen(theme.control, 1));
        // Kept inside the picture near its edges.
        const double half = QFontMetricsF(labelFont(font)).horizontalAdvance(cursorTag->text()) / 2 + 8;
        const double x = plot->xAxis->coordToPixel(content.cursor);
        const double inside = std::clamp(x, half, std::max(half, plot->viewport().width() - half));
        cursorTag->position->setCoords(plot->xAxis->pixelToCoord(inside),
                                       -2.0 / std::max(1, plot->axisRect()->height()));
    }

    void applyTheme() {
        plot->setBackground(theme.panel);
        plot->axisRect()->setBackground(theme.lane);
        for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
            axis->setBasePen(QPen(theme.control, 1));
            axis->setTickPen(QPen(theme.control, 1));
            axis->setSubTickPen(QPen(theme.line, 1));
            axis->setTickLengthIn(0);
            axis->setTickLengthOut(3);
            axis->setSubTicks(false);
            axis->setTickLabelColor(theme.muted);
            axis->setTickLabelFont(labelFont(font));
            axis->setTickLabelPadding(4);
            axis->setLabelColor(theme.muted);
            axis->setLabelFont(labelFont(font));
            axis->setLabelPadding(2);
            axis->grid()->setPen(QPen(theme.line, 1));
            axis->grid()->setZeroLinePen(QPen(theme.line, 1));
        }
        plot->xAxis->grid()->setVisible(false);
        leftLabelWidth = 0.0;
    }
};

CurveCanvas::CurveCanvas(QWidget* parent, const CanvasContent& content, Callbacks callbacks)
    : d(std::make_unique<Private>(parent, content, std::move(callbacks))) {
    d->setUp();
}

CurveCanvas::~CurveCanvas() {
    // The plot may outlive this by the rest of its parent's destructor: nothing of it may call back.
    d->plot->disconnect();
    d->plot->xAxis->disconnect();
    d->plot->yAxis->disconnect();
}

QWidget* CurveCanvas::widget() const {
    return d->plot;
}

void CurveCanvas::setTheme(const Theme& theme, const QFont& font) {
    d->theme = theme;
    d->font = font;
    d->applyTheme();
}

void CurveCanvas::setFollow(bool on) {
    d->follow = on;
}

void CurveCanvas::replot() {
    d->plot->replot(QCustomPlot::rpRefreshHint);
}

int CurveCanvas::replotCount() const {
    return d->replots;
}

void CurveCanvas::render(QPaintDevice& device, int width, int height, bool vectors,
                         const std::function<void(QPainter&)>& more) const {
    const QRect before = d->plot->viewport();
    QCPPainter painter(&device);
    painter.setMode(QCPPainter::pmVectorized, vectors);
    d->plot->setViewport(QRect(0, 0, width, height));
    d->prepare();
    d->plot->toPainter(&painter, width, height);
    painter.setMode(QCPPainter::pmDefault);
    more(painter);
    d->plot->setViewport(before);
}

} // namespace pw::viz
