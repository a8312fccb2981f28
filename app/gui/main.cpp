// placewright: the window. Composes the layers and nothing else.

#include "app/gui/screenshot_tour.h"
#include "core/jobs/job.h"
#include "core/learn/learn_loader.h"
#include "storage/project_file.h"
#include "ui/main_window.h"
#include "ui/style.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QElapsedTimer>
#include <QStandardPaths>
#include <QTimer>

#include <cstdio>
#include <cstring>

namespace {

pw::ui::AppServices makeServices() {
    pw::ui::AppServices services;
    auto placers = std::make_shared<pw::PlacerRegistry>();
    pw::addClassicPlacers(*placers);
    placers->add(pw::learn::makePlacetoPlacer());
    services.placers = std::move(placers);
    services.loadLearning = [] { return pw::learn::load(); };
    services.openProject = [](const std::string& path) { return pw::storage::openProject(path); };
    services.saveProjectAs = [](pw::RunRepository& project, const std::string& path) {
        return pw::storage::saveProjectAs(project, path);
    };
    services.workerProgram = QDir(QCoreApplication::applicationDirPath()).filePath(QStringLiteral("placewright-cli")).toStdString();
    services.dataFolder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation).toStdString();
    return services;
}

/// Options that need no display, so that they work on any machine.
bool answeredWithoutDisplay(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--version") == 0 || std::strcmp(argv[i], "-v") == 0) {
            std::puts("placewright " PW_VERSION);
            return true;
        }
        if (std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0) {
            std::puts("Usage: placewright [OPTIONS] [FILE...]\n"
                      "\n"
                      "Opens the window. FILE may be a graph of any format that is read, a placement, a profile (laid over the graph),\n"
                      "a device set, a policy, a project (*.placewright), or a workload such as zoo:inception_v3. Files are\n"
                      "told apart by content.\n"
                      "\n"
                      "Options:\n"
                      "  -h, --help               Print this help\n"
                      "  -v, --version            Print the version\n"
                      "      --project FILE       Open this project, made if new\n"
                      "      --theme NAME         light, dark or contrast, for this session\n"
                      "      --screenshots DIR    Walk through the sample, save pictures of the window to DIR, quit\n"
                      "      --train-seconds N    How long the walk trains (default 20)\n"
                      "\n"
                      "Everything is computed by placewright-cli without a window too: placewright-cli --help");
            return true;
        }
    }
    return false;
}

} // namespace

int main(int argc, char** argv) {
    if (answeredWithoutDisplay(argc, argv))
        return 0;
    QElapsedTimer sinceStart;
    sinceStart.start();
    pw::learn::chooseBlasCore();
    QApplication app(argc, argv);
    QApplication::setApplicationName(QStringLiteral("placewright"));
    QApplication::setApplicationDisplayName(QStringLiteral("Placewright"));
    QApplication::setApplicationVersion(QStringLiteral(PW_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("placewright"));
    pw::ui::rememberDesktopPalette();

    QCommandLineParser parser;
    const QCommandLineOption project(QStringLiteral("project"), {}, QStringLiteral("file"));
    const QCommandLineOption theme(QStringLiteral("theme"), {}, QStringLiteral("name"));
    const QCommandLineOption screenshots(QStringLiteral("screenshots"), {}, QStringLiteral("dir"));
    const QCommandLineOption trainSeconds(QStringLiteral("train-seconds"), {}, QStringLiteral("n"), QStringLiteral("20"));
    parser.addOptions({project, theme, screenshots, trainSeconds});
    if (!parser.parse(QApplication::arguments())) {
        std::fprintf(stderr, "placewright: %s\nTry --help.\n", parser.errorText().toUtf8().constData());
        return 2;
    }

    int result = 0;
    {
        const bool tour = parser.isSet(screenshots);
        pw::ui::AppServices services = makeServices();
        const QString tourFolder = parser.value(screenshots);
        if (tour) { // the walk neither reads nor changes what the user has
            services.dataFolder = QDir(tourFolder).absoluteFilePath(QStringLiteral("data")).toStdString();
            QDir(QString::fromStdString(services.dataFolder)).removeRecursively();
        }
        pw::learn::setWorkerProgram(services.workerProgram);
        pw::ui::Settings settings(tour ? QDir(tourFolder).absoluteFilePath(QStringLiteral("data/settings.ini")) : QString());
        pw::ui::MainWindow window(std::move(services), &settings);
        if (parser.isSet(theme))
            window.setTheme(pw::ui::themeKindFor(parser.value(theme)));
        window.show();
        QStringList files = parser.positionalArguments();
        if (parser.isSet(project))
            window.startWithProject(QDir::current().absoluteFilePath(parser.value(project)), files);
        else
            window.start(files);
        if (qEnvironmentVariableIsSet("PLACEWRIGHT_TIMING"))
            QTimer::singleShot(0, &window, [&sinceStart] {
                std::fprintf(stderr, "window up after %lld ms\n", static_cast<long long>(sinceStart.elapsed()));
            });
        pw::app::ScreenshotTour walk(&window, tour ? tourFolder : QDir::tempPath(), parser.value(trainSeconds).toDouble());
        if (tour)
            QTimer::singleShot(0, &walk, [&walk] { walk.start(); });
        result = QApplication::exec();
    }
    pw::joinAllJobs();
    return result;
}
