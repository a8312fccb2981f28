#include "ui/docks/op_facts.h"

#include "ui/words.h"

#include <QObject>

#include <algorithm>
#include <map>

namespace pw::ui {

namespace {

using Row = FactsView::Row;

constexpr std::size_t kMaxTensorRows = 12;
constexpr std::size_t kMaxAttributeRows = 30;
constexpr std::size_t kMaxWarningRows = 20;

QString shapeText(const Tensor& tensor) {
    if (!tensor.shapeKnown)
        return QObject::tr("shape unknown");
    QStringList dims;
    for (const std::int64_t dim : tensor.dims)
        dims.append(dim < 0 ? QStringLiteral("?") : QString::number(dim));
    const QString shape = dims.isEmpty() ? QObject::tr("scalar") : dims.join(QStringLiteral(" × "));
    return tensor.dtype.empty() ? shape : shape + QLatin1Char(' ') + words::fromUtf8(tensor.dtype);
}

Row bytesFact(const QString& label, double bytes) {
    const QString text = words::bytes(bytes);
    const qsizetype space = text.lastIndexOf(QLatin1Char(' '));
    return FactsView::fact(label, text.left(space), text.mid(space + 1));
}

void addCost(std::vector<Row>& rows, const OpFactsInput& input, OpId id) {
    const Op& op = input.graph->op(id);
    if (input.problem) {
        const CostTable& costs = input.problem->costs();
        const DeviceId device = input.placement ? (*input.placement)[id.index()] : DeviceId(0);
        rows.push_back(FactsView::section(
            QObject::tr("Cost"), costs.source[id.index()] == CostSource::Measured  ? QObject::tr("measured")
                                 : costs.source[id.index()] == CostSource::Formula ? QObject::tr("by formula (roofline)")
                                                                                  : QObject::tr("unknown: from bytes")));
        rows.push_back(FactsView::fact(QObject::tr("Time"), words::fixed(costs.at(id, device), 1), QStringLiteral("µs"),
                                       QObject::tr("On %1, without launch overhead").arg(words::deviceTitle(input.problem->devices().device(device), device))));
    } else {
        rows.push_back(FactsView::section(QObject::tr("Cost")));
    }
    const OpWork work = opWork(*input.graph, id);
    if (work.flops > 0)
        rows.push_back(FactsView::fact(QObject::tr("Compute"), words::fixed(work.flops / 1e9, 2), QStringLiteral("GFLOP")));
    if (work.bytesMoved > 0)
        rows.push_back(bytesFact(QObject::tr("Memory traffic"), work.bytesMoved));
    if (op.paramBytes > 0)
        rows.push_back(bytesFact(QObject::tr("Parameters"), static_cast<double>(op.paramBytes)));
    if (op.stateBytes > 0)
        rows.push_back(bytesFact(QObject::tr("Optimiser state"), static_cast<double>(op.stateBytes)));
    if (op.workspaceBytes > 0)
        rows.push_back(bytesFact(QObject::tr("Workspace"), static_cast<double>(op.workspaceBytes)));
}

void addGroup(std::vector<Row>& rows, const OpFactsInput& input, OpId id) {
    if (!input.problem)
        return;
    const Grouping& grouping = input.problem->grouping();
    const GroupId group = grouping.groupOf[id.index()];
    if (grouping.members[group.index()].size() < 2)
        return;
    rows.push_back(FactsView::section(QObject::tr("Group"), QObject::tr("placed as one")));
    rows.push_back(FactsView::text(words::fromUtf8(whyGrouped(grouping, group))));
}

void addSchedule(std::vector<Row>& rows, const OpFactsInput& input, OpId id) {
    if (!input.schedule || input.schedule->startUs.size() != input.graph->opCount())
        return;
    const Schedule& schedule = *input.schedule;
    const std::size_t i = id.index();
    rows.push_back(FactsView::section(QObject::tr("Schedule"), QObject::tr("simulated")));
    const QString ms = QStringLiteral("ms");
    rows.push_back(FactsView::fact(QObject::tr("Start"), words::fixed(schedule.startUs[i] / 1000.0, 2), ms));
    rows.push_back(FactsView::fact(QObject::tr("End"), words::fixed(schedule.endUs[i] / 1000.0, 2), ms));
    if (i < schedule.readyUs.size())
        rows.push_back(FactsView::fact(QObject::tr("Waited for its device"),
                                       words::fixed((schedule.startUs[i] - schedule.readyUs[i]) / 1000.0, 2), ms));
    const bool critical = std::any_of(schedule.criticalPath.begin(), schedule.criticalPath.end(),
                                      [id](const PathStep& step) { return step.op == id; });
    rows.push_back(FactsView::fact(QObject::tr("Critical path"), critical ? QObject::tr("yes") : QObject::tr("no")));
}

void addNeighbour(std::vector<Row>& rows, const OpFactsInput& input, const QString& label, OpId other,
                  const Tensor* tensor) {
    Row row;
    row.label = label;
    row.op = other.value();
    if (input.placement) {
        row.hasDevice = true;
        row.device = (*input.placement)[other.index()];
    }
    if (tensor) {
        row.value = words::bytes(static_cast<double>(tensor->bytes));
        row.toolTip = words::fromUtf8(input.graph->op(other).name) + QLatin1Char('\n') + shapeText(*tensor);
    } else {
        row.value = QObject::tr("control");
        row.toolTip = words::fromUtf8(input.graph->op(other).name);
    }
    rows.push_back(std::move(row));
}

void addTensors(std::vector<Row>& rows, const OpFactsInput& input, OpId id) {
    const OpGraph& graph = *input.graph;
    const auto in = graph.inEdges(id);
    if (!in.empty())
        rows.push_back(FactsView::section(QObject::tr("Inputs"), words::count(static_cast<std::int64_t>(in.size()))));
    for (std::size_t i = 0; i < std::min(in.size(), kMaxTensorRows); ++i)
        addNeighbour(rows, input, words::fromUtf8(graph.op(in[i].producer).type), in[i].producer,
                     in[i].tensor.isValid() ? &graph.tensor(in[i].tensor) : nullptr);
    if (in.size() > kMaxTensorRows)
        rows.push_back(FactsView::text(QObject::tr("and %1 more").arg(in.size() - kMaxTensorRows)));

    const auto outputs = graph.outputs(id);
    if (!outputs.empty())
        rows.push_back(FactsView::section(QObject::tr("Outputs"), words::count(static_cast<std::int64_t>(outputs.size()))));
    for (std::size_t i = 0; i < std::min(outputs.size(), kMaxTensorRows); ++i) {
        const Tensor& tensor = graph.tensor(outputs[i]);
        rows.push_back(FactsView::fact(shapeText(tensor), words::bytes(static_cast<double>(tensor.bytes)), {},
                                       words::fromUtf8(tensor.name)));
    }
    const auto out = graph.outEdges(id);
    if (!out.empty())
        rows.push_back(FactsView::section(QObject::tr("Consumers"), words::count(static_cast<std::int64_t>(out.size()))));
    for (std::size_t i = 0; i < std::min(out.size(), kMaxTensorRows); ++i) {
        const Edge& edge = graph.edge(out[i]);
        addNeighbour(rows, input, words::fromUtf8(graph.op(edge.consumer).type), edge.consumer,
                     edge.tensor.isValid() ? &graph.tensor(edge.tensor) : nullptr);
    }
    if (out.size() > kMaxTensorRows)
        rows.push_back(FactsView::text(QObject::tr("and %1 more").arg(out.size() - kMaxTensorRows)));
}

void addAttributes(std::vector<Row>& rows, const Op& op) {
    if (!op.colocation.empty() || !op.allowedKinds.empty() || !op.device.empty()) {
        rows.push_back(FactsView::section(QObject::tr("Constraints")));
        if (!op.colocation.empty())
            rows.push_back(FactsView::fact(QObject::tr("Colocated"), words::fromUtf8(op.colocation)));
        for (const auto& kind : op.allowedKinds)
            rows.push_back(FactsView::fact(QObject::tr("May run on"), words::fromUtf8(kind)));
        if (!op.device.empty())
            rows.push_back(FactsView::fact(QObject::tr("Device in the file"), words::fromUtf8(op.device)));
    }
    if (op.attributes.empty())
        return;
    rows.push_back(FactsView::section(QObject::tr("Attributes")));
    for (std::size_t i = 0; i < std::min(op.attributes.size(), kMaxAttributeRows); ++i) {
        const QString value = words::fromUtf8(op.attributes[i].second);
        rows.push_back(FactsView::fact(words::fromUtf8(op.attributes[i].first), value.left(200), {}, value.left(2000)));
    }
}

} // namespace

std::vector<Row> factsOfOp(const OpFactsInput& input, OpId op) {
    std::vector<Row> rows;
    addCost(rows, input, op);
    addSchedule(rows, input, op);
    addGroup(rows, input, op);
    addTensors(rows, input, op);
    addAttributes(rows, input.graph->op(op));
    return rows;
}

std::vector<Row> factsOfSelection(const OpFactsInput& input, const QList<quint32>& ops) {
    std::vector<Row> rows;
    double params = 0.0, output = 0.0;
    std::map<std::string, std::int64_t> types;
    std::map<std::size_t, std::pair<std::int64_t, double>> perDevice;
    for (const quint32 index : ops) {
        const OpId id(index);
        const Op& op = input.graph->op(id);
        params += static_cast<double>(op.paramBytes + op.stateBytes);
        ++types[op.type];
        for (const TensorId tensor : input.graph->outputs(id))
            output += static_cast<double>(input.graph->tensor(tensor).bytes);
        if (input.placement) {
            const DeviceId device = (*input.placement)[index];
            auto& [count, us] = perDevice[device.index()];
            ++count;
            us += input.problem ? input.problem->costs().at(id, device) : 0.0;
        }
    }
    if (!perDevice.empty()) {
        rows.push_back(FactsView::section(QObject::tr("On devices"), QObject::tr("ops, time")));
        for (const auto& [device, sum] : perDevice) {
            Row row = FactsView::fact(QObject::tr("%1 ops").arg(words::count(sum.first)), words::milliseconds(sum.second), QStringLiteral("ms"));
            row.hasDevice = true;
            row.device = DeviceId(device);
            rows.push_back(std::move(row));
        }
    }
    rows.push_back(FactsView::section(QObject::tr("Sum")));
    rows.push_back(bytesFact(QObject::tr("Parameters and state"), params));
    rows.push_back(bytesFact(QObject::tr("Outputs"), output));
    rows.push_back(FactsView::section(QObject::tr("Types"), QObject::tr("ops")));
    std::vector<std::pair<std::int64_t, std::string>> sorted;
    for (const auto& [type, count] : types)
        sorted.emplace_back(-count, type);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 12); ++i)
        rows.push_back(FactsView::fact(words::fromUtf8(sorted[i].second), words::count(-sorted[i].first)));
    return rows;
}

