#include "ui/compare.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pw::ui {

namespace {

std::vector<Move> findMoves(const PlacementProblem& problem, const OpPlacement& base, const OpPlacement& candidate) {
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Move> byKey;
    for (std::size_t i = 0; i < base.size(); ++i) {
        if (base[i] == candidate[i])
            continue;
        const GroupId group = problem.grouping().groupOf[i];
        Move& move = byKey[{group.index(), base[i].index(), candidate[i].index()}];
        move.group = group;
        move.from = base[i];
        move.to = candidate[i];
        move.ops.append(static_cast<quint32>(i));
        for (const TensorId tensor : problem.graph().outputs(OpId(i)))
            move.outputBytes += problem.graph().tensor(tensor).bytes;
    }
    std::vector<Move> moves;
    for (auto& [key, move] : byKey)
        moves.push_back(std::move(move));
    return moves;
}

double costOf(const PlacementProblem& problem, const Move& move) {
    double us = 0.0;
    for (const quint32 op : move.ops)
        us += problem.costs().at(OpId(op), move.to);
    return us;
}

void addEffects(std::vector<Move>& moves, const ProblemPtr& problem, const OpPlacement& candidate, double stepUs,
                const JobContext& context) {
    std::stable_sort(moves.begin(), moves.end(),
                     [&](const Move& a, const Move& b) { return costOf(*problem, a) > costOf(*problem, b); });
    Simulator simulator(problem);
    OpPlacement trial = candidate;
    for (std::size_t i = 0; i < std::min(moves.size(), kMaxEffects) && !context.abortRequested(); ++i) {
        for (const quint32 op : moves[i].ops)
            trial[op] = moves[i].from;
        moves[i].effectUs = stepUs - simulator.evaluate(trial).stepTimeUs;
        for (const quint32 op : moves[i].ops)
            trial[op] = moves[i].to;
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& a, const Move& b) { return a.effectUs.value_or(0.0) < b.effectUs.value_or(0.0); });
}

} // namespace

Comparison comparePlacements(const ProblemPtr& problem, const OpPlacement& base, const OpPlacement& candidate,
                             const JobContext& context) {
    Comparison result;
    result.problem = problem;
    Simulator simulator(problem);
    result.base = std::make_shared<const Schedule>(simulator.schedule(base));
    result.candidate = std::make_shared<const Schedule>(simulator.schedule(candidate));
    result.boundUs = lowerBounds(*problem).best();
    result.flow.assign(problem->deviceCount(), std::vector<std::size_t>(problem->deviceCount(), 0));
    result.moved.resize(base.size());
    for (std::size_t i = 0; i < base.size(); ++i) {
        result.moved[i] = base[i] != candidate[i];
        result.movedOps += result.moved[i] ? 1 : 0;
        ++result.flow[base[i].index()][candidate[i].index()];
    }
    result.moves = findMoves(*problem, base, candidate);
    addEffects(result.moves, problem, candidate, result.candidate->stepTimeUs, context);
    return result;
}

} // namespace pw::ui
