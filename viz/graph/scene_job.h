#pragma once

#include "core/jobs/job.h"
#include "viz/graph/scene.h"

#include <QObject>

#include <functional>
#include <memory>
#include <optional>

namespace pw::viz {

/// What a picture is made from.
struct SceneRequest {
    GraphPtr graph;
    std::shared_ptr<const SceneTree> tree; ///< null: built from the graph first
    bool showVariables = false;
    std::optional<OpenSet> open; ///< nothing: as much as makes a good first picture
    std::shared_ptr<LayoutMemo> memo;
};

struct SceneResult {
    std::shared_ptr<const Scene> scene;
    OpenSet open;
};

/// Boxes of a first picture: more are not read at one look.
inline constexpr std::size_t kFirstPictureBoxes = 60;

/// Tree, layout and composition, on the calling thread.
Result<SceneResult> makeScene(const SceneRequest& request, const JobContext& context);

/// Runs makeScene() on a worker, one at a time: a new request waits for the running one and replaces one that waits.
/// GUI thread only; `onDone` is called there.
class SceneJob : public QObject {
    Q_OBJECT

public:
    using Done = std::function<void(Result<SceneResult>)>;
    explicit SceneJob(Done onDone);
    ~SceneJob() override;

    void start(SceneRequest request);
    /// Drops what runs and what waits; `onDone` is not called for it.
    void cancel();
    bool isRunning() const { return m_job.has_value() || m_next.has_value(); }

private:
    struct Shared;
    void launch(SceneRequest request);
    void collect(const std::shared_ptr<Shared>& from);

    Done m_onDone;
    std::optional<Job> m_job;
    std::optional<SceneRequest> m_next;
    std::shared_ptr<Shared> m_shared; ///< of the running job
};

} // namespace pw::viz
