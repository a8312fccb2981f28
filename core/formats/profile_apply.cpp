#include "core/formats/profile.h"

#include "core/base/text.h"

#include <algorithm>
#include <unordered_map>

namespace pw::formats {

namespace {

bool isNumber(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A name without what frameworks and profilers add to it: a leading "/" or "fused ", an output number ":0", the
/// endings
/// "_kernel_time", "_nchwc" and a last component "/fused...", in any order.
std::string_view bareName(std::string_view name) {
    for (bool changed = true; changed && !name.empty();) {
        const std::size_t before = name.size();
        for (const std::string_view prefix : {"/", "fused "}) {
            if (name.starts_with(prefix))
                name.remove_prefix(prefix.size());
        }
        for (const std::string_view suffix : {"_kernel_time", "_nchwc"}) {
            if (name.ends_with(suffix))
                name.remove_suffix(suffix.size());
        }
        if (const auto colon = name.rfind(':'); colon != std::string_view::npos && isNumber(name.substr(colon + 1)))
            name = name.substr(0, colon);
        const auto slash = name.rfind('/');
        if (slash != std::string_view::npos && slash > 0 && name.substr(slash + 1).starts_with("fused"))
            name = name.substr(0, slash);
        changed = name.size() != before;
    }
    return name;
}

/// Ops by bare name; an invalid id marks a bare name that several ops have.
using BareIndex = std::unordered_map<std::string_view, OpId>;

BareIndex indexByBareName(const OpGraph& graph) {
    BareIndex index;
    index.reserve(graph.opCount());
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const auto [found, isNew] = index.try_emplace(bareName(graph.op(OpId(i)).name), OpId(i));
        if (!isNew)
            found->second = OpId();
    }
    return index;
}

/// Which entry gives each op its time on each kind.
class Matcher {
public:
    Matcher(const OpGraph& graph, const Profile& profile, ProfileReport& report)
        : m_graph(graph)
        , m_profile(profile)
        , m_report(report) {}

    std::vector<OpCost> match() {
        std::vector<std::size_t> inexact;
        for (std::size_t e = 0; e < m_profile.entries.size(); ++e) {
            if (const auto op = m_graph.findOp(m_profile.entries[e].op))
                use(e, *op);
            else
                inexact.push_back(e);
        }
        matchBare(inexact);
        return std::move(m_costs);
    }

private:
    struct Claim {
        std::size_t entry = 0;
        bool isAmbiguous = false;
    };

    void use(std::size_t entry, OpId op) {
        const Profile::Entry& from = m_profile.entries[entry];
        m_costs.push_back({op, {from.deviceKind, from.us}});
        m_report.matchedUs += from.us;
        m_taken.try_emplace(keyOf(op, from.deviceKind), entry);
    }

    void leave(std::size_t entry) {
        m_report.unmatchedUs += m_profile.entries[entry].us;
        m_report.unmatchedEntries.push_back(m_profile.entries[entry].op);
    }

    void warn(std::size_t entry, const char* reason) {
        m_report.warnings.push_back({"ambiguous_op", m_profile.entries[entry].op, reason});
    }

    static std::string keyOf(OpId op, const std::string& kind) { return std::to_string(op.value()) + " " + kind; }

    /// A bare name counts only where it stands for one op and one entry, and no entry has the op's full name.
    void matchBare(const std::vector<std::size_t>& entries) {
        if (entries.empty())
            return;
        const BareIndex index = indexByBareName(m_graph);
        std::vector<OpId> opOf(m_profile.entries.size());
        std::unordered_map<std::string, Claim> claims;
        for (const std::size_t e : entries) {
            const auto found = index.find(bareName(m_profile.entries[e].op));
            if (found == index.end())
                continue;
            opOf[e] = found->second;
            if (!opOf[e].isValid()) {
                warn(e, "may be any of several ops; left out");
                continue;
            }
            const auto [claim, isNew] = claims.try_emplace(keyOf(opOf[e], m_profile.entries[e].deviceKind), Claim{e});
            claim->second.isAmbiguous = claim->second.isAmbiguous || !isNew;
        }
        for (const std::size_t e : entries)
            settle(e, opOf[e], claims);
    }

    void settle(std::size_t e, OpId op, const std::unordered_map<std::string, Claim>& claims) {
        if (!op.isValid()) {
            leave(e);
            return;
        }
        const std::string key = keyOf(op, m_profile.entries[e].deviceKind);
        if (m_taken.contains(key)) {
            leave(e);
        } else if (claims.at(key).isAmbiguous) {
            warn(e, "is one of several names in the profile for one op; left out");
            leave(e);
        } else {
            use(e, op);
        }
    }

    const OpGraph& m_graph;
    const Profile& m_profile;
    ProfileReport& m_report;
    std::vector<OpCost> m_costs;
    std::unordered_map<std::string, std::size_t> m_taken;
};

} // namespace

Result<GraphPtr> applyProfile(const OpGraph& graph, const Profile& profile, ProfileReport& report) {
    report = {};
    const std::vector<OpCost> costs = Matcher(graph, profile, report).match();
    std::vector<bool> hasTime(graph.opCount());
    for (const OpCost& cost : costs)
        hasTime[cost.op.index()] = true;
    report.opsMatched = static_cast<std::size_t>(std::count(hasTime.begin(), hasTime.end(), true));
    report.opsWithoutTime = graph.opCount() - report.opsMatched;
    if (costs.empty()) {
        const std::string example =
            profile.entries.empty() ? std::string() : " (\"" + profile.entries.front().op + "\", ...)";
        return fail(ErrorCode::Invalid, "none of its " +
                                            text::grouped(static_cast<std::int64_t>(profile.entries.size())) +
                                            " names" + example + " is an op of graph \"" + graph.name() + "\"");
    }
    return withCosts(graph, costs);
}

} // namespace pw::formats
