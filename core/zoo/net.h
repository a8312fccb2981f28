#pragma once

#include "core/graph/graph_builder.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pw::zoo {

using Dims = std::vector<std::int64_t>;

/// How much of TensorFlow 1's plumbing is emitted.
enum class Level {
    Compact, ///< L0: one op per kernel, one per variable
    TfLike,  ///< L1: and seven helpers per gradient of a broadcasting op
    Full,    ///< L2: and constants, concat offsets, gradient tuples
};

enum class Optimizer { Sgd, Momentum, RmsProp, Adam };

struct NetOptions {
    Level level = Level::Compact;
    bool training = true;
    bool colocateGradients = false; ///< a gradient op shares the device of its forward op (TensorFlow's option)
};

struct OutputSpec {
    Dims dims = {};
    const char* dtype = "f32";
};

/// One op to emit. Bytes moved default to all inputs + all outputs.
struct OpSpec {
    const char* type = "";
    std::string name = {}; ///< within the scope; empty = the type
    std::vector<TensorId> inputs = {};
    std::vector<OutputSpec> outputs = {};
    double flops = 0.0;
    double bytesMoved = -1.0;
    bool isFree = false; ///< moves nothing: shapes, aliases
    bool stopsGradient = false;
    std::vector<OpId> controls = {};
    std::string colocation = {};
};

/// The rules of human experts (as Placeto's authors' and Mirhoseini's baselines state them [R+]): recurrent nets and stacks
/// put contiguous layers on the devices in order; branching image nets put branch number b on device b mod D and joins
/// on device 0. Becomes the op attributes "expert_layer" and "expert_branch", which the placer `expert` reads.
struct ExpertTag {
    int layer = -1;  ///< 0, 1, ... from input to output; -1 = none
    int branch = -1; ///< 0 = trunk and joins; -1 = none
};

struct Variable {
    TensorId value;
    std::string key; ///< colocation key of the variable and everything that changes it
    bool isTrainable = true;
    ExpertTag expert = {};
};

/// Emits a network op by op and remembers, per forward op, how to emit its gradient. Names are scoped as TensorFlow's:
/// "A/B/MatMul" forward, "gradients/A/B/MatMul" backward, "train/A/B/weights/..." optimiser. Used by one workload, once.
class Net {
public:
    Net(std::string name, NetOptions options);

    const NetOptions& options() const { return m_options; }
    bool atLeast(Level level) const { return m_options.level >= level; }

    /// Scope for the ops emitted while it lives.
    class Scope {
    public:
        Scope(Net& net, std::string_view path);
        ~Scope() { m_net.m_prefix.resize(m_length); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        Net& m_net;
        std::size_t m_length;
    };

    /// Where a human expert would put the ops emitted while it lives (see ExpertTag); gradients and updates follow.
    class Expert {
    public:
        Expert(Net& net, ExpertTag tag) : m_net(net), m_outer(net.m_expert) { net.m_expert = tag; }
        ~Expert() { m_net.m_expert = m_outer; }
        Expert(const Expert&) = delete;
        Expert& operator=(const Expert&) = delete;

    private:
        Net& m_net;
        ExpertTag m_outer;
    };

    OpId emit(OpSpec spec);
    /// The same; returns its first output.
    TensorId emitValue(OpSpec spec) { return output(emit(std::move(spec)), 0); }
    TensorId output(OpId op, std::size_t index) const { return m_builder.output(op, index); }
    OpId producer(TensorId tensor) { return m_builder.tensor(tensor).producer; }
    const Dims& dims(TensorId tensor) { return m_builder.tensor(tensor).dims; }
    double elements(TensorId tensor);
    double bytes(TensorId tensor) { return static_cast<double>(m_builder.tensor(tensor).bytes); }
    Op& op(OpId id) { return m_builder.op(id); }

    TensorId placeholder(std::string name, Dims dims, const char* dtype = "f32");
    /// A constant that only level L2 spells out; invalid below that.
    TensorId constant(std::string name, const Dims& dims, const char* dtype = "i32");
    TensorId variable(std::string name, Dims dims, bool isTrainable = true);
    const std::vector<Variable>& variables() const { return m_variables; }
    std::string variableKey(TensorId variable) const;
    /// The rows of `table` that a Gather reads: its gradient has as many rows, not the table's.
    void addSparseUse(TensorId table, TensorId indices) { m_sparseUses[table.value()].push_back(indices); }
    std::vector<TensorId> sparseUses(TensorId table) const;

    /// True if the loss's gradient flows into it.
    bool needsGradient(TensorId tensor) const;
    /// `rule` emits the gradient of `op`: it gets the gradient of each output (invalid where none) and calls addGradient.
    /// `isTuple`: with several gradients, level L2 groups them (a NoOp, an Identity each).
    using GradientRule = std::function<void(std::span<const TensorId> gradients)>;
    void setGradient(OpId op, GradientRule rule, bool isTuple = false);
    /// Inside a rule. `input` may be invalid or need none: then the gradient goes nowhere.
    void addGradient(TensorId input, TensorId gradient);
    /// Emits all gradients of a scalar, last op first.
    void backward(TensorId loss);
    /// After backward: the gradients of a variable, not summed (one per use).
    std::span<const TensorId> gradientsOf(TensorId variable) const;
    /// One gradient: an AddN if there are several; invalid if there is none.
    TensorId sumOf(TensorId value);

    void setPhase(Phase phase) { m_phase = phase; }
    Result<GraphPtr> finish() && { return std::move(m_builder).build(); }

private:
    struct Record {
        OpId op;
        std::string prefix;
        GradientRule rule;
        bool isTuple = false;
        ExpertTag expert;
    };

    std::string uniqueName(std::string name);
    void markNeedsGradient(TensorId tensor);
    void runRule(const Record& record, std::span<const TensorId> gradients);
    std::string gradientKey(OpId forward);

    GraphBuilder m_builder;
    NetOptions m_options;
    Phase m_phase = Phase::Forward;
    std::string m_prefix; ///< "A/B/" or empty
    std::string m_defaultColocation; ///< of ops emitted by a gradient rule
    ExpertTag m_expert;
    std::unordered_map<std::string, int> m_names;
    std::vector<Variable> m_variables;
    std::unordered_map<std::uint32_t, std::size_t> m_variableOf; ///< tensor -> index into m_variables
    std::unordered_map<std::uint32_t, std::vector<TensorId>> m_sparseUses;
    std::vector<bool> m_needsGradient;                           ///< per tensor
    std::vector<Record> m_records;
    std::unordered_map<std::uint32_t, std::vector<TensorId>> m_gradients; ///< per tensor
    std::vector<std::pair<TensorId, TensorId>> m_pending;                 ///< of the rule that runs
};

} // namespace pw::zoo
