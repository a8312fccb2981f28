#include "core/formats/json_util.h"
#include "core/formats/profile_readers.h"
#include "core/formats/profile_sums.h"
#include "core/formats/tf_devices.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <set>

namespace pw::formats {

namespace {

/// What is kept of one event while it is read.
struct TraceEvent {
    std::string phase;
    std::string category;
    std::string name;
    std::string process;
    std::string thread;
    std::optional<double> startUs;
    std::optional<double> durationUs;
    std::string argName;     ///< args.name
    std::string argOp;       ///< args.op: TensorFlow's timeline has the op's type there, its name in args.name
    std::string argOpName;   ///< args.op_name: ONNX Runtime has the op's type there
    std::string argProvider; ///< args.provider, "CUDAExecutionProvider"

    void clear() { *this = TraceEvent(); }
};

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Events that tell of no op: calls of the CUDA runtime, Python functions, marks of the profiler itself, transfers.
bool isForeign(std::string_view category) {
    return isOneOf(category, {"cuda_runtime", "cuda_driver", "python_function", "ac2g", "fwdbwd", "async_cpu_to_gpu",
                              "Trace", "overhead", "gpu_user_annotation", "transfer", "Session", "Kernel"});
}

/// Turns events into times, by what each kind of profiler writes.
class TraceCollector {
public:
    void add(const TraceEvent& event) {
        if (event.phase == "X")
            addTimed(event, event.durationUs);
        else if (event.phase == "B")
            m_open[{event.process, event.thread}].push_back(event);
        else if (event.phase == "E")
            close(event);
        else if (event.phase == "M")
            label(event);
        ++m_events;
    }

    std::size_t eventCount() const { return m_events; }

    Profile finish(bool isCutOff) {
        Profile profile;
        profile.format = m_ort.isEmpty() ? "Chrome trace" : "ONNX Runtime profile";
        profile.entries = m_ort.isEmpty() ? m_general.entries(kinds(), ProfileSums::Combine::Mean)
                                          : m_ort.entries(kinds(), ProfileSums::Combine::Mean);
        for (const auto& [lane, open] : m_open)
            m_unpaired += static_cast<std::int64_t>(open.size());
        const auto warn = [&profile](const char* kind, std::int64_t count, const char* what) {
            if (count > 0)
                profile.warnings.push_back({kind, "", text::grouped(count) + what});
        };
        warn("impossible_time", m_impossible, " events with a missing, negative or absurd duration are left out");
        warn("unpaired_event", m_unpaired, " begin or end events without the other are left out");
        if (isCutOff)
            profile.warnings.push_back({"cut_off", "", "the list of events has no end; those before it are taken"});
        return profile;
    }

private:
    using Thread = std::pair<std::string, std::string>; ///< process, thread

    void close(const TraceEvent& end) {
        auto& open = m_open[{end.process, end.thread}];
        if (open.empty()) {
            ++m_unpaired;
            return;
        }
        const TraceEvent begin = std::move(open.back());
        open.pop_back();
        if (begin.startUs && end.startUs)
            addTimed(begin, *end.startUs - *begin.startUs);
        else
            ++m_impossible;
    }

    void label(const TraceEvent& event) {
        if (event.name == "process_name" || event.name == "process_labels")
            m_processLabel[event.process] += " " + event.argName;
        else if (event.name == "thread_name")
            m_threadLabel[{event.process, event.thread}] = event.argName;
    }

    void addTimed(const TraceEvent& event, std::optional<double> us) {
        constexpr std::string_view kOrtSuffix = "_kernel_time";
        const bool isOrt = event.category == "Node" && !event.argOpName.empty();
        std::string_view name = event.name;
        if (isOrt && !name.ends_with(kOrtSuffix))
            return; // fences before and after the kernel
        if (isOrt)
            name.remove_suffix(kOrtSuffix.size());
        else if (event.category == "Op" && !event.argOp.empty() && !event.argName.empty())
            name = event.argName;
        if (name.empty() || isForeign(event.category) || (!isOrt && !m_ort.isEmpty()))
            return;
        if (!us || !isOpTime(*us)) {
            ++m_impossible;
            return;
        }
        if (isOrt && m_ort.isEmpty())
            m_general.clear();
        (isOrt ? m_ort : m_general).add(name, laneOf(event), *us);
    }

