#include "viz/plots/reward_plot.h"

#include "viz/plots/curve_data.h"
#include "viz/plots/plot_common.h"
#include "viz/plots/reward_legend.h"
#include "viz/plots/src/curve_canvas.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QImage>
#include <QImageWriter>
#include <QKeyEvent>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTextStream>
#include <QTimer>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

constexpr int kMinReplotIntervalMs = 100;
constexpr double kPngScale = 2.0;
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

QString csvField(const QString& text) {
    if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) && !text.contains(QLatin1Char('\n')))
        return text;
    QString quoted = text;
    return QLatin1Char('"') + quoted.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

} // namespace

struct RewardPlot::Private {
    struct Run {
        qint64 id = 0;
        QString name;
        int styleIndex = 0;
        bool live = false;
        std::unique_ptr<Curve> curve; ///< address is stable: the canvas refers to it
    };

    explicit Private(RewardPlot* plot)
        : q(plot) {}

    RewardPlot* q;
    std::vector<Run> runs;
    CanvasContent content;
    std::unique_ptr<CurveCanvas> canvas;
    Theme theme = Theme::light();
    QString label = QStringLiteral("Value");
    QString unit;
    QString emptyText;
    double smoothing = 0.0;
    bool lowestIsBest = true;
    bool follow = true;
    QTimer* replotTimer = nullptr;
    QElapsedTimer sinceReplot;
    QRectF legendArea;

    Run* find(qint64 id) {
        const auto it = std::find_if(runs.begin(), runs.end(), [id](const Run& run) { return run.id == id; });
        return it == runs.end() ? nullptr : &*it;
    }

    bool isEmpty() const {
        return std::none_of(runs.begin(), runs.end(), [](const Run& run) { return run.curve->size() > 0; });
    }

    /// Draws now or when 100 ms have passed since the last drawing, whichever is later.
    void schedule() {
        if (replotTimer->isActive())
            return;
        const qint64 passed = sinceReplot.isValid() ? sinceReplot.elapsed() : kMinReplotIntervalMs;
        replotTimer->start(static_cast<int>(std::max<qint64>(0, kMinReplotIntervalMs - passed)));
    }

    void draw() {
        sinceReplot.start();
        canvas->widget()->setVisible(!isEmpty());
        if (!isEmpty()) {
            placeParts();
            canvas->replot();
        }
        q->update();
    }

    void syncContent() {
        content.runs.clear();
        for (const Run& run : runs)
            content.runs.push_back({run.curve.get(), runStyle(run.styleIndex, theme), run.styleIndex, run.live});
        content.smoothed = smoothing > 0.0;
        content.yLabel = unit.isEmpty() ? label : QStringLiteral("%1, %2").arg(label, unit);
        schedule();
    }

    int decimals() const {
        double largest = 0.0;
        for (const Run& run : runs) {
            const Extremes e = run.curve->extremes();
            largest = std::max({largest, std::abs(e.min * content.scale), std::abs(e.max * content.scale)});
        }
        return largest >= 100.0 ? 1 : largest >= 1.0 ? 3 : 5;
    }

    RewardLegend legend() const {
        RewardLegend legend;
        const int places = decimals();
        legend.title = content.yLabel;
        const bool cursor = std::isfinite(content.cursor);
        if (cursor)
            legend.atHeader =
                QStringLiteral("at ") + figure(content.cursor, content.cursor == std::floor(content.cursor) ? 0 : 2);
        std::size_t hidden = 0;
        for (const Run& run : runs) {
            RewardLegend::Row row{run.name, runStyle(run.styleIndex, theme), run.live, {}, {}};
            const Extremes e = run.curve->extremes();
            if (e.count > 0)
                row.best = figure((lowestIsBest ? e.min : e.max) * content.scale, places);
            if (cursor)
                row.at = valueAt(*run.curve, places);
            hidden += run.curve->nonPositiveCount();
            legend.rows.push_back(row);
        }
        if (smoothing > 0.0)
            legend.note =
                QStringLiteral("Line: smoothed by %1. Band: lowest to highest raw value. ").arg(figure(smoothing, 2));
        legend.note += lowestIsBest ? QStringLiteral("Lower is better.") : QStringLiteral("Higher is better.");
        if (content.logY && hidden > 0)
            legend.note +=
                QStringLiteral(" %1 values at or below zero have no place on a logarithmic axis.").arg(hidden);
        return legend;
    }

