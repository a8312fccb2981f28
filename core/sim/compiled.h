#pragma once

#include "core/sim/problem.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace pw {

/// The flat arrays that the simulators walk. Built once per problem, read by every thread. Only the part of the chosen
/// model is filled.
///
/// An op's entry ends where the next op's entry begins, so that every per-op table has one entry more than there are ops.
struct PlacementProblem::Compiled {
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    std::vector<std::uint8_t> opAllowed; ///< op * devices + device; empty when every op may run everywhere

    /// `links` model. A bundle is what one op sends out under one name: an output with consumers, or its control output.
    struct Links {
        struct OpEntry {
            std::uint32_t firstBundle = 0;
            std::uint32_t firstInput = 0;  ///< into the list of (bundle with bytes, consumer) pairs, by consumer
            std::int64_t startBytes = 0;   ///< allocated when the op starts: all outputs and the workspace
            std::int64_t endBytes = 0;     ///< freed when it ends: the workspace and outputs that nobody reads
        };
        struct Bundle {
            std::int64_t bytes = 0; ///< 0 for control
            std::int64_t homeBytes = 0; ///< memory it takes on its op's device: none where it is the op's own parameter
            TensorId tensor;        ///< invalid for control
            std::uint32_t firstEdge = 0;
        };
        /// One distinct (bundle, consumer) pair; consumers of a bundle are in op order.
        struct Edge {
            std::uint32_t consumer = 0;
            std::uint32_t input = kNone; ///< index of this pair in the consumer's list; none for bundles without bytes
        };
        struct LinkEntry {
            double bytesPerUs = 1.0;
            double latencyUs = 0.0;
            std::uint32_t queue = 0; ///< links that share a name share a queue
        };
        struct Route {
            std::uint32_t link = kNone; ///< direct link
            std::uint32_t host = kNone; ///< without a direct link: the cpu that forwards; neither: no path
        };

        std::vector<OpEntry> ops;
        std::vector<Bundle> bundles;
        std::vector<Edge> edges;
        std::vector<std::uint32_t> waits;      ///< per op: distinct bundles it waits for
        std::vector<std::uint32_t> sources;    ///< ops that wait for nothing, in order
        std::vector<std::int64_t> residentBytes; ///< per op: parameters and optimiser state
        std::vector<double> launchUs;          ///< per device
        std::vector<LinkEntry> links;
        std::vector<Route> routes; ///< from * devices + to
        std::uint32_t queueCount = 0;
        std::uint32_t inputCount = 0;
        bool hasRelays = false;
    };
    Links links;

    /// `reference` model: one dependency per (parent, child); a broadcast is what one parent sends of one output index.
    struct Reference {
        struct Child {
            std::uint32_t op = 0;
            std::uint32_t broadcast = 0;
        };
        struct Broadcast {
            std::int64_t bytes = 0;
            TensorId tensor; ///< invalid where the index has no tensor
            double durationUs = 0.0;
            std::uint32_t parent = 0;
        };

        std::vector<std::uint32_t> firstChild; ///< per op, plus one
        std::vector<Child> childrenByName;     ///< bytewise name order: the order of simultaneous releases
        std::vector<Child> childrenByIndex;    ///< graph order: the order of transfers
        std::vector<std::uint32_t> broadcastCount; ///< per op: distinct output indices among its children
        std::vector<Broadcast> broadcasts;
        std::vector<std::uint32_t> waits;
        std::vector<std::uint32_t> sources;
        std::vector<std::uint32_t> nameRank;   ///< per op
        std::vector<std::uint32_t> deviceRank; ///< per device
        std::vector<double> costUs;            ///< per op, the same on all devices
        std::vector<std::int64_t> outputBytes; ///< per op: all outputs
        double gapUs = 0.0;                    ///< after an op of non-zero cost (delta1)
        double busGapUs = 0.0;                 ///< after a transfer (delta2)
    };
    Reference reference;
};

/// Fills the part of `compiled` that the model needs. The graph is acyclic; for Reference the set is homogeneous.
void compileLinks(const OpGraph& graph, const DeviceSet& devices, PlacementProblem::Compiled::Links& out);
void compileReference(const OpGraph& graph, const DeviceSet& devices, const CostTable& costs,
                      PlacementProblem::Compiled::Reference& out);

} // namespace pw
