#include "core/learn/placeto_config.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace pw::learn {

namespace {

struct Declaration {
    const char* key;
    const char* tuned;
    const char* paper; ///< value under preset=paper: the authors' code and sample settings where they say
    const char* unit;
    const char* help;
    const char* source; ///< of the tuned value
    const char* choices; ///< separated by '|', "" = free
};

// Sources: "measured" = this project's experiments, "code" = the authors' released code or its
// sample settings, "chosen" = decided here without an experiment.
constexpr Declaration kDeclarations[] = {
    {"preset", "tuned", "paper", "", "Values that the other keys start from: measured here, or the authors' samples.",
     "measured", "tuned|paper"},
    {"variant", "full", "full", "", "Network: full, pools on raw features, or one aggregate of raw features.", "code",
     "full|no_message_passing|simple_aggregator"},
    {"messages", "radial", "radial", "", "Message passing in k rounds, or one sweep each way in topological order.",
     "code", "radial|sweep"},
    {"k", "8", "8", "rounds", "Rounds of radial message passing.", "code", ""},
    {"aggregation", "sqrt", "sum", "", "How messages add up: sum, sum / sqrt(count), mean.", "measured",
     "sqrt|sum|mean"},
    {"features", "safe", "reference", "", "Scaling of the start-time column: by its largest magnitude, or as the code.",
     "measured", "safe|reference"},
    {"mem_attribute", "0", "0", "", "Adds each group's output memory to the features.", "code", "0|1"},
    {"gamma", "0.9", "1", "", "Discount of later rewards.", "measured", ""},
    {"reward", "intermediate", "intermediate", "", "Change of cost per action, best cost seen later, or final cost only.",
     "measured", "intermediate|min_runtime|terminal"},
    {"normalize_cost", "1", "1", "", "Divides costs by the graph's single-device step time.", "measured", "0|1"},
    {"advantage_norm", "rms", "rms", "", "Scales the advantages of an update. Without it small costs never learn.",
     "measured", "rms|std|none"},
    {"advantage_floor", "0", "0", "", "Smallest number that advantages are divided by, in units of cost.", "chosen", ""},
    {"baseline", "window", "window", "", "Per step index: mean over recent updates, or over this update's rollouts.",
     "code", "window|batch"},
    {"baseline_window", "10", "10", "updates", "Updates that the window baseline looks back.", "code", ""},
    {"baseline_includes_current", "0", "1", "", "Whether the window holds the return it is compared with.", "measured",
     "0|1"},
    {"entropy", "0.02", "0.01", "", "Weight of the entropy bonus at the start.", "measured", ""},
    {"entropy_end", "0", "0", "", "Weight of the entropy bonus at the end of the budget, linear in between.", "measured",
     ""},
    {"lr", "0.001", "0.001", "", "Learning rate of Adam at the start.", "code", ""},
    {"lr_end", "0.0001", "0.0001", "", "Learning rate at the end of the budget, linear in between.", "code", ""},
    {"clip", "1.25", "1.25", "", "Largest norm of a gradient; 0 turns clipping off.", "code", ""},
    {"rollouts", "1", "1", "episodes", "Episodes of each graph per update.", "measured", ""},
    {"graphs_per_update", "0", "0", "graphs", "Graphs per update, in turn; 0 = all, at most 4.", "measured", ""},
    {"start", "zero", "random", "", "Placement an episode starts from, where the caller gives none.", "measured",
     "zero|random|random_each|best"},
    {"mem_penalty", "auto", "2", "s/GB", "Cost of memory over the limit; auto = one single-device step time per GB.",
     "chosen", ""},
    {"max_mem", "auto", "8", "GB", "Memory limit of every device; auto = each device's capacity.", "chosen", ""},
    {"cost_cap", "auto", "10", "s", "Largest cost of a placement; auto = ten single-device step times.", "chosen", ""},
};

Result<double> toNumber(const std::string& key, const std::string& value, double low, double high) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number))
        return fail(ErrorCode::Invalid, "not a number: \"" + value + "\"", "parameter " + key);
    if (number < low || number > high)
        return fail(ErrorCode::Invalid, "must be between " + text::number(low) + " and " + text::number(high) + ", is " +
                                            value, "parameter " + key);
    return number;
}

/// Reads typed values out of the resolved texts; remembers the first error.
class Reader {
public:
    explicit Reader(const std::map<std::string, std::string>& values) : m_values(values) {}

    double number(const char* key, double low, double high) {
        auto value = toNumber(key, m_values.at(key), low, high);
        if (value)
            return *value;
        if (!m_error)
            m_error = std::move(value).error();
        return low;
    }
    double numberOrAuto(const char* key, double high) { return m_values.at(key) == "auto" ? -1.0 : number(key, 0.0, high); }
    std::size_t count(const char* key, double low, double high) {
        const double value = number(key, low, high);
        if (value != std::floor(value) && !m_error)
            m_error = Error{ErrorCode::Invalid, "must be a whole number", {}, std::string("parameter ") + key};
        return static_cast<std::size_t>(value);
    }
    bool flag(const char* key) { return m_values.at(key) == "1"; }
    /// The position of the value in the declared choices, checked before.
    template<class Enum, std::size_t Size>
    Enum choice(const char* key, const std::array<std::pair<const char*, Enum>, Size>& table) {
        for (const auto& [name, value] : table)
            if (m_values.at(key) == name)
                return value;
        return table[0].second;
    }
    const std::optional<Error>& error() const { return m_error; }

private:
    const std::map<std::string, std::string>& m_values;
    std::optional<Error> m_error;
};

