#include "ui/models/moves_model.h"

#include "ui/words.h"

#include <cmath>

namespace pw::ui {

MovesModel::MovesModel(QObject* parent)
    : SealedTableModel({{tr("Op group"), Qt::AlignLeft, false, {}},
                        {tr("From, to"), Qt::AlignLeft, false, {}},
                        {tr("Output, MB"), Qt::AlignRight, false, tr("Bytes the moved ops send on")},
                        {tr("Effect, ms"), Qt::AlignRight, false, tr("Change of the step time through this move, all others kept. Simulated.")}},
                       parent) {}

void MovesModel::setComparison(std::shared_ptr<const Comparison> comparison) {
    beginResetModel();
    m_comparison = std::move(comparison);
    endResetModel();
}

const std::vector<Move>& MovesModel::moves() const {
    static const std::vector<Move> kNone;
    return m_comparison ? m_comparison->moves : kNone;
}

int MovesModel::rows() const {
    return static_cast<int>(moves().size());
}

QVariant MovesModel::cell(int row, int column, int role) const {
    const Move& move = moves()[static_cast<std::size_t>(row)];
    const OpGraph& graph = m_comparison->problem->graph();
    if (role == IdRole)
        return move.ops.front();
    if (role == Qt::ToolTipRole)
        return tr("%1 ops, first %2").arg(move.ops.size()).arg(words::fromUtf8(graph.op(OpId(move.ops.front())).name));
    const bool display = role == Qt::DisplayRole;
    if (!display && role != SortRole)
        return {};
    switch (column) {
    case OpGroup: return words::fromUtf8(m_comparison->problem->grouping().names[move.group.index()]);
    case FromTo:
        return words::fromUtf8(deviceLetter(move.from)) + QStringLiteral(" → ") + words::fromUtf8(deviceLetter(move.to));
    case Output: return display ? QVariant(words::fixed(static_cast<double>(move.outputBytes) / 1e6, 1)) : QVariant(static_cast<qlonglong>(move.outputBytes));
    case Effect:
        if (!move.effectUs)
            return display ? QVariant(QStringLiteral("–")) : QVariant(0.0);
        return display ? QVariant(words::signedFixed(*move.effectUs / 1000.0, 1)) : QVariant(*move.effectUs);
    }
    return {};
}

} // namespace pw::ui
