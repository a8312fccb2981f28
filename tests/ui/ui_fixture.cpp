#include "tests/ui/ui_fixture.h"

#include "core/base/clock.h"
#include "core/graph/graph_builder.h"

#include <QDragEnterEvent>
#include <QFile>
#include <QMimeData>
#include <QtTest>

namespace pw::test {

namespace {

PlaceResult resultOf(const ProblemPtr& problem, GroupPlacement groups) {
    PlaceResult result;
    result.placement = expandPlacement(problem->grouping(), groups);
    result.groups = std::move(groups);
    Simulator simulator(problem);
    result.evaluation = simulator.evaluate(result.placement);
    result.peakBytes.assign(simulator.peakBytes().begin(), simulator.peakBytes().end());
    result.evaluations = 1;
    return result;
}

} // namespace

std::vector<learn::ParameterInfo> FakeLibrary::parameters(const std::string&) const {
    return {{"preset", "tuned", "", "Values to start from.", "chosen", {"tuned", "paper"}},
            {"lr", "0.001", "", "Step size.", "measured", {}},
            {"entropy", "0.02", "nats", "Rewards an undecided policy.", "code", {}}};
}

Result<learn::TrainResult> FakeLibrary::train(const learn::TrainSpec& spec, const learn::TrainHooks& hooks,
                                              JobContext& context) const {
    ++trainings;
    const ProblemPtr& problem = spec.problems.front();
    GroupPlacement groups(problem->groupCount(), DeviceId(0));
    learn::TrainResult result;
    Stopwatch watch;
    const std::int64_t episodes = spec.maxEpisodes > 0 ? spec.maxEpisodes : 20;
    for (std::int64_t e = 0; (endless || e < episodes) && !context.stopRequested(); ++e) {
        groups[static_cast<std::size_t>(e) % groups.size()] = DeviceId(static_cast<std::size_t>(e) % problem->deviceCount());
        const PlaceResult now = resultOf(problem, groups);
        learn::EpisodeSample sample;
        sample.episode = e;
        sample.evaluations = e;
        sample.seconds = watch.seconds();
        sample.reward = 0.1;
        sample.stepTimeUs = now.evaluation.stepTimeUs;
        sample.bestStepTimeUs = now.evaluation.stepTimeUs;
        hooks.onEpisode(sample);
        if (hooks.onBest)
            hooks.onBest(0, groups, now.evaluation);
        Progress progress;
        progress.stage = "train";
        progress.fraction = endless ? 0.5 : static_cast<double>(e) / static_cast<double>(episodes);
        context.report(progress);
        Simulator simulator(problem);
        for (Stopwatch episode; endless && episode.seconds() < 0.002 && !context.stopRequested();)
            simulator.evaluate(now.placement); // an episode costs something, as a real one does
        result.episodes = e + 1;
    }
    result.best = {resultOf(problem, groups)};
    result.policy = {1, 2, 3};
    result.checkpoint = {4, 5};
    return result;
}

Result<PlaceResult> FakeLibrary::infer(const learn::InferSpec& spec, JobContext&) const {
    return resultOf(spec.problem, GroupPlacement(spec.problem->groupCount(), DeviceId(1)));
}

Result<learn::PolicyInfo> FakeLibrary::inspect(const learn::Bytes&) const {
    return learn::PolicyInfo{};
}

learn::LocalInfo FakeLibrary::localInfo(bool) const {
    learn::LocalInfo info;
    info.devices = {{"cpu", "test", 0}, {"cuda:0", "Fake GPU", 0}};
    return info;
}

Result<PlaceResult> FixedPlacer::place(const ProblemPtr& problem, const PlaceOptions&, JobContext&,
                                       const SampleSink&) const {
    return resultOf(problem, GroupPlacement(problem->groupCount(), DeviceId(m_device)));
}

Result<PlaceResult> HalvesPlacer::place(const ProblemPtr& problem, const PlaceOptions&, JobContext&,
                                        const SampleSink&) const {
    GroupPlacement groups(problem->groupCount(), DeviceId(0));
    const auto& order = problem->grouping().order;
    for (std::size_t i = order.size() / 2; i < order.size(); ++i)
        groups[order[i].index()] = DeviceId(1);
    return resultOf(problem, std::move(groups));
}

UiFixture::UiFixture() {
    settings = std::make_unique<ui::Settings>(m_folder.filePath(QStringLiteral("settings.ini")));
    settings->setValue(ui::SettingId::Theme, QStringLiteral("light"));
    recreateWindow();
}

UiFixture::~UiFixture() {
    m_window.reset();
    joinAllJobs();
}

void UiFixture::recreateWindow() {
    m_window.reset();
    m_window = std::make_unique<ui::MainWindow>(services(), settings.get());
}

ui::AppServices UiFixture::services() {
    ui::AppServices services;
    auto placers = std::make_shared<PlacerRegistry>();
    placers->add(std::make_unique<FixedPlacer>("single", 0));
    placers->add(std::make_unique<HalvesPlacer>());
    services.placers = std::move(placers);
    services.loadLearning = [this]() -> Result<const learn::Library*> { return &library; };
    services.openProject = [this](const std::string&) -> Result<RepositoryPtr> { return repository; };
    services.saveProjectAs = [](RunRepository&, const std::string&) -> Status { return {}; };
    services.workerProgram = workerProgram;
    services.dataFolder = m_folder.path().toStdString();
    return services;
}

bool UiFixture::open(const QStringList& files) {
    m_window->show();
    m_window->start(files);
    return QTest::qWaitFor([this] { return m_window->project()->repository() != nullptr; }, 10000);
}

bool UiFixture::show(const GraphPtr& graph) {
    ui::GraphEntry entry;
    entry.name = QString::fromStdString(graph->name());
    entry.source = QStringLiteral("test");
    entry.hash = graph->hash();
    entry.ops = graph->opCount();
    entry.graph = graph;
    const int id = document().addGraph(entry);
    document().setCurrentGraph(id);
    m_window->project()->storeGraph(*document().findGraph(id));
    return QTest::qWaitFor([this] { return document().problem() != nullptr; }, 10000);
}

bool UiFixture::drop(const QString& file) {
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window.get(), &enter);
    QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window.get(), &drop);
    return enter.isAccepted();
}

