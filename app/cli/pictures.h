#pragma once

#include "app/cli/cli.h"
#include "core/experiment/run_repository.h"
#include "core/sim/simulator.h"

#include <string>
#include <vector>

namespace pw::cli {

/// Pictures without a window. Each call makes the (offscreen) application object if there is none yet; in a build without the
/// window they fail as Unsupported.
struct PictureOptions {
    int width = 1600;
    int height = 1000;
    int depth = 2;
    std::string colorBy = "device"; ///< device, cost, memory, phase
    std::string title;
};
Status renderPicture(const GraphPtr& graph, const DeviceSet* devices, const OpPlacement* placement,
                     const PictureOptions& options, const std::string& file);

struct Curve {
    std::string name;
    std::vector<MetricSample> samples;
};
/// Best step time so far over episodes, with horizontal reference lines (name, us).
Status renderRewardCurve(const std::vector<Curve>& curves, const std::vector<std::pair<std::string, double>>& references,
                         const std::string& file);

} // namespace pw::cli
