#pragma once

#include "core/base/result.h"
#include "core/learn/learn.h"

namespace pw::learn {

/// Loads the learned placers (a shared library beside the program: ../lib or the same folder) on the first call and keeps them. Any
/// thread; takes up to a second the first time, so not on the GUI thread. Every later call is immediate and gives the
/// same answer. An error says which file was looked for and why it could not be loaded.
Result<const Library*> load();

/// True once load() has succeeded.
bool isLoaded();

/// Chooses the OpenBLAS kernel by the processor's flags, unless the user has set OPENBLAS_CORETYPE (OpenBLAS
/// 0.3.21 does not know recent processors). Call first in main, before any thread. Returns the core chosen or found.
std::string chooseBlasCore();

/// The command-line program, which load() runs once per processor model as `PROGRAM --worker blas-check` before it
/// trusts the chosen kernel. Default: placewright-cli in the folder of the running program. Set it before load().
void setWorkerProgram(std::string path);

/// What `--worker blas-check` does: loads the library and compares a product with double precision. Exit code: 0 equal,
/// 1 wrong, 2 the library could not be loaded. The caller exits with it.
int runBlasCheck();

/// The placer `placeto` of the registry: trains on the problem within the budget and returns the best placement.
/// Loads the library when it is first used.
std::unique_ptr<Placer> makePlacetoPlacer();

} // namespace pw::learn
