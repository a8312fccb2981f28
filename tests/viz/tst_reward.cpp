// Reward curves: smoothing, extremes, what is exported, how often is drawn, pictures to look at.

#include "core/base/rng.h"
#include "tests/viz/screenshots.h"
#include "viz/plots/curve_data.h"
#include "viz/plots/reward_plot.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace pw;
using namespace pw::viz;

namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> steps(std::size_t count) {
    std::vector<double> x(count);
    for (std::size_t i = 0; i < count; ++i)
        x[i] = static_cast<double>(i);
    return x;
}

/// A learning curve from `high` to `low` with noise.
std::vector<double> learning(std::size_t count, double high, double low, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> y(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double t = static_cast<double>(i);
        y[i] = low + (high - low) * std::exp(-t / 120.0) +
               std::abs(rng.normal()) * 180e3 * (rng.below(20) == 0 ? 3.0 : 1.0);
    }
    return y;
}

void fill(RewardPlot& plot) {
    plot.setMetric(QStringLiteral("step_time_us"), QStringLiteral("Step time"), QStringLiteral("ms"), 1e-3);
    plot.setXLabel(QStringLiteral("episode"));
    plot.setSmoothing(0.92);
    plot.addRun(1, QStringLiteral("Placeto, seed 3"), 0, true);
    plot.addRun(2, QStringLiteral("Placeto, seed 1"), 1, false);
    plot.addRun(3, QStringLiteral("Placeto, seed 2"), 2, false);
    plot.addRun(4, QStringLiteral("RNN (2017), seed 1"), 3, false);
    plot.setData(1, steps(312), learning(312, 5.9e6, 3.5e6, 1));
    plot.setData(2, steps(800), learning(800, 6.1e6, 3.4e6, 2));
    plot.setData(3, steps(800), learning(800, 6.0e6, 3.5e6, 3));
    plot.setData(4, steps(800), learning(800, 6.2e6, 3.9e6, 4));
    plot.setReference(QStringLiteral("METIS"), 4328.8e3);
    plot.setReference(QStringLiteral("lower bound"), 2649.4e3);
}

} // namespace