std::vector<std::string> choicesOf(const Declaration& declaration) {
    std::vector<std::string> choices;
    if (*declaration.choices != '\0')
        for (const auto part : text::split(declaration.choices, '|'))
            choices.emplace_back(part);
    return choices;
}

Result<std::map<std::string, std::string>> resolve(const std::map<std::string, std::string>& parameters) {
    const auto preset = parameters.find("preset");
    const bool paper = preset != parameters.end() && preset->second == "paper";
    std::map<std::string, std::string> values;
    for (const auto& declaration : kDeclarations)
        values[declaration.key] = paper ? declaration.paper : declaration.tuned;
    for (const auto& [key, value] : parameters) {
        const auto known = values.find(key);
        if (known == values.end())
            return fail(ErrorCode::Invalid, "placeto has no parameter \"" + key + "\"", "parameter " + key);
        known->second = value;
    }
    for (const auto& declaration : kDeclarations) {
        const auto choices = choicesOf(declaration);
        const std::string& value = values.at(declaration.key);
        if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
            return fail(ErrorCode::Invalid, "\"" + value + "\" is none of " + declaration.choices,
                        std::string("parameter ") + declaration.key);
    }
    return values;
}

void readShape(Reader& reader, NetShape& shape) {
    using Shape = NetShape;
    shape.variant = reader.choice("variant", std::array{std::pair{"full", Shape::Variant::Full},
                                                        std::pair{"no_message_passing", Shape::Variant::NoMessagePassing},
                                                        std::pair{"simple_aggregator", Shape::Variant::SimpleAggregator}});
    shape.messages = reader.choice("messages", std::array{std::pair{"radial", Shape::Messages::Radial},
                                                          std::pair{"sweep", Shape::Messages::Sweep}});
    shape.aggregation = reader.choice("aggregation", std::array{std::pair{"sqrt", Shape::Aggregation::Sqrt},
                                                                std::pair{"sum", Shape::Aggregation::Sum},
                                                                std::pair{"mean", Shape::Aggregation::Mean}});
    shape.rounds = reader.count("k", 0, 64);
    shape.memoryAttribute = reader.flag("mem_attribute");
}

void readTraining(Reader& reader, PlacetoConfig& config) {
    using C = PlacetoConfig;
    config.features = reader.choice("features", std::array{std::pair{"safe", C::Features::Safe},
                                                           std::pair{"reference", C::Features::Reference}});
    config.start = reader.choice("start", std::array{std::pair{"zero", C::Start::Zero}, std::pair{"random", C::Start::Random},
                                                     std::pair{"random_each", C::Start::RandomEach},
                                                     std::pair{"best", C::Start::Best}});
    config.reward = reader.choice("reward", std::array{std::pair{"intermediate", C::Reward::Intermediate},
                                                       std::pair{"min_runtime", C::Reward::MinRuntime},
                                                       std::pair{"terminal", C::Reward::Terminal}});
    config.baseline = reader.choice("baseline", std::array{std::pair{"window", C::Baseline::Window},
                                                           std::pair{"batch", C::Baseline::Batch}});
    config.advantageNorm = reader.choice("advantage_norm", std::array{std::pair{"rms", C::AdvantageNorm::Rms},
                                                                      std::pair{"std", C::AdvantageNorm::Std},
                                                                      std::pair{"none", C::AdvantageNorm::None}});
    config.baselineWindow = reader.count("baseline_window", 1, 100000);
    config.baselineIncludesCurrent = reader.flag("baseline_includes_current");
    config.normaliseCost = reader.flag("normalize_cost");
    config.advantageFloor = reader.number("advantage_floor", 0.0, 1e9);
    config.gamma = reader.number("gamma", 0.0, 1.0);
    config.entropy = reader.number("entropy", 0.0, 100.0);
    config.entropyEnd = reader.number("entropy_end", 0.0, 100.0);
    config.lr = reader.number("lr", 0.0, 1.0);
    config.lrEnd = reader.number("lr_end", 0.0, 1.0);
    config.clip = reader.number("clip", 0.0, 1e9);
    config.rollouts = reader.count("rollouts", 1, 256);
    config.graphsPerUpdate = reader.count("graphs_per_update", 0, 256);
    config.memPenaltySPerGb = reader.numberOrAuto("mem_penalty", 1e9);
    config.maxMemGb = reader.numberOrAuto("max_mem", 1e9);
    config.costCapS = reader.numberOrAuto("cost_cap", 1e9);
}

} // namespace

std::vector<ParameterInfo> placetoParameters() {
    std::vector<ParameterInfo> infos;
    for (const auto& declaration : kDeclarations)
        infos.push_back({declaration.key, declaration.tuned, declaration.unit, declaration.help, declaration.source,
                         choicesOf(declaration)});
    return infos;
}

Result<PlacetoConfig> makePlacetoConfig(const std::map<std::string, std::string>& parameters, std::size_t deviceCount) {
    PW_TRY(auto values, resolve(parameters));
    PlacetoConfig config;
    config.shape.deviceCount = deviceCount;
    Reader reader(values);
    readShape(reader, config.shape);
    readTraining(reader, config);
    if (reader.error())
        return fail(*reader.error());
    if (config.baseline == PlacetoConfig::Baseline::Batch && config.rollouts < 2)
        return fail(ErrorCode::Invalid, "a batch baseline needs at least 2 rollouts", "parameter baseline");
    config.values = std::move(values);
    return config;
}

} // namespace pw::learn
