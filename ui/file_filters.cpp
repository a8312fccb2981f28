#include "ui/file_filters.h"

#include "ui/words.h"

#include <QObject>
#include <QRegularExpression>

#include <array>

namespace pw::ui::filters {

namespace {

using formats::FileKind;
using formats::FormatInfo;

struct KindWords {
    FileKind kind;
    const char* plural;
};
constexpr std::array<KindWords, 4> kKinds = {{{FileKind::Graph, QT_TR_NOOP("Graphs")},
                                              {FileKind::Placement, QT_TR_NOOP("Placements")},
                                              {FileKind::DeviceSet, QT_TR_NOOP("Device sets")},
                                              {FileKind::Profile, QT_TR_NOOP("Profiles")}}};

/// Projects and policies are no exchange formats, so the list of formats does not name them.
const char* const kOwnEndings[] = {"*.placewright", "*.policy"};

void addEndings(QStringList& patterns, const FormatInfo& format) {
    for (const std::string& ending : format.endings) {
        const QString pattern = QLatin1Char('*') + words::fromUtf8(ending);
        if (!patterns.contains(pattern))
            patterns.append(pattern);
    }
}

QString line(const QString& title, const QStringList& patterns) {
    return QStringLiteral("%1 (%2)").arg(title, patterns.join(QLatin1Char(' ')));
}

/// The ending of `file` among those of `format`, empty if it has none of them.
QString endingOf(const QString& file, const FormatInfo& format) {
    for (const std::string& ending : format.endings)
        if (file.endsWith(words::fromUtf8(ending), Qt::CaseInsensitive))
            return words::fromUtf8(ending);
    return {};
}

} // namespace

QString openFilter() {
    QStringList all;
    QStringList lines;
    for (const KindWords& kind : kKinds) {
        QStringList patterns;
        for (const FormatInfo& format : formats::knownFormats()) {
            if (format.kind == kind.kind && format.canRead)
                addEndings(patterns, format);
        }
        if (patterns.isEmpty())
            continue;
        lines.append(line(QObject::tr(kind.plural), patterns));
        for (const QString& pattern : std::as_const(patterns))
            if (!all.contains(pattern))
                all.append(pattern);
    }
    for (const char* pattern : kOwnEndings)
        all.append(QLatin1String(pattern));
    lines.prepend(line(QObject::tr("All that can be opened"), all));
    lines.append(QObject::tr("Projects (*.placewright)"));
    lines.append(QObject::tr("Policies (*.policy)"));
    lines.append(QObject::tr("All files (*)"));
    return lines.join(QStringLiteral(";;"));
}

QString saveFilter(FileKind kind, const QString& source) {
    QStringList lines;
    QString original;
    for (const FormatInfo& format : formats::knownFormats()) {
        if (format.kind != kind || !format.canWrite)
            continue;
        if (format.needsSource) {
            if (original.isEmpty())
                original = endingOf(source, format);
            continue;
        }
        QStringList patterns;
        addEndings(patterns, format);
        lines.append(line(words::fromUtf8(format.title), patterns));
    }
    if (!original.isEmpty()) // several formats may share an ending; which one it is, the file itself says
        lines.append(line(QObject::tr("The original with devices written in"), {QLatin1Char('*') + original}));
    return lines.join(QStringLiteral(";;"));
}

QString firstEnding(const QString& filterLine) {
    const qsizetype open = filterLine.lastIndexOf(QStringLiteral("(*."));
    if (open < 0)
        return {};
    const QString inner = filterLine.mid(open + 3);
    return inner.left(inner.indexOf(QRegularExpression(QStringLiteral("[ )]"))));
}

} // namespace pw::ui::filters