bool UiFixture::place(const std::string& method) {
    const std::size_t before = document().placements().size();
    m_window->experiments()->place(method, 0.0);
    return QTest::qWaitFor([&] { return document().placements().size() == before + 1 && document().schedule(); }, 10000);
}

QString UiFixture::write(const QString& name, const QByteArray& content) const {
    QFile file(filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        return {};
    return file.fileName();
}

GraphPtr layeredGraph(int layers) {
    GraphBuilder builder("layered", "json");
    std::optional<TensorId> previous;
    const auto add = [&](const std::string& name, const std::string& type, std::initializer_list<TensorId> inputs) {
        Op op;
        op.name = name;
        op.type = type;
        op.costs = {{"", 100.0}};
        const OpId id = builder.addOp(std::move(op));
        for (const TensorId input : inputs)
            builder.addInput(id, input);
        Tensor tensor;
        tensor.bytes = 1000000;
        tensor.dims = {1000, 250};
        tensor.shapeKnown = true;
        tensor.dtype = "f32";
        return builder.addOutput(id, std::move(tensor));
    };
    for (int i = 0; i < layers; ++i) {
        const std::string scope = "layer" + std::to_string(i) + "/";
        const TensorId head = previous ? add(scope + "head", "MatMul", {*previous}) : add(scope + "head", "MatMul", {});
        const TensorId left = add(scope + "left", "Conv2D", {head});
        const TensorId right = add(scope + "right", "Conv2D", {head});
        previous = add(scope + "join", "Add", {left, right});
    }
    return *std::move(builder).build();
}

} // namespace pw::test
