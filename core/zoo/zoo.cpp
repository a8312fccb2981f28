#include "core/zoo/zoo.h"

#include "core/base/text.h"
#include "core/zoo/options.h"

namespace pw::zoo {

namespace {

struct Entry {
    WorkloadInfo (*info)();
    Result<GraphPtr> (*build)(OptionReader&);
};

constexpr Entry kEntries[] = {
    // clang-format off
    {inceptionV3Info, buildInceptionV3},
    {rnnlmInfo, buildRnnlm},
    {gnmtInfo, buildGnmt},
    {nmtInfo, buildNmt},
    {nmtFamilyInfo, buildNmtFamily},
    {transformerXlInfo, buildTransformerXl},
    {gpt2Info, buildGpt2},
    {bertInfo, buildBert},
    {enasPtbInfo, buildEnasPtb},
    {amoebanetDInfo, buildAmoebanetD},
    {nasnetAInfo, buildNasnetA},
    {resnet50Info, buildResnet50},
    {wavenetInfo, buildWavenet},
    {enasCifar10Info, buildEnasCifar10},
    {chainInfo, buildChain},
    {forkJoinInfo, buildForkJoin},
    {crownInfo, buildCrown},
    {layeredInfo, buildLayered},
    // clang-format on
};

} // namespace

std::vector<WorkloadInfo> workloads() {
    std::vector<WorkloadInfo> all;
    for (const Entry& entry : kEntries)
        all.push_back(entry.info());
    return all;
}

Result<GraphPtr> make(std::string_view name, const std::map<std::string, std::string>& options) {
    std::string known;
    for (const Entry& entry : kEntries) {
        const WorkloadInfo info = entry.info();
        known += (known.empty() ? "" : ", ") + info.name;
        if (info.name != name)
            continue;
        OptionReader reader(info, options);
        PW_CHECK(reader.status());
        return entry.build(reader);
    }
    return fail(ErrorCode::NotFound, "no workload \"" + std::string(name) + "\" (there are " + known + ")", "zoo");
}

Result<GraphPtr> makeFromSpec(std::string_view spec) {
    constexpr std::string_view kPrefix = "zoo:";
    const std::string where(spec);
    if (spec.substr(0, kPrefix.size()) != kPrefix)
        return fail(ErrorCode::Invalid, "a workload is written zoo:name?key=value&key=value", where);
    spec.remove_prefix(kPrefix.size());
    const auto nameEnd = spec.find('?');
    const std::string_view name = spec.substr(0, nameEnd);
    std::map<std::string, std::string> options;
    std::string rest(nameEnd == std::string_view::npos ? std::string_view() : spec.substr(nameEnd + 1));
    for (char& c : rest) // people write commas, or repeat the question mark
        c = c == ',' || c == '?' ? '&' : c;
    for (const std::string_view part : text::split(rest, '&')) {
        if (part.empty())
            continue;
        const auto equals = part.find('=');
        if (equals == 0 || equals == std::string_view::npos || equals + 1 == part.size())
            return fail(ErrorCode::Invalid, "\"" + std::string(part) + "\" is not key=value", where);
        if (!options.emplace(part.substr(0, equals), part.substr(equals + 1)).second)
            return fail(ErrorCode::Invalid, "option \"" + std::string(part.substr(0, equals)) + "\" is given twice", where);
    }
    return make(name, options);
}

} // namespace pw::zoo
