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

    void flag(const char* key, bool& field) {
        if (const Json* value = find(key)) {
            if (value->is_boolean())
                field = value->get<bool>();
            else
                reject(key, "must be true or false");
        }
    }

    void grouping(const char* key, GroupingOptions& field) {
        const Json* value = find(key);
        if (value == nullptr)
            return;
        if (!value->is_object())
            return reject(key, "must be an object");
        Reader inner(*value);
        inner.flag("colocation", field.colocation);
        inner.flag("coplacement", field.coplacement);
        inner.integer("scope_depth", field.scopeDepth);
        const Json* groups = inner.find("by_hand");
        if (groups != nullptr && !groups->is_array())
            inner.reject("by_hand", "must be a list of lists of op names");
        for (std::size_t i = 0; groups != nullptr && groups->is_array() && i < groups->size(); ++i) {
            const Json group = {{"by_hand", (*groups)[i]}};
            Reader names(group);
            names.texts("by_hand", field.byHand.emplace_back());
            if (!names.m_status)
                inner.m_status = names.m_status;
        }
        if (m_status)
            m_status = inner.m_status;
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

/// Nothing but a target: then specification and hash are as they were before there was more to say.
bool isPlain(const GroupingOptions& grouping) {
    GroupingOptions plain;
    plain.targetGroups = grouping.targetGroups;
    return grouping == plain;
}

void addGrouping(Hasher& hasher, const GroupingOptions& grouping) {
    if (isPlain(grouping))
        return;
    hasher.add(static_cast<int>(grouping.colocation));
    hasher.add(static_cast<int>(grouping.coplacement));
    hasher.add(grouping.scopeDepth);
    hasher.add(grouping.byHand.size());
    for (const auto& group : grouping.byHand) {
        hasher.add(group.size());
        for (const std::string& op : group)
            hasher.add(op);
    }
}

Json groupingJson(const GroupingOptions& grouping) {
    return {{"colocation", grouping.colocation},
            {"coplacement", grouping.coplacement},
            {"scope_depth", grouping.scopeDepth},
            {"by_hand", grouping.byHand}};
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
    hasher.add(grouping.targetGroups);
    addGrouping(hasher, grouping);
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
    Json json = {
        {"kind", kind},
        {"method", method},
        {"graph_hashes", graphHashes},
        {"graph_name", graphName},
        {"device_set_hash", deviceSetHash},
        {"device_set_name", deviceSetName},
        {"groups", grouping.targetGroups},
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
    if (!isPlain(grouping))
        json["grouping"] = groupingJson(grouping);
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
    reader.integer("groups", spec.grouping.targetGroups);
    reader.grouping("grouping", spec.grouping);
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
