// A training into the in-memory repository while another thread drains the mailbox.

#include "core/experiment/memory_repository.h"
#include "tests/tsan/race_training.h"

int main() {
    pw::test::raceTraining(std::make_shared<pw::MemoryRepository>());
    return pw::test::exitCode();
}
