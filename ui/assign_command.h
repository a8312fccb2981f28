#pragma once

#include "ui/document.h"

#include <QUndoCommand>

namespace pw::ui {

/// Moving ops by hand, in core terms. The first edit of a method's placement makes a copy; undoing it removes the copy.
class AssignCommand : public QUndoCommand {
public:
    /// `copy` is set when a new entry is made from `sourceId` (-1: from nothing).
    AssignCommand(Document* document, int sourceId, std::optional<PlacementEntry> copy, OpPlacementPtr before,
                  OpPlacementPtr after, const QString& text);

    void undo() override;
    void redo() override;

private:
    Document* m_document;
    int m_sourceId;
    int m_targetId;
    std::optional<PlacementEntry> m_copy;
    OpPlacementPtr m_before;
    OpPlacementPtr m_after;
};

} // namespace pw::ui
