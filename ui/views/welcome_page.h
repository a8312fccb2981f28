#pragma once

#include "viz/theme/theme.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QLabel;
class QVBoxLayout;
QT_END_NAMESPACE

namespace pw::ui {

class Project;
class Settings;
class SampleCard;

/// What is shown while no graph is open: open, drop, samples, recent files, interrupted runs, each one click away.
class WelcomePage : public QWidget {
    Q_OBJECT

public:
    WelcomePage(Settings* settings, Project* project, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    void refresh();

Q_SIGNALS:
    void openRequested();
    void zooRequested();
    void newProjectRequested();
    void fileChosen(const QString& file);
    void sampleChosen(const QString& spec, const QString& deviceSet);
    void resumeRequested(qint64 run);
    void shortcutsRequested();

protected:
    void showEvent(QShowEvent* event) override;

private:
    class DropArea;
    QWidget* makeStart();
    QWidget* makeSamples();
    QWidget* makeRight();
    void loadPreviews();
    void refreshRecent();
    void refreshInterrupted();

    Settings* m_settings;
    Project* m_project;
    DropArea* m_drop;
    std::vector<SampleCard*> m_cards;
    QVBoxLayout* m_recent;
    QVBoxLayout* m_interrupted;
    QWidget* m_interruptedBox;
    viz::Theme m_theme = viz::Theme::light();
    bool m_previewsAsked = false;
};

} // namespace pw::ui
