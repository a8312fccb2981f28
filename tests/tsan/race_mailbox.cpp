// Several writers, one reader that polls: nothing is lost, nothing is torn, order is kept per writer.

#include "core/jobs/mailbox.h"
#include "tests/tsan/expect.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct State {
    int writer = 0;
    std::shared_ptr<const std::vector<int>> snapshot;
};

struct Sample {
    int writer = 0;
    int number = 0;
};

void run(std::size_t cap, bool mayDrop) {
    constexpr int kWriters = 3;
    constexpr int kSamples = 3000;
    pw::Mailbox<State, Sample> mailbox(cap);
    std::atomic<int> writing = kWriters;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back([&, writer] {
            for (int number = 0; number < kSamples; ++number) {
                mailbox.append({writer, number});
                mailbox.setState({writer, std::make_shared<const std::vector<int>>(10, number)});
            }
            --writing;
        });
    }
    std::vector<int> last(kWriters, -1);
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;
    bool inOrder = true;
    bool whole = true;
    for (bool more = true; more;) {
        more = writing > 0; // asked before the drain, so that the last drain sees everything
        const auto content = mailbox.drain();
        received += content.samples.size();
        dropped += content.dropped;
        for (const Sample& sample : content.samples) {
            int& previous = last[static_cast<std::size_t>(sample.writer)];
            inOrder = inOrder && sample.number > previous;
            previous = sample.number;
        }
        if (content.state) {
            for (const int value : *content.state->snapshot)
                whole = whole && value == content.state->snapshot->front();
        }
    }
    for (auto& writer : writers)
        writer.join();
    PW_EXPECT(inOrder);
    PW_EXPECT(whole);
    PW_EXPECT(received + dropped == std::uint64_t(kWriters) * kSamples);
    PW_EXPECT(mayDrop || dropped == 0);
}

} // namespace

int main() {
    run(100000, false);
    run(50, true);
    return pw::test::exitCode();
}
