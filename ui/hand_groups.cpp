#include "ui/hand_groups.h"

#include <algorithm>
#include <unordered_set>

namespace pw::ui {

namespace {

using Names = std::unordered_set<std::string_view>;

Names namesOf(const OpGraph& graph, const QList<quint32>& ops) {
    Names names;
    for (const quint32 op : ops)
        if (op < graph.opCount())
            names.insert(graph.op(OpId(op)).name);
    return names;
}

bool hasAny(const std::vector<std::string>& group, const Names& names) {
    return std::any_of(group.begin(), group.end(), [&](const std::string& name) { return names.count(name) > 0; });
}

} // namespace

GroupingOptions groupedTogether(GroupingOptions options, const OpGraph& graph, const QList<quint32>& ops) {
    const Names names = namesOf(graph, ops);
    if (names.size() < 2)
        return options;
    for (auto& group : options.byHand)
        std::erase_if(group, [&](const std::string& name) { return names.count(name) > 0; });
    std::erase_if(options.byHand, [](const auto& group) { return group.size() < 2; });
    std::vector<std::string> made(names.begin(), names.end());
    std::sort(made.begin(), made.end());
    options.byHand.push_back(std::move(made));
    return options;
}

GroupingOptions ungrouped(GroupingOptions options, const OpGraph& graph, const QList<quint32>& ops) {
    const Names names = namesOf(graph, ops);
    std::erase_if(options.byHand, [&](const auto& group) { return hasAny(group, names); });
    return options;
}

bool isGroupedByHand(const GroupingOptions& options, const OpGraph& graph, const QList<quint32>& ops) {
    if (options.byHand.empty()) // the usual case, asked with every selection
        return false;
    const Names names = namesOf(graph, ops);
    return std::any_of(options.byHand.begin(), options.byHand.end(), [&](const auto& group) { return hasAny(group, names); });
}

} // namespace pw::ui
