#pragma once

#include "core/graph/op_graph.h"

#include <string_view>

namespace pw::test {

/// A graph from text. Statements are separated by ';' or newline, each a chain of ops: "a:3 -> b:5 -> d; a -> c:2 -> d".
/// An op is name[:costUs][*bytes][@device]; cost and bytes hold from the first mention that has them. "a => b" is a
/// control edge. Every op has one output of `bytes` (default 0). Throws std::runtime_error on a typing error.
GraphPtr graph(std::string_view text);

/// Graphs whose values were computed with the released simulator of Placeto's authors.
GraphPtr w1();
GraphPtr w2();
GraphPtr w3();
GraphPtr generated(int n);
/// The placement that goes with `generated(n)`.
std::vector<DeviceId> generatedPlacement(int n, int devices);
std::vector<DeviceId> placementOf(std::initializer_list<int> devices);

} // namespace pw::test