    /// A lane is a provider, or else a process, thread and what the category says.
    std::uint32_t laneOf(const TraceEvent& event) {
        std::string said = deviceKindOf(event.argProvider);
        if (said.empty() && isOneOf(event.category, {"kernel", "gpu_memcpy", "gpu_memset", "gpu_op"}))
            said = "gpu";
        else if (said.empty() && isOneOf(event.category, {"cpu_op", "Operator", "user_annotation"}))
            said = event.category == "user_annotation" ? "" : "cpu";
        const Thread thread = said.empty() ? Thread(event.process, event.thread) : Thread();
        const auto [lane, isNew] = m_laneOf.try_emplace({thread, said}, static_cast<std::uint32_t>(m_lanes.size()));
        if (isNew)
            m_lanes.push_back({thread, said});
        return lane->second;
    }

    /// Known at the end only: the names of processes and threads may come after their events.
    std::vector<std::optional<std::string>> kinds() const {
        TfDeviceNames names;
        for (const auto& [process, label] : m_processLabel)
            names.add(deviceIn(label));
        std::set<std::string> hasAllStreams; // devices whose streams TensorFlow lists together: only that list counts
        for (const auto& [process, label] : m_processLabel) {
            if (label.find("/stream:all") != std::string::npos)
                hasAllStreams.insert(names.nameOf(deviceIn(label)));
        }
        std::vector<std::optional<std::string>> kinds;
        for (const auto& [thread, said] : m_lanes) {
            const std::string process = find(m_processLabel, thread.first);
            const bool isCounted = process.find("/stream:all") != std::string::npos ||
                                   !hasAllStreams.contains(names.nameOf(deviceIn(process)));
            std::string kind = said;
            if (kind.empty())
                kind = deviceKindOf(process);
            if (kind.empty())
                kind = deviceKindOf(find(m_threadLabel, thread));
            kinds.push_back(isCounted ? std::optional(std::move(kind)) : std::nullopt);
        }
        return kinds;
    }

    /// The device string of TensorFlow in a process's name, "/device:GPU:0/stream:all Compute", without its stream; ""
    /// if there is none.
    static std::string deviceIn(std::string_view label) {
        label = text::trim(label);
        label = label.substr(0, label.find(' '));
        label = label.substr(0, label.find("/stream:"));
        return label.starts_with('/') && TfDevice::parse(label) ? std::string(label) : std::string();
    }

    template<class Map>
    static std::string find(const Map& map, const typename Map::key_type& key) {
        const auto found = map.find(key);
        return found == map.end() ? std::string() : found->second;
    }

    ProfileSums m_ort;
    ProfileSums m_general;
    std::map<Thread, std::vector<TraceEvent>> m_open;
    std::map<std::string, std::string> m_processLabel;
    std::map<Thread, std::string> m_threadLabel;
    std::map<std::pair<Thread, std::string>, std::uint32_t> m_laneOf;
    std::vector<std::pair<Thread, std::string>> m_lanes;
    std::size_t m_events = 0;
    std::int64_t m_impossible = 0;
    std::int64_t m_unpaired = 0;
};

/// Follows nlohmann's events through `[event...]` or `{"traceEvents": [event...]}` and keeps one event at a time.
class TraceSax {
public:
    using number_integer_t = Json::number_integer_t;
    using number_unsigned_t = Json::number_unsigned_t;
    using number_float_t = Json::number_float_t;
    using string_t = Json::string_t;
    using binary_t = Json::binary_t;

