// Memory over time: exact extremes per pixel column, words over capacity, exports, pictures to look at.

#include "core/base/rng.h"
#include "tests/viz/plot_fixtures.h"
#include "tests/viz/screenshots.h"
#include "viz/plots/memory_geometry.h"
#include "viz/plots/memory_painting.h"
#include "viz/plots/memory_view.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

using namespace pw;
using namespace pw::viz;

namespace {

std::vector<MemoryPoint> manyPoints(std::size_t count) {
    Rng rng(5);
    std::vector<MemoryPoint> points;
    points.reserve(count);
    double at = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        points.push_back({at, static_cast<std::int64_t>(rng.below(12'000'000'000))});
        at += rng.uniform();
    }
    return points;
}

} // namespace

class TestMemory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aMillionPointsKeepTheirExactExtremes() {
        const std::vector<MemoryPoint> points = manyPoints(1'000'000);
        const double end = points.back().atUs;
        constexpr std::size_t kColumns = 517;
        const MemoryColumns columns = memoryColumns(points, 0.0, end, kColumns);
        // The plain way: every point into its column, and the value a column starts with.
        std::vector<std::int64_t> least(kColumns, std::numeric_limits<std::int64_t>::max());
        std::vector<std::int64_t> most(kColumns, std::numeric_limits<std::int64_t>::min());
        for (std::size_t c = 0; c < kColumns; ++c) {
            const std::int64_t value = bytesAt(points, end / kColumns * static_cast<double>(c) - 1e-12);
            least[c] = c == 0 ? points[0].bytes : value;
            most[c] = least[c];
        }
        for (const MemoryPoint& point : points) {
            const auto c = std::min(kColumns - 1, static_cast<std::size_t>(point.atUs / (end / kColumns)));
            least[c] = std::min(least[c], point.bytes);
            most[c] = std::max(most[c], point.bytes);
        }
        QVERIFY(columns.maxBytes == most);
        QVERIFY(columns.minBytes == least);
        const auto peak =
            std::max_element(points.begin(), points.end(), [](auto& a, auto& b) { return a.bytes < b.bytes; });
        QCOMPARE(*std::max_element(columns.maxBytes.begin(), columns.maxBytes.end()), peak->bytes);
    }

    void aColumnKnowsTheValueItStartsWith() {
        const std::vector<MemoryPoint> points = {{1.0, 100}, {5.0, 20}};
        const MemoryColumns columns = memoryColumns(points, 0.0, 10.0, 10);
        QCOMPARE(columns.maxBytes[0], 0);
        QCOMPARE(columns.maxBytes[3], 100);
        QCOMPARE(columns.minBytes[3], 100);
        QCOMPARE(columns.maxBytes[5], 100); // drops inside this column
        QCOMPARE(columns.minBytes[5], 20);
        QCOMPARE(columns.maxBytes[9], 20);
        QCOMPARE(bytesAt(points, 4.9), 100);
        QVERIFY(memoryColumns({}, 0.0, 1.0, 3).maxBytes == (std::vector<std::int64_t>{0, 0, 0}));
        QVERIFY(memoryColumns(points, 0.0, 1.0, 0).maxBytes.empty());
    }

    void overCapacityIsSaidInWords() {
        const test::HandMade made = test::fourOps();
        const std::vector<std::int64_t> capacities = {12'000, 12'000};
        MemoryScene scene;
        scene.devices = &made.devices;
        scene.capacityBytes = &capacities;
        scene.schedule = made.schedule.get();
        QCOMPARE(overCapacityText(scene, 0), QString());
        QCOMPARE(overCapacityText(scene, 1), QStringLiteral("B needs 13 of 12 kB at 0.0140 ms"));
    }

    void dangerIsDrawnOnlyOverCapacity() {
        const test::HandMade made = test::fourOps();
        const auto dangerPixels = [&](std::int64_t capacity) {
            MemoryView view;
            view.resize(540, 216);
            view.setSchedule(made.devices, {capacity, capacity}, made.schedule);
            const QImage image = view.grab().toImage();
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    count += image.pixelColor(x, y) == Theme::light().danger ? 1 : 0;
            return count;
        };
        QVERIFY(dangerPixels(12'000) > 20);
        QCOMPARE(dangerPixels(14'000), 0);
        QCOMPARE(dangerPixels(0), 0); // no limit
    }

    void exportsAndEmptyView() {
        MemoryView view;
        view.resize(540, 216);
        QVERIFY(!view.exportImage(QStringLiteral("x.png")).isEmpty());
        QVERIFY(!view.grab().isNull());
        const test::HandMade made = test::fourOps();
        view.setSchedule(made.devices, {12'000, 12'000}, made.schedule);
        view.setHovered(1);
        view.setRange(5.0, 20.0);
        QTemporaryDir dir;
        QCOMPARE(view.exportImage(dir.filePath(QStringLiteral("m.png"))), QString());
        QCOMPARE(QImage(dir.filePath(QStringLiteral("m.png"))).width(), 1080);
        QCOMPARE(view.exportImage(dir.filePath(QStringLiteral("m.svg"))), QString());
        QVERIFY(QFile(dir.filePath(QStringLiteral("m.svg"))).size() > 1000);
        view.setSchedule(nullptr, nullptr);
        QVERIFY(!view.exportImage(QStringLiteral("x.png")).isEmpty());
    }

    void pictures() {
        const test::PlacedStep step = test::inceptionStep();
        for (const Theme* theme : {&Theme::light(), &Theme::dark(), &Theme::highContrast()}) {
            MemoryView view;
            QFont font = view.font();
            font.setPixelSize(12);
            view.setFont(font);
            view.resize(540, 216);
            view.setTheme(*theme);
            view.setSchedule(step.problem, step.schedule);
            QVERIFY(test::saveScreenshot(view.grab().toImage(), QStringLiteral("memory-") + test::themeName(*theme)));
            std::vector<std::int64_t> tight(4, step.schedule->peakBytes[0] * 9 / 10);
            view.setSchedule(step.problem->devices(), tight, step.schedule);
            QVERIFY(
                test::saveScreenshot(view.grab().toImage(), QStringLiteral("memory-over-") + test::themeName(*theme)));
        }
    }
};

QTEST_MAIN(TestMemory)
#include "tst_memory.moc"
