#pragma once

#include "viz/theme/theme.h"

#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <vector>

namespace pw::ui {
class MainWindow;
}

namespace pw::app {

/// `placewright --screenshots DIR`: walks through the program on the Inception sample and saves what it shows, for the
/// README and for looking at. Every step waits for a condition of the program, never for a time alone.
class ScreenshotTour : public QObject {
    Q_OBJECT

public:
    ScreenshotTour(ui::MainWindow* window, const QString& folder, double trainSeconds, QObject* parent = nullptr);
    void start();

private:
    struct Step {
        QString what;
        std::function<void()> act;
        std::function<bool()> ready; ///< polled until true
    };
    void addSteps(double trainSeconds);
    void addTheme(viz::Theme::Kind kind, const QString& name);
    void add(const QString& what, std::function<void()> act, std::function<bool()> ready = {});
    void next();
    void poll();
    void save(const QString& name);
    void saveDialog(const QString& name);
    void addOpening();
    void addColors();
    void addGaps();
    void selectFirst(const std::string& type);

    ui::MainWindow* m_window;
    QString m_folder;
    std::vector<Step> m_steps;
    std::size_t m_current = 0;
    int m_calm = 0; ///< polls in a row in which the step was ready
};

} // namespace pw::app
