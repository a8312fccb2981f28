#pragma once

#include "viz/graph/scene_painter.h"

namespace pw::viz {

/// What one paint() call carries around. For the sources of ScenePainter only: lines and op boxes are in scene_painter.cpp,
/// scopes in scene_painter_scopes.cpp.
struct ScenePainter::Frame {
    QPainter& painter;
    const Scene& scene;
    const Visuals& visuals;
    const Viewport& view;
    Lod lod;
    const Options& options;
    QRectF seen; ///< of the scene
    std::vector<bool> blocked; ///< per scope: drawn as one block, its content is not
};

} // namespace pw::viz
