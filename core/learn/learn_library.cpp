// The implementation behind the door, and the only symbol the shared library exports.

#include "core/learn/placeto_infer.h"
#include "core/learn/placeto_trainer.h"
#include "core/learn/torch_device.h"
#include "core/learn/torchscript_import.h"

namespace pw::learn {

namespace {

class TorchLibrary final : public Library {
public:
    std::vector<ParameterInfo> parameters(const std::string& method) const override {
        return method == "placeto" ? placetoParameters() : std::vector<ParameterInfo>();
    }

    Result<TrainResult> train(const TrainSpec& spec, const TrainHooks& hooks, JobContext& context) const override {
        if (spec.method != "placeto")
            return fail(ErrorCode::Unsupported, "there is no learned method \"" + spec.method + "\"", "method");
        return guarded([&]() -> Result<TrainResult> {
            PW_TRY(const auto trainer, PlacetoTrainer::create(spec, hooks));
            return trainer->run(context);
        });
    }

    Result<PlaceResult> infer(const InferSpec& spec, JobContext& context) const override {
        return guarded([&] { return inferPlaceto(spec, context); });
    }

    Result<PolicyInfo> inspect(const Bytes& policy) const override {
        return guarded([&]() -> Result<PolicyInfo> {
            PW_TRY(const auto read, readPolicy(policy));
            return read.info;
        });
    }

    LocalInfo localInfo(bool measure) const override { return learn::localInfo(measure); }
    double blasError() const override { return learn::blasError(); }
    Result<GraphPtr> importTorchScript(const TorchScriptSpec& spec) const override {
        return learn::importTorchScript(spec);
    }
};

} // namespace

} // namespace pw::learn

extern "C" __attribute__((visibility("default"))) const pw::learn::Library* pwLearnLibrary() {
    static const pw::learn::TorchLibrary library;
    return &library;
}
