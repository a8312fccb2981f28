#pragma once

#include "storage/connection.h"

#include <span>

namespace pw::storage {

/// One step of the schema: SQL that turns version `version - 1` into `version`. Steps are never edited once released;
/// tests/storage keeps the schema of every released version as a file and opens it.
struct Migration {
    int version;
    const char* sql;
};

/// The steps of this program, ascending from 1; the last one's version is the program's.
std::span<const Migration> migrations();
inline int schemaVersion(std::span<const Migration> steps) {
    return steps.empty() ? 0 : steps.back().version;
}

/// Marks the file as ours ("PWPJ" in the header's application id, which `file` and others can see).
inline constexpr std::int64_t kApplicationId = 0x5057504a;

/// Is this database a project that these steps can handle (or empty)? Reads only. Unsupported: a newer version.
Status checkSchema(Connection& connection, std::span<const Migration> steps);

/// Applies the missing steps, each in a transaction of its own: a step that fails leaves the version before it.
Status migrate(Connection& connection, std::span<const Migration> steps);

} // namespace pw::storage
