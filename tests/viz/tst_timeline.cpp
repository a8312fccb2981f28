// The timeline: laws of its geometry, hit tests, what clicks and keys emit, exports, pictures to look at.

#include "core/base/rng.h"
#include "tests/viz/plot_fixtures.h"
#include "tests/viz/screenshots.h"
#include "viz/plots/plot_common.h"
#include "viz/plots/timeline_geometry.h"
#include "viz/plots/timeline_painting.h"
#include "viz/plots/timeline_tooltip.h"
#include "viz/plots/timeline_view.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QWheelEvent>
#include <QtTest>

#include <cmath>

using namespace pw;
using namespace pw::viz;

namespace {

TimelineModel modelOf(const test::HandMade& made, const std::vector<bool>& moved = {}) {
    return TimelineModel::build(*made.graph, made.devices.count(), *made.schedule, moved);
}

/// A view of fourOps(), shown, with whole-step range.
std::unique_ptr<TimelineView> shown(const test::HandMade& made) {
    auto view = std::make_unique<TimelineView>();
    view->resize(700, 216);
    view->setSchedule(made.graph, made.devices, made.schedule);
    view->show();
    return view;
}

/// Where a click selects `op`: found by scanning, so that the test knows nothing of margins.
QPoint findOp(TimelineView& view, quint32 op) {
    for (int y = 4; y < view.height(); y += 4) {
        for (int x = 4; x < view.width(); x += 6) {
            QTest::mouseMove(&view, QPoint(x, y));
            QSignalSpy spy(&view, &TimelineView::selectionChanged);
            QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(x, y));
            if (spy.count() > 0 && spy.last().at(0).value<QList<quint32>>() == QList<quint32>{op})
                return {x, y};
        }
    }
    return {-1, -1};
}

} // namespace

