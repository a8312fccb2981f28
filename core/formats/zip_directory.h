#pragma once

#include "core/formats/file_handle.h"
#include "core/formats/recognise.h"

#include <string>
#include <string_view>
#include <vector>

namespace pw::formats {

/// What a ZIP archive is, by the name of its first entry. PyTorch writes programs and bare weights alike; which it is,
/// the importer tells from the whole directory.
Recognition recogniseZip(std::string_view head);

/// The names in the archive's directory, which stands at its end. Fails with Parse if there is none: a file cut off.
Result<std::vector<std::string>> zipEntryNames(const OpenFile& file);

} // namespace pw::formats
