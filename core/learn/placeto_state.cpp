#include "core/learn/placeto_state.h"

#include "core/base/hash.h"
#include "core/learn/byte_io.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace pw::learn {

namespace {

constexpr std::string_view kCheckpointMagic = "PWCHKPT1";
constexpr std::string_view kPolicyFormat = "placewright-policy";
constexpr int kPolicyVersion = 1;

std::uint64_t hashOf(std::span<const std::uint8_t> bytes) {
    Hasher hasher;
    hasher.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return hasher.finish64();
}

void writeBest(ByteWriter& writer, const BestPlacement& best) {
    std::vector<std::uint32_t> devices;
    for (const auto device : best.groups)
        devices.push_back(device.value());
    writer.add(devices);
    writer.add(best.outcome.cost);
    writer.add(best.outcome.evaluation.stepTimeUs);
    writer.add(static_cast<std::uint8_t>(best.outcome.evaluation.valid));
}

BestPlacement readBest(ByteReader& reader) {
    BestPlacement best;
    for (const auto device : reader.values<std::uint32_t>())
        best.groups.emplace_back(device);
    best.outcome.cost = reader.value<double>();
    best.outcome.evaluation.stepTimeUs = reader.value<double>();
    best.outcome.evaluation.valid = reader.value<std::uint8_t>() != 0;
    return best;
}

void writeContext(ByteWriter& writer, const CheckpointContext& context) {
    writer.add(std::string("placeto"));
    writer.add(static_cast<std::uint64_t>(context.deviceCount));
    writer.add(static_cast<std::uint64_t>(context.problemHashes.size()));
    for (const auto& hash : context.problemHashes)
        writer.add(hash);
    writer.add(static_cast<std::uint64_t>(context.parameters.size()));
    for (const auto& [key, value] : context.parameters) {
        writer.add(key);
        writer.add(value);
    }
}

Status checkContext(ByteReader& reader, const CheckpointContext& context) {
    const auto differs = [](const std::string& what) {
        return fail(ErrorCode::Invalid, "was written by a run with " + what, "checkpoint");
    };
    if (reader.text() != "placeto")
        return differs("another method");
    if (const auto devices = reader.value<std::uint64_t>(); devices != context.deviceCount)
        return differs(std::to_string(devices) + " devices, this one has " + std::to_string(context.deviceCount));
    if (reader.value<std::uint64_t>() != context.problemHashes.size())
        return differs("another number of graphs");
    for (const auto& hash : context.problemHashes)
        if (reader.text() != hash)
            return differs("other graphs, groups, devices or simulator options");
    const auto count = reader.value<std::uint64_t>();
    for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
        const std::string key = reader.text();
        const std::string value = reader.text();
        const auto known = context.parameters.find(key);
        if (!reader.failed() && (known == context.parameters.end() || known->second != value))
            return differs(key + " = " + value);
    }
    return {};
}

ProblemState readProblem(ByteReader& reader) {
    ProblemState problem;
    const auto rows = reader.value<std::uint64_t>();
    for (std::uint64_t i = 0; i < rows && !reader.failed(); ++i)
        problem.window.push_back(reader.values<double>());
    problem.best = readBest(reader);
    problem.evaluations = reader.value<std::int64_t>();
    return problem;
}

/// A checkpoint that passed its hash can still come from hostile hands: everything that is used as a size is checked.
bool fits(const PlacetoState& state, const CheckpointContext& context) {
    const std::size_t count = context.parameterCount;
    bool good = state.weights.size() == count && state.firstMoment.size() == count && state.secondMoment.size() == count &&
                state.problems.size() == context.groupCounts.size() && state.nextProblem < state.problems.size() &&
                state.episodes >= 0 && state.updates >= 0 && std::isfinite(state.seconds) && state.seconds >= 0.0;
    for (std::size_t i = 0; good && i < state.problems.size(); ++i) {
        const auto& problem = state.problems[i];
        good = problem.best.groups.size() == context.groupCounts[i];
        for (const auto device : problem.best.groups)
            good = good && device.index() < context.deviceCount;
        for (const auto& row : problem.window)
            good = good && row.size() == context.groupCounts[i];
    }
    return good;
}

} // namespace

std::int64_t PlacetoState::evaluations() const {
    std::int64_t sum = 0;
    for (const auto& problem : problems)
        sum += problem.evaluations;
    return sum;
}

