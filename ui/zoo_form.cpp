#include "ui/zoo_form.h"

#include "core/devices/cost_model.h"
#include "core/graph/graph_stats.h"
#include "core/sim/simulator.h"
#include "ui/words.h"

namespace pw::ui {

namespace {

const char* const kNonsense = "?"; ///< no option of any workload takes this
const QString kOneOf = QStringLiteral("must be one of ");
const QString kWhole = QStringLiteral("must be a whole number from ");

std::optional<std::int64_t> number(QString text) {
    bool ok = false;
    const qint64 value = text.remove(QLatin1Char(',')).toLongLong(&ok);
    return ok ? std::optional<std::int64_t>(value) : std::nullopt;
}

void learn(ZooField& field, const QString& reason) {
    if (reason.startsWith(kOneOf)) {
        field.choices = reason.mid(kOneOf.size()).split(QStringLiteral(", "), Qt::SkipEmptyParts);
    } else if (reason.startsWith(kWhole)) {
        const QString range = reason.mid(kWhole.size());
        field.minimum = number(range.section(QStringLiteral(" to "), 0, 0));
        field.maximum = number(range.section(QStringLiteral(" to "), 1, 1));
    }
}

tl::unexpected<Error> outdated() {
    return fail(ErrorCode::Busy, "cancelled");
}

} // namespace

std::vector<ZooField> zooFields(const zoo::WorkloadInfo& workload) {
    std::vector<ZooField> fields;
    for (const zoo::OptionInfo& option : workload.options) {
        ZooField field;
        field.option = option;
        const ZooValues values = {{option.key, kNonsense}};
        if (const auto refused = zoo::make(workload.name, values); !refused)
            learn(field, zooComplaint(workload, values, refused.error()).second);
        fields.push_back(std::move(field));
    }
    return fields;
}

QString zooSpec(const zoo::WorkloadInfo& workload, const ZooValues& values) {
    QString spec = QStringLiteral("zoo:") + words::fromUtf8(workload.name);
    QChar separator = QLatin1Char('?');
    for (const zoo::OptionInfo& option : workload.options) {
        const auto found = values.find(option.key);
        if (found == values.end() || found->second == option.defaultValue)
            continue;
        spec += separator + words::fromUtf8(option.key) + QLatin1Char('=') + words::fromUtf8(found->second);
        separator = QLatin1Char('&');
    }
    return spec;
}

std::pair<std::string, QString> zooComplaint(const zoo::WorkloadInfo& workload, const ZooValues& values, const Error& error) {
    for (const auto& [key, value] : values) {
        const std::string start = workload.name + ": " + key + "=" + value + ": ";
        if (error.message.starts_with(start))
            return {key, words::fromUtf8(error.message.substr(start.size()))};
    }
    return {std::string(), words::fromUtf8(error.message)};
}

Result<ZooSize> ZooPreviewer::size(const std::string& workload, const ZooValues& values, const JobContext& context) const {
    const std::lock_guard lock(*m_gate);
    if (context.abortRequested())
        return outdated();
    ZooSize size;
    PW_TRY(size.graph, zoo::make(workload, values));
    if (context.abortRequested())
        return outdated();
    size.ops = size.graph->opCount();
    size.edges = size.graph->edges().size();
    size.parameterBytes = computeStats(*size.graph).parameterBytes;
    size.flops = totalFlops(*size.graph);
    return size;
}

Result<std::int64_t> ZooPreviewer::memory(const GraphPtr& graph, const DeviceSet& devices, const JobContext& context) const {
    const std::lock_guard lock(*m_gate);
    if (context.abortRequested())
        return outdated();
    PW_TRY(const ProblemPtr problem, PlacementProblem::compile(graph, devices, trivialGrouping(*graph), SimOptions{}));
    if (context.abortRequested())
        return outdated();
    Simulator simulator(problem);
    simulator.evaluate(OpPlacement(problem->opCount(), DeviceId(0)));
    return simulator.peakBytes().front();
}

} // namespace pw::ui
