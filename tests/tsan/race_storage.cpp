// The same training into a project file.

#include "storage/project_file.h"
#include "tests/tsan/race_training.h"

#include <cstdlib>
#include <filesystem>

int main() {
    std::string folder = std::filesystem::temp_directory_path().string() + "/pw-race-XXXXXX";
    if (!::mkdtemp(folder.data()))
        return 2;
    {
        const auto repository = pw::storage::openProject(folder + "/p.placewright");
        PW_EXPECT(repository.has_value());
        if (repository)
            pw::test::raceTraining(*repository);
    }
    PW_EXPECT(pw::storage::checkIntegrity(folder + "/p.placewright").has_value());
    std::filesystem::remove_all(folder);
    return pw::test::exitCode();
}
