#include "core/formats/profile_sums.h"

#include "core/base/text.h"

#include <map>

namespace pw::formats {

void ProfileSums::clear() {
    *this = ProfileSums();
}

void ProfileSums::add(std::string_view op, std::uint32_t lane, double us) {
    const auto number = m_opNumber.try_emplace(std::string(op), static_cast<std::uint32_t>(m_opNumber.size())).first;
    const auto [place, isNew] = m_placeOf.try_emplace(std::uint64_t{number->second} << 32 | lane,
                                                      static_cast<std::uint32_t>(m_sums.size()));
    if (isNew)
        m_sums.push_back({&number->first, lane, 0.0, 0});
    Sum& sum = m_sums[place->second];
    sum.us += us;
    ++sum.samples;
}

std::vector<Profile::Entry> ProfileSums::entries(const std::vector<std::optional<std::string>>& kindOfLane,
                                                 Combine combine) const {
    std::vector<Profile::Entry> entries;
    std::map<std::pair<const std::string*, std::string_view>, std::size_t> known;
    for (const Sum& sum : m_sums) {
        const auto& kind = kindOfLane[sum.lane];
        if (!kind)
            continue;
        const auto [found, isNew] = known.try_emplace({sum.op, *kind}, entries.size());
        if (isNew)
            entries.push_back({*sum.op, *kind, 0.0, 0});
        entries[found->second].us += sum.us;
        entries[found->second].samples += sum.samples;
    }
    if (combine == Combine::Mean) {
        for (Profile::Entry& entry : entries)
            entry.us /= static_cast<double>(entry.samples);
    }
    return entries;
}

std::string deviceKindOf(std::string_view label) {
    const std::string lower = text::toLower(label);
    const auto says = [&lower](std::string_view word) { return lower.find(word) != std::string::npos; };
    for (const std::string_view gpu : {"gpu", "cuda", "tensorrt", "rocm", "migraphx", "dml", "/stream:"}) {
        if (says(gpu))
            return "gpu";
    }
    return says("cpu") ? "cpu" : "";
}

} // namespace pw::formats