Bytes writeCheckpoint(const PlacetoState& state, const CheckpointContext& context) {
    ByteWriter writer;
    writeContext(writer, context);
    writer.add(state.weights);
    writer.add(state.firstMoment);
    writer.add(state.secondMoment);
    writer.add(state.updates);
    writer.add(state.skippedUpdates);
    for (const auto word : state.rng)
        writer.add(word);
    writer.add(state.seed);
    writer.add(state.episodes);
    writer.add(static_cast<std::uint64_t>(state.nextProblem));
    writer.add(state.seconds);
    writer.add(static_cast<std::uint64_t>(state.problems.size()));
    for (const auto& problem : state.problems) {
        writer.add(static_cast<std::uint64_t>(problem.window.size()));
        for (const auto& row : problem.window)
            writer.add(row);
        writeBest(writer, problem.best);
        writer.add(problem.evaluations);
    }
    const Bytes payload = writer.take();
    Bytes bytes(kCheckpointMagic.begin(), kCheckpointMagic.end());
    ByteWriter hash;
    hash.add(hashOf(payload));
    const Bytes hashBytes = hash.take();
    bytes.insert(bytes.end(), hashBytes.begin(), hashBytes.end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

Result<PlacetoState> readCheckpoint(const Bytes& bytes, const CheckpointContext& context) {
    const std::size_t header = kCheckpointMagic.size() + sizeof(std::uint64_t);
    if (bytes.size() < header || !std::equal(kCheckpointMagic.begin(), kCheckpointMagic.end(), bytes.begin()))
        return fail(ErrorCode::Parse, "is not a checkpoint of this version", "checkpoint");
    ByteReader hash(std::span<const std::uint8_t>(bytes).subspan(kCheckpointMagic.size()));
    ByteReader reader(std::span<const std::uint8_t>(bytes).subspan(header));
    if (hash.value<std::uint64_t>() != hashOf(reader.rest()))
        return fail(ErrorCode::Parse, "is damaged", "checkpoint");
    PW_CHECK(checkContext(reader, context));
    PlacetoState state;
    state.weights = reader.values<float>();
    state.firstMoment = reader.values<float>();
    state.secondMoment = reader.values<float>();
    state.updates = reader.value<std::int64_t>();
    state.skippedUpdates = reader.value<std::int64_t>();
    for (auto& word : state.rng)
        word = reader.value<std::uint64_t>();
    state.seed = reader.value<std::uint64_t>();
    state.episodes = reader.value<std::int64_t>();
    state.nextProblem = static_cast<std::size_t>(reader.value<std::uint64_t>());
    state.seconds = reader.value<double>();
    const auto problems = reader.value<std::uint64_t>();
    for (std::uint64_t i = 0; i < problems && !reader.failed(); ++i)
        state.problems.push_back(readProblem(reader));
    if (reader.failed() || !reader.atEnd() || !fits(state, context))
        return fail(ErrorCode::Parse, "does not fit this run", "checkpoint");
    return state;
}

Bytes writePolicy(const PlacetoPolicy& policy) {
    const auto* raw = reinterpret_cast<const std::uint8_t*>(policy.weights.data());
    const std::span<const std::uint8_t> weights(raw, policy.weights.size() * sizeof(float));
    nlohmann::ordered_json header;
    header["format"] = kPolicyFormat;
    header["version"] = kPolicyVersion;
    header["method"] = policy.info.method;
    header["architecture"] = policy.info.architecture;
    header["device_count"] = policy.info.deviceCount;
    header["parameter_count"] = policy.weights.size();
    header["trained_on"] = policy.info.trainedOn;
    header["parameters"] = policy.parameters;
    header["weights"] = "float32, little-endian, after this line";
    header["weights_hash"] = std::to_string(hashOf(weights));
    const std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    Bytes bytes(text.begin(), text.end());
    bytes.insert(bytes.end(), weights.begin(), weights.end());
    return bytes;
}

Result<PlacetoPolicy> readPolicy(const Bytes& bytes) {
    const auto newline = std::find(bytes.begin(), bytes.end(), static_cast<std::uint8_t>('\n'));
    const auto header = nlohmann::json::parse(bytes.begin(), newline, nullptr, false);
    const auto bad = [](const std::string& why) { return fail(ErrorCode::Parse, why, "policy"); };
    const auto text = [&header](const char* key) {
        return header.contains(key) && header[key].is_string() ? header[key].get<std::string>() : std::string();
    };
    if (newline == bytes.end() || !header.is_object() || text("format") != kPolicyFormat)
        return bad("is not a Placewright policy");
    if (!header.contains("version") || !header["version"].is_number_integer())
        return bad("has no version");
    if (const auto version = header["version"].get<std::int64_t>(); version != kPolicyVersion)
        return fail(ErrorCode::Unsupported, "has version " + std::to_string(version) + "; this program reads version " +
                                                std::to_string(kPolicyVersion), "policy");
    PlacetoPolicy policy;
    policy.info.method = text("method");
    policy.info.architecture = text("architecture");
    policy.info.trainedOn = text("trained_on");
    policy.info.version = kPolicyVersion;
    if (header.contains("device_count") && header["device_count"].is_number_unsigned())
        policy.info.deviceCount = header["device_count"].get<std::size_t>();
    const auto weights = std::span(bytes).subspan(static_cast<std::size_t>(newline - bytes.begin()) + 1);
    if (weights.size() % sizeof(float) != 0 || std::to_string(hashOf(weights)) != text("weights_hash"))
        return bad("is damaged: its weights do not match their hash");
    policy.weights.resize(weights.size() / sizeof(float));
    if (!weights.empty())
        std::memcpy(policy.weights.data(), weights.data(), weights.size());
    policy.info.parameterCount = policy.weights.size();
    if (header.contains("parameters") && header["parameters"].is_object())
        for (const auto& [key, value] : header["parameters"].items())
            if (value.is_string())
                policy.parameters[key] = value.get<std::string>();
    return policy;
}

} // namespace pw::learn
