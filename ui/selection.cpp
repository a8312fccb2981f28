#include "ui/selection.h"

namespace pw::ui {

void Selection::setOps(const QList<quint32>& ops) {
    if (ops == m_ops)
        return;
    m_ops = ops;
    Q_EMIT changed(m_ops);
}

void Selection::setHovered(qint64 op) {
    if (op == m_hovered)
        return;
    m_hovered = op;
    Q_EMIT hoverChanged(op);
}

void Selection::reveal(quint32 op) {
    setOps({op});
    Q_EMIT revealRequested(op);
}

} // namespace pw::ui
