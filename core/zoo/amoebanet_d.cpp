#include "core/zoo/cell_net.h"

namespace pw::zoo {

namespace {

using enum CellOpKind;

// The cells of AmoebaNet-D. The outputs of the normal cell are those of the reference code (states 0, 3, 4, 6), which
// the published sizes come from; the paper lists others.

Cell normalCell() {
    return {{{{{1, Conv1x1}, {1, MaxPool3}},
              {{1, Identity}, {0, Conv1x7_7x1}},
              {{0, Conv1x1}, {0, Conv1x7_7x1}},
              {{2, MaxPool3}, {2, Identity}},
              {{1, AvgPool3}, {5, Conv1x1}}}},
            {0, 3, 4, 6}};
}

Cell reductionCell() {
    return {{{{{0, MaxPool2}, {0, MaxPool3}},
              {{2, Identity}, {1, Conv3x3}},
              {{2, Conv1x7_7x1}, {2, MaxPool3}},
              {{3, Identity}, {1, MaxPool2}},
              {{2, AvgPool3}, {3, Conv1x1}}}},
            {4, 5, 6}};
}

/// The two published implementations differ at the input alone. torchgpipe's starts with a quarter of the width and
/// doubles it at both cells of the stem; TensorFlow's starts with 32 channels, then a quarter, then a half.
void setStem(CellNetShape& shape, bool tensorflow) {
    const std::int64_t width = shape.channels;
    if (tensorflow) {
        shape.stemChannels = 32;
        shape.stemCells = {width / 4, width / 2};
        return;
    }
    shape.stemChannels = width / 4;
    shape.stemWindow = squareWindow(3, 2);
    shape.stemCells = {width / 2, width};
    shape.fitFirstPrevious = true;
}

} // namespace

WorkloadInfo amoebanetDInfo() {
    WorkloadInfo info{"amoebanet_d", "AmoebaNet-D", "Image classifier of evolved cells: many branches.", {}};
    info.options = {{"cells", "18", "normal cells"},
                    {"width", "208", "channels of the first normal cell"},
                    {"image", "224", "height and width of the images"},
                    {"batch", "32", "images per step"},
                    {"form", "torchgpipe", "whose stem: torchgpipe or tf"},
                    {"optimizer", "rmsprop", "sgd, momentum, rmsprop or adam"},
                    {"aux", "0", "1: with the auxiliary classifier (training)"},
                    {"drop_path", "0", "1: with dropped paths (training)"},
                    {"colocate_gradients", "1", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildAmoebanetD(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    CellNetShape shape;
    shape.normal = normalCell();
    shape.reduction = reductionCell();
    shape.cells = options.integer("cells", 3, 300);
    shape.channels = options.integer("width", 16, 4096); // a bottleneck has a sixteenth at least
    shape.image = options.integer("image", 32, 2048);
    shape.batch = options.integer("batch", 1, 65536);
    setStem(shape, options.choice("form", {"torchgpipe", "tf"}) == 1);
    return makeCellNet(options, net, std::move(shape));
}

} // namespace pw::zoo
