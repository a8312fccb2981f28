#include "core/experiment/run_spec.h"

#include "core/base/hash.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace pw {

namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> badKey(const std::string& key, const std::string& what) {
    return fail(ErrorCode::Invalid, what, "key \"" + key + "\"");
}

/// Reads the keys of one object into fields; the first error sticks and names its key.
class Reader {
public:
    explicit Reader(const Json& object) : m_object(object) {}

    void text(const char* key, std::string& field) {
        if (const Json* value = find(key)) {
            if (value->is_string())
                field = value->get<std::string>();
            else
                reject(key, "must be a text");
        }
    }

    void number(const char* key, double& field) {
        if (const Json* value = find(key)) {
            if (value->is_number() && value->get<double>() >= 0.0)
                field = value->get<double>();
            else
                reject(key, "must be a number of at least 0");
        }
    }

    template<std::integral Integer>
    void integer(const char* key, Integer& field) {
        if (const Json* value = find(key)) {
            // why: a JSON integer of at least 0 is unsigned for the parser
            if (value->is_number_unsigned() && std::in_range<Integer>(value->get<std::uint64_t>()))
                field = static_cast<Integer>(value->get<std::uint64_t>());
            else
                reject(key, "must be a whole number of at least 0");
        }
    }

    void texts(const char* key, std::vector<std::string>& field) {
        if (const Json* value = find(key)) {
            bool good = value->is_array();
            for (std::size_t i = 0; good && i < value->size(); ++i)
                good = (*value)[i].is_string();
            if (good)
                field = value->get<std::vector<std::string>>();
            else
                reject(key, "must be a list of texts");
        }
    }

    void textMap(const char* key, std::map<std::string, std::string>& field) {
        if (const Json* value = find(key)) {
            bool good = value->is_object();
            if (good) {
                for (const auto& item : value->items())
                    good = good && item.value().is_string();
            }
            if (good)
                field = value->get<std::map<std::string, std::string>>();
            else
                reject(key, "must be an object of texts");
        }
    }

    void reject(const char* key, const char* what) {
        if (m_status)
            m_status = badKey(key, what);
    }
    Status status() const { return m_status; }

private:
    const Json* find(const char* key) const {
        const auto found = m_object.find(key);
        return found == m_object.end() ? nullptr : &*found;
    }

    const Json& m_object;
    Status m_status;
};

void addMap(Hasher& hasher, const std::map<std::string, std::string>& map) {
    hasher.add(map.size());
    for (const auto& [key, value] : map) {
        hasher.add(key);
        hasher.add(value);
    }
}

} // namespace

std::string RunSpec::hash() const {
    Hasher hasher;
    hasher.add("RunSpec 1");
    hasher.add(kind);
    hasher.add(method);
    hasher.add(graphHashes.size());
    for (const auto& graph : graphHashes)
        hasher.add(graph);
    hasher.add(deviceSetHash);
    hasher.add(groups);
    hasher.add(simModelName(sim.model));
    hasher.add(sim.memoryHeadroomPct);
    hasher.add(seed);
    hasher.add(maxEvaluations);
    hasher.add(maxEpisodes);
    hasher.add(maxSeconds);
    hasher.add(device);
    addMap(hasher, parameters);
    addMap(hasher, pins);
    return hasher.finishHex();
}

std::string RunSpec::toJson() const {
    const Json json = {
        {"kind", kind},
        {"method", method},
        {"graph_hashes", graphHashes},
        {"graph_name", graphName},
        {"device_set_hash", deviceSetHash},
        {"device_set_name", deviceSetName},
        {"groups", groups},
        {"sim_model", simModelName(sim.model)},
        {"memory_headroom_pct", sim.memoryHeadroomPct},
        {"seed", seed},
        {"max_evaluations", maxEvaluations},
        {"max_episodes", maxEpisodes},
        {"max_seconds", maxSeconds},
        {"device", device},
        {"parameters", parameters},
        {"pins", pins},
    };
    // why: names come from foreign files; a byte that is not UTF-8 must not throw here
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RunSpec> RunSpec::fromJson(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return fail(ErrorCode::Parse, "a run's specification must be a JSON object");
    RunSpec spec;
    std::string model = simModelName(spec.sim.model);
    Reader reader(json);
    reader.text("kind", spec.kind);
    reader.text("method", spec.method);
    reader.texts("graph_hashes", spec.graphHashes);
    reader.text("graph_name", spec.graphName);
    reader.text("device_set_hash", spec.deviceSetHash);
    reader.text("device_set_name", spec.deviceSetName);
    reader.integer("groups", spec.groups);
    reader.text("sim_model", model);
    reader.number("memory_headroom_pct", spec.sim.memoryHeadroomPct);
    reader.integer("seed", spec.seed);
    reader.integer("max_evaluations", spec.maxEvaluations);
    reader.integer("max_episodes", spec.maxEpisodes);
    reader.number("max_seconds", spec.maxSeconds);
    reader.text("device", spec.device);
    reader.textMap("parameters", spec.parameters);
    reader.textMap("pins", spec.pins);
    const auto known = simModelFromName(model);
    if (known)
        spec.sim.model = *known;
    else
        reader.reject("sim_model", "is not a simulator model of this program");
    if (spec.kind != "place" && spec.kind != "train" && spec.kind != "infer")
        reader.reject("kind", "must be place, train or infer");
    PW_CHECK(reader.status());
    return spec;
}

} // namespace pw
