#pragma once

// The door to everything that needs LibTorch. This header is std-only; the library behind it is loaded on first use
// (core/learn/learn_loader.h), because loading LibTorch costs 0.5 to 0.9 s and 150 MB.

#include "core/jobs/job_context.h"
#include "core/place/placer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace pw::learn {

/// One declared parameter of a method, for help texts, dialogs and checks.
struct ParameterInfo {
    std::string key;
    std::string defaultValue;
    std::string unit;   ///< "", "us", "episodes"
    std::string help;   ///< one sentence
    std::string source; ///< where the default comes from: "measured", "code", "chosen"
    std::vector<std::string> choices; ///< empty = free
};

/// What a training run reports after each episode. Times in us.
struct EpisodeSample {
    std::int64_t episode = 0;
    std::int64_t evaluations = 0; ///< simulations so far
    double seconds = 0.0;         ///< training time so far, over resumes
    double reward = 0.0;          ///< (start - end) / single-device step time, of this episode
    double stepTimeUs = 0.0;      ///< of the placement at the end of the episode
    double bestStepTimeUs = 0.0;  ///< best valid placement so far; of the first graph
    double entropy = 0.0;         ///< mean over steps, nats
    double gradNorm = 0.0;        ///< before clipping
    double learningRate = 0.0;
    std::size_t problem = 0; ///< index of the graph
};

/// A saved state of training, complete: weights, optimiser, rng, baselines, counters, best placements.
/// Resuming from it equals never having stopped. Opaque bytes with a header that names method and version.
using Bytes = std::vector<std::uint8_t>;

struct TrainSpec {
    std::string method = "placeto";
    std::vector<ProblemPtr> problems; ///< same device count in all
    std::int64_t maxEpisodes = 0;     ///< 0 = no limit
    std::int64_t maxEvaluations = 0;  ///< simulations over all graphs and resumes, 0 = no limit
    double maxSeconds = 0.0;          ///< training seconds over all resumes, 0 = no limit; one limit must be set
    std::uint64_t seed = 1;
    std::string device = "cpu"; ///< "cpu", "cuda:0"
    std::map<std::string, std::string> parameters; ///< unknown keys are errors
    Bytes resumeFrom; ///< a checkpoint of the same method, graphs and parameters, or empty
    /// Per problem (empty = none): groups that stay where they are, and where episodes start.
    std::vector<std::vector<std::optional<DeviceId>>> pinned;
    std::vector<GroupPlacement> start;
};

struct TrainHooks {
    std::function<void(const EpisodeSample&)> onEpisode;
    /// At least every 10 s, at every stop and at the end. `episode` = episodes done.
    std::function<void(std::int64_t episode, const Bytes& checkpoint)> onCheckpoint;
    /// A better valid placement of problem `index` was seen.
    std::function<void(std::size_t index, const GroupPlacement& groups, const Evaluation& evaluation)> onBest;
};

struct TrainResult {
    std::int64_t episodes = 0;
    std::vector<PlaceResult> best; ///< per problem
    Bytes checkpoint;
    Bytes policy; ///< weights and architecture only, for inference and export
};

/// What a policy file says about itself.
struct PolicyInfo {
    std::string method;
    std::string architecture;
    std::size_t deviceCount = 0;
    std::size_t parameterCount = 0;
    std::string trainedOn;
    int version = 1;
};

struct InferSpec {
    Bytes policy;
    ProblemPtr problem;
    std::uint64_t seed = 1;
    int sampledSweeps = 8; ///< beside the greedy one
    std::string device = "cpu";
};

/// A compute device as LibTorch sees it.
struct LocalDevice {
    std::string name; ///< "cpu", "cuda:0"
    std::string model;
    std::int64_t memoryBytes = 0;
};

struct LocalInfo {
    std::string torchVersion;
    std::string blas;      ///< "OpenBLAS 0.3.21", "reference"
    std::string core;      ///< OpenBLAS core in use, "Haswell"
    double gflops = 0.0;   ///< measured now: float32 matrix product
    std::string cuda;      ///< CUDA version LibTorch was built with, "" = none
    std::vector<LocalDevice> devices;
};

/// What one input of a traced program looks like.
struct TorchSampleInput {
    std::vector<std::int64_t> dims;
    std::string dtype = "f32";
};

struct TorchScriptSpec {
    std::string path;
    std::vector<TorchSampleInput> inputs; ///< of forward, in order; empty = open without shapes
    std::stop_token stop;                 ///< seen between the steps: LibTorch itself cannot be interrupted
};

/// Everything the library does. All methods may be called from any thread; none keeps a thread.
/// LibTorch's exceptions never leave it.
class Library {
public:
    virtual ~Library() = default;
    virtual std::vector<ParameterInfo> parameters(const std::string& method) const = 0;
    virtual Result<TrainResult> train(const TrainSpec& spec, const TrainHooks& hooks, JobContext& context) const = 0;
    /// Zero-shot: greedy sweep and sampled sweeps with frozen weights, the best placement seen.
    virtual Result<PlaceResult> infer(const InferSpec& spec, JobContext& context) const = 0;
    virtual Result<PolicyInfo> inspect(const Bytes& policy) const = 0;
    /// `measure`: also times a matrix product (0.1 s).
    virtual LocalInfo localInfo(bool measure) const = 0;
    /// Largest relative error of a 512 x 512 float32 product against double precision: tells a wrong BLAS kernel.
    virtual double blasError() const = 0;
    /// The graph of a TorchScript file's forward method. Runs code from the file where sample inputs are given, and
    /// LibTorch may crash on a hostile file: call it in a process that may be lost.
    virtual Result<GraphPtr> importTorchScript(const TorchScriptSpec& spec) const = 0;
};

} // namespace pw::learn
