#pragma once

#include "ui/views/facts_view.h"
#include "core/sim/simulator.h"

#include <QList>

namespace pw::ui {

/// What the Inspector says, as rows: pure functions of the snapshots on screen, so that they are tested by value.
struct OpFactsInput {
    GraphPtr graph;
    ProblemPtr problem;                          ///< null: not compiled (or a body)
    std::shared_ptr<const OpPlacement> placement; ///< null: nothing placed
    std::shared_ptr<const Schedule> schedule;
};

/// Everything about one op below its placement: cost with source, schedule, tensors, attributes.
std::vector<FactsView::Row> factsOfOp(const OpFactsInput& input, OpId op);
/// Sums over several ops.
std::vector<FactsView::Row> factsOfSelection(const OpFactsInput& input, const QList<quint32>& ops);
/// The graph as a whole, for an empty selection: counts and what the importer noticed.
std::vector<FactsView::Row> factsOfGraph(const OpFactsInput& input);

} // namespace pw::ui
