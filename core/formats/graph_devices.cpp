#include "core/formats/published.h"
#include "core/formats/recognise.h"

namespace pw::formats {

namespace {

struct DeviceReader {
    Format format;
    Result<DeviceSet> (*read)(const Json& document, const std::string& name);
};

constexpr DeviceReader kReaders[] = {
    {Format::DnnPartitioning, dnnPartitioningDevices},
    {Format::DagBench, dagBenchDevices},
    {Format::Piper, piperDevices},
};

std::string fileName(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

} // namespace

Result<DeviceSet> loadDevicesOfGraph(const std::string& path) {
    PW_TRY(const OpenFile file, openRegularFile(path));
    PW_TRY(const std::string head, readUpTo(file, kHeadBytes, path));
    const Format format = recognise(head, file.size).format;
    for (const DeviceReader& reader : kReaders) {
        if (reader.format != format)
            continue;
        PW_TRY(const Json document, parseSource({file, path, {}}));
        auto devices = reader.read(document, fileName(path));
        if (!devices && devices.error().file.empty())
            devices.error().file = path;
        return devices;
    }
    return fail(ErrorCode::NotFound,
                "carries no device set; workloads of dnn-partitioning, DAGBench and Piper do: give a preset or a "
                "device-set file instead",
                {}, path);
}

} // namespace pw::formats
