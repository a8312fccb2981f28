#pragma once

#include <CLI/CLI.hpp>

namespace pw::cli {

/// Accepts 0 and above. CLI::NonNegativeNumber says "not in range 0 to 17976931348623157..." instead.
CLI::Validator nonNegative();

/// Makes every number option of `app` and its commands refuse what CLI11 would bend silently: -1 or 2^64 for an
/// unsigned number, NaN and infinity for a real one.
void refuseBentNumbers(CLI::App& app);

} // namespace pw::cli
