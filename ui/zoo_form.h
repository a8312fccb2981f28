#pragma once

#include "core/devices/device_set.h"
#include "core/jobs/job_context.h"
#include "core/zoo/zoo.h"

#include <QString>
#include <QStringList>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace pw::ui {

/// What one option of a workload takes, as the generator itself says when it is given nonsense. So a new workload needs
/// nothing here, and the form allows what the generator allows.
struct ZooField {
    zoo::OptionInfo option;
    QStringList choices;                ///< not empty: one of these
    std::optional<std::int64_t> minimum; ///< with `maximum`: a whole number
    std::optional<std::int64_t> maximum;
};
std::vector<ZooField> zooFields(const zoo::WorkloadInfo& workload); ///< asks the generator; for jobs

using ZooValues = std::map<std::string, std::string>;
/// "zoo:gnmt?layers=8": options at their defaults are left out.
QString zooSpec(const zoo::WorkloadInfo& workload, const ZooValues& values);
/// Which option an error is about, and the reason alone; the key is empty where it is about none.
std::pair<std::string, QString> zooComplaint(const zoo::WorkloadInfo& workload, const ZooValues& values, const Error& error);

/// How large a workload is, before anything is opened.
struct ZooSize {
    GraphPtr graph;
    std::size_t ops = 0;
    std::size_t edges = 0;
    std::int64_t parameterBytes = 0;
    double flops = 0.0;
};

/// Lets one graph at a time be built for previews: an outdated request that waits here ends without building anything, so
/// that no row of keys pressed piles up work.
class ZooPreviewer {
public:
    Result<ZooSize> size(const std::string& workload, const ZooValues& values, const JobContext& context) const;
    /// Simulated peak with everything on the first device of `devices`.
    Result<std::int64_t> memory(const GraphPtr& graph, const DeviceSet& devices, const JobContext& context) const;

private:
    std::shared_ptr<std::mutex> m_gate = std::make_shared<std::mutex>();
};

} // namespace pw::ui
