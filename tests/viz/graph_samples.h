#pragma once

#include "core/graph/graph_builder.h"

#include <string>
#include <vector>

namespace pw::test {

/// Adds an op with one output of 1 kB that reads `inputs`.
inline OpId addOp(GraphBuilder& builder, const std::string& name, const std::string& type,
                  const std::vector<OpId>& inputs = {}) {
    Op op;
    op.name = name;
    op.type = type;
    const OpId id = builder.addOp(std::move(op));
    Tensor tensor;
    tensor.bytes = 1000;
    builder.addOutput(id, tensor);
    for (const OpId input : inputs)
        builder.addInput(id, builder.output(input, 0));
    return id;
}

inline GraphPtr built(GraphBuilder&& builder) {
    return std::move(builder).build().value();
}

/// A line of `blocks` scopes "net/block_i" of four branches of three ops and a join each, with a variable per branch.
inline GraphPtr blocks(int blocks) {
    GraphBuilder b("blocks", "test");
    OpId x = addOp(b, "input", "Placeholder");
    for (int i = 0; i < blocks; ++i) {
        const std::string scope = "net/block_" + std::to_string(i) + "/";
        std::vector<OpId> ends;
        for (int k = 0; k < 4; ++k) {
            const std::string branch = scope + "branch_" + std::to_string(k) + "/";
            const OpId weights = addOp(b, branch + "weights", "Variable");
            OpId y = addOp(b, branch + "conv", "Conv", {x, weights});
            y = addOp(b, branch + "norm", "BatchNorm", {y});
            ends.push_back(addOp(b, branch + "relu", "Relu", {y}));
        }
        x = addOp(b, scope + "join", "Concat", ends);
    }
    addOp(b, "loss", "Softmax", {x});
    return built(std::move(b));
}

/// One flat line of ops without scopes.
inline GraphPtr chain(int ops) {
    GraphBuilder b("chain", "test");
    OpId last;
    for (int i = 0; i < ops; ++i)
        last = addOp(b, "op" + std::to_string(i), "Add", i == 0 ? std::vector<OpId>{} : std::vector<OpId>{last});
    return built(std::move(b));
}

/// `ops` flat ops, each reading one or two of the `window` before it; always the same.
inline GraphPtr flat(int ops, unsigned window) {
    GraphBuilder b("flat", "test");
    std::vector<OpId> all;
    unsigned state = 12345;
    const auto next = [&state](unsigned below) {
        state = state * 1664525U + 1013904223U;
        return (state >> 8) % below;
    };
    for (int i = 0; i < ops; ++i) {
        std::vector<OpId> inputs;
        const unsigned before = std::min(static_cast<unsigned>(i), window);
        for (unsigned k = 0; before > 0 && k < 1 + next(2); ++k)
            inputs.push_back(all[all.size() - 1 - next(before)]);
        all.push_back(addOp(b, "op" + std::to_string(i), i % 3 == 0 ? "MatMul" : "Add", inputs));
    }
    return built(std::move(b));
}

} // namespace pw::test
