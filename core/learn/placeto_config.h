#pragma once

#include "core/learn/learn.h"

namespace pw::learn {

/// The numbers the network's shape follows from.
struct NetShape {
    enum class Variant : std::uint8_t { Full, NoMessagePassing, SimpleAggregator };
    enum class Messages : std::uint8_t { Radial, Sweep };
    enum class Aggregation : std::uint8_t { Sum, Sqrt, Mean };

    Variant variant = Variant::Full;
    Messages messages = Messages::Radial;
    Aggregation aggregation = Aggregation::Sum;
    std::size_t deviceCount = 2;
    std::size_t rounds = 8;       ///< k, of the radial form
    bool memoryAttribute = false; ///< one more feature per node

    /// d of Placeto: features per node.
    std::size_t featureCount() const { return 5 + (memoryAttribute ? 1 : 0) + deviceCount; }
};

/// Every parameter of Placeto, typed. Meaning and source of each: placetoParameters().
struct PlacetoConfig {
    enum class Features : std::uint8_t { Safe, Reference };
    enum class Start : std::uint8_t { Zero, Random, RandomEach, Best };
    enum class Reward : std::uint8_t { Intermediate, MinRuntime, Terminal };
    enum class Baseline : std::uint8_t { Window, Batch };
    enum class AdvantageNorm : std::uint8_t { None, Rms, Std };

    NetShape shape;
    Features features = Features::Safe;
    Start start = Start::Zero;
    Reward reward = Reward::Intermediate;
    Baseline baseline = Baseline::Window;
    AdvantageNorm advantageNorm = AdvantageNorm::Rms;
    bool baselineIncludesCurrent = false;
    std::size_t baselineWindow = 10;
    bool normaliseCost = true;
    double advantageFloor = 0.0;
    double gamma = 0.9;
    double entropy = 0.02;
    double entropyEnd = 0.0;
    double lr = 1e-3;
    double lrEnd = 1e-4;
    double clip = 1.25;
    std::size_t rollouts = 1;
    std::size_t graphsPerUpdate = 0; ///< 0 = at most 4
    double memPenaltySPerGb = -1.0;  ///< negative = one single-device step time per GB
    double maxMemGb = -1.0;          ///< negative = each device's own capacity
    double costCapS = -1.0;          ///< negative = ten single-device step times

    std::map<std::string, std::string> values; ///< every key with the value used, as text
};

std::vector<ParameterInfo> placetoParameters();

/// Starts from the preset (`tuned` unless given), lays `parameters` over it. Unknown keys and values out of range are
/// errors that name the key.
Result<PlacetoConfig> makePlacetoConfig(const std::map<std::string, std::string>& parameters, std::size_t deviceCount);

} // namespace pw::learn