    /// A run has a value where it has been: nothing before its first and after its last step.
    QString valueAt(const Curve& curve, int places) const {
        if (curve.size() == 0 || content.cursor < curve.x(0) || content.cursor > curve.x(curve.size() - 1))
            return QStringLiteral("–");
        const std::size_t i = curve.nearest(content.cursor);
        return figure((content.smoothed ? curve.smoothed() : curve.raw())[i] * content.scale, places);
    }

    /// The legend stands beside the plot, never on it; below it where the view is narrow.
    std::pair<QRectF, QRectF> partsFor(const QSizeF& size) const {
        const RewardLegend l = legend();
        const double width = l.preferredWidth(q->font());
        if (size.width() >= 2.0 * width)
            return {QRectF(0, 0, size.width() - width - 12, size.height()),
                    QRectF(size.width() - width - 4, 4, width, size.height() - 8)};
        const double height = std::min(l.preferredHeight(q->font()), size.height() * 0.4);
        return {QRectF(0, 0, size.width(), size.height() - height),
                QRectF(4, size.height() - height, size.width() - 8, height)};
    }

    void placeParts() {
        const auto [plotArea, area] = partsFor(QSizeF(q->size()));
        canvas->widget()->setGeometry(plotArea.toRect().adjusted(1, 1, -1, -1)); // the focus line stays in sight
        legendArea = area;
    }

    void userChangedRange() {
        if (follow) {
            q->setFollow(false);
        }
        schedule();
    }

    void moveCursor(double x) {
        double snapped = kNotANumber;
        if (std::isfinite(x)) {
            // To the nearest step that a run has.
            double best = std::numeric_limits<double>::infinity();
            for (const Run& run : runs) {
                if (run.curve->size() == 0)
                    continue;
                const double at = run.curve->x(run.curve->nearest(x));
                if (std::abs(at - x) < best) {
                    best = std::abs(at - x);
                    snapped = at;
                }
            }
        }
        const bool same = snapped == content.cursor || (!std::isfinite(snapped) && !std::isfinite(content.cursor));
        if (same)
            return;
        content.cursor = snapped;
        schedule();
        Q_EMIT q->cursorChanged(snapped);
    }

    void stepCursor(int step) {
        const Run* longest = nullptr;
        for (const Run& run : runs) {
            if (!longest || run.curve->size() > longest->curve->size())
                longest = &run;
        }
        if (!longest || longest->curve->size() == 0)
            return;
        const Curve& curve = *longest->curve;
        const auto last = static_cast<std::int64_t>(curve.size()) - 1;
        std::int64_t i =
            std::isfinite(content.cursor) ? static_cast<std::int64_t>(curve.nearest(content.cursor)) + step : last;
        i = std::clamp<std::int64_t>(i, 0, last);
        moveCursor(curve.x(static_cast<std::size_t>(i)));
    }

    QString writeCsv(const QString& file) const {
        QSaveFile out(file);
        if (!out.open(QIODevice::WriteOnly))
            return out.errorString();
        QTextStream stream(&out);
        stream.setRealNumberNotation(QTextStream::SmartNotation);
        stream.setRealNumberPrecision(17);
        stream << "run,step,value,unit\n";
        for (const Run& run : runs) {
            for (std::size_t i = 0; i < run.curve->size(); ++i) {
                stream << csvField(run.name) << ',' << run.curve->x(i) << ',';
                if (std::isfinite(run.curve->raw()[i]))
                    stream << run.curve->raw()[i] * content.scale;
                stream << ',' << csvField(unit) << '\n';
            }
        }
        stream.flush();
        return out.commit() ? QString() : out.errorString();
    }

