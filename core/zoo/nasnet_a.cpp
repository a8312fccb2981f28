#include "core/zoo/cell_net.h"

namespace pw::zoo {

namespace {

using enum CellOpKind;

// The cells of NASNet-A and the three configurations, as TF slim builds them.

Cell normalCell() {
    return {{{{{0, Separable5}, {1, Separable3}},
              {{1, Separable5}, {1, Separable3}},
              {{0, AvgPool3}, {1, Identity}},
              {{1, AvgPool3}, {1, AvgPool3}},
              {{0, Separable3}, {0, Identity}}}},
            {1, 2, 3, 4, 5, 6}};
}

Cell reductionCell() {
    return {{{{{0, Separable5}, {1, Separable7}},
              {{0, MaxPool3}, {1, Separable7}},
              {{0, AvgPool3}, {1, Separable5}},
              {{3, Identity}, {2, AvgPool3}},
              {{2, Separable3}, {0, MaxPool3}}}},
            {3, 4, 5, 6}};
}

CellNetShape shapeOf(std::size_t config) {
    CellNetShape shape;
    shape.normal = normalCell();
    shape.reduction = reductionCell();
    switch (config) {
    case 0: // large
        shape.image = 331;
        shape.channels = 168;
        shape.stemChannels = 96;
        shape.skipReductionInput = true;
        break;
    case 1: // mobile
        shape.cells = 12;
        shape.channels = 44;
        break;
    default: // cifar
        shape.image = 32;
        shape.classes = 10;
        shape.stemName = "l1_stem_3x3";
        shape.stemChannels = 96;
        shape.stemWindow = squareWindow(3);
        return shape;
    }
    shape.stemCells = {shape.channels / 4, shape.channels / 2};
    return shape;
}

} // namespace

WorkloadInfo nasnetAInfo() {
    WorkloadInfo info{"nasnet_a", "NASNet-A", "Image classifier of searched cells: separable convolutions, branches.", {}};
    info.options = {{"config", "large", "large (331 x 331), mobile (224 x 224) or cifar (32 x 32)"},
                    {"batch", "32", "images per step"},
                    {"optimizer", "rmsprop", "sgd, momentum, rmsprop or adam"},
                    {"aux", "1", "1: with the auxiliary classifier (training)"},
                    {"drop_path", "0", "1: with dropped paths (training)"},
                    {"colocate_gradients", "1", "1: gradient ops share the device of their forward op"}};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

Result<GraphPtr> buildNasnetA(OptionReader& options) {
    const NetOptions net = readNetOptions(options);
    CellNetShape shape = shapeOf(options.choice("config", {"large", "mobile", "cifar"}));
    shape.batch = options.integer("batch", 1, 65536);
    return makeCellNet(options, net, std::move(shape));
}

} // namespace pw::zoo
