#pragma once

#include "core/experiment/memory_repository.h"
#include "core/learn/learn.h"
#include "ui/main_window.h"

#include <QTemporaryDir>

#include <atomic>
#include <memory>

namespace pw::test {

/// A learned placer without LibTorch: improves a random placement a little each episode, stops and aborts as asked.
class FakeLibrary final : public learn::Library {
public:
    std::vector<learn::ParameterInfo> parameters(const std::string& method) const override;
    Result<learn::TrainResult> train(const learn::TrainSpec& spec, const learn::TrainHooks& hooks,
                                     JobContext& context) const override;
    Result<PlaceResult> infer(const learn::InferSpec& spec, JobContext& context) const override;
    Result<learn::PolicyInfo> inspect(const learn::Bytes& policy) const override;
    learn::LocalInfo localInfo(bool measure) const override;
    double blasError() const override { return 0.0; }
    Result<GraphPtr> importTorchScript(const learn::TorchScriptSpec&) const override {
        return fail(ErrorCode::Unsupported, "no LibTorch here");
    }

    bool endless = false; ///< train until stopped, whatever the limits
    mutable std::atomic<int> trainings{0};
};

/// A placer that gives every group one device, after a while if asked.
class FixedPlacer final : public Placer {
public:
    FixedPlacer(std::string name, std::size_t device) : m_name(std::move(name)), m_device(device) {}
    std::string name() const override { return m_name; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;

private:
    std::string m_name;
    std::size_t m_device;
};

/// Splits the groups in two halves along the order.
class HalvesPlacer final : public Placer {
public:
    std::string name() const override { return "contiguous"; }
    Result<PlaceResult> place(const ProblemPtr& problem, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override;
};

/// A window with a project in memory, fakes behind it, and settings in a folder of its own.
class UiFixture {
public:
    UiFixture();
    ~UiFixture();

    ui::AppServices services();
    ui::MainWindow& window() { return *m_window; }
    ui::Document& document() { return *m_window->document(); }
    /// Shows the window and waits for its project.
    bool open(const QStringList& files = {});
    void recreateWindow();
    /// Puts a graph on screen and waits until it can be simulated.
    bool show(const GraphPtr& graph);
    bool place(const std::string& method);
    /// Drags a file onto the window and lets it go; false if the window does not take it.
    bool drop(const QString& file);
    QString filePath(const QString& name) const { return m_folder.filePath(name); }
    QString write(const QString& name, const QByteArray& content) const;

    std::shared_ptr<MemoryRepository> repository = std::make_shared<MemoryRepository>();
    FakeLibrary library;
    std::unique_ptr<ui::Settings> settings;
    std::string workerProgram; ///< for the next window; empty: what may die is left out

private:
    QTemporaryDir m_folder;
    std::unique_ptr<ui::MainWindow> m_window;
};

/// A chain of blocks with branches: `layers` scopes of four ops each.
GraphPtr layeredGraph(int layers);

} // namespace pw::test
