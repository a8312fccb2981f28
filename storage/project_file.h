#pragma once

#include "core/experiment/run_repository.h"

#include <string>

namespace pw::storage {

/// Opens a project file, makes it if there is none (an empty file counts as none), brings an older one up to date and
/// marks runs whose program died as interrupted. Errors carry the file and leave it as it was: a directory, a missing
/// folder, a file that is not a project, a damaged one, one of a newer version (Unsupported), a read-only one (Io).
Result<RepositoryPtr> openProject(const std::string& path);

/// Opens an existing project for reading; every writing method fails with Io. Neither migrates nor marks anything. Works
/// on read-only media.
Result<RepositoryPtr> openProjectReadOnly(const std::string& path);

/// Writes a compact copy of an open project beside `path`, then puts it in place in one step: a full disk leaves what
/// was there. Runs still in progress are marked interrupted in the copy, since nobody goes on writing there. Busy if
/// another program has `path` open. The repository itself stays with its old file.
Status saveProjectAs(const RunRepository& repository, const std::string& path);

/// SQLite's full integrity and foreign-key checks; the error lists the first findings.
Status checkIntegrity(const std::string& path);

} // namespace pw::storage
