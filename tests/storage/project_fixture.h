#pragma once

#include "core/sim/simulator.h"
#include "storage/connection.h"
#include "storage/project_file.h"
#include "tests/support/graph_dsl.h"
#include "tests/support/two_devices.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace pw::test {

inline std::string fileContent(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeFile(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
}

/// A folder of its own, removed at the end.
class ProjectFolder {
public:
    ProjectFolder() {
        std::string pattern = std::filesystem::temp_directory_path().string() + "/pw-storage-XXXXXX";
        if (::mkdtemp(pattern.data()))
            m_folder = pattern;
    }
    ~ProjectFolder() {
        std::error_code ignored;
        if (!m_folder.empty())
            std::filesystem::remove_all(m_folder, ignored);
    }
    ProjectFolder(const ProjectFolder&) = delete;
    ProjectFolder& operator=(const ProjectFolder&) = delete;

    std::string path(const std::string& name = "p.placewright") const { return m_folder + "/" + name; }
    std::vector<std::string> names() const {
        std::vector<std::string> result;
        for (const auto& entry : std::filesystem::directory_iterator(m_folder))
            result.push_back(entry.path().filename().string());
        return result;
    }

private:
    std::string m_folder;
};

/// A run with `samples` samples, a placement and a checkpoint.
inline RowId addRun(RunRepository& repository, const std::string& name, int samples = 10) {
    const GraphPtr graph = w1();
    const RowId graphId = *repository.putGraph(*graph, "test");
    const RowId devices = *repository.putDeviceSet(pairOfDevices());
    RunSpec spec;
    spec.method = "metis";
    const RowId run = *repository.startRun(spec, name, graphId, devices);
    std::vector<MetricSample> batch;
    for (int step = 1; step <= samples; ++step)
        batch.push_back({step, 0.1 * step, {{"reward", 1.0 / step}}});
    (void)repository.addMetrics(run, batch);
    PlacementRecord placement;
    placement.runId = run;
    placement.graphId = graphId;
    placement.deviceSetId = devices;
    placement.method = "metis";
    placement.stepTimeUs = 12.5;
    placement.valid = true;
    placement.placement.assign(graph->opCount(), DeviceId(1));
    (void)repository.setBestPlacement(run, *repository.addPlacement(placement));
    (void)repository.addCheckpoint(run, {samples, {1, 2, 3}});
    return run;
}

} // namespace pw::test