class TestReward : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void smoothingHasNoStartUpBias() {
        BiasCorrectedEma ema(0.9);
        QCOMPARE(ema.next(10.0), 10.0);
        // By hand: (0.9 * 1 + 0.1 * 20) / (1 - 0.9^2) = 2.9 / 0.19
        QVERIFY(std::abs(ema.next(20.0) - 2.9 / 0.19) < 1e-12);
        QVERIFY(std::isnan(ema.next(kNaN)));
        QVERIFY(std::isnan(ema.next(std::numeric_limits<double>::infinity())));
        // The gap changed nothing: (0.9 * 2.9 + 0.1 * 30) / (1 - 0.9^3)
        QVERIFY(std::abs(ema.next(30.0) - 5.61 / 0.271) < 1e-12);
        BiasCorrectedEma constant(0.99);
        for (int i = 0; i < 100; ++i)
            QVERIFY(std::abs(constant.next(7.0) - 7.0) < 1e-12);
        BiasCorrectedEma off(0.0);
        off.next(1.0);
        QCOMPARE(off.next(5.0), 5.0);
    }

    void appendingEqualsSettingAllAtOnce() {
        const auto x = steps(1000);
        const auto y = learning(1000, 6e6, 3e6, 9);
        Curve whole;
        whole.setSmoothing(0.8);
        whole.setData(x, y);
        Curve parts;
        for (std::size_t i = 0; i < 1000; i += 100)
            parts.append(
                {x.begin() + static_cast<std::ptrdiff_t>(i), x.begin() + static_cast<std::ptrdiff_t>(i + 100)},
                {y.begin() + static_cast<std::ptrdiff_t>(i), y.begin() + static_cast<std::ptrdiff_t>(i + 100)});
        parts.setSmoothing(0.8);
        for (std::size_t i = 0; i < 1000; ++i)
            QCOMPARE(parts.smoothed()[i], whole.smoothed()[i]);
    }

    void badPointsAreDroppedAndCounted() {
        Curve curve;
        curve.append({0, 1, 0.5, kNaN, 2, 3}, {1, -1, 7, 7, kNaN});
        QCOMPARE(curve.size(), std::size_t(3)); // 0, 1, 2
        QCOMPARE(curve.droppedCount(), std::size_t(3));
        QCOMPARE(curve.nonPositiveCount(), std::size_t(1));
        QCOMPARE(curve.extremes().count, std::size_t(2));
        QCOMPARE(curve.nearest(1.4), std::size_t(1));
        QCOMPARE(Curve().nearest(1.0), std::size_t(0));
    }

    void extremesOfBlocksEqualTheScan() {
        Rng rng(2);
        Series series;
        std::vector<double> plain;
        for (int i = 0; i < 5000; ++i) {
            plain.push_back(rng.below(50) == 0 ? kNaN : rng.normal());
            series.append(plain.back());
        }
        for (int round = 0; round < 300; ++round) {
            const std::size_t a = rng.below(5000);
            const std::size_t b = a + rng.below(5001 - a);
            double low = std::numeric_limits<double>::infinity();
            double high = -low;
            std::size_t count = 0;
            for (std::size_t i = a; i < b; ++i) {
                if (std::isnan(plain[i]))
                    continue;
                low = std::min(low, plain[i]);
                high = std::max(high, plain[i]);
                ++count;
            }
            const Extremes e = series.extremes(a, b);
            QCOMPARE(e.count, count);
            if (count > 0) {
                QCOMPARE(e.min, low);
                QCOMPARE(e.max, high);
            }
        }
    }

    void noExtremeIsLostInDrawing() {
        constexpr std::size_t kCount = 200'000;
        std::vector<double> y(kCount, 1.0);
        y[123'456] = 99.0; // one outlier each way
        y[77'777] = -99.0;
        Curve curve;
        curve.setSmoothing(0.9);
        curve.setData(steps(kCount), y);
        const DrawnLine line = drawnLine(curve, curve.raw(), 0, kCount - 1, 500);
        QVERIFY(line.x.size() <= 500 * 4 + 8);
        QCOMPARE(*std::max_element(line.y.begin(), line.y.end()), 99.0);
        QCOMPARE(*std::min_element(line.y.begin(), line.y.end()), -99.0);
        const DrawnBand band = drawnBand(curve, 0, kCount - 1, 80);
        QCOMPARE(*std::max_element(band.high.begin(), band.high.end()), 99.0);
        QCOMPARE(*std::min_element(band.low.begin(), band.low.end()), -99.0);
        QVERIFY(std::is_sorted(line.x.begin(), line.x.end()));
    }

    void aBandNeedsSeveralPointsPerWindow() {
        Curve curve;
        curve.setData(steps(30), std::vector<double>(30, 1.0));
        QVERIFY(drawnBand(curve, 0, 30, 80).x.empty());
        QVERIFY(!drawnBand(curve, 0, 30, 5).x.empty());
    }

    void liveDataAreDrawnAtMostTenTimesASecond() {
        RewardPlot plot;
        plot.resize(900, 216);
        plot.addRun(1, QStringLiteral("live"), 0, true);
        plot.show();
        plot.append(1, {0.0}, {1.0});
        QTRY_VERIFY(plot.replotCount() > 0);
        const int before = plot.replotCount();
        QElapsedTimer clock;
        clock.start();
        double x = 1.0;
        QTimer source; // a point every 2 ms
        connect(&source, &QTimer::timeout, &plot, [&] {
            plot.append(1, {x}, {x});
            x += 1.0;
        });
        source.start(2);
        QTRY_VERIFY(clock.elapsed() > 600);
        source.stop();
        const int drawn = plot.replotCount() - before;
        QVERIFY2(drawn >= 2 && drawn <= 8, qPrintable(QString::number(drawn)));
    }

    void csvHoldsEveryPoint() {
        RewardPlot plot;
        plot.setMetric(QStringLiteral("step_time_us"), QStringLiteral("Step time"), QStringLiteral("ms"), 1e-3);
        plot.addRun(1, QStringLiteral("a, \"b\""), 0, false);
        plot.addRun(2, QStringLiteral("c"), 1, false);
        plot.setSmoothing(0.9); // exported are the raw values
        plot.setData(1, {0, 1}, {1500, kNaN});
        plot.setData(2, {5}, {250});
        QTemporaryDir dir;
        QCOMPARE(plot.exportTo(dir.filePath(QStringLiteral("r.csv"))), QString());
        QFile csv(dir.filePath(QStringLiteral("r.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(
            QString::fromUtf8(csv.readAll()),
            QStringLiteral("run,step,value,unit\n\"a, \"\"b\"\"\",0,1.5,ms\n\"a, \"\"b\"\"\",1,,ms\nc,5,0.25,ms\n"));
    }

    void picturesAreExported() {
        RewardPlot plot;
        plot.resize(900, 216);
        fill(plot);
        QTemporaryDir dir;
        for (const char* ending : {"png", "svg", "pdf"}) {
            const QString file = dir.filePath(QStringLiteral("r.") + QLatin1String(ending));
            QCOMPARE(plot.exportTo(file), QString());
            QVERIFY(QFile(file).size() > 2000);
        }
        QImage png(dir.filePath(QStringLiteral("r.png")));
        QCOMPARE(png.size(), QSize(1800, 432));
        QFile svg(dir.filePath(QStringLiteral("r.svg")));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        const QByteArray text = svg.readAll();
        QVERIFY(text.contains("Placeto, seed 3") && text.contains("METIS"));
        QVERIFY(!plot.exportTo(dir.filePath(QStringLiteral("r.xyz"))).isEmpty());
        QVERIFY(!plot.exportTo(QStringLiteral("/no/such/folder/r.pdf")).isEmpty());
        QVERIFY(!RewardPlot().exportTo(dir.filePath(QStringLiteral("e.csv"))).isEmpty());
        QVERIFY(test::saveScreenshot(png, QStringLiteral("rewards-export")));
    }

    void aPlotThatWasNeverShownExportsTheSameCurves() {
        const auto exported = [](bool shown) {
            RewardPlot plot;
            plot.resize(900, 216);
            fill(plot);
            if (shown) {
                plot.show();
                const int before = plot.replotCount();
                [&] { QTRY_VERIFY(plot.replotCount() > before); }();
            }
            QTemporaryDir dir;
            const QString file = dir.filePath(QStringLiteral("r.png"));
            return plot.exportTo(file).isEmpty() ? QImage(file) : QImage();
        };
        const QImage never = exported(false);
        QVERIFY(!never.isNull());
        QCOMPARE(never, exported(true));
    }

    void theCursorSnapsToARunsStep() {
        RewardPlot plot;
        plot.resize(900, 216);
        fill(plot);
        QSignalSpy spy(&plot, &RewardPlot::cursorChanged);
        plot.setCursorAt(296.7);
        QCOMPARE(spy.last().at(0).toDouble(), 297.0);
        QTest::keyClick(&plot, Qt::Key_Right);
        QCOMPARE(spy.last().at(0).toDouble(), 298.0);
        QTest::keyClick(&plot, Qt::Key_Escape);
        QVERIFY(std::isnan(spy.last().at(0).toDouble()));
    }

    void oddValuesDoNoHarm() {
        RewardPlot plot;
        plot.resize(500, 160);
        plot.show();
        plot.addRun(1, QString(4000, QLatin1Char('x')), 7, true);
        plot.setData(1, {0, 1, 2, 3}, {kNaN, -1.0, std::numeric_limits<double>::infinity(), 0.0});
        plot.setLogY(true);
        plot.setReference(QStringLiteral("zero"), 0.0);
        QVERIFY(!plot.grab().isNull());
        plot.setLogY(false);
        plot.setData(1, {5}, {1e300});
        QVERIFY(!plot.grab().isNull());
        plot.setReference(QStringLiteral("zero"), kNaN);
        plot.append(99, {1}, {1}); // no such run
        plot.removeRun(1);
        plot.removeRun(1);
        QVERIFY(!plot.grab().isNull());
    }

    void pictures() {
        for (const Theme* theme : {&Theme::light(), &Theme::dark(), &Theme::highContrast()}) {
            RewardPlot plot;
            QFont font = plot.font();
            font.setPixelSize(12);
            plot.setFont(font);
            plot.resize(900, 216);
            plot.setTheme(*theme);
            fill(plot);
            plot.show();
            plot.setCursorAt(297);
            const int before = plot.replotCount();
            QTRY_VERIFY(plot.replotCount() > before);
            QVERIFY(test::saveScreenshot(plot.grab().toImage(), QStringLiteral("rewards-") + test::themeName(*theme)));
            plot.setLogY(true);
            plot.setSmoothing(0.0);
            const int again = plot.replotCount();
            QTRY_VERIFY(plot.replotCount() > again);
            QVERIFY(
                test::saveScreenshot(plot.grab().toImage(), QStringLiteral("rewards-log-") + test::themeName(*theme)));
        }
    }
};

QTEST_MAIN(TestReward)
#include "tst_reward.moc"
