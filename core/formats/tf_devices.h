#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pw::formats {

/// A device string of TensorFlow, taken apart: "/job:worker/replica:0/task:1/device:GPU:0", "/gpu:0", "GPU:0", "gpu:*".
/// Parts that the string does not have are empty.
struct TfDevice {
    std::string job;
    std::string replica;
    std::string task;
    std::string kind;  ///< lower case: "gpu", "xla_cpu"
    std::string index; ///< "0"; "*" where any will do

    static std::optional<TfDevice> parse(std::string_view text);

    bool hasKind() const { return !kind.empty(); }
    /// The device kind ("gpu", "cpu") that the string asks for without naming a device of it; "" if it names one.
    std::string wantedKind() const;
    /// "/job:worker/task:1/device:GPU:0".
    std::string toString() const;
};

/// All device strings of one graph and the one name that each device has here.
///
/// Rule: a device is called `kind:index` ("gpu:0"), whatever its spelling. Job, replica and task are part of the name
/// ("job:worker/task:1/gpu:0") only where they are not TensorFlow's defaults (localhost, 0, 0) and the graph uses more than
/// one of them. A string that is none of TensorFlow's stays as it is.
class TfDeviceNames {
public:
    void add(const std::string& written);

    std::string nameOf(const std::string& written) const;
    /// TensorFlow's spelling of a device name of this graph. Nothing where there is none.
    std::optional<std::string> spellingOf(const std::string& name) const;
    /// `"gpu:0" is "/gpu:0", "/device:GPU:0"` for each device that is spelled in more than one way.
    std::vector<std::string> aliases() const;

private:
    struct Place {
        std::string job, replica, task;
        bool operator<(const Place& other) const {
            return std::tie(job, replica, task) < std::tie(other.job, other.replica, other.task);
        }
    };
    static Place placeOf(const TfDevice& device);

    std::set<std::string> m_written;
    std::set<Place> m_places; ///< of all strings that are TensorFlow's
};

} // namespace pw::formats
