#pragma once

#include "core/zoo/lstm.h"
#include "core/zoo/options.h"

namespace pw::zoo {

// What the translation models share: cells that are unrolled in time, attention, embeddings, projection and loss.

struct Seq2SeqShape {
    std::int64_t layers = 2;
    std::int64_t steps = 40; ///< of the source and of the target
    std::int64_t batch = 128;
    std::int64_t hidden = 1024;
    std::int64_t vocabulary = 32000; ///< of each language
    bool dropout = false;
    bool residual = false;
    bool bahdanau = true; ///< normalised Bahdanau attention; else scaled Luong
};

/// "t007": the time step in a scope path.
std::string timeStep(std::int64_t step);

/// A cell that keeps its weights and its state from step to step.
struct Cell {
    std::string scope; ///< "encoder/layer_1"
    ExpertTag expert;
    LstmWeights weights;
    LstmState state;
};

/// Makes the cell's variables. Starts from zeros where `initial` is null.
Cell makeCell(Net& net, std::string scope, int expertLayer, std::int64_t input, const Seq2SeqShape& shape,
              const LstmState* initial = nullptr);

struct CellInput {
    TensorId x;
    TensorId context = {};  ///< attention that is joined to x; may be invalid
    bool isResidual = false; ///< the output is h + x, without the context
};

/// One step of one cell: [join], [dropout], LSTM, [residual]. Returns the output.
TensorId stepCell(Net& net, Cell& cell, std::int64_t step, const CellInput& input, bool dropout);

/// Rows of an embedding per time step; makes its table.
std::vector<TensorId> embedTokens(Net& net, const char* language, const Seq2SeqShape& shape);

/// Attention over the encoder's outputs.
class Attention {
public:
    /// `outputs`: [batch, width] per source step.
    Attention(Net& net, std::span<const TensorId> outputs, const Seq2SeqShape& shape);
    /// The context [batch, width of the outputs] for one query [batch, hidden].
    TensorId context(TensorId query, std::int64_t step);

private:
    TensorId bahdanauScore(TensorId query);
    TensorId luongScore(TensorId query);

    Net& m_net;
    bool m_isBahdanau;
    TensorId m_values; ///< [batch, steps, width]
    TensorId m_keys;   ///< [batch, steps, hidden]
    TensorId m_queryKernel;
    TensorId m_bias;
    TensorId m_v; ///< normalised; of Luong's: the scale
};

/// Projection to the vocabulary and, in training, the loss of each step; returns what the graph ends with.
TensorId projectOutputs(Net& net, std::span<const TensorId> outputs, const Seq2SeqShape& shape);

/// Adds the options that are the same for all of them; the defaults come from `shape`.
void addSeq2SeqOptions(WorkloadInfo& info, const Seq2SeqShape& shape);
void readSeq2SeqOptions(OptionReader& options, Seq2SeqShape& shape);
/// Refuses graphs of more than about five million ops before they are made.
Status checkCellSteps(const char* workload, std::int64_t cells, std::int64_t steps);

} // namespace pw::zoo
