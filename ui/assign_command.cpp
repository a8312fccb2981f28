#include "ui/assign_command.h"

namespace pw::ui {

AssignCommand::AssignCommand(Document* document, int sourceId, std::optional<PlacementEntry> copy,
                             OpPlacementPtr before, OpPlacementPtr after, const QString& text)
    : QUndoCommand(text), m_document(document), m_sourceId(sourceId), m_targetId(copy ? copy->id : sourceId),
      m_copy(std::move(copy)), m_before(std::move(before)), m_after(std::move(after)) {}

void AssignCommand::undo() {
    if (m_copy) {
        m_document->removePlacement(m_targetId);
        m_document->setCurrentPlacement(m_sourceId);
        return;
    }
    m_document->replaceOps(m_targetId, m_before);
    m_document->setCurrentPlacement(m_targetId);
}

void AssignCommand::redo() {
    if (m_copy) {
        PlacementEntry entry = *m_copy;
        entry.ops = m_after;
        m_document->addPlacement(std::move(entry), true);
        Q_EMIT m_document->manualPlacementEdited(m_targetId);
        return;
    }
    m_document->replaceOps(m_targetId, m_after);
    m_document->setCurrentPlacement(m_targetId);
}

} // namespace pw::ui
