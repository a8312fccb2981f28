#pragma once

#include "core/experiment/run_repository.h"
#include "core/learn/learn.h"
#include "core/place/placer.h"

#include <functional>
#include <memory>
#include <string>

namespace pw::ui {

/// Everything the window needs from layers it does not see. `app` fills it in; tests put fakes here.
/// Every function may be called from any thread and may take long: the window only calls them on jobs.
struct AppServices {
    std::shared_ptr<const PlacerRegistry> placers;
    /// The learned placers; an error says why they are not there (the rest of the program works without them).
    std::function<Result<const learn::Library*>()> loadLearning;
    /// Opens a project file, made if new.
    std::function<Result<RepositoryPtr>(const std::string& path)> openProject;
    /// Writes a complete copy of an open project to a new file.
    std::function<Status(RunRepository&, const std::string& path)> saveProjectAs;
    std::string workerProgram; ///< placewright-cli: its hidden verb runs what may die
    std::string dataFolder;    ///< the user's data folder; holds the untitled project
};

} // namespace pw::ui