    void renderTo(QPaintDevice& device, const QSize& size, bool vectors) {
        const auto [plotArea, area] = partsFor(QSizeF(size));
        const QRectF legendRect = area;
        const QRectF beside(plotArea.right(), 0, size.width() - plotArea.right(), size.height());
        const QRectF below(0, plotArea.bottom(), size.width(), size.height() - plotArea.bottom());
        canvas->render(device, static_cast<int>(plotArea.width()), static_cast<int>(plotArea.height()), vectors,
                       [&](QPainter& painter) {
                           painter.setClipping(false);
                           painter.fillRect(beside, theme.panel);
                           painter.fillRect(below, theme.panel);
                           legend().paint(painter, legendRect, theme, q->font());
                       });
    }

    QString writePicture(const QString& file, const QString& ending) {
        QSaveFile out(file);
        if (!out.open(QIODevice::WriteOnly))
            return out.errorString();
        const QSize size = q->size().expandedTo(q->minimumSizeHint());
        if (ending == QLatin1String("png")) {
            QImage image(size * kPngScale, QImage::Format_RGB32);
            image.setDevicePixelRatio(kPngScale);
            image.fill(theme.panel);
            renderTo(image, size, false);
            QImageWriter writer(&out, "png");
            if (!writer.write(image))
                return writer.errorString();
        } else if (ending == QLatin1String("svg")) {
            QSvgGenerator generator;
            generator.setOutputDevice(&out);
            generator.setSize(size);
            generator.setViewBox(QRect(QPoint(0, 0), size));
            generator.setTitle(content.yLabel);
            renderTo(generator, size, true);
        } else {
            QPdfWriter writer(&out);
            // One pixel is one point, so that the page has the size of the view.
            writer.setResolution(72);
            writer.setPageSize(QPageSize(QSizeF(size), QPageSize::Point, QString(), QPageSize::ExactMatch));
            writer.setPageMargins(QMarginsF());
            writer.setTitle(content.yLabel);
            renderTo(writer, size, true);
        }
        return out.commit() ? QString() : out.errorString();
    }
};

RewardPlot::RewardPlot(QWidget* parent)
    : QWidget(parent)
    , d(std::make_unique<Private>(this)) {
    d->emptyText = QStringLiteral("No run has recorded a reward. Start one with Train…");
    d->replotTimer = new QTimer(this);
    d->replotTimer->setSingleShot(true);
    d->replotTimer->setTimerType(Qt::PreciseTimer);
    connect(d->replotTimer, &QTimer::timeout, this, [this] { d->draw(); });
    d->canvas = std::make_unique<CurveCanvas>(
        this, d->content,
        CurveCanvas::Callbacks{[this](double x) { d->moveCursor(x); }, [this] { d->userChangedRange(); },
                               [this] { zoomToFit(); }, [this] { setFocus(Qt::MouseFocusReason); }});
    d->canvas->setTheme(d->theme, font());
    d->canvas->widget()->hide();
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(QStringLiteral("Rewards"));
    setAccessibleDescription(QStringLiteral("Curves of one metric over steps for several runs"));
}

RewardPlot::~RewardPlot() = default;

void RewardPlot::setMetric(const QString& key, const QString& label, const QString& unit, double scale) {
    Q_UNUSED(key);
    d->label = label;
    d->unit = unit;
    d->content.scale = std::isfinite(scale) && scale != 0.0 ? scale : 1.0;
    d->syncContent();
}

void RewardPlot::setXLabel(const QString& label) {
    d->content.xLabel = label;
    d->schedule();
}

void RewardPlot::addRun(qint64 run, const QString& name, int styleIndex, bool live) {
    if (Private::Run* existing = d->find(run)) {
        existing->name = name;
        existing->styleIndex = std::max(0, styleIndex);
        existing->live = live;
    } else {
        d->runs.push_back({run, name, std::max(0, styleIndex), live, std::make_unique<Curve>()});
        d->runs.back().curve->setSmoothing(d->smoothing);
    }
    d->syncContent();
}

