#pragma once

#include "ui/async.h"
#include "ui/zoo_form.h"
#include "viz/theme/theme.h"

#include <QDialog>
#include <QTimer>

QT_BEGIN_NAMESPACE
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QVBoxLayout;
QT_END_NAMESPACE

namespace pw::ui {

/// "New from zoo": choose a workload, set its options, see how large it will be. Knows no workload by name: list and form
/// come from zoo::workloads(), sizes from the generators, in the background, newest wins.
class ZooDialog : public QDialog {
    Q_OBJECT

public:
    ZooDialog(const std::vector<DeviceSet>& deviceSets, const DeviceSet& current, const viz::Theme& theme, QWidget* parent = nullptr);

    void chooseWorkload(const QString& name);
    QString workload() const;
    /// The field of an option, by key: a combo box, spin box or line edit; null while the form is being made.
    QWidget* field(const QString& key) const;
    QString errorAt(const QString& key) const; ///< beside a field; "" key: below the form
    QString figure(const QString& name) const; ///< "ops", "edges", "parameters", "work", "memory"; as shown
    bool isComputing() const;
    QString spec() const;

Q_SIGNALS:
    void openRequested(const QString& spec, const QString& deviceHash); ///< "" = keep the devices
    void previewed(); ///< figures or an error are there

protected:
    void done(int result) override;

private:
    struct Row {
        ZooField info;
        QWidget* editor = nullptr;
        QLabel* error = nullptr;
    };
    QWidget* makeList();
    QWidget* makeForm();
    QWidget* makePreview();
    void fillList(const QString& filter);
    void showWorkload();
    void buildForm(std::vector<ZooField> fields);
    QWidget* makeEditor(const ZooField& field);
    ZooValues values() const;
    void changed();
    void preview();
    void showSize(Result<ZooSize> size);
    void requestMemory();
    void showMemory(Result<std::int64_t> bytes);
    void showError(const Error& error);
    void setBusy(bool busy);
    const zoo::WorkloadInfo* info() const;
    const DeviceSet& devices() const;

    std::vector<zoo::WorkloadInfo> m_workloads;
    std::vector<DeviceSet> m_deviceSets; ///< the current one first
    viz::Theme m_theme;
    QListWidget* m_list;
    QLabel* m_title;
    QLabel* m_help;
    QWidget* m_formBox = nullptr;
    QVBoxLayout* m_formPlace;
    QScrollArea* m_area;
    QLabel* m_error;
    std::vector<Row> m_rows;
    std::map<QString, QLabel*> m_figures;
    QLabel* m_verdict;
    QProgressBar* m_busy;
    QComboBox* m_devices;
    QPushButton* m_open;
    QTimer m_delay;
    ZooPreviewer m_previewer;
    GraphPtr m_graph; ///< of the figures shown
    LatestJob m_formJob{this};
    LatestJob m_sizeJob{this};
    LatestJob m_memoryJob{this};
};

} // namespace pw::ui
