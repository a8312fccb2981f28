#include "ui/file_filters.h"

#include "ui/words.h"

#include <QObject>
#include <QRegularExpression>

#include <algorithm>
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

bool hasEndingOf(const QString& file, const FormatInfo& format) {
    return std::any_of(format.endings.begin(), format.endings.end(), [&](const std::string& ending) {
        return file.endsWith(words::fromUtf8(ending), Qt::CaseInsensitive);
    });
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
    for (const FormatInfo& format : formats::knownFormats()) {
        if (format.kind != kind || !format.canWrite)
            continue;
        const bool intoSource = format.needsSource;
        if (intoSource && (source.isEmpty() || !hasEndingOf(source, format)))
            continue;
        QStringList patterns;
        addEndings(patterns, format);
        const QString title = words::fromUtf8(format.title);
        lines.append(line(intoSource ? QObject::tr("%1, the original with devices written in").arg(title) : title, patterns));
    }
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