void RewardPlot::removeRun(qint64 run) {
    std::erase_if(d->runs, [run](const Private::Run& r) { return r.id == run; });
    d->syncContent();
}

void RewardPlot::setLive(qint64 run, bool live) {
    if (Private::Run* existing = d->find(run)) {
        existing->live = live;
        d->syncContent();
    }
}

void RewardPlot::append(qint64 run, const std::vector<double>& x, const std::vector<double>& y) {
    if (Private::Run* existing = d->find(run)) {
        existing->curve->append(x, y);
        d->schedule();
    }
}

void RewardPlot::setData(qint64 run, std::vector<double> x, std::vector<double> y) {
    if (Private::Run* existing = d->find(run)) {
        existing->curve->setData(x, y);
        d->schedule();
    }
}

void RewardPlot::setReference(const QString& name, double value) {
    auto& references = d->content.references;
    std::erase_if(references, [&](const CanvasContent::Reference& reference) { return reference.name == name; });
    if (std::isfinite(value))
        references.push_back({name, value});
    d->schedule();
}

void RewardPlot::setSmoothing(double weight) {
    const double clamped = std::isfinite(weight) ? std::clamp(weight, 0.0, 0.9999) : 0.0;
    if (clamped == d->smoothing)
        return;
    d->smoothing = clamped;
    for (Private::Run& run : d->runs)
        run.curve->setSmoothing(clamped);
    d->syncContent();
}

void RewardPlot::setLogY(bool on) {
    d->content.logY = on;
    zoomToFit();
}

void RewardPlot::setTheme(const Theme& theme) {
    d->theme = theme;
    d->canvas->setTheme(theme, font());
    d->syncContent();
    update();
}

void RewardPlot::setEmptyText(const QString& text) {
    d->emptyText = text;
    update();
}

void RewardPlot::setLowestIsBest(bool on) {
    d->lowestIsBest = on;
    d->schedule();
}

void RewardPlot::setFollow(bool on) {
    if (on == d->follow)
        return;
    d->follow = on;
    d->canvas->setFollow(on);
    d->schedule();
}

int RewardPlot::replotCount() const {
    return d->canvas->replotCount();
}

QSize RewardPlot::sizeHint() const {
    return {900, 216};
}

QSize RewardPlot::minimumSizeHint() const {
    return {240, 120};
}

QString RewardPlot::exportTo(const QString& file) {
    if (d->isEmpty())
        return QStringLiteral("there is no curve to export");
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("csv"))
        return d->writeCsv(file);
    if (ending == QLatin1String("png") || ending == QLatin1String("svg") || ending == QLatin1String("pdf"))
        return d->writePicture(file, ending);
    return QStringLiteral("the ending must be .png, .svg, .pdf or .csv, not \".%1\"").arg(ending);
}

void RewardPlot::zoomToFit() {
    setFollow(true);
    d->schedule();
}

void RewardPlot::setCursorAt(double x) {
    d->moveCursor(x);
}

void RewardPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), d->theme.panel);
    if (d->isEmpty())
        paintEmptyText(painter, QRectF(rect()), d->emptyText, d->theme, font());
    else
        d->legend().paint(painter, d->legendArea, d->theme, font());
    if (hasFocus()) {
        painter.setPen(QPen(d->theme.accent, 1));
        painter.drawRect(QRectF(rect()).adjusted(0, 0, -1, -1));
    }
}

void RewardPlot::resizeEvent(QResizeEvent*) {
    d->placeParts();
    d->draw();
}

void RewardPlot::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) {
        d->canvas->setTheme(d->theme, font());
        d->schedule();
    }
    QWidget::changeEvent(event);
}

void RewardPlot::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Left:
        d->stepCursor(-1);
        break;
    case Qt::Key_Right:
        d->stepCursor(1);
        break;
    case Qt::Key_Escape:
        d->moveCursor(kNotANumber);
        break;
    case Qt::Key_Home:
    case Qt::Key_F:
    case Qt::Key_0:
        zoomToFit();
        break;
    default:
        QWidget::keyPressEvent(event);
        break;
    }
}

} // namespace pw::viz
