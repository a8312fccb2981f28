#pragma once

#include "core/graph/grouping.h"

#include <QList>

namespace pw::ui {

// Groups that a person makes, as changes of the grouping's options. An op is in at most one of them.

/// The ops become one group; they leave the ones they were in.
GroupingOptions groupedTogether(GroupingOptions options, const OpGraph& graph, const QList<quint32>& ops);
/// The hand-made groups of these ops are dissolved.
GroupingOptions ungrouped(GroupingOptions options, const OpGraph& graph, const QList<quint32>& ops);
bool isGroupedByHand(const GroupingOptions& options, const OpGraph& graph, const QList<quint32>& ops);

} // namespace pw::ui