std::vector<Row> factsOfGraph(const OpFactsInput& input) {
    const OpGraph& graph = *input.graph;
    std::vector<Row> rows;
    rows.push_back(FactsView::section(QObject::tr("Graph"), words::fromUtf8(graph.format())));
    const auto count = [](std::size_t value) { return words::count(static_cast<std::int64_t>(value)); };
    rows.push_back(FactsView::fact(QObject::tr("Ops"), count(graph.opCount())));
    if (graph.opCountWithBodies() != graph.opCount())
        rows.push_back(FactsView::fact(QObject::tr("Ops with bodies"), count(graph.opCountWithBodies())));
    rows.push_back(FactsView::fact(QObject::tr("Edges"), count(graph.edges().size())));
    rows.push_back(FactsView::fact(QObject::tr("Scopes"), count(graph.scopeCount() - 1)));
    double params = 0.0;
    for (const Op& op : graph.ops())
        params += static_cast<double>(op.paramBytes);
    rows.push_back(bytesFact(QObject::tr("Parameters"), params));
    if (input.problem) {
        rows.push_back(FactsView::fact(QObject::tr("Groups placed as one"), count(input.problem->groupCount())));
        rows.push_back(FactsView::section(QObject::tr("Devices"), words::deviceSetTitle(input.problem->devices())));
        for (std::size_t d = 0; d < input.problem->deviceCount(); ++d) {
            const Device& device = input.problem->devices().device(DeviceId(d));
            Row row = FactsView::fact(words::fromUtf8(device.name),
                                      words::fixed(static_cast<double>(device.memoryBytes) / 1e9, 1), QStringLiteral("GB"),
                                      words::fromUtf8(device.model));
            row.hasDevice = true;
            row.device = DeviceId(d);
            rows.push_back(std::move(row));
        }
    }
    if (!graph.warnings().empty()) {
        rows.push_back(FactsView::section(QObject::tr("Noticed while reading"), count(graph.warnings().size())));
        for (std::size_t i = 0; i < std::min(graph.warnings().size(), kMaxWarningRows); ++i) {
            const Warning& warning = graph.warnings()[i];
            rows.push_back(FactsView::text(words::fromUtf8(warning.where.empty() ? warning.detail : warning.where + ": " + warning.detail)));
        }
    }
    return rows;
}

} // namespace pw::ui
