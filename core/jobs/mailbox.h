#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace pw {

/// One-way hand-over from a worker to a reader that polls (the GUI drains on a timer).
/// State is overwritten, samples are appended up to a cap; what does not fit is counted, never silently lost.
/// Every method may be called from any thread and holds the lock only for a move.
template<class State, class Sample>
class Mailbox {
public:
    struct Content {
        std::optional<State> state; ///< newest state since the last drain
        std::vector<Sample> samples;
        std::uint64_t dropped = 0; ///< samples refused since the last drain
    };

    explicit Mailbox(std::size_t sampleCap = 100000) : m_cap(sampleCap) {}

    void setState(State state) {
        const std::lock_guard lock(m_mutex);
        m_content.state = std::move(state);
    }

    void append(Sample sample) {
        const std::lock_guard lock(m_mutex);
        if (m_content.samples.size() < m_cap)
            m_content.samples.push_back(std::move(sample));
        else
            ++m_content.dropped;
    }

    Content drain() {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_content, {});
    }

private:
    const std::size_t m_cap;
    mutable std::mutex m_mutex;
    Content m_content;
};

} // namespace pw
