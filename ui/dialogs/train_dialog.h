#pragma once

#include "ui/document.h"
#include "ui/experiments.h"
#include "ui/services.h"

#include <QDialog>

QT_BEGIN_NAMESPACE
class QButtonGroup;
class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;
class QTableView;
class QToolButton;
class QVBoxLayout;
QT_END_NAMESPACE

namespace pw::ui {

class FactsView;
class ParametersModel;

/// Everything a training run is made of, with defaults that work: a newcomer presses Start without reading.
class TrainDialog : public QDialog {
    Q_OBJECT

public:
    TrainDialog(const AppServices& services, Document* document, QWidget* parent);

    /// One request per seed.
    std::vector<TrainRequest> requests() const;
    /// The same run on the command line.
    QString commandLine() const;
    ParametersModel* parameters() const { return m_parameters; }
    void showParameters(bool on);

Q_SIGNALS:
    void startRequested(const std::vector<pw::ui::TrainRequest>& requests);

private:
    QWidget* makeForm();
    QWidget* makeWhat(QWidget* parent);
    QWidget* makeEffort(QWidget* parent);
    QWidget* makeParameters(QWidget* parent);
    QWidget* makeSide();
    QWidget* makeFooter();
    void loadLibrary();
    void choosePreset(int index);
    void refresh();
    void refreshSide();
    double seconds() const;

    const AppServices& m_services;
    Document* m_document;
    ParametersModel* m_parameters;
    QListWidget* m_graphs = nullptr;
    QComboBox* m_devices = nullptr;
    QSpinBox* m_groups = nullptr;
    QComboBox* m_preset = nullptr;
    QButtonGroup* m_length = nullptr;
    QSpinBox* m_ownSeconds = nullptr;
    QSpinBox* m_episodes = nullptr;
    QSpinBox* m_seed = nullptr;
    QSpinBox* m_repeat = nullptr;
    QComboBox* m_computeDevice = nullptr;
    QLabel* m_computeNote = nullptr;
    QVBoxLayout* m_formLayout = nullptr;
    QToolButton* m_more = nullptr;
    QWidget* m_parametersBox = nullptr;
    QTableView* m_table = nullptr;
    QLabel* m_help = nullptr;
    FactsView* m_beat = nullptr;
    QLineEdit* m_command = nullptr;
    QPushButton* m_start = nullptr;
};

} // namespace pw::ui
