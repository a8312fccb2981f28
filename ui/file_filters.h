#pragma once

#include "core/formats/formats.h"

#include <QString>
#include <QStringList>

namespace pw::ui::filters {

// What file dialogs offer, from the formats that the program knows: nothing here names a format.

/// For opening: all that can be opened first, then a line per kind and format, then everything.
QString openFilter();
/// For writing files of one kind, a line per format that can be written. With `source`, the file that a graph came from,
/// also those that are written by putting devices into the original.
QString saveFilter(formats::FileKind kind, const QString& source = {});
/// The ending a chosen line of a save filter stands for, without the dot: "graph.json".
QString firstEnding(const QString& filterLine);

} // namespace pw::ui::filters
