#pragma once

#include "ui/document.h"

#include <QUndoCommand>

#include <utility>

namespace pw::ui {

/// Another way to group ops. Placements are per op, so they stay what they are.
class GroupingCommand : public QUndoCommand {
public:
    GroupingCommand(Document* document, GroupingOptions after, const QString& text)
        : QUndoCommand(text), m_document(document), m_before(document->grouping()), m_after(std::move(after)) {}

    void undo() override { m_document->setGrouping(m_before); }
    void redo() override { m_document->setGrouping(m_after); }

private:
    Document* m_document;
    GroupingOptions m_before;
    GroupingOptions m_after;
};

} // namespace pw::ui
