#pragma once

#include "core/zoo/layers.h"
#include "core/zoo/zoo.h"

namespace pw::zoo {

/// Reads the options of one workload. The first bad value is remembered and reported by status(); readers go on with the
/// default, so that a workload reads all of its options in a row and asks once. Private to core/zoo.
class OptionReader {
public:
    /// Keys that `info` does not have are an error.
    OptionReader(const WorkloadInfo& info, const std::map<std::string, std::string>& given);

    std::int64_t integer(const std::string& key, std::int64_t minimum, std::int64_t maximum);
    bool flag(const std::string& key); ///< "0" or "1"
    /// One of the words: its index.
    std::size_t choice(const std::string& key, std::initializer_list<const char*> words);
    Level level();                     ///< key "level": "L0", "L1", "L2"
    bool training();                   ///< key "mode": "training", "inference"
    Optimizer optimizer();             ///< key "optimizer"
    std::uint64_t seed();              ///< key "seed"

    /// Remembers an error of the workload's own: "workload: key=value: reason".
    void reject(const std::string& key, const std::string& reason);
    const Status& status() const { return m_status; }
    /// Workload and the options that differ from the defaults: "rnnlm?layers=4&level=L0".
    std::string graphName() const;

private:
    std::string value(const std::string& key) const;

    const WorkloadInfo& m_info;
    std::map<std::string, std::string> m_given;
    Status m_status;
};

/// The options that every workload takes.
std::vector<OptionInfo> commonOptions(const char* level);
/// Level, mode and colocation: keys "level", "mode", "colocate_gradients".
NetOptions readNetOptions(OptionReader& options);

// One per workload file.
Result<GraphPtr> buildInceptionV3(OptionReader& options);
WorkloadInfo inceptionV3Info();
Result<GraphPtr> buildRnnlm(OptionReader& options);
WorkloadInfo rnnlmInfo();
Result<GraphPtr> buildGnmt(OptionReader& options);
WorkloadInfo gnmtInfo();
Result<GraphPtr> buildNmt(OptionReader& options);
WorkloadInfo nmtInfo();
Result<GraphPtr> buildNmtFamily(OptionReader& options);
WorkloadInfo nmtFamilyInfo();
Result<GraphPtr> buildTransformerXl(OptionReader& options);
WorkloadInfo transformerXlInfo();
Result<GraphPtr> buildGpt2(OptionReader& options);
WorkloadInfo gpt2Info();
Result<GraphPtr> buildBert(OptionReader& options);
WorkloadInfo bertInfo();
Result<GraphPtr> buildEnasPtb(OptionReader& options);
WorkloadInfo enasPtbInfo();
Result<GraphPtr> buildAmoebanetD(OptionReader& options);
WorkloadInfo amoebanetDInfo();
Result<GraphPtr> buildNasnetA(OptionReader& options);
WorkloadInfo nasnetAInfo();
Result<GraphPtr> buildResnet50(OptionReader& options);
WorkloadInfo resnet50Info();
Result<GraphPtr> buildWavenet(OptionReader& options);
WorkloadInfo wavenetInfo();
Result<GraphPtr> buildEnasCifar10(OptionReader& options);
WorkloadInfo enasCifar10Info();
Result<GraphPtr> buildChain(OptionReader& options);
WorkloadInfo chainInfo();
Result<GraphPtr> buildForkJoin(OptionReader& options);
WorkloadInfo forkJoinInfo();
Result<GraphPtr> buildCrown(OptionReader& options);
WorkloadInfo crownInfo();
Result<GraphPtr> buildLayered(OptionReader& options);
WorkloadInfo layeredInfo();

} // namespace pw::zoo
