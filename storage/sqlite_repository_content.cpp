// Graphs, device sets and placements.

#include "storage/sqlite_repository.h"

#include "core/base/clock.h"
#include "core/formats/formats.h"
#include "storage/blobs.h"

namespace pw::storage {

namespace {

constexpr const char* kPlacementColumns =
    "SELECT placement.id, run_id, graph_id, device_set_id, placement.name, method, step_time_us, valid, "
    "placement.created_at, placement.devices, graph.ops, device_set.devices FROM placement "
    "JOIN graph ON graph.id = graph_id JOIN device_set ON device_set.id = device_set_id ";

} // namespace

Result<RowId> SqliteRepository::putGraph(const OpGraph& graph, const std::string& source) {
    PW_TRY(const auto known, idOfHash("graph", graph.hash()));
    if (known)
        return *known;
    const std::string json = formats::toGraphJson(graph); // why here: seconds for a large graph, outside the lock
    return write([&](Connection& connection) -> Result<RowId> {
        PW_TRY(Statement insert,
               connection.prepare("INSERT INTO graph (name, hash, source, ops, created_at, json) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (hash) DO NOTHING"));
        PW_CHECK(insert.bind(graph.name())
                     .bind(graph.hash())
                     .bind(source)
                     .bind(static_cast<std::int64_t>(graph.opCount()))
                     .bind(unixTimeSeconds())
                     .bind(json)
                     .run());
        PW_TRY(Statement query, connection.prepare("SELECT id FROM graph WHERE hash = ?1"));
        PW_CHECK(query.bind(graph.hash()).step());
        return query.integer(0);
    });
}

Result<std::vector<GraphRecord>> SqliteRepository::graphs() const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query,
           reader->prepare("SELECT id, name, hash, source, ops, created_at FROM graph ORDER BY id"));
    std::vector<GraphRecord> records;
    while (true) {
        PW_TRY(const bool row, query.step());
        if (!row)
            return records;
        records.push_back({query.integer(0), query.text(1), query.text(2), query.text(3),
                           static_cast<std::size_t>(query.integer(4)), query.integer(5)});
    }
}

Result<GraphPtr> SqliteRepository::loadGraph(RowId id) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare("SELECT json FROM graph WHERE id = ?1"));
    PW_TRY(const bool found, query.bind(id).step());
    if (!found)
        return missing("graph", id);
    return formats::fromGraphJson(query.text(0), m_path);
}

Result<RowId> SqliteRepository::putDeviceSet(const DeviceSet& devices) {
    PW_TRY(const auto known, idOfHash("device_set", devices.hash()));
    if (known)
        return *known;
    const std::string json = formats::toDevicesJson(devices);
    return write([&](Connection& connection) -> Result<RowId> {
        PW_TRY(Statement insert, connection.prepare("INSERT INTO device_set (name, hash, devices, json) "
                                                    "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (hash) DO NOTHING"));
        PW_CHECK(insert.bind(devices.name())
                     .bind(devices.hash())
                     .bind(static_cast<std::int64_t>(devices.count()))
                     .bind(json)
                     .run());
        PW_TRY(Statement query, connection.prepare("SELECT id FROM device_set WHERE hash = ?1"));
        PW_CHECK(query.bind(devices.hash()).step());
        return query.integer(0);
    });
}

Result<std::vector<DeviceSetRecord>> SqliteRepository::deviceSets() const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare("SELECT id, name, hash, devices FROM device_set ORDER BY id"));
    std::vector<DeviceSetRecord> records;
    while (true) {
        PW_TRY(const bool row, query.step());
        if (!row)
            return records;
        records.push_back(
            {query.integer(0), query.text(1), query.text(2), static_cast<std::size_t>(query.integer(3))});
    }
}

Result<DeviceSet> SqliteRepository::loadDeviceSet(RowId id) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare("SELECT json FROM device_set WHERE id = ?1"));
    PW_TRY(const bool found, query.bind(id).step());
    if (!found)
        return missing("device set", id);
    return formats::fromDevicesJson(query.text(0), m_path);
}

Status SqliteRepository::checkFits(Connection& connection, const PlacementRecord& placement) const {
    PW_TRY(Statement ops, connection.prepare("SELECT ops FROM graph WHERE id = ?1"));
    PW_TRY(const bool hasGraph, ops.bind(placement.graphId).step());
    if (!hasGraph)
        return missing("graph", placement.graphId);
    PW_TRY(Statement devices, connection.prepare("SELECT devices FROM device_set WHERE id = ?1"));
    PW_TRY(const bool hasDevices, devices.bind(placement.deviceSetId).step());
    if (!hasDevices)
        return missing("device set", placement.deviceSetId);
    if (placement.runId)
        PW_CHECK(checkExists(connection, "run", *placement.runId));
    return checkPlacement(placement, static_cast<std::size_t>(ops.integer(0)),
                          static_cast<std::size_t>(devices.integer(0)));
}

Result<RowId> SqliteRepository::addPlacement(const PlacementRecord& placement) {
    return write([&](Connection& connection) -> Result<RowId> {
        PW_CHECK(checkFits(connection, placement));
        PW_TRY(Statement insert,
               connection.prepare("INSERT INTO placement (run_id, graph_id, device_set_id, name, method, step_time_us, "
                                  "valid, created_at, devices) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
        const std::vector<std::uint8_t> blob = packPlacement(placement.placement);
        PW_CHECK(insert.bind(placement.runId)
                     .bind(placement.graphId)
                     .bind(placement.deviceSetId)
                     .bind(placement.name)
                     .bind(placement.method)
                     .bind(placement.stepTimeUs)
                     .bind(std::int64_t{placement.valid})
                     .bind(unixTimeSeconds())
                     .bind(blob)
                     .run());
        return connection.lastInsertId();
    });
}

Result<PlacementRecord> SqliteRepository::placementOf(const Statement& row) const {
    PlacementRecord record;
    record.id = row.integer(0);
    if (!row.isNull(1))
        record.runId = row.integer(1);
    record.graphId = row.integer(2);
    record.deviceSetId = row.integer(3);
    record.name = row.text(4);
    record.method = row.text(5);
    record.stepTimeUs = row.real(6);
    record.valid = row.integer(7) != 0;
    record.createdAt = row.integer(8);
    const std::string where = "placement " + std::to_string(record.id);
    auto placement = unpackPlacement(row.blob(9));
    if (!placement)
        return fail(ErrorCode::Parse, placement.error().message, where, m_path);
    record.placement = std::move(*placement);
    const Status fits = checkPlacement(record, static_cast<std::size_t>(row.integer(10)),
                                       static_cast<std::size_t>(row.integer(11)));
    if (!fits)
        return fail(ErrorCode::Parse, fits.error().message, where, m_path);
    return record;
}

Result<std::vector<PlacementRecord>> SqliteRepository::placements(RowId graphId) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare(std::string(kPlacementColumns) +
                                            "WHERE graph_id = ?1 ORDER BY placement.id DESC"));
    query.bind(graphId);
    std::vector<PlacementRecord> records;
    while (true) {
        PW_TRY(const bool row, query.step());
        if (!row)
            return records;
        PW_TRY(PlacementRecord record, placementOf(query));
        records.push_back(std::move(record));
    }
}

Result<PlacementRecord> SqliteRepository::placement(RowId id) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare(std::string(kPlacementColumns) + "WHERE placement.id = ?1"));
    PW_TRY(const bool found, query.bind(id).step());
    if (!found)
        return missing("placement", id);
    return placementOf(query);
}

} // namespace pw::storage
