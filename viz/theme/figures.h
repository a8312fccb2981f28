#pragma once

#include "core/devices/device_set.h"

#include <QString>

#include <cstddef>

namespace pw::viz {

// Numbers as a person reads them, the same in every view and whatever the desktop's language: exports and screen must
// agree with the command line. English digits and separators, a true minus sign, an en dash where not finite.

/// "3,333.6", "−995.2"; what rounds to zero has no sign.
QString figure(double value, int decimals);
/// "12.0 µs" below a millisecond, else "22.6 ms": for ops and scopes.
QString timeText(double us);
/// "3,333.6 ms", always in ms, with more decimals below 10 ms, so that a short op does not read as 0.0: for time axes.
QString msText(double us);
/// "6.57 GB", "80.3 MB", "307.0 kB", "12 B": units of 1,000.
QString bytesText(double bytes);
/// "13.1 of 12.0 GB": both in the unit of the second, with as many decimals as it takes to show an excess.
QString bytesOfText(double bytes, double capacity);
/// "1 op", "2,344 ops".
QString countText(std::size_t count, const char* one, const char* many);

/// "GPU A": the kind in words (short ones are abbreviations) and the letter; the letter alone where there is no kind.
QString deviceTitle(const Device& device, DeviceId id);
/// Likewise; the letter alone for an id that `devices` does not have.
QString deviceTitle(const DeviceSet& devices, DeviceId id);

} // namespace pw::viz
