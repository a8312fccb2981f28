#include "ui/dialogs/shortcuts_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

namespace pw::ui {

ShortcutsDialog::ShortcutsDialog(const std::vector<std::pair<QString, QString>>& shortcuts, QWidget* parent)
    : QDialog(parent) {
    setWindowTitle(tr("Keys and mouse"));
    resize(620, 560);
    std::vector<std::pair<QString, QString>> rows = {
        {tr("1 … 8"), tr("Move the selection to device A … H")},
        {tr("Drag, wheel"), tr("Pan the graph; drag pans the timeline")},
        {tr("Ctrl+wheel"), tr("Zoom at the pointer; the plain wheel zooms the timeline and curves")},
        {tr("Click, Ctrl+click"), tr("Select, add to the selection")},
        {tr("Double-click, Enter"), tr("Open or close a scope, look into an If, Loop or Scan")},
        {tr("Shift+Return in the search field"), tr("Select everything that matches")},
        {tr("Left, Right in Compare"), tr("Previous and next moved op")},
    };
    rows.insert(rows.end(), shortcuts.begin(), shortcuts.end());
    auto* page = new QWidget(this);
    auto* grid = new QGridLayout(page);
    grid->setHorizontalSpacing(24);
    grid->setVerticalSpacing(6);
    int line = 0;
    for (const auto& [keys, text] : rows) {
        auto* key = new QLabel(QStringLiteral("<b>%1</b>").arg(keys.toHtmlEscaped()), page);
        grid->addWidget(key, line, 0);
        grid->addWidget(new QLabel(text, page), line, 1);
        ++line;
    }
    grid->setColumnStretch(1, 1);
    grid->setRowStretch(line, 1);
    auto* area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setWidget(page);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(area, 1);
    column->addWidget(buttons);
}

} // namespace pw::ui
