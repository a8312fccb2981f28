#pragma once

#include "core/zoo/layers.h"
#include "core/zoo/options.h"

namespace pw::zoo {

// What the transformers share. Sequences are batch, time, width; heads are batch, head, time, width of a head.

struct TransformerShape {
    std::int64_t layers = 12;
    std::int64_t steps = 128; ///< tokens of a sequence
    std::int64_t batch = 32;
    std::int64_t width = 768;
    std::int64_t heads = 12;
    std::int64_t inner = 3072; ///< of the feed-forward layers
    std::int64_t vocabulary = 30522;
    bool dropout = false;
};

/// The same for every workload; the defaults come from `shape`.
void addTransformerOptions(WorkloadInfo& info, const TransformerShape& shape, std::int64_t maxSteps);
/// Reads them; in inference there is no dropout.
TransformerShape readTransformerShape(OptionReader& options, std::int64_t maxSteps, bool training);
/// An error in the reader's status unless the heads share the width evenly.
void checkHeads(OptionReader& options, const TransformerShape& shape);

/// Block i is layer i of an expert's placement.
ExpertTag expertBlock(std::int64_t block);
/// [B, T, h d] -> [B, h, T, d]
TensorId splitHeads(Net& net, TensorId x, std::int64_t heads);
/// [B, h, T, d] -> [B, T, h d]
TensorId mergeHeads(Net& net, TensorId x);
/// Lower triangle of ones [T, K] that lets position t see the keys up to K - T + t.
TensorId causalMask(Net& net, std::int64_t queries, std::int64_t keys);
/// scores mask - big (1 - mask)
TensorId maskScores(Net& net, TensorId scores, TensorId mask);
TensorId dropoutIf(Net& net, TensorId x, bool isOn);
enum class Activation { Relu, Gelu };
/// Dense, activation, dense; `dropoutInside` drops between the two.
TensorId feedForward(Net& net, TensorId x, std::int64_t inner, Activation activation, bool dropoutInside);
/// [B, T, d] times the embedding table: logits [B T, V].
TensorId tiedLogits(Net& net, TensorId x, TensorId table);
/// In training the mean loss of all rows; in inference the probabilities (and no loss).
TensorId lossOrProbabilities(Net& net, TensorId logits);

} // namespace pw::zoo
