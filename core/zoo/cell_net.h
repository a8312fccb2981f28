#pragma once

#include "core/zoo/cells.h"
#include "core/zoo/options.h"

namespace pw::zoo {

/// The frame of NASNet and AmoebaNet: a stem, cells, and two reduction cells that halve the size and double the channels
/// at one and two thirds of the depth.
struct CellNetShape {
    std::int64_t batch = 32;
    std::int64_t image = 224;
    std::int64_t classes = 1001;
    std::int64_t cells = 18;    ///< normal ones
    std::int64_t channels = 32; ///< of the first normal cell
    std::string stemName = "conv0"; ///< its batch norm adds "_bn"
    std::int64_t stemChannels = 32;
    Window stemWindow = squareWindow(3, 2, Padding::Valid);
    std::vector<std::int64_t> stemCells; ///< channels of the reduction cells of the stem
    bool fitFirstPrevious = false;       ///< the first cell fits the stem as its previous layer, else takes it as it is
    bool skipReductionInput = false;     ///< the cell after a reduction cell has the same previous layer as that one
    bool auxiliary = false;
    CellStyle style;
    Cell normal;
    Cell reduction;
};

/// Reads what these nets have in common ("optimizer", "aux", "drop_path") and emits the whole graph. The op names are
/// those of slim.
Result<GraphPtr> makeCellNet(OptionReader& options, const NetOptions& net, CellNetShape shape);

} // namespace pw::zoo
