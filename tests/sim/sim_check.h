#pragma once

#include "core/sim/simulator.h"
#include "tests/support/graph_dsl.h"
#include "tests/support/random_problem.h"

#include <cmath>
#include <vector>

namespace pw::test {

inline ProblemPtr problemOf(GraphPtr graph, DeviceSet devices, SimModel model) {
    const Grouping grouping = trivialGrouping(*graph);
    return PlacementProblem::compile(std::move(graph), std::move(devices), grouping, SimOptions{model, 0.0}).value();
}

/// Equal to 1e-9, relative.
inline bool near(double actual, double expected) {
    return std::abs(actual - expected) <= 1e-9 * std::max(1.0, std::abs(expected));
}

inline OpPlacement allOn(std::size_t device, std::size_t ops) {
    return OpPlacement(ops, DeviceId(device));
}

/// One row of a table of simulated placements with known values.
struct Expected {
    const char* label;
    GraphPtr graph;
    std::size_t devices;
    OpPlacement placement;
    double stepTimeUs;
    std::vector<std::int64_t> peaks;
    std::vector<double> lastStarts; ///< of the last ops, as many as are given
};

} // namespace pw::test

/// QVERIFY2 with both numbers in the message.
#define PW_NEAR(actual, expected)                                                                                      \
    QVERIFY2(pw::test::near(actual, expected),                                                                         \
             qPrintable(QStringLiteral("%1: %2, expected %3")                                                          \
                            .arg(QLatin1String(#actual)).arg(actual, 0, 'g', 17).arg(expected, 0, 'g', 17)))