    explicit TraceSax(TraceCollector& collector)
        : m_collector(collector) {}

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(number_integer_t value) { return number(static_cast<double>(value), std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) { return number(static_cast<double>(value), std::to_string(value)); }
    bool number_float(number_float_t value, const string_t& written) { return number(value, written); }
    bool binary(binary_t&) { return true; }

    bool string(string_t& value) {
        if (m_depth == m_eventDepth && m_eventDepth > 0) {
            if (std::string* into = textField(m_key))
                *into = std::move(value);
            else if (m_key == "ts" || m_key == "dur")
                numberField(m_key, parsed(value));
        } else if (isInArgs()) {
            if (std::string* into = argField(m_key))
                *into = std::move(value);
        }
        return true;
    }

    bool start_object(std::size_t) {
        ++m_depth;
        if (m_listDepth > 0 && m_depth == m_listDepth + 1) {
            m_eventDepth = m_depth;
            m_event.clear();
        } else if (m_eventDepth > 0 && m_depth == m_eventDepth + 1) {
            m_inArgs = m_key == "args";
        }
        return true;
    }

    bool end_object() {
        if (m_eventDepth > 0 && m_depth == m_eventDepth + 1)
            m_inArgs = false;
        if (m_depth == m_eventDepth && m_eventDepth > 0) {
            m_collector.add(m_event);
            m_eventDepth = 0;
        }
        --m_depth;
        return true;
    }

    bool start_array(std::size_t) {
        ++m_depth;
        if (m_depth == 1 || (m_depth == 2 && m_key == "traceEvents"))
            m_listDepth = m_depth;
        return true;
    }

    bool end_array() {
        if (m_depth == m_listDepth)
            m_listDepth = 0;
        --m_depth;
        return true;
    }

    bool key(string_t& value) {
        m_key = std::move(value);
        return true;
    }

    bool parse_error(std::size_t position, const std::string& lastToken, const nlohmann::detail::exception& error) {
        m_errorAt = position;
        m_errorText = error.what();
        (void)lastToken;
        return false;
    }

    /// A bare list of events may end anywhere after an event: Chrome's own rule, since a program may die while it
    /// writes.
    bool isAfterEvent() const { return m_depth == 1 && m_listDepth == 1; }
    std::size_t errorAt() const { return m_errorAt; }
    /// The library's reason without its own prefix.
    std::string errorText() const {
        const auto colon = m_errorText.find(": ");
        return text::toValidUtf8(colon == std::string::npos ? m_errorText : m_errorText.substr(colon + 2));
    }

private:
    bool isInArgs() const { return m_inArgs && m_depth == m_eventDepth + 1; }

    static std::optional<double> parsed(const std::string& text) {
        double value = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
    }

    bool number(double value, const std::string& written) {
        if (m_eventDepth == 0 || m_depth != m_eventDepth)
            return true;
        if (m_key == "ts" || m_key == "dur")
            numberField(m_key, value);
        else if (m_key == "pid" || m_key == "tid")
            *textField(m_key) = written;
        return true;
    }

    void numberField(const std::string& key, std::optional<double> value) {
        (key == "ts" ? m_event.startUs : m_event.durationUs) = value;
    }

    std::string* textField(const std::string& key) {
        return key == "ph"     ? &m_event.phase
               : key == "cat"  ? &m_event.category
               : key == "name" ? &m_event.name
               : key == "pid"  ? &m_event.process
               : key == "tid"  ? &m_event.thread
                               : nullptr;
    }

    std::string* argField(const std::string& key) {
        return key == "name" || key == "labels" ? &m_event.argName
               : key == "op"                    ? &m_event.argOp
               : key == "op_name"               ? &m_event.argOpName
               : key == "provider"              ? &m_event.argProvider
                                                : nullptr;
    }

    TraceCollector& m_collector;
    TraceEvent m_event;
    std::string m_key;
    std::size_t m_depth = 0;
    std::size_t m_listDepth = 0;  ///< depth inside the list of events; 0 = outside
    std::size_t m_eventDepth = 0; ///< depth inside an event; 0 = outside
    bool m_inArgs = false;
    std::size_t m_errorAt = 0;
    std::string m_errorText;
};

} // namespace

Result<Profile> readTraceProfile(const OpenFile& file, const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        return fail(ErrorCode::Io, "cannot read", {}, path);
    TraceCollector collector;
    TraceSax sax(collector);
    const bool isWhole = Json::sax_parse(stream, &sax);
    const bool isAtEnd = sax.errorAt() >= static_cast<std::size_t>(file.size);
    if (!isWhole && !(isAtEnd && sax.isAfterEvent() && collector.eventCount() > 0))
        return fail(ErrorCode::Parse, "not a readable trace: " + sax.errorText(),
                    "byte " + std::to_string(sax.errorAt()));
    return collector.finish(!isWhole);
}

} // namespace pw::formats
