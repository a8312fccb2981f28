#include "app/cli/pictures.h"

#include "core/devices/cost_model.h"
#include "viz/graph/graph_view.h"
#include "viz/plots/reward_plot.h"

#include <QApplication>
#include <QLoggingCategory>

namespace pw::cli {

namespace {

/// Made on first use and kept: most commands need no Qt application at all.
void needApplication() {
    if (QCoreApplication::instance() != nullptr)
        return;
    qputenv("QT_QPA_PLATFORM", "offscreen"); // why: pictures must not depend on a display
    // why: Qt's notes about a missing session (no XDG_RUNTIME_DIR) are not for the user of a command line
    QLoggingCategory::setFilterRules(QStringLiteral("qt.*=false\ndefault.warning=false"));
    static int argumentCount = 1;
    static char name[] = "placewright-cli";
    static char* arguments[] = {name, nullptr};
    static QApplication application(argumentCount, arguments);
}

Result<viz::ColorBy> colorByName(const std::string& name) {
    if (name == "device")
        return viz::ColorBy::Device;
    if (name == "cost")
        return viz::ColorBy::Cost;
    if (name == "memory")
        return viz::ColorBy::Memory;
    if (name == "time")
        return viz::ColorBy::Time;
    if (name == "phase")
        return viz::ColorBy::Phase;
    return fail(ErrorCode::Invalid, "no colouring '" + name + "'; there are: device, cost, memory, time, phase", "--by");
}

/// What every op takes where it is placed; without a placement, on the first device.
std::vector<double> opCosts(const OpGraph& graph, const DeviceSet& devices, const OpPlacement* placement) {
    const CostTable table = computeCosts(graph, devices);
    std::vector<double> costs(graph.opCount());
    for (std::size_t i = 0; i < costs.size(); ++i)
        costs[i] = table.at(OpId(i), placement != nullptr ? (*placement)[i] : DeviceId(0));
    return costs;
}

} // namespace

Status renderPicture(const GraphPtr& graph, const DeviceSet* devices, const OpPlacement* placement,
                     const PictureOptions& options, const std::string& file) {
    viz::RenderOptions render;
    PW_TRY(render.colorBy, colorByName(options.colorBy));
    needApplication();
    render.size = QSize(options.width, options.height);
    render.depth = options.depth;
    render.title = QString::fromStdString(options.title.empty() ? graph->name() : options.title);
    const DeviceSet costDevices = devices != nullptr ? *devices : *devicePreset("2xP100");
    if (devices != nullptr) {
        for (const Device& device : devices->devices())
            render.deviceNames.push_back(QString::fromStdString(device.name));
    }
    const OpPlacement* costsOf = render.colorBy == viz::ColorBy::Time ? placement : nullptr;
    return viz::renderGraph(graph, placement, opCosts(*graph, costDevices, costsOf), render, QString::fromStdString(file));
}

Status renderRewardCurve(const std::vector<Curve>& curves, const std::vector<std::pair<std::string, double>>& references,
                         const std::string& file) {
    needApplication();
    viz::RewardPlot plot;
    plot.resize(1200, 600);
    plot.setMetric(QStringLiteral("step_time_us"), QStringLiteral("Step time at the end of the episode"), QStringLiteral("ms"), 1e-3);
    plot.setXLabel(QStringLiteral("episode"));
    plot.setSmoothing(0.8);
    for (std::size_t i = 0; i < curves.size(); ++i) {
        std::vector<double> x, y;
        for (const MetricSample& sample : curves[i].samples) {
            const auto value = sample.values.find("step_time_us");
            if (value == sample.values.end())
                continue;
            x.push_back(static_cast<double>(sample.step));
            y.push_back(value->second);
        }
        const auto id = static_cast<qint64>(i + 1);
        plot.addRun(id, QString::fromStdString(curves[i].name), static_cast<int>(i), false);
        plot.setData(id, std::move(x), std::move(y));
    }
    for (const auto& [name, us] : references)
        plot.setReference(QString::fromStdString(name), us);
    const QString reason = plot.exportTo(QString::fromStdString(file));
    if (!reason.isEmpty())
        return fail(ErrorCode::Io, reason.toStdString(), "", file);
    return {};
}

} // namespace pw::cli
