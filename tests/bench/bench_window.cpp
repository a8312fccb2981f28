// Wall time of every event on the GUI thread while the window trains Placeto on Inception-v3, and the time until the window
// is up. Needs LibTorch for the training; prints what it measured and whether the 50 ms rule held.
//
//   QT_QPA_PLATFORM=offscreen build/release/bench/bench_window [SECONDS [FILE]]
//
// With 0 seconds it opens FILE (or zoo:SPEC) and expands every scope instead of training.

#include "core/experiment/memory_repository.h"
#include "core/jobs/job.h"
#include "core/learn/learn_loader.h"
#include "ui/main_window.h"
#include "ui/style.h"
#include "ui/views/graph_page.h"
#include "viz/graph/graph_view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;
    bool measuring = false;
    std::vector<double> eventMs;
    double worstMs = 0.0;
    QByteArray worst;

    bool notify(QObject* receiver, QEvent* event) override {
        if (!measuring || m_depth > 0)
            return deliver(receiver, event);
        const QByteArray name = receiver->metaObject()->className();
        const int type = event->type();
        QElapsedTimer timer;
        timer.start();
        const bool result = deliver(receiver, event);
        const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        eventMs.push_back(ms);
        if (ms > worstMs) {
            worstMs = ms;
            worst = name + " event " + QByteArray::number(type);
        }
        return result;
    }

private:
    bool deliver(QObject* receiver, QEvent* event) {
        ++m_depth;
        const bool result = QApplication::notify(receiver, event);
        --m_depth;
        return result;
    }
    int m_depth = 0;
};

void quitWhenLaidOut(pw::ui::MainWindow& window, QApplication& app) {
    if (window.graphPage()->view()->isLayoutRunning())
        QTimer::singleShot(100, &app, [&] { quitWhenLaidOut(window, app); });
    else
        QTimer::singleShot(500, &app, &QApplication::quit);
}

} // namespace

int main(int argc, char** argv) {
    QElapsedTimer start;
    start.start();
    pw::learn::chooseBlasCore();
    TimedApplication app(argc, argv);
    const double seconds = argc > 1 ? atof(argv[1]) : 15.0;
    QTemporaryDir folder;
    {
        pw::ui::Settings settings(folder.filePath(QStringLiteral("settings.ini")));
        pw::ui::AppServices services;
        auto placers = std::make_shared<pw::PlacerRegistry>();
        pw::addClassicPlacers(*placers);
        services.placers = placers;
        services.loadLearning = [] { return pw::learn::load(); };
        const auto repository = std::make_shared<pw::MemoryRepository>();
        services.openProject = [repository](const std::string&) -> pw::Result<pw::RepositoryPtr> { return repository; };
        services.dataFolder = folder.path().toStdString();
        pw::ui::MainWindow window(services, &settings);
        window.show();
        window.start({});
        QTimer::singleShot(0, &window, [&] { std::printf("window up after %lld ms\n", static_cast<long long>(start.elapsed())); });
        if (argc > 2)
            window.openFiles({QString::fromLocal8Bit(argv[2])});
        else
            window.openSample(QStringLiteral("zoo:inception_v3"), QStringLiteral("2xK80"));
        app.measuring = seconds <= 0.0;
        bool training = false;
        QObject::connect(window.document(), &pw::ui::Document::situationChanged, &window, [&] {
            if (training || !window.document()->problem())
                return;
            training = true;
            app.measuring = true;
            if (seconds <= 0.0) {
                window.graphPage()->view()->expandAll();
                window.experiments()->place("metis", 0.0);
                return;
            }
            pw::ui::TrainRequest request;
            request.graphs = {window.document()->graph()};
            request.devices = window.document()->devices();
            request.maxSeconds = seconds;
            window.experiments()->train(request);
        });
        QObject::connect(window.jobs(), &pw::ui::JobList::allFinished, &app, [&] {
            if (training)
                QTimer::singleShot(500, &app, [&] { quitWhenLaidOut(window, app); });
        });
        QApplication::exec();
    }
    pw::joinAllJobs();
    auto& ms = app.eventMs;
    if (ms.empty()) {
        std::puts("nothing was measured");
        return 1;
    }
    std::sort(ms.begin(), ms.end());
    std::printf("%zu events: median %.2f ms, 95 %% %.2f ms, longest %.1f ms (%s); 50 ms rule %s\n", ms.size(),
                ms[ms.size() / 2], ms[ms.size() * 95 / 100], app.worstMs, app.worst.constData(),
                app.worstMs < 50.0 ? "kept" : "broken");
    return app.worstMs < 50.0 ? 0 : 1;
}
