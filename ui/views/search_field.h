#pragma once

#include "core/graph/op_graph.h"

#include <QLineEdit>

#include <vector>

QT_BEGIN_NAMESPACE
class QAction;
class QListWidget;
QT_END_NAMESPACE

namespace pw::ui {

/// One field for "go to anything": ops by name or type, scopes, commands. Every word must match. Return takes the first
/// hit, Shift+Return selects all ops that match.
class SearchField : public QLineEdit {
    Q_OBJECT

public:
    struct Hit {
        enum class Kind { Op, Scope, Command, AllOps };
        Kind kind = Kind::Op;
        quint32 index = 0;
        QAction* action = nullptr;
        QString text;
        QString detail;
    };

    explicit SearchField(QWidget* parent = nullptr);
    ~SearchField() override;
    void setGraph(GraphPtr graph);
    void setCommands(std::vector<QAction*> commands) { m_commands = std::move(commands); }
    /// Hits for a text, best first, at most `limit`; `all` gets every matching op.
    std::vector<Hit> search(const QString& text, std::size_t limit, QList<quint32>* all = nullptr) const;
    void focusNow(); ///< focus, all text selected

Q_SIGNALS:
    void opChosen(quint32 op);
    void scopeChosen(quint32 scope);
    void opsChosen(const QList<quint32>& ops);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void refresh();
    void choose(int row);
    void placePopup();

    GraphPtr m_graph;
    std::vector<QAction*> m_commands;
    std::vector<Hit> m_hits;
    QList<quint32> m_all;
    QListWidget* m_popup;
};

} // namespace pw::ui
