#include "ui/dialogs/about_dialog.h"

#include "ui/async.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace pw::ui {

namespace {

QString machineText(const learn::LocalInfo& info) {
    QStringList lines;
    lines.append(QObject::tr("LibTorch %1, %2, core %3: %4 GFLOP/s, measured now")
                     .arg(words::fromUtf8(info.torchVersion), words::fromUtf8(info.blas), words::fromUtf8(info.core),
                          words::fixed(info.gflops, 0)));
    for (const auto& device : info.devices)
        lines.append(QStringLiteral("%1: %2").arg(words::fromUtf8(device.name), words::fromUtf8(device.model)));
    if (info.cuda.empty())
        lines.append(QObject::tr("This LibTorch has no CUDA; training runs on the CPU."));
    return lines.join(QLatin1Char('\n'));
}

} // namespace

AboutDialog::AboutDialog(const AppServices& services, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("About Placewright"));
    setMinimumWidth(480);
    auto* row = new QHBoxLayout;
    row->setSpacing(16);
    auto* mark = new QLabel(this);
    mark->setPixmap(viz::appIcon().pixmap(64, 64));
    auto* text = new QLabel(tr("<p style='font-size:16px'><b>Placewright</b> %1</p>"
                               "<p>A workbench for device placement of neural networks.</p>"
                               "<p>Free software under the GPL, version 3 or later.</p>")
                                .arg(QStringLiteral(PW_VERSION)), this);
    text->setWordWrap(true);
    row->addWidget(mark, 0, Qt::AlignTop);
    row->addWidget(text, 1);
    auto* machine = new QLabel(tr("Measuring this machine…"), this);
    machine->setWordWrap(true);
    machine->setTextFormat(Qt::PlainText);
    machine->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 20, 20, 16);
    column->addLayout(row);
    column->addWidget(machine);
    column->addWidget(buttons);
    runAsync<learn::LocalInfo>(
        this, tr("Measuring"),
        [load = services.loadLearning](JobContext&) -> Result<learn::LocalInfo> {
            if (!load)
                return fail(ErrorCode::Unsupported, "this build has no learned placers");
            PW_TRY(const learn::Library* library, load());
            return library->localInfo(true);
        },
        [machine](Result<learn::LocalInfo> info) {
            machine->setText(info ? machineText(*info) : messageFor(info.error()).sentence);
        });
}

} // namespace pw::ui
