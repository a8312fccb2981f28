#include "viz/theme/figures.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

namespace pw::viz {

namespace {

constexpr QChar kMinus(0x2212);
constexpr QChar kEnDash(0x2013);

struct ByteUnit {
    double factor;
    const char* name;
    int decimals;
};
constexpr std::array<ByteUnit, 4> kByteUnits = {{{1e9, "GB", 2}, {1e6, "MB", 1}, {1e3, "kB", 1}, {1.0, "B", 0}}};

const ByteUnit& byteUnit(double bytes) {
    for (const ByteUnit& unit : kByteUnits) {
        if (std::abs(bytes) >= unit.factor)
            return unit;
    }
    return kByteUnits.back();
}

} // namespace

QString figure(double value, int decimals) {
    if (!std::isfinite(value))
        return QString(kEnDash);
    static const QLocale locale(QLocale::English, QLocale::UnitedStates);
    QString text = locale.toString(std::abs(value), 'f', decimals);
    const bool zero =
        std::all_of(text.cbegin(), text.cend(), [](QChar c) { return !c.isDigit() || c == QLatin1Char('0'); });
    return value < 0 && !zero ? kMinus + text : text;
}

QString timeText(double us) {
    return us < 1000.0 ? figure(us, 1) + QStringLiteral(" \u00b5s") : figure(us / 1000.0, 1) + QStringLiteral(" ms");
}

QString msText(double us) {
    const double ms = us / 1000.0;
    const int decimals = std::abs(ms) >= 10.0 || ms == 0.0 ? 1 : std::abs(ms) >= 0.1 ? 3 : 4;
    return figure(ms, decimals) + QStringLiteral(" ms");
}

QString bytesText(double bytes) {
    const ByteUnit& unit = byteUnit(bytes);
    return figure(bytes / unit.factor, unit.decimals) + QLatin1Char(' ') + QLatin1String(unit.name);
}

QString bytesOfText(double bytes, double capacity) {
    const ByteUnit& unit = byteUnit(capacity);
    int decimals = unit.factor >= 1e6 ? 1 : 0;
    // "12.0 of 12.0 GB" would hide that it does not fit.
    while (bytes > capacity && decimals < 6 &&
           figure(bytes / unit.factor, decimals) == figure(capacity / unit.factor, decimals))
        ++decimals;
    return QStringLiteral("%1 of %2 %3")
        .arg(figure(bytes / unit.factor, decimals), figure(capacity / unit.factor, decimals), QLatin1String(unit.name));
}

QString countText(std::size_t count, const char* one, const char* many) {
    return figure(static_cast<double>(count), 0) + QLatin1Char(' ') + QString::fromUtf8(count == 1 ? one : many);
}

QString deviceTitle(const Device& device, DeviceId id) {
    const QString letter = QString::fromStdString(deviceLetter(id));
    if (device.kind.empty())
        return letter;
    const QString kind = QString::fromStdString(device.kind);
    // Short kinds are abbreviations (gpu, cpu, tpu); longer ones are words.
    return (kind.size() <= 4 ? kind.toUpper() : kind) + QLatin1Char(' ') + letter;
}

QString deviceTitle(const DeviceSet& devices, DeviceId id) {
    if (id.index() >= devices.count())
        return QString::fromStdString(deviceLetter(id));
    return deviceTitle(devices.device(id), id);
}

} // namespace pw::viz
