#include "core/formats/profile_readers.h"
#include "core/formats/profile_sums.h"
#include "core/formats/tf_devices.h"
#include "core/formats/tf_text.h"
#include "core/formats/wire_file.h"

#include "core/base/text.h"

#include "core/formats/pw_tf_stats.pb.h"

#include <map>

namespace pw::formats {

namespace {

namespace stats = pw::tensorflow::stats;

constexpr std::uint64_t kMaxNodeBytes = 1 << 20;

/// TensorFlow lists the work of a GPU up to three times: where it was launched ("/device:GPU:0"), by stream
/// ("/device:GPU:0/stream:12") and all streams together ("/device:GPU:0/stream:all"). Only one of them may count.
enum class LaneRole { Device, Stream, AllStreams };

struct Lane {
    LaneRole role = LaneRole::Device;
    std::string base; ///< the device without stream
};

Lane laneOf(const std::string& device) {
    const auto stream = device.find("/stream:");
    if (stream == std::string::npos)
        return {LaneRole::Device, device};
    const bool isAll = std::string_view(device).substr(stream) == "/stream:all";
    return {isAll ? LaneRole::AllStreams : LaneRole::Stream, device.substr(0, stream)};
}

/// "conv1/Conv2D:Conv2D" and "conv1/Conv2D:Conv2D#id=5#" are op conv1/Conv2D; "_SOURCE" and copies are none.
std::string_view opNameOf(std::string_view node) {
    node = node.substr(0, node.find('#'));
    node = node.substr(0, node.find("@@"));
    const bool isCopy = node.find("MEMCPY") != std::string_view::npos || node.find("MEMSET") != std::string_view::npos;
    node = node.substr(0, node.find(':'));
    return isCopy || node == "_SOURCE" || node == "_SINK" || node == "RecvTensor" ? std::string_view() : node;
}

/// The op itself, without the executor's work before and after it. Nanoseconds where the file has them.
double timeOf(const stats::NodeExecStats& node) {
    const auto span = [](std::int64_t start, std::int64_t end, std::int64_t all) {
        return static_cast<double>(end != 0 ? end : all) - static_cast<double>(start);
    };
    if (node.op_end_rel_nanos() != 0 || node.all_end_rel_nanos() != 0)
        return span(node.op_start_rel_nanos(), node.op_end_rel_nanos(), node.all_end_rel_nanos()) / 1e3;
    return span(node.op_start_rel_micros(), node.op_end_rel_micros(), node.all_end_rel_micros());
}

class StatsCollector {
public:
    void begin(const std::string& device) {
        const auto [lane, isNew] = m_laneOf.try_emplace(device, static_cast<std::uint32_t>(m_lanes.size()));
        if (isNew)
            m_lanes.push_back(laneOf(device));
        m_lane = lane->second;
    }

    void add(const stats::NodeExecStats& node) {
        const double us = timeOf(node);
        const std::string_view op = opNameOf(node.node_name());
        if (!isOpTime(us))
            ++m_impossible;
        else if (!op.empty())
            m_sums.add(op, m_lane, us);
    }

    /// Executions of one op add up: the file tells of one step, in which an op may launch several kernels or stand in a
    /// loop.
    Profile finish() const {
        TfDeviceNames names; // streams may spell their device in another way than the list of launches
        for (const Lane& lane : m_lanes)
            names.add(lane.base);
        std::map<std::string, LaneRole> best; // device -> the list that counts
        for (const Lane& lane : m_lanes) {
            const auto [found, isNew] = best.try_emplace(names.nameOf(lane.base), lane.role);
            if (!isNew)
                found->second = std::max(found->second, lane.role);
        }
        std::vector<std::optional<std::string>> kinds;
        for (const Lane& lane : m_lanes) {
            const bool counts = best[names.nameOf(lane.base)] == lane.role;
            kinds.push_back(counts ? std::optional(deviceKindOf(lane.base)) : std::nullopt);
        }
        Profile profile{"TensorFlow StepStats", m_sums.entries(kinds, ProfileSums::Combine::Sum), {}};
        addLaunches(profile);
        if (m_impossible > 0)
            profile.warnings.push_back(
                {"impossible_time", "",
                 text::grouped(m_impossible) + " executions with a negative or absurd time are left out"});
        return profile;
    }

private:
    /// Ops of a GPU that launched nothing on a stream keep the time of their launch.
    void addLaunches(Profile& profile) const {
        std::map<std::string_view, bool> has;
        for (const Profile::Entry& entry : profile.entries) {
            if (entry.deviceKind == "gpu")
                has.emplace(entry.op, true);
        }
        std::vector<std::optional<std::string>> kinds;
        for (const Lane& lane : m_lanes) {
            const std::string kind = deviceKindOf(lane.base);
            kinds.push_back(lane.role == LaneRole::Device && kind == "gpu" ? std::optional(kind) : std::nullopt);
        }
        std::vector<Profile::Entry> more;
        for (Profile::Entry& entry : m_sums.entries(kinds, ProfileSums::Combine::Sum)) {
            if (!has.contains(entry.op))
                more.push_back(std::move(entry));
        }
        profile.entries.insert(profile.entries.end(), more.begin(), more.end());
    }

