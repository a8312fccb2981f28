#include "viz/graph/scene_job.h"

#include <QMetaObject>

#include <mutex>
#include <utility>

namespace pw::viz {

/// What the worker and the GUI thread share about one run. `owner` is cleared when nobody wants the result any more, so
/// that the worker never posts to a dead object.
struct SceneJob::Shared {
    std::mutex mutex;
    SceneJob* owner = nullptr;
    std::optional<Result<SceneResult>> result;
};

Result<SceneResult> makeScene(const SceneRequest& request, const JobContext& context) {
    Progress progress;
    progress.stage = "scopes";
    context.report(progress);
    auto tree = request.tree ? request.tree : SceneTree::build(request.graph, request.showVariables);
    if (context.abortRequested())
        return fail(ErrorCode::Busy, "cancelled");
    OpenSet open = request.open ? *request.open : openUpTo(*tree, 8, kFirstPictureBoxes, OpenBy::Level);
    PW_TRY(auto scene, buildScene(std::move(tree), open, *request.memo, context));
    return SceneResult{std::move(scene), std::move(open)};
}

SceneJob::SceneJob(Done onDone) : m_onDone(std::move(onDone)) {}

SceneJob::~SceneJob() {
    cancel();
}

void SceneJob::start(SceneRequest request) {
    if (m_job)
        m_next = std::move(request);
    else
        launch(std::move(request));
}

void SceneJob::cancel() {
    m_next.reset();
    if (m_shared) {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->owner = nullptr;
    }
    m_shared.reset();
    m_job.reset(); // aborts; the thread goes to the reaper
}

void SceneJob::launch(SceneRequest request) {
    m_shared = std::make_shared<Shared>();
    m_shared->owner = this;
    m_job.emplace(
        "layout",
        [shared = m_shared, request = std::move(request)](JobContext& context) -> Status {
            auto result = makeScene(request, context);
            const std::lock_guard lock(shared->mutex);
            shared->result = std::move(result);
            return {};
        },
        [shared = m_shared] {
            const std::lock_guard lock(shared->mutex);
            if (shared->owner != nullptr) // an empty call: the result waits in `shared`
                QMetaObject::invokeMethod(shared->owner, [owner = shared->owner, shared] { owner->collect(shared); },
                                          Qt::QueuedConnection);
        });
}

void SceneJob::collect(const std::shared_ptr<Shared>& from) {
    if (from != m_shared)
        return; // cancelled after it had been posted
    std::optional<Result<SceneResult>> result;
    {
        const std::lock_guard lock(from->mutex);
        result = std::exchange(from->result, std::nullopt);
    }
    m_shared.reset();
    const auto end = m_job->end();
    m_job.reset();
    if (m_next)
        launch(*std::exchange(m_next, std::nullopt));
    if (!result && end && end->error)
        result = fail(*end->error);
    if (result)
        m_onDone(*std::move(result));
}

} // namespace pw::viz
