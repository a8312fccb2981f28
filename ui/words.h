#pragma once

#include "core/base/result.h"
#include "core/experiment/run_repository.h"
#include "core/sim/simulator.h"

#include <QFontMetrics>
#include <QString>
#include <QStringList>

namespace pw::ui {

/// An error as a person reads it: what went wrong, where and why, what to do next.
struct Message {
    QString title;
    QString sentence;
    QString nextStep;
};

/// The only place that turns errors into words. Never empty, whatever the error holds.
Message messageFor(const Error& error);
/// Every code there is, for the test that asks for a text each.
const std::vector<ErrorCode>& allErrorCodes();

namespace words {

QString fromUtf8(const std::string& text);
/// 3333.6 ms as "3,333.6": one decimal, thousands comma, true minus; "–" where not finite.
QString milliseconds(double us);
QString count(std::int64_t value);        ///< "2,344"
QString fixed(double value, int decimals); ///< "1,293.70"
QString signedFixed(double value, int decimals); ///< "+10.1", "−455.1"
QString gigabytes(double bytes);           ///< "6.57", two decimals, without unit
QString bytes(double bytes);               ///< "60.2 MB"
QString duration(double seconds);          ///< "3 min 43 s"
QString when(std::int64_t unixSeconds);    ///< "today 14:32", "28 Nov", "28 Nov 2025"
QString methodTitle(const QString& method); ///< "local_search" -> "Local search"
QString statusTitle(RunStatus status);
QString stageTitle(const std::string& stage);
QString fault(const PlacementProblem& problem, const Fault& fault); ///< "A needs 13.1 of 12.0 GB at 2,180 ms"
/// Between the source of a graph and the files that were laid over it (profiles).
inline const QString kOverlay = QStringLiteral("\x1f");
/// What a graph is called in lists: a sample's title, else its file's name, else its own.
QString graphTitle(const QString& name, const QString& source);
/// A path shortened from the left by whole components, "…/Conv2d_0b_5x5/Relu"; the last one is shortened if it must be.
QString shortPath(const QString& path, const QFontMetrics& metrics, int width);
QString deviceTitle(const Device& device, DeviceId id); ///< "GPU A"
QStringList deviceTitles(const DeviceSet& devices);     ///< of all of them, in order
QString deviceSetTitle(const DeviceSet& devices);       ///< "2 × K80"

} // namespace words
} // namespace pw::ui
