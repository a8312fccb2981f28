#include "core/formats/groups_csv.h"

#include "core/base/text.h"
#include "core/formats/csv.h"
#include "core/formats/formats.h"

#include <unordered_map>

namespace pw::formats {

namespace {

constexpr std::int64_t kMaxBytes = 512LL << 20;

} // namespace

Result<std::vector<std::vector<std::string>>> loadGroups(const std::string& path) {
    PW_TRY(const std::string content, readFile(path, kMaxBytes));
    CsvReader reader(content);
    std::vector<std::string> row;
    std::vector<std::vector<std::string>> groups;
    std::unordered_map<std::string, std::size_t> numberOf;
    std::unordered_map<std::string, std::size_t> lineOf; // of an op
    bool isFirst = true;
    while (reader.next(row)) {
        const std::string where = "line " + std::to_string(reader.line());
        const bool isHeader = std::exchange(isFirst, false) && row.size() >= 2 && row[0] == "op" && row[1] == "group";
        if (isHeader || (row.size() == 1 && text::trim(row[0]).empty()))
            continue;
        if (row.size() != 2 || row[0].empty() || row[1].empty())
            return fail(ErrorCode::Parse, "expected op,group", where, path);
        const auto [known, isNew] = lineOf.try_emplace(row[0], reader.line());
        if (!isNew)
            return fail(ErrorCode::Invalid,
                        "op \"" + text::toValidUtf8(row[0]) + "\" was given a group in line " +
                            std::to_string(known->second) + " already",
                        where, path);
        const auto [found, isNewGroup] = numberOf.try_emplace(row[1], groups.size());
        if (isNewGroup)
            groups.emplace_back();
        groups[found->second].push_back(row[0]);
    }
    if (!reader.error().empty())
        return fail(ErrorCode::Parse, reader.error(), "line " + std::to_string(reader.line()), path);
    if (groups.empty())
        return fail(ErrorCode::Parse, "holds no groups; expected lines op,group", {}, path);
    return groups;
}

Status saveGroups(const OpGraph& graph, const Grouping& grouping, const std::string& path) {
    std::string out = "op,group\n";
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        out += csvField(graph.op(OpId(i)).name);
        out += ',';
        out += csvField(grouping.names[grouping.groupOf[i].index()]);
        out += '\n';
    }
    return writeFileAtomically(path, out);
}

} // namespace pw::formats
