#include "core/base/rng.h"
#include "core/graph/graph_builder.h"
#include "core/zoo/options.h"

namespace pw::zoo {

namespace {

// Small graphs of a known shape for trying placers. Every op is a product of 1 GFLOP with a 4 MB result unless the shape is
// random: on the presets, a transfer takes about as long as an op.
constexpr double kFlops = 1e9;
constexpr std::int64_t kBytes = 4'000'000;
constexpr std::int64_t kMaxOps = 5'000'000;

class ShapeBuilder {
public:
    explicit ShapeBuilder(std::string name) : m_builder(std::move(name), "zoo") {}

    OpId add(std::string name, std::initializer_list<OpId> inputs, double flops = kFlops, std::int64_t bytes = kBytes) {
        Op op;
        op.name = std::move(name);
        op.type = "MatMul";
        op.flops = flops;
        const OpId id = m_builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = bytes;
        tensor.dtype = "f32";
        tensor.dims = {bytes / 4};
        tensor.shapeKnown = true;
        m_builder.addOutput(id, std::move(tensor));
        m_builder.op(id).bytesMoved = bytes;
        for (const OpId input : inputs) {
            if (input.isValid())
                connect(input, id);
        }
        return id;
    }
    void connect(OpId from, OpId to) {
        m_builder.addInput(to, m_builder.output(from, 0));
        m_builder.op(to).bytesMoved += m_builder.tensor(m_builder.output(from, 0)).bytes;
    }
    Result<GraphPtr> finish() { return std::move(m_builder).build(); }

private:
    GraphBuilder m_builder;
};

std::string at(const char* kind, std::int64_t row, std::int64_t column) {
    std::string name(kind);
    name += std::to_string(row);
    name += "/n";
    return name + std::to_string(column);
}

struct Size {
    std::int64_t n = 0;
    std::int64_t width = 1;
    std::uint64_t seed = 1;
};

Result<Size> sizeOf(OptionReader& options, bool hasWidth) {
    Size size;
    size.n = options.integer("n", 1, kMaxOps);
    if (hasWidth)
        size.width = options.integer("width", 1, 100'000);
    size.seed = options.seed();
    options.level(); // checked; there is nothing to leave out
    options.training();
    PW_CHECK(options.status());
    if (size.n > kMaxOps / size.width)
        return fail(ErrorCode::TooLarge, "n x width is more than 5,000,000 ops", "zoo");
    return size;
}

WorkloadInfo shapeInfo(const char* name, const char* title, const char* help, std::vector<OptionInfo> options) {
    WorkloadInfo info{name, title, help, std::move(options)};
    for (OptionInfo& option : commonOptions("L0"))
        info.options.push_back(std::move(option));
    return info;
}

} // namespace

WorkloadInfo chainInfo() {
    return shapeInfo("chain", "Chain", "n ops in a row: nothing to gain from a second device.", {{"n", "100", "ops"}});
}

Result<GraphPtr> buildChain(OptionReader& options) {
    PW_TRY(const Size size, sizeOf(options, false));
    ShapeBuilder shape(options.graphName());
    OpId previous;
    for (std::int64_t i = 0; i < size.n; ++i)
        previous = shape.add("n" + std::to_string(i), {previous});
    return shape.finish();
}

WorkloadInfo forkJoinInfo() {
    return shapeInfo("fork_join", "Fork and join", "A source, `width` chains of n ops, a sink.",
                     {{"n", "10", "ops per branch"}, {"width", "4", "branches"}});
}

Result<GraphPtr> buildForkJoin(OptionReader& options) {
    PW_TRY(const Size size, sizeOf(options, true));
    ShapeBuilder shape(options.graphName());
    const OpId source = shape.add("source", {});
    std::vector<OpId> ends;
    for (std::int64_t branch = 0; branch < size.width; ++branch) {
        OpId previous = source;
        for (std::int64_t i = 0; i < size.n; ++i)
            previous = shape.add(at("branch", branch, i), {previous});
        ends.push_back(previous);
    }
    const OpId sink = shape.add("sink", {});
    for (const OpId end : ends)
        shape.connect(end, sink);
    return shape.finish();
}

WorkloadInfo crownInfo() {
    return shapeInfo("crown", "Crown",
                     "`width` rows of n ops, edges along each row and from each row to the next, the last row joined to "
                     "a sink.",
                     {{"n", "10", "ops per row"}, {"width", "4", "rows"}});
}

Result<GraphPtr> buildCrown(OptionReader& options) {
    PW_TRY(const Size size, sizeOf(options, true));
    ShapeBuilder shape(options.graphName());
    std::vector<OpId> above(static_cast<std::size_t>(size.n));
    for (std::int64_t row = 0; row < size.width; ++row) {
        OpId previous;
        for (std::int64_t i = 0; i < size.n; ++i) {
            previous = shape.add(at("row", row, i), {previous, above[static_cast<std::size_t>(i)]});
            above[static_cast<std::size_t>(i)] = previous;
        }
    }
    const OpId sink = shape.add("sink", {});
    for (const OpId id : above)
        shape.connect(id, sink);
    return shape.finish();
}

WorkloadInfo layeredInfo() {
    return shapeInfo("layered", "Random layers",
                     "n layers of `width` ops of random cost; each op reads one to three ops of the layer before.",
                     {{"n", "20", "layers"}, {"width", "8", "ops per layer"}});
}

Result<GraphPtr> buildLayered(OptionReader& options) {
    PW_TRY(const Size size, sizeOf(options, true));
    Rng rng = Rng::derive(size.seed, "zoo.layered");
    ShapeBuilder shape(options.graphName());
    const auto work = [&rng] { return kFlops * (0.2 + 1.8 * rng.uniform()); };
    const auto bytes = [&rng] { return 4 * static_cast<std::int64_t>(1 + rng.below(2 * kBytes / 4)); };
    const auto width = static_cast<std::size_t>(size.width);
    std::vector<OpId> before(width, shape.add("source", {}));
    for (std::int64_t layer = 0; layer < size.n; ++layer) {
        std::vector<OpId> here;
        for (std::size_t i = 0; i < width; ++i) {
            const double flops = work(); // why a variable: the order of the two draws is part of the result
            const OpId id = shape.add(at("layer", layer, static_cast<std::int64_t>(i)), {before[i]}, flops, bytes());
            for (std::uint64_t extra = rng.below(3); extra > 0; --extra) {
                const OpId other = before[rng.below(width)];
                if (other != before[i])
                    shape.connect(other, id);
            }
            here.push_back(id);
        }
        before = here;
    }
    const OpId sink = shape.add("sink", {});
    for (const OpId id : before)
        shape.connect(id, sink);
    return shape.finish();
}

} // namespace pw::zoo
