#include "viz/plots/timeline_tooltip.h"

#include "viz/plots/plot_common.h"

#include <QStringList>

#include <cmath>

namespace pw::viz {

namespace {

/// Below this a wait is rounding, not waiting (us).
constexpr double kNoWaitUs = 1e-6;

double valueAt(const std::vector<double>& values, OpId op) {
    return op.index() < values.size() ? values[op.index()] : std::nan("");
}

/// What an op's last input was: the local producer that ended last, or the transfer that arrived last.
struct LastInput {
    OpId producer;
    const Transfer* transfer = nullptr;
    double atUs = 0.0;
};

LastInput lastInput(const OpGraph& graph, const Schedule& schedule, OpId op) {
    LastInput last;
    const DeviceId device = schedule.placement[op.index()];
    for (const Edge& edge : graph.inEdges(op)) {
        if (edge.producer.index() >= schedule.placement.size())
            continue;
        if (schedule.placement[edge.producer.index()] == device) {
            const double end = valueAt(schedule.endUs, edge.producer);
            if (end >= last.atUs)
                last = {edge.producer, nullptr, end};
            continue;
        }
        for (const Transfer& transfer : schedule.transfers) {
            const bool carries = transfer.producer == edge.producer && transfer.to == device &&
                                 (transfer.tensor == edge.tensor || !edge.tensor.isValid());
            if (carries && transfer.arriveUs >= last.atUs)
                last = {edge.producer, &transfer, transfer.arriveUs};
        }
    }
    return last;
}

QString route(const DeviceSet& devices, const Transfer& transfer) {
    return QStringLiteral("%1 → %2").arg(deviceTitle(devices, transfer.from), deviceTitle(devices, transfer.to));
}

QString timesLine(double startUs, double endUs) {
    return QStringLiteral("start %1, end %2, takes %3").arg(msText(startUs), msText(endUs), msText(endUs - startUs));
}

} // namespace

QString waitReason(const OpGraph& graph, const DeviceSet& devices, const Schedule& schedule, OpId op) {
    const double start = valueAt(schedule.startUs, op);
    const double ready = valueAt(schedule.readyUs, op);
    if (op.index() >= schedule.placement.size() || !std::isfinite(start))
        return {};
    if (start - ready > kNoWaitUs)
        return QStringLiteral("device busy: inputs were there %1 earlier").arg(msText(start - ready));
    const LastInput last = lastInput(graph, schedule, op);
    if (!last.producer.isValid())
        return QStringLiteral("nothing, it has no inputs to wait for");
    const QString name = QString::fromStdString(graph.op(last.producer).name);
    if (last.transfer && last.transfer->startUs - last.transfer->readyUs > kNoWaitUs)
        return QStringLiteral("link busy: %1 stood in the queue %2 for %3")
            .arg(name, route(devices, *last.transfer), msText(last.transfer->startUs - last.transfer->readyUs));
    if (last.transfer)
        return QStringLiteral("input late: %1 came over %2").arg(name, route(devices, *last.transfer));
    return QStringLiteral("input late: %1 ended last").arg(name);
}

QString opTip(const OpGraph& graph, const DeviceSet& devices, const Schedule& schedule, OpId op) {
    if (op.index() >= graph.opCount() || op.index() >= schedule.placement.size())
        return {};
    const Op& data = graph.op(op);
    const DeviceId device = schedule.placement[op.index()];
    QStringList lines;
    lines << QString::fromStdString(data.name);
    lines << QStringLiteral("%1, %2, %3")
                 .arg(QString::fromStdString(data.type), QLatin1String(phaseName(data.phase)),
                      device.isValid() ? deviceTitle(devices, device) : QStringLiteral("no device"));
    lines << timesLine(valueAt(schedule.startUs, op), valueAt(schedule.endUs, op));
    if (const QString reason = waitReason(graph, devices, schedule, op); !reason.isEmpty())
        lines << QStringLiteral("waited for: ") + reason;
    return lines.join(QLatin1Char('\n'));
}

QString transferTip(const OpGraph& graph, const DeviceSet& devices, const Transfer& transfer) {
    QStringList lines;
    if (transfer.producer.index() < graph.opCount())
        lines << QStringLiteral("output of ") + QString::fromStdString(graph.op(transfer.producer).name);
    lines << QStringLiteral("%1, %2").arg(route(devices, transfer), transfer.tensor.isValid()
                                                                        ? bytesText(static_cast<double>(transfer.bytes))
                                                                        : QStringLiteral("order only"));
    lines << timesLine(transfer.startUs, transfer.endUs);
    lines << QStringLiteral("arrives ") + msText(transfer.arriveUs);
    const double queued = transfer.startUs - transfer.readyUs;
    lines << (queued > kNoWaitUs ? QStringLiteral("waited for: link busy for ") + msText(queued)
                                 : QStringLiteral("the link was free"));
    return lines.join(QLatin1Char('\n'));
}

} // namespace pw::viz