    ProfileSums m_sums;
    std::vector<Lane> m_lanes;
    std::map<std::string, std::uint32_t> m_laneOf;
    std::uint32_t m_lane = 0;
    std::int64_t m_impossible = 0;
};

/// Walks the file down to its nodes, each of which is parsed by itself: a list of empty nodes would take many times its
/// bytes as messages.
class StatsReader {
public:
    StatsReader(const OpenFile& file, const std::string& path)
        : m_wire(file, path, "TensorFlow RunMetadata or StepStats") {}

    Result<Profile> read() {
        PW_TRY(const bool isRunMetadata, hasStepStatsInside());
        m_wire.seek(0);
        while (m_wire.position() < m_wire.size()) {
            PW_TRY(const WireField field, m_wire.readField(m_wire.size()));
            if (field.number != 1 || field.wire != 2) {
                m_wire.skip(field);
                continue;
            }
            const std::uint64_t end = m_wire.position() + field.value;
            PW_CHECK(isRunMetadata ? readStep(end) : readDevice(end));
        }
        return m_collector.finish();
    }

private:
    /// StepStats: devices whose first field is a name. RunMetadata: one level more around it.
    Result<bool> hasStepStatsInside() {
        PW_TRY(const WireField outer, m_wire.readField(m_wire.size()));
        const std::uint64_t end = m_wire.position() + outer.value;
        if (outer.value == 0)
            return true;
        PW_TRY(const WireField inner, m_wire.readField(end));
        std::string start;
        PW_CHECK(m_wire.append(start, std::min<std::uint64_t>(inner.wire == 2 ? inner.value : 0, 1)));
        return start != "/";
    }

    Status readStep(std::uint64_t end) {
        while (m_wire.position() < end) {
            PW_TRY(const WireField field, m_wire.readField(end));
            if (field.number == 1 && field.wire == 2)
                PW_CHECK(readDevice(m_wire.position() + field.value));
            else
                m_wire.skip(field);
        }
        return {};
    }

    Status readDevice(std::uint64_t end) {
        m_collector.begin({});
        while (m_wire.position() < end) {
            PW_TRY(const WireField field, m_wire.readField(end));
            if (field.wire != 2 || field.number > 2) {
                m_wire.skip(field);
                continue;
            }
            if (field.value > kMaxNodeBytes)
                return m_wire.damaged("a node of " + text::grouped(static_cast<std::int64_t>(field.value)) + " bytes");
            std::string bytes;
            PW_CHECK(m_wire.append(bytes, field.value));
            if (field.number == 1) {
                m_collector.begin(text::toValidUtf8(bytes));
                continue;
            }
            if (!m_node.ParseFromString(bytes))
                return m_wire.damaged("the statistics of a node cannot be read");
            m_collector.add(m_node);
        }
        return {};
    }

    WireFile m_wire;
    StatsCollector m_collector;
    stats::NodeExecStats m_node;
};

void collect(StatsCollector& collector, const stats::StepStats& step) {
    for (const stats::DeviceStepStats& device : step.dev_stats()) {
        collector.begin(device.device());
        for (const stats::NodeExecStats& node : device.node_stats())
            collector.add(node);
    }
}

} // namespace

Result<Profile> readTfStepStats(const OpenFile& file, const std::string& path) {
    return StatsReader(file, path).read();
}

Result<Profile> readTfStepStatsText(const std::string& content) {
    StatsCollector collector;
    const std::string what = "TensorFlow RunMetadata or StepStats";
    if (content.find("step_stats") != std::string::npos) {
        stats::RunMetadata metadata;
        PW_CHECK(tf::parseText(content, what, metadata));
        collect(collector, metadata.step_stats());
    } else {
        stats::StepStats step;
        PW_CHECK(tf::parseText(content, what, step));
        collect(collector, step);
    }
    return collector.finish();
}

} // namespace pw::formats