class TestTimeline : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void figuresHaveCommasAndATrueMinus() {
        QCOMPARE(figure(3333.6, 1), QStringLiteral("3,333.6"));
        QCOMPARE(figure(-995.2, 1), QString(QChar(0x2212)) + QStringLiteral("995.2"));
        QCOMPARE(figure(-0.04, 1), QStringLiteral("0.0"));
        QCOMPARE(msText(3333600.0), QStringLiteral("3,333.6 ms"));
        QCOMPARE(bytesOfText(13.1e9, 12e9), QStringLiteral("13.1 of 12.0 GB"));
        QCOMPARE(bytesOfText(12.01e9, 12e9), QStringLiteral("12.01 of 12.00 GB"));
    }

    void ticksAreRoundAndInside() {
        const Ticks ticks = niceTicks(0, 3333.6, 8);
        QCOMPARE(ticks.step, 500.0);
        QCOMPARE(ticks.values.size(), std::size_t(7));
        QCOMPARE(niceTicks(0.0, 0.03, 4).decimals, 2);
        QVERIFY(niceTicks(1.0, 1.0, 5).values.empty());
        QVERIFY(niceTicks(1e15, 1e15 + 0.5, 5).values.size() <= 7); // below the resolution of a double: no endless loop
    }

    void lanesFollowDevicesAndSenders() {
        const TimelineModel model = modelOf(test::fourOps());
        QCOMPARE(model.lanes.size(), std::size_t(3)); // A, B, A sends
        QCOMPARE(model.lanes[0].size(), std::size_t(2));
        QVERIFY(model.lanes[2].kind == TimelineLane::Kind::Sends);
        QCOMPARE(model.laneOfSender[1], -1);
        QVERIFY(model.lanes[1].look[1] == BarLook::Fill); // d is backward
        QCOMPARE(model.barCount, std::size_t(5));
    }

    void movedFlagsReplacePhases() {
        const TimelineModel model = modelOf(test::fourOps(), {true, false, false, false});
        QVERIFY(model.lanes[0].look[0] == BarLook::Fill);
        QVERIFY(model.lanes[1].look[1] == BarLook::Tint);
    }

    void mergingLosesNothing() {
        const test::HandMade made = test::manyBars(20000, 3);
        const TimelineModel model = modelOf(made);
        Rng rng(3);
        std::vector<PixelBar> bars;
        for (int round = 0; round < 40; ++round) {
            const double span = model.endUs * std::pow(10.0, -4.0 * rng.uniform());
            const double from = (model.endUs - span) * rng.uniform();
            const TimeWindow window{from, from + span, 800.0};
            for (const TimelineLane& lane : model.lanes) {
                mergeBars(lane, window, bars);
                std::size_t visible = 0;
                for (std::size_t i = 0; i < lane.size(); ++i)
                    visible += lane.endUs[i] >= window.fromUs && lane.startUs[i] <= window.toUs ? 1 : 0;
                std::size_t drawn = 0;
                for (std::size_t b = 0; b < bars.size(); ++b) {
                    drawn += bars[b].count();
                    QVERIFY(bars[b].x0 <= bars[b].x1);
                    QVERIFY(b == 0 || bars[b].first > bars[b - 1].last);
                    for (std::uint32_t i = bars[b].first; i <= bars[b].last; ++i) {
                        QVERIFY(window.toPx(lane.startUs[i]) >= bars[b].x0 - 1e-6);
                        QVERIFY(window.toPx(lane.endUs[i]) <= bars[b].x1 + 1e-6);
                    }
                }
                QCOMPARE(drawn, visible);
                QVERIFY(bars.size() <= 2 * 800 + 2); // never more than a few rectangles per pixel
            }
        }
    }

    void wideNeighboursKeepTheirEdges() {
        TimelineLane lane;
        for (int i = 0; i < 3; ++i) {
            lane.startUs.push_back(10.0 * i);
            lane.endUs.push_back(10.0 * (i + 1));
            lane.maxEndUs.push_back(10.0 * (i + 1));
            lane.item.push_back(static_cast<std::uint32_t>(i));
            lane.group.push_back(1);
            lane.look.push_back(BarLook::Tint);
        }
        std::vector<PixelBar> bars;
        mergeBars(lane, {0, 30, 300}, bars); // 100 px each
        QCOMPARE(bars.size(), std::size_t(3));
        mergeBars(lane, {0, 3000, 300}, bars); // 1 px each, one scope
        QCOMPARE(bars.size(), std::size_t(1));
        lane.group = {1, 2, 3};
        mergeBars(lane, {0, 3000, 300}, bars); // a pixel each, three scopes
        QCOMPARE(bars.size(), std::size_t(3));
    }

    void hitTestFindsTheBarAndItsNeighbours() {
        const TimelineModel model = modelOf(test::fourOps());
        QCOMPARE(*barAt(model.lanes[0], 5.0, 0.0), std::size_t(0));
        QCOMPARE(*barAt(model.lanes[0], 12.0, 0.0), std::size_t(1));
        QVERIFY(!barAt(model.lanes[0], 11.0, 0.5));
        QCOMPARE(*barAt(model.lanes[0], 10.4, 0.5), std::size_t(0));
        QCOMPARE(*barAt(model.lanes[0], 11.6, 0.5), std::size_t(1));
        QVERIFY(!barAt(model.lanes[0], 31.0, 0.5));
    }

    void hitTestEqualsASearchThroughAll() {
        const test::HandMade made = test::manyBars(3000, 2);
        const TimelineModel model = modelOf(made);
        Rng rng(11);
        for (int i = 0; i < 2000; ++i) {
            const double us = model.endUs * rng.uniform();
            const TimelineLane& lane = model.lanes[static_cast<std::size_t>(i) % model.lanes.size()];
            bool covered = false;
            for (std::size_t b = 0; b < lane.size(); ++b)
                covered = covered || (lane.startUs[b] <= us && us <= lane.endUs[b]);
            const auto hit = barAt(lane, us, 0.0);
            QCOMPARE(hit.has_value(), covered);
            QVERIFY(!hit || (lane.startUs[*hit] <= us && us <= lane.endUs[*hit]));
        }
    }

    void criticalPathBoxesFollowTheLanes() {
        const test::HandMade made = test::fourOps();
        const TimelineModel model = modelOf(made);
        const auto boxes = pathBoxes(model, *made.schedule, true, 0.1);
        QCOMPARE(boxes.size(), std::size_t(3)); // b and d touch in one lane
        QCOMPARE(boxes[1].lane, std::size_t(2));
        QCOMPARE(boxes[2].endUs, 22.0);
        QCOMPARE(pathBoxes(model, *made.schedule, false, 0.1).size(), std::size_t(2));
    }

    void tooltipNamesWhatWasWaitedFor() {
        const test::HandMade made = test::fourOps();
        const auto reason = [&](std::size_t op) {
            return waitReason(*made.graph, made.devices, *made.schedule, OpId(op));
        };
        QVERIFY(reason(0).contains(QStringLiteral("no inputs")));
        QVERIFY(reason(1).startsWith(QStringLiteral("link busy"))); // the transfer stood for 2 us
        QVERIFY(reason(2).startsWith(QStringLiteral("device busy")));
        QVERIFY(reason(3).startsWith(QStringLiteral("input late")));
        QVERIFY(opTip(*made.graph, made.devices, *made.schedule, OpId(1)).contains(QStringLiteral("GPU B")));
        QVERIFY(transferTip(*made.graph, made.devices, made.schedule->transfers[0])
                    .contains(QStringLiteral("GPU A → GPU B")));
    }

    void timesThatAreNotFiniteAreLeftOut() {
        test::HandMade made = test::fourOps();
        made.schedule->startUs[1] = std::nan("");
        made.schedule->placement[2] = DeviceId();
        made.schedule->transfers[0].from = DeviceId(77);
        const TimelineModel model = modelOf(made);
        QCOMPARE(model.barCount, std::size_t(2));
        const auto view = shown(made);
        view->setShowCriticalPath(true);
        QVERIFY(!view->grab().isNull());
    }

    void clickSelectsAndEscapeClears() {
        const test::HandMade made = test::fourOps();
        const auto view = shown(made);
        const QPoint a = findOp(*view, 0);
        const QPoint b = findOp(*view, 1);
        QVERIFY(a.x() >= 0 && b.x() >= 0);
        QSignalSpy spy(view.get(), &TimelineView::selectionChanged);
        QTest::mouseClick(view.get(), Qt::LeftButton, {}, a);
        QTest::mouseClick(view.get(), Qt::LeftButton, Qt::ControlModifier, b);
        QCOMPARE(spy.last().at(0).value<QList<quint32>>(), (QList<quint32>{0, 1}));
        QTest::keyClick(view.get(), Qt::Key_Escape);
        QVERIFY(spy.last().at(0).value<QList<quint32>>().isEmpty());
        QTest::keyClick(view.get(), Qt::Key_Period);
        QTest::keyClick(view.get(), Qt::Key_Period);
        QCOMPARE(spy.last().at(0).value<QList<quint32>>(), QList<quint32>{2}); // c follows a on GPU A
    }

    void settingASelectionIsSilent() {
        const auto view = shown(test::fourOps());
        QSignalSpy spy(view.get(), &TimelineView::selectionChanged);
        view->setSelection({1, 2, 999});
        view->setHovered(2);
        QVERIFY(!view->grab().isNull());
        QCOMPARE(spy.count(), 0);
    }

    void shiftDragSelectsTheSpan() {
        const auto view = shown(test::fourOps());
        QSignalSpy spy(view.get(), &TimelineView::selectionChanged);
        const int y = 40;
        QTest::mousePress(view.get(), Qt::LeftButton, Qt::ShiftModifier, QPoint(view->width() - 40, y));
        QMouseEvent move(QEvent::MouseMove, QPointF(view->width() - 20, y),
                         view->mapToGlobal(QPointF(view->width() - 20, y)), Qt::NoButton, Qt::LeftButton,
                         Qt::ShiftModifier);
        QCoreApplication::sendEvent(view.get(), &move);
        QTest::mouseRelease(view.get(), Qt::LeftButton, Qt::ShiftModifier, QPoint(view->width() - 20, y));
        QCOMPARE(spy.count(), 1);
        QCOMPARE(spy.last().at(0).value<QList<quint32>>(), QList<quint32>{2}); // only c runs near the end
    }

    void wheelZoomsAtThePointerAndStaysInside() {
        const auto view = shown(test::fourOps());
        QSignalSpy spy(view.get(), &TimelineView::rangeChanged);
        const QPointF pos(400, 60);
        for (int i = 0; i < 400; ++i) {
            QWheelEvent wheel(pos, view->mapToGlobal(pos), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier,
                              Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(view.get(), &wheel);
        }
        QVERIFY(spy.count() > 0);
        QVERIFY(view->toUs() > view->fromUs());
        QVERIFY(view->fromUs() > 10.0 && view->toUs() < 25.0);
        QVERIFY(!view->grab().isNull());
        view->zoomToFit();
        QCOMPARE(view->fromUs(), 0.0);
        QCOMPARE(view->toUs(), 30.0);
        view->setAxisEnd(60.0);
        QCOMPARE(view->toUs(), 60.0);
    }

    void emptyViewSpeaks() {
        TimelineView view;
        view.resize(600, 200);
        const QImage before = view.grab().toImage();
        view.setEmptyText(QStringLiteral("Something else."));
        QVERIFY(before != view.grab().toImage());
        QVERIFY(!view.exportImage(QStringLiteral("x.png")).isEmpty());
        view.setSchedule(nullptr, nullptr);
    }

    void exportsPngAndSvgAndSaysWhyNot() {
        const auto view = shown(test::fourOps());
        QTemporaryDir dir;
        QCOMPARE(view->exportImage(dir.filePath(QStringLiteral("t.png"))), QString());
        QCOMPARE(QImage(dir.filePath(QStringLiteral("t.png"))).width(), 1400);
        QCOMPARE(view->exportImage(dir.filePath(QStringLiteral("t.svg"))), QString());
        QFile svg(dir.filePath(QStringLiteral("t.svg")));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        QVERIFY(svg.readAll().contains("GPU A"));
        QVERIFY(!view->exportImage(dir.filePath(QStringLiteral("t.gif"))).isEmpty());
        QVERIFY(!view->exportImage(QStringLiteral("/no/such/folder/t.png")).isEmpty());
    }

    void lanesGrowIntoFreeRoomOnly() {
        const test::HandMade made = test::fourOps();
        const TimelineModel model = modelOf(made);
        const auto heightAt = [&](double height) {
            const TimelineLayout layout = layoutTimeline(model, *made.graph, made.devices, *made.schedule,
                                                         QSizeF(700, height), QFont(), true);
            for (std::size_t i = 1; i < layout.rows.size(); ++i) // no gap that was not there, no overlap
                if (layout.rows[i].top < layout.rows[i - 1].top + layout.rows[i - 1].height)
                    return -1.0;
            if (layout.rows.back().top + layout.rows.back().height != layout.contentHeight)
                return -2.0;
            return layout.rows[static_cast<std::size_t>(layout.rowOfLane[0])].height;
        };
        const double least = heightAt(60);
        QVERIFY(least >= 24);
        QVERIFY(heightAt(1000) > least);
        QVERIFY(heightAt(1000) <= 44);
        QCOMPARE(heightAt(1000), heightAt(2000));
    }

    void manyDevicesScroll() {
        const test::HandMade made = test::manyBars(2000, 40);
        const auto view = shown(made);
        view->setShowCriticalPath(true);
        QVERIFY(!view->grab().isNull());
        QTemporaryDir dir;
        QCOMPARE(view->exportImage(dir.filePath(QStringLiteral("all.png"))), QString());
        QVERIFY(QImage(dir.filePath(QStringLiteral("all.png"))).height() > 40 * 24 * 2);
    }

    void pictures() {
        const test::PlacedStep step = test::inceptionStep();
        QVERIFY(step.schedule->stepTimeUs > 0);
        for (const Theme* theme : {&Theme::light(), &Theme::dark(), &Theme::highContrast()}) {
            TimelineView view;
            QFont font = view.font();
            font.setPixelSize(12);
            view.setFont(font);
            view.resize(900, 216);
            view.setSchedule(step.problem, step.schedule);
            view.setTheme(*theme);
            view.setShowCriticalPath(true);
            view.setSelection({30});
            view.setHovered(60);
            QVERIFY(test::saveScreenshot(view.grab().toImage(), QStringLiteral("timeline-") + test::themeName(*theme)));
        }
        TimelineView compare;
        compare.resize(900, 216);
        compare.setSchedule(step.problem, step.schedule);
        std::vector<bool> moved(step.problem->opCount());
        for (std::size_t i = 0; i < moved.size(); ++i)
            moved[i] = i % 5 == 0;
        compare.setMoved(moved);
        compare.setShowLinks(false);
        QVERIFY(test::saveScreenshot(compare.grab().toImage(), QStringLiteral("timeline-compare")));
        compare.setMoved({});
        compare.setRange(step.schedule->stepTimeUs * 0.2, step.schedule->stepTimeUs * 0.25);
        QVERIFY(test::saveScreenshot(compare.grab().toImage(), QStringLiteral("timeline-zoomed")));
    }
};

QTEST_MAIN(TestTimeline)
#include "tst_timeline.moc"
