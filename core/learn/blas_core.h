#pragma once

#include <functional>
#include <string>

namespace pw::learn {

/// The OpenBLAS kernel that this processor's flags allow: "COOPERLAKE", "SKYLAKEX", "HASWELL", "" = leave it alone.
std::string blasCoreForCpu();

/// Where the answers of earlier checks are: $XDG_CACHE_HOME/placewright/blas-core, else ~/.cache/..., "" without a home.
std::string blasCachePath();

/// "AMD EPYC ...", from /proc/cpuinfo; "unknown" elsewhere.
std::string cpuModelName();

/// The best kernel that passes `check`, in the order wanted, HASWELL, none (""). Answers are kept in the file
/// `cachePath` ("" = not kept) per processor model, so that a check runs once.
std::string checkedBlasCore(const std::string& wanted, const std::string& cpuModel, const std::string& cachePath,
                            const std::function<bool(const std::string& core)>& check);

} // namespace pw::learn
