#include "core/place/placer.h"

#include "core/place/expert_placer.h"
#include "core/place/fixed_placers.h"
#include "core/place/local_search.h"
#include "core/place/metis_placer.h"

namespace pw {

void PlacerRegistry::add(std::unique_ptr<Placer> placer) {
    m_placers.push_back(std::move(placer));
}

const Placer* PlacerRegistry::find(std::string_view name) const {
    for (const auto& placer : m_placers) {
        if (placer->name() == name)
            return placer.get();
    }
    return nullptr;
}

std::vector<std::string> PlacerRegistry::names() const {
    std::vector<std::string> names;
    for (const auto& placer : m_placers)
        names.push_back(placer->name());
    return names;
}

void addClassicPlacers(PlacerRegistry& registry) {
    registry.add(std::make_unique<SinglePlacer>());
    registry.add(std::make_unique<RandomPlacer>());
    registry.add(std::make_unique<RoundRobinPlacer>());
    registry.add(std::make_unique<ContiguousPlacer>());
    registry.add(std::make_unique<ExpertPlacer>());
    registry.add(std::make_unique<MetisPlacer>());
    registry.add(std::make_unique<LocalSearchPlacer>());
}

} // namespace pw
