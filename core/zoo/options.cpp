#include "core/zoo/options.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace pw::zoo {

OptionReader::OptionReader(const WorkloadInfo& info, const std::map<std::string, std::string>& given)
    : m_info(info), m_given(given) {
    for (const auto& [key, value] : given) {
        const bool isKnown = std::any_of(info.options.begin(), info.options.end(),
                                         [&k = key](const OptionInfo& option) { return option.key == k; });
        if (isKnown)
            continue;
        std::string known;
        for (const OptionInfo& option : info.options)
            known += (known.empty() ? "" : ", ") + option.key;
        m_status = fail(ErrorCode::Invalid, info.name + " has no option \"" + key + "\" (it has " + known + ")", "zoo");
        return;
    }
}

std::string OptionReader::value(const std::string& key) const {
    if (const auto found = m_given.find(key); found != m_given.end())
        return found->second;
    for (const OptionInfo& option : m_info.options) {
        if (option.key == key)
            return option.defaultValue;
    }
    return {};
}

void OptionReader::reject(const std::string& key, const std::string& reason) {
    if (m_status)
        m_status = fail(ErrorCode::Invalid, m_info.name + ": " + key + "=" + value(key) + ": " + reason, "zoo");
}

std::int64_t OptionReader::integer(const std::string& key, std::int64_t minimum, std::int64_t maximum) {
    const std::string text = value(key);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= minimum && number <= maximum)
        return number;
    reject(key, "must be a whole number from " + text::grouped(minimum) + " to " + text::grouped(maximum));
    return minimum;
}

std::size_t OptionReader::choice(const std::string& key, std::initializer_list<const char*> words) {
    const std::string text = value(key);
    const auto found = std::find(words.begin(), words.end(), text);
    if (found != words.end())
        return static_cast<std::size_t>(found - words.begin());
    std::string list;
    for (const char* word : words)
        list += (list.empty() ? "" : ", ") + std::string(word);
    reject(key, "must be one of " + list);
    return 0;
}

bool OptionReader::flag(const std::string& key) {
    return choice(key, {"0", "1"}) == 1;
}

Level OptionReader::level() {
    return static_cast<Level>(choice("level", {"L0", "L1", "L2"}));
}

bool OptionReader::training() {
    return choice("mode", {"training", "inference"}) == 0;
}

Optimizer OptionReader::optimizer() {
    return static_cast<Optimizer>(choice("optimizer", {"sgd", "momentum", "rmsprop", "adam"}));
}

std::uint64_t OptionReader::seed() {
    return static_cast<std::uint64_t>(integer("seed", 0, std::numeric_limits<std::int64_t>::max()));
}

std::string OptionReader::graphName() const {
    std::string name = m_info.name;
    char separator = '?';
    for (const OptionInfo& option : m_info.options) {
        if (value(option.key) == option.defaultValue)
            continue;
        name += separator;
        name += option.key + "=" + value(option.key);
        separator = '&';
    }
    return name;
}

std::vector<OptionInfo> commonOptions(const char* level) {
    return {{"level", level, "how much of TensorFlow's plumbing is emitted: L0 kernels only, L1 gradient helpers, L2 all"},
            {"mode", "training", "training (with backward pass and optimiser) or inference"},
            {"seed", "1", "seed of whatever is random in the workload"}};
}

NetOptions readNetOptions(OptionReader& options) {
    NetOptions net;
    net.level = options.level();
    net.training = options.training();
    net.colocateGradients = options.flag("colocate_gradients");
    return net;
}

} // namespace pw::zoo
