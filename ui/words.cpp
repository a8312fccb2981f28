#include "ui/words.h"

#include "core/formats/formats.h"
#include "core/zoo/zoo.h"
#include "viz/theme/figures.h"

#include <QDateTime>
#include <QFileInfo>
#include <QHash>
#include <QLocale>
#include <QObject>

#include <algorithm>
#include <cmath>

namespace pw::ui {

namespace {

struct CodeWords {
    const char* title;
    const char* nextStep;
};

CodeWords wordsFor(ErrorCode code) {
    switch (code) {
    case ErrorCode::NotFound: return {"Not found", "Check the name, or choose another one."};
    case ErrorCode::Parse: return {"This file could not be read", "Check that the file is complete and of a format that File ▸ Open lists."};
    case ErrorCode::Invalid: return {"This cannot work as it is", "Correct the place named above and try again."};
    case ErrorCode::Unsupported: return {"Not supported", "Convert the input, or choose another method or file."};
    case ErrorCode::Io: return {"Reading or writing failed", "Check the path, the permissions and the free space; nothing stored before is lost."};
    case ErrorCode::Busy: return {"In use", "Another program or job holds it. Try again when it is done."};
    case ErrorCode::TooLarge: return {"Too large", "Choose a smaller input or lower the limits."};
    case ErrorCode::External: return {"A helper failed", "The rest of the program still works. Try again, or report it with the input."};
    case ErrorCode::Internal: return {"A fault in Placewright", "Nothing stored is lost. Please report what you did."};
    }
    return {"A fault in Placewright", "Please report what you did."};
}

QString sentenceOf(const Error& error) {
    QString reason = words::fromUtf8(error.message).trimmed();
    if (reason.isEmpty())
        reason = QObject::tr("no reason was given (%1)").arg(QLatin1String(errorCodeName(error.code)));
    if (!reason.endsWith(QLatin1Char('.')))
        reason += QLatin1Char('.');
    QString place;
    if (!error.file.empty())
        place = QFileInfo(words::fromUtf8(error.file)).fileName();
    if (!error.where.empty())
        place += (place.isEmpty() ? QString() : QStringLiteral(", ")) + words::fromUtf8(error.where);
    return place.isEmpty() ? reason.left(1).toUpper() + reason.mid(1) : place + QStringLiteral(": ") + reason;
}

} // namespace

const std::vector<ErrorCode>& allErrorCodes() {
    static const std::vector<ErrorCode> kCodes = {
        ErrorCode::NotFound, ErrorCode::Parse, ErrorCode::Invalid, ErrorCode::Unsupported, ErrorCode::Io,
        ErrorCode::Busy, ErrorCode::TooLarge, ErrorCode::External, ErrorCode::Internal};
    return kCodes;
}

Message messageFor(const Error& error) {
    const CodeWords code = wordsFor(error.code);
    return {QObject::tr(code.title), sentenceOf(error), QObject::tr(code.nextStep)};
}

namespace words {

namespace {
const QChar kMinus(0x2212);

/// English figures whatever the desktop's language: exports and screen must agree with the command line.
const QLocale& figures() {
    static const QLocale locale(QLocale::English, QLocale::UnitedStates);
    return locale;
}

QString withTrueMinus(QString text) {
    return text.replace(QLatin1Char('-'), kMinus);
}
} // namespace

QString fromUtf8(const std::string& text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString fixed(double value, int decimals) {
    return viz::figure(value, decimals);
}

QString signedFixed(double value, int decimals) {
    const QString text = fixed(value, decimals);
    const bool zero = fixed(0.0, decimals) == text;
    return zero || text.startsWith(kMinus) || !std::isfinite(value) ? text : QLatin1Char('+') + text;
}

QString milliseconds(double us) {
    return fixed(us / 1000.0, 1);
}

QString count(std::int64_t value) {
    return withTrueMinus(figures().toString(static_cast<qlonglong>(value)));
}

QString gigabytes(double bytes) {
    return fixed(bytes / 1e9, 2);
}

QString bytes(double value) {
    return viz::bytesText(value);
}

QString duration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0)
        return QStringLiteral("–");
    if (seconds < 10)
        return fixed(seconds, 1) + QStringLiteral(" s");
    const auto whole = static_cast<qint64>(std::llround(seconds));
    if (whole < 60)
        return QStringLiteral("%1 s").arg(whole);
    if (whole < 3600)
        return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60);
    return QStringLiteral("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60);
}

QString when(std::int64_t unixSeconds) {
    if (unixSeconds <= 0)
        return {};
    const QDateTime time = QDateTime::fromSecsSinceEpoch(unixSeconds);
    const QDate today = QDate::currentDate();
    const QLocale& locale = figures();
    if (time.date() == today)
        return QObject::tr("today %1").arg(locale.toString(time, QStringLiteral("HH:mm")));
    if (time.date().year() == today.year())
        return locale.toString(time, QStringLiteral("d MMM HH:mm"));
    return locale.toString(time, QStringLiteral("d MMM yyyy"));
}

QString methodTitle(const QString& method) {
    static const QHash<QString, QString> kTitles = {
        {QStringLiteral("single"), QStringLiteral("Single device")},
        {QStringLiteral("random"), QStringLiteral("Random")},
        {QStringLiteral("round_robin"), QStringLiteral("Round robin")},
        {QStringLiteral("contiguous"), QStringLiteral("Contiguous blocks")},
        {QStringLiteral("metis"), QStringLiteral("METIS")},
        {QStringLiteral("local_search"), QStringLiteral("Local search")},
        {QStringLiteral("placeto"), QStringLiteral("Placeto")},
        {QStringLiteral("gdp"), QStringLiteral("GDP")},
        {QStringLiteral("hdp"), QStringLiteral("HDP")},
        {QStringLiteral("rnn"), QStringLiteral("RNN (2017)")},
        {QStringLiteral("manual"), QStringLiteral("Manual")},
        {QStringLiteral("file"), QStringLiteral("From file")},
    };
    const auto found = kTitles.constFind(method);
    if (found != kTitles.cend())
        return *found;
    QString title = method;
    title.replace(QLatin1Char('_'), QLatin1Char(' '));
    return title.left(1).toUpper() + title.mid(1);
}

QString statusTitle(RunStatus status) {
    switch (status) {
    case RunStatus::Running: return QObject::tr("Running");
    case RunStatus::Done: return QObject::tr("Done");
    case RunStatus::Stopped: return QObject::tr("Stopped");
    case RunStatus::Failed: return QObject::tr("Failed");
    case RunStatus::Interrupted: return QObject::tr("Interrupted");
    }
    return {};
}

QString stageTitle(const std::string& stage) {
    if (stage.empty())
        return QObject::tr("working");
    static const QHash<QString, QString> kTitles = {
        {QStringLiteral("train"), QObject::tr("training")},
        {QStringLiteral("place"), QObject::tr("placing")},
        {QStringLiteral("infer"), QObject::tr("placing zero-shot")},
        {QStringLiteral("load"), QObject::tr("reading")},
        {QStringLiteral("open"), QObject::tr("opening")},
        {QStringLiteral("compile"), QObject::tr("preparing")},
    };
    QString word = fromUtf8(stage);
    const auto found = kTitles.constFind(word);
    return found != kTitles.cend() ? *found : word.replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString fault(const PlacementProblem& problem, const Fault& fault) {
    const auto letter = [](DeviceId id) { return fromUtf8(deviceLetter(id)); };
    switch (fault.kind) {
    case Fault::Kind::None: return {};
    case Fault::Kind::OverCapacity: {
        const double capacity = static_cast<double>(problem.capacityBytes(fault.device));
        return QObject::tr("%1 needs %2 of %3 GB at %4 ms")
            .arg(letter(fault.device), fixed((capacity + static_cast<double>(fault.excessBytes)) / 1e9, 2),
                 fixed(capacity / 1e9, 2), fixed(fault.atUs / 1000.0, 0));
    }
    case Fault::Kind::NoPath:
        return QObject::tr("no path from %1 to %2").arg(letter(fault.device), letter(fault.otherDevice));
    case Fault::Kind::ForbiddenKind:
        return QObject::tr("%1 may not run on %2")
            .arg(fault.op.isValid() ? fromUtf8(problem.graph().op(fault.op).name) : QObject::tr("an op"),
                 letter(fault.device));
    }
    return {};
}

QString graphTitle(const QString& name, const QString& source) {
    if (source.contains(kOverlay)) {
        QStringList parts = source.split(kOverlay);
        QString title = graphTitle(name, parts.takeFirst());
        for (const QString& part : std::as_const(parts))
            title += QStringLiteral(" + ") + QFileInfo(part).fileName();
        return title;
    }
    if (source.startsWith(QLatin1String("zoo:"))) {
        const QString key = source.mid(4).section(QLatin1Char('?'), 0, 0);
        const QString options = source.section(QLatin1Char('?'), 1);
        for (const auto& workload : zoo::workloads())
            if (fromUtf8(workload.name) == key)
                return fromUtf8(workload.title) + (options.isEmpty() ? QString() : QStringLiteral(", ") + QString(options).replace(QLatin1Char('&'), QStringLiteral(", ")));
    }
    if (!source.contains(QLatin1Char('/')))
        return name;
    QString file = QFileInfo(source).fileName();
    qsizetype longest = 0;
    for (const formats::FormatInfo& format : formats::knownFormats())
        for (const std::string& ending : format.endings)
            if (file.endsWith(fromUtf8(ending), Qt::CaseInsensitive) && file.size() > static_cast<qsizetype>(ending.size()))
                longest = std::max(longest, static_cast<qsizetype>(ending.size()));
    file.chop(longest);
    return file;
}

QString shortPath(const QString& path, const QFontMetrics& metrics, int width) {
    if (metrics.horizontalAdvance(path) <= width)
        return path;
    for (qsizetype slash = path.indexOf(QLatin1Char('/')); slash >= 0; slash = path.indexOf(QLatin1Char('/'), slash + 1)) {
        const QString shorter = QStringLiteral("…") + path.mid(slash);
        if (metrics.horizontalAdvance(shorter) <= width)
            return shorter;
    }
    return metrics.elidedText(path, Qt::ElideLeft, width);
}

QString deviceTitle(const Device& device, DeviceId id) {
    return viz::deviceTitle(device, id);
}

QStringList deviceTitles(const DeviceSet& devices) {
    QStringList titles;
    for (std::size_t d = 0; d < devices.count(); ++d)
        titles.append(deviceTitle(devices.device(DeviceId(d)), DeviceId(d)));
    return titles;
}

QString deviceSetTitle(const DeviceSet& devices) {
    QString name = fromUtf8(devices.name());
    const qsizetype cross = name.indexOf(QLatin1Char('x'));
    if (cross > 0 && name.left(cross).toInt() > 0)
        return name.left(cross) + QStringLiteral(" × ") + name.mid(cross + 1);
    return name.replace(QLatin1Char('+'), QStringLiteral(" + "));
}

} // namespace words
} // namespace pw::ui
