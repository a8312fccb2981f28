#include "ui/dialogs/settings_dialog.h"

#include "ui/settings/settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace pw::ui {

SettingsDialog::SettingsDialog(Settings* settings, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Settings"));
    setMinimumWidth(460);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(24);
    form->setVerticalSpacing(10);
    for (const SettingInfo& info : Settings::all()) {
        const QString title = tr(info.label);
        if (title.isEmpty())
            continue;
        QWidget* editor = nullptr;
        if (info.defaultValue.metaType() == QMetaType::fromType<bool>()) {
            auto* box = new QCheckBox(this);
            box->setChecked(settings->value(info.id).toBool());
            connect(box, &QCheckBox::toggled, settings, [settings, id = info.id](bool on) { settings->setValue(id, on); });
            editor = box;
        } else if (!info.choices.isEmpty()) {
            auto* box = new QComboBox(this);
            for (const QString& choice : info.choiceLabels)
                box->addItem(tr(choice.toUtf8().constData()));
            box->setCurrentIndex(static_cast<int>(info.choices.indexOf(settings->value(info.id).toString())));
            connect(box, &QComboBox::activated, settings,
                    [settings, &info](int index) { settings->setValue(info.id, info.choices.value(index)); });
            editor = box;
        }
        if (!editor)
            continue;
        editor->setToolTip(tr(info.help));
        form->addRow(title, editor);
        auto* help = new QLabel(tr(info.help), this);
        help->setProperty("role", "muted");
        help->setWordWrap(true);
        form->addRow(QString(), help);
    }
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 20, 20, 16);
    column->addLayout(form);
    column->addStretch(1);
    column->addWidget(buttons);
}

} // namespace pw::ui
