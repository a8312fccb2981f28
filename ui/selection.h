#pragma once

#include <QList>
#include <QObject>

namespace pw::ui {

/// The one selection that graph, timeline, inspector, tables and compare view share. Views set it and listen to it; no
/// view knows another. Op indices of the current graph; cleared when the graph changes.
class Selection : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    const QList<quint32>& ops() const { return m_ops; }
    qint64 hovered() const { return m_hovered; }
    bool isEmpty() const { return m_ops.isEmpty(); }

public Q_SLOTS:
    void setOps(const QList<quint32>& ops);
    void setHovered(qint64 op); ///< -1 = none
    void clear() { setOps({}); }
    /// Selects one op and asks the graph to bring it into view.
    void reveal(quint32 op);

Q_SIGNALS:
    void changed(const QList<quint32>& ops);
    void hoverChanged(qint64 op);
    void revealRequested(quint32 op);

private:
    QList<quint32> m_ops;
    qint64 m_hovered = -1;
};

} // namespace pw::ui
