#include "app/gui/screenshot_tour.h"

#include "ui/actions.h"
#include "ui/dialogs/groups_dialog.h"
#include "ui/dialogs/train_dialog.h"
#include "ui/dialogs/zoo_dialog.h"
#include "ui/docks/inspector_panel.h"
#include "ui/docks/jobs_panel.h"
#include "ui/docks/rewards_panel.h"
#include "ui/docks/runs_panel.h"
#include "ui/main_window.h"
#include "ui/panel_dock.h"
#include "ui/views/compare_page.h"
#include "ui/views/graph_page.h"
#include "viz/graph/graph_view.h"
#include "viz/plots/timeline_view.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QTimer>

#include <cstdio>

namespace pw::app {

namespace {
constexpr int kPollMs = 50;
constexpr int kCalmPolls = 8; ///< ready this long in a row: layouts and redraws have settled
constexpr QSize kSmall(1440, 900);
constexpr QSize kLarge(1920, 1080);
constexpr QSize kLeast(1024, 700);
} // namespace

ScreenshotTour::ScreenshotTour(ui::MainWindow* window, const QString& folder, double trainSeconds, QObject* parent)
    : QObject(parent), m_window(window), m_folder(folder) {
    QDir().mkpath(folder);
    addSteps(trainSeconds);
}

void ScreenshotTour::add(const QString& what, std::function<void()> act, std::function<bool()> ready) {
    m_steps.push_back({what, std::move(act), std::move(ready)});
}

void ScreenshotTour::selectFirst(const std::string& type) {
    const GraphPtr graph = m_window->document()->graph();
    for (std::size_t i = graph->opCount() / 8; i < graph->opCount(); ++i) {
        if (graph->op(OpId(i)).type == type) {
            m_window->selection()->reveal(static_cast<quint32>(i));
            return;
        }
    }
}

void ScreenshotTour::addSteps(double trainSeconds) {
    ui::MainWindow* w = m_window;
    ui::Document* document = w->document();
    const auto idle = [w, document] {
        return w->jobs()->runningCount() == 0 && document->problem() && !w->graphPage()->view()->isLayoutRunning();
    };
    const auto placed = [document, idle] { return idle() && document->schedule() != nullptr; };
    const auto theme = [this](viz::Theme::Kind kind, const QString& name) { addTheme(kind, name); };
    add(QStringLiteral("project"), [] {}, [w] { return w->project()->repository() != nullptr; });
    add(QStringLiteral("welcome"), [this] { save(QStringLiteral("welcome-light")); });
    theme(viz::Theme::Kind::Dark, QStringLiteral("welcome-dark"));
    add(QStringLiteral("light"), [w] { w->setTheme(viz::Theme::Kind::Light); });
    addOpening();
    add(QStringLiteral("sample"), [w] { w->openSample(QStringLiteral("zoo:inception_v3"), QStringLiteral("2xK80")); }, idle);
    add(QStringLiteral("unplaced"), [this] { save(QStringLiteral("main-unplaced")); });
    for (const char* method : {"single", "contiguous", "metis"})
        add(QString::fromLatin1(method), [w, method] { w->experiments()->place(method, 0.0); }, placed);
    add(QStringLiteral("metis"), [this] { save(QStringLiteral("main-metis")); });
    addColors();
    add(QStringLiteral("devices"), [document] { document->setCurrentDevices(devicePreset("8xP100")->hash()); }, idle);
    add(QStringLiteral("devices"), [w] { w->experiments()->place("metis", 0.0); }, placed);
    add(QStringLiteral("devices"), [this] { save(QStringLiteral("main-8-devices")); });
    add(QStringLiteral("devices"), [document] { document->setCurrentDevices(devicePreset("2xK80")->hash()); }, placed);
    add(QStringLiteral("dialog"), [w] { w->showTrainDialog(); }, [w] {
        auto* dialog = w->findChild<ui::TrainDialog*>();
        return dialog && dialog->isVisible();
    });
    add(QStringLiteral("dialog"), [this] { saveDialog(QStringLiteral("train-dialog")); });
    add(QStringLiteral("parameters"), [w] { w->findChild<ui::TrainDialog*>()->showParameters(true); });
    add(QStringLiteral("parameters"), [this, w] {
        saveDialog(QStringLiteral("train-dialog-parameters"));
        w->findChild<ui::TrainDialog*>()->reject();
    });
    add(QStringLiteral("train"), [w, document, trainSeconds] {
        ui::TrainRequest request;
        request.graphs = {document->graph()};
        request.devices = document->devices();
        request.groups = document->grouping().targetGroups;
        request.maxSeconds = trainSeconds;
        w->experiments()->train(request);
        w->curvesDock()->raisePanel(w->rewards());
        w->statsDock()->raisePanel(w->jobsPanel());
        w->setTheme(viz::Theme::Kind::Dark);
    }, [w] {
        const ui::JobEntry* job = w->jobs()->foremost();
        return !job || job->progress.fraction > 0.6;
    });
    add(QStringLiteral("training"), [this] { save(QStringLiteral("main-dark-training")); }, placed);
    add(QStringLiteral("trained"), [this, w] {
        w->setTheme(viz::Theme::Kind::Light);
        selectFirst("Conv2D");
        w->curvesDock()->raisePanel(w->timeline());
        w->statsDock()->setCurrentIndex(0);
    }, placed);
    add(QStringLiteral("main"), [this] { save(QStringLiteral("main-light")); });
    theme(viz::Theme::Kind::HighContrast, QStringLiteral("main-contrast"));
    theme(viz::Theme::Kind::Dark, QStringLiteral("main-dark"));
    add(QStringLiteral("runs"), [w] {
        w->setTheme(viz::Theme::Kind::Light);
        w->statsDock()->raisePanel(w->runs());
        w->curvesDock()->raisePanel(w->rewards());
    });
    add(QStringLiteral("runs"), [this] { save(QStringLiteral("main-runs")); });
    add(QStringLiteral("large"), [w] {
        w->curvesDock()->raisePanel(w->timeline());
        w->statsDock()->setCurrentIndex(0);
        w->resize(kLarge);
        w->graphPage()->view()->expandAll();
    }, placed);
    add(QStringLiteral("large"), [w] { w->graphPage()->view()->zoomToFit(); }, placed);
    add(QStringLiteral("large"), [this] { save(QStringLiteral("main-light-1920")); });
    add(QStringLiteral("compare"), [w] { w->setMode(ui::MainWindow::Mode::Compare); },
        [w] { return w->comparePage()->comparison() != nullptr; });
    add(QStringLiteral("compare"), [w] { w->comparePage()->step(1); });
    add(QStringLiteral("compare"), [w] { w->comparePage()->fitAll(); });
    add(QStringLiteral("compare"), [this] { save(QStringLiteral("compare-light-1920")); });
    add(QStringLiteral("compare"), [w] { w->resize(kSmall); });
    add(QStringLiteral("compare"), [w] { w->comparePage()->fitAll(); });
    add(QStringLiteral("compare"), [this] { save(QStringLiteral("compare-light")); });
    theme(viz::Theme::Kind::Dark, QStringLiteral("compare-dark"));
    add(QStringLiteral("graph"), [w] { w->setMode(ui::MainWindow::Mode::Graph); });
    addGaps();
}

void ScreenshotTour::addTheme(viz::Theme::Kind kind, const QString& name) {
    add(name, [this, kind] { m_window->setTheme(kind); });
    add(name, [this, name] { save(name); });
}

/// The dialog of workloads, with figures and with an option that is refused.
void ScreenshotTour::addOpening() {
    ui::MainWindow* w = m_window;
    const auto shown = [w] {
        const auto* dialog = w->findChild<ui::ZooDialog*>();
        return dialog && dialog->isVisible() && !dialog->isComputing();
    };
    for (const auto& [kind, name] : {std::pair(viz::Theme::Kind::Light, "light"), {viz::Theme::Kind::Dark, "dark"}, {viz::Theme::Kind::HighContrast, "contrast"}}) {
        const QString file = QStringLiteral("zoo-dialog-") + QLatin1String(name);
        add(file, [w, kind = kind] {
            w->setTheme(kind);
            w->showZooDialog();
            w->findChild<ui::ZooDialog*>()->chooseWorkload(QStringLiteral("rnnlm"));
        }, shown);
        add(file, [this, file] { saveDialog(file); });
        add(file, [w] {
            auto* dialog = w->findChild<ui::ZooDialog*>();
            if (auto* seed = qobject_cast<QLineEdit*>(dialog->field(QStringLiteral("seed"))))
                seed->setText(QStringLiteral("many"));
        }, shown);
        add(file, [this, file, w] {
            saveDialog(file + QStringLiteral("-refused"));
            delete w->findChild<ui::ZooDialog*>();
        });
    }
    add(QStringLiteral("light"), [w] { w->setTheme(viz::Theme::Kind::Light); });
}

/// Heat colouring and the row of facts, in every theme and in the least window.
void ScreenshotTour::addColors() {
    ui::MainWindow* w = m_window;
    const auto calm = [w] { return !w->graphPage()->view()->isLayoutRunning(); };
    const auto color = [this, w, calm](viz::ColorBy by, const QString& name) {
        add(name, [w, by] { w->graphPage()->setColorBy(by); }, calm);
        add(name, [this, name] { save(name); });
    };
    add(QStringLiteral("scopes"), [w] { w->graphPage()->view()->expandAll(); }, calm);
    color(viz::ColorBy::Cost, QStringLiteral("heat-cost-light"));
    addTheme(viz::Theme::Kind::Dark, QStringLiteral("heat-cost-dark"));
    addTheme(viz::Theme::Kind::HighContrast, QStringLiteral("heat-cost-contrast"));
    add(QStringLiteral("light"), [w] { w->setTheme(viz::Theme::Kind::Light); });
    color(viz::ColorBy::Memory, QStringLiteral("heat-memory-light"));
    color(viz::ColorBy::Time, QStringLiteral("heat-time-light"));
    add(QStringLiteral("near"), [this, w] {
        selectFirst("Conv2D");
        w->graphPage()->view()->resetZoom();
    }, calm);
    add(QStringLiteral("near"), [this] { save(QStringLiteral("heat-near-light")); });
    addTheme(viz::Theme::Kind::Dark, QStringLiteral("heat-near-dark"));
    add(QStringLiteral("least"), [w] { w->resize(kLeast); }, calm);
    add(QStringLiteral("least"), [this] { save(QStringLiteral("main-1024-dark")); });
    addTheme(viz::Theme::Kind::Light, QStringLiteral("main-1024-light"));
    add(QStringLiteral("groups"), [w] { (*w->actions())[ui::ActionId::Groups]->trigger(); }, [w] { return w->findChild<ui::GroupsDialog*>() != nullptr; });
    add(QStringLiteral("groups"), [this] { saveDialog(QStringLiteral("groups-dialog")); });
    add(QStringLiteral("back"), [w] {
        delete w->findChild<ui::GroupsDialog*>();
        w->graphPage()->setColorBy(viz::ColorBy::Device);
        w->graphPage()->view()->collapseAll();
        w->selection()->clear();
        w->resize(kSmall);
        (*w->actions())[ui::ActionId::ResetLayout]->trigger();
    }, calm);
    add(QStringLiteral("back"), [w] {
        const GraphPtr graph = w->document()->graph();
        for (const ScopeId scope : graph->scope(ScopeId(0)).children)
            w->graphPage()->view()->openScope(scope.value());
    }, calm);
    add(QStringLiteral("back"), [w] { w->graphPage()->view()->zoomToFit(); }, calm);
}

/// A file of which not everything is known: unknown costs, devices of its own, nothing placed.
void ScreenshotTour::addGaps() {
    ui::MainWindow* w = m_window;
    const QString file = QDir(m_folder).filePath(QStringLiteral("data/gaps.graph.json"));
    add(QStringLiteral("gaps"), [w, file] {
        QString ops;
        for (int i = 0; i < 24; ++i)
            ops += QStringLiteral(R"(%1{"name":"block_%2/op_%3","type":"%4","device":"%5","inputs":[%6],"outputs":[{"bytes":%7}]})")
                       .arg(i > 0 ? QStringLiteral(",") : QString()).arg(i / 8).arg(i)
                       .arg(i % 5 == 3 ? QStringLiteral("HouseOp") : i % 7 == 4 ? QStringLiteral("OtherHouseOp") : i % 2 ? QStringLiteral("Relu") : QStringLiteral("Add"),
                            i < 10 ? QStringLiteral("/device:GPU:0") : i < 18 ? QStringLiteral("/device:GPU:1") : QString(),
                            i > 0 ? QStringLiteral("\"block_%1/op_%2\"").arg((i - 1) / 8).arg(i - 1) : QString())
                       .arg(1000 * (1 << (i % 12)));
        QFile out(file);
        if (out.open(QIODevice::WriteOnly))
            out.write((QStringLiteral(R"({"format":"placewright-graph","version":1,"name":"gaps","ops":[)") + ops + QStringLiteral("]}")).toUtf8());
        out.close();
        w->openFiles({file});
    }, [w] { return w->jobs()->runningCount() == 0 && w->document()->problem() && !w->graphPage()->view()->isLayoutRunning(); });
    add(QStringLiteral("gaps"), [w] {
        w->graphPage()->setColorBy(viz::ColorBy::Cost);
        w->graphPage()->view()->expandAll();
    }, [w] { return !w->graphPage()->view()->isLayoutRunning(); });
    add(QStringLiteral("gaps"), [w] { w->graphPage()->view()->resetZoom(); });
    addTheme(viz::Theme::Kind::Light, QStringLiteral("gaps-light"));
    addTheme(viz::Theme::Kind::Dark, QStringLiteral("gaps-dark"));
    addTheme(viz::Theme::Kind::HighContrast, QStringLiteral("gaps-contrast"));
}

void ScreenshotTour::start() {
    m_window->resize(kSmall);
    next();
}

void ScreenshotTour::next() {
    if (m_current >= m_steps.size()) {
        m_window->close();
        return;
    }
    std::fprintf(stderr, "tour: %s\n", m_steps[m_current].what.toUtf8().constData());
    m_calm = 0;
    m_steps[m_current].act();
    QTimer::singleShot(kPollMs, this, &ScreenshotTour::poll);
}

void ScreenshotTour::poll() {
    const auto& ready = m_steps[m_current].ready;
    m_calm = !ready || ready() ? m_calm + 1 : 0;
    if (m_calm < kCalmPolls) {
        QTimer::singleShot(kPollMs, this, &ScreenshotTour::poll);
        return;
    }
    ++m_current;
    next();
}

void ScreenshotTour::save(const QString& name) {
    const QString file = QDir(m_folder).filePath(name + QStringLiteral(".png"));
    if (!m_window->grab().save(file))
        std::fprintf(stderr, "tour: cannot write %s\n", file.toUtf8().constData());
}

void ScreenshotTour::saveDialog(const QString& name) {
    if (auto* dialog = m_window->findChild<QDialog*>())
        dialog->grab().save(QDir(m_folder).filePath(name + QStringLiteral(".png")));
}

} // namespace pw::app
