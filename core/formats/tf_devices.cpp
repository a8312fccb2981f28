#include "core/formats/tf_devices.h"

#include "core/base/text.h"

#include <algorithm>
#include <cctype>

namespace pw::formats {

namespace {

bool isIndex(std::string_view text) {
    return text == "*" || (!text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string_view::npos);
}

bool isKind(std::string_view text) {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
           std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool isJob(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
}

/// "GPU:0", "gpu:*", "GPU".
bool takeKind(TfDevice& device, std::string_view text) {
    const auto colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view index = colon == std::string_view::npos ? "*" : text.substr(colon + 1);
    if (!isKind(kind) || !isIndex(index) || device.hasKind())
        return false;
    device.kind = text::toLower(kind);
    device.index = index;
    return true;
}

std::string withoutZeros(std::string_view number) {
    const auto start = number.find_first_not_of('0');
    return std::string(start == std::string_view::npos ? number.substr(0, 1) : number.substr(start));
}

} // namespace

std::optional<TfDevice> TfDevice::parse(std::string_view text) {
    if (text.starts_with('/'))
        text.remove_prefix(1);
    TfDevice device;
    for (const std::string_view part : text::split(text, '/')) {
        const auto colon = part.find(':');
        const std::string_view key = part.substr(0, colon);
        const std::string_view value = colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
        bool fits = colon != std::string_view::npos;
        if (key == "job")
            fits = fits && device.job.empty() && isJob(value) && !(device.job = value).empty();
        else if (key == "replica")
            fits = fits && device.replica.empty() && isIndex(value) && !(device.replica = withoutZeros(value)).empty();
        else if (key == "task")
            fits = fits && device.task.empty() && isIndex(value) && !(device.task = withoutZeros(value)).empty();
        else if (key == "device")
            fits = takeKind(device, value);
        else
            fits = fits && takeKind(device, part);
        if (!fits)
            return std::nullopt;
    }
    if (device.hasKind())
        device.index = withoutZeros(device.index);
    return device;
}

std::string TfDevice::wantedKind() const {
    if (!hasKind() || index != "*")
        return {};
    return kind.starts_with("xla_") ? kind.substr(4) : kind;
}

std::string TfDevice::toString() const {
    std::string out;
    const auto add = [&out](const char* key, const std::string& value) {
        if (!value.empty())
            out += std::string("/") + key + ":" + value;
    };
    add("job", job);
    add("replica", replica);
    add("task", task);
    std::string upper = kind;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    if (hasKind())
        add("device", upper + ":" + index);
    return out;
}

TfDeviceNames::Place TfDeviceNames::placeOf(const TfDevice& device) {
    return {device.job == "localhost" ? "" : device.job, device.replica == "0" ? "" : device.replica,
            device.task == "0" ? "" : device.task};
}

void TfDeviceNames::add(const std::string& written) {
    if (written.empty() || !m_written.insert(written).second)
        return;
    if (const auto device = TfDevice::parse(written))
        m_places.insert(placeOf(*device));
}

std::string TfDeviceNames::nameOf(const std::string& written) const {
    const auto device = TfDevice::parse(written);
    if (written.empty() || !device)
        return text::toValidUtf8(written);
    std::string name;
    const auto add = [&name](const char* key, const std::string& value) {
        if (!value.empty())
            name += std::string(name.empty() ? "" : "/") + key + value;
    };
    if (const Place place = placeOf(*device); m_places.size() > 1 || !device->hasKind()) {
        add("job:", place.job);
        add("replica:", place.replica);
        add("task:", place.task);
    }
    if (device->hasKind())
        add("", device->kind + ":" + device->index);
    return name.empty() ? text::toValidUtf8(written) : name;
}

std::optional<std::string> TfDeviceNames::spellingOf(const std::string& name) const {
    auto device = TfDevice::parse(name);
    if (!device || !device->hasKind())
        return std::nullopt;
    if (m_places.size() == 1 && device->job.empty() && device->replica.empty() && device->task.empty()) {
        device->job = m_places.begin()->job;
        device->replica = m_places.begin()->replica;
        device->task = m_places.begin()->task;
        if (!device->job.empty() && device->task.empty())
            device->task = "0";
    }
    return device->toString();
}

std::vector<std::string> TfDeviceNames::aliases() const {
    std::map<std::string, std::vector<std::string>> spellings;
    for (const std::string& written : m_written)
        spellings[nameOf(written)].push_back(written);
    std::vector<std::string> lines;
    for (const auto& [name, all] : spellings) {
        if (all.size() < 2)
            continue;
        std::string line = "\"" + name + "\" is";
        for (std::size_t i = 0; i < all.size(); ++i)
            line += (i > 0 ? ", \"" : " \"") + text::toValidUtf8(all[i]) + "\"";
        lines.push_back(std::move(line));
    }
    return lines;
}

} // namespace pw::formats
