#include "tests/support/graph_dsl.h"

#include "core/base/text.h"
#include "core/graph/graph_builder.h"

#include <charconv>
#include <map>
#include <stdexcept>

namespace pw::test {

namespace {

double toNumber(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::runtime_error("graph DSL: not a number: " + std::string(text));
    return value;
}

class Reader {
public:
    OpId mention(std::string_view token) {
        const auto nameEnd = token.find_first_of(":*@");
        const std::string name(token.substr(0, nameEnd));
        if (name.empty())
            throw std::runtime_error("graph DSL: op without a name");
        auto found = m_ids.find(name);
        if (found == m_ids.end()) {
            Op op;
            op.name = name;
            op.type = "Op";
            op.flops = 0.0;
            op.bytesMoved = 0;
            op.costs = {{"", 0.0}};
            const OpId id = m_builder.addOp(std::move(op));
            m_builder.addOutput(id);
            found = m_ids.emplace(name, id).first;
        }
        Op& op = m_builder.op(found->second);
        std::string_view rest = nameEnd == std::string_view::npos ? std::string_view() : token.substr(nameEnd);
        while (!rest.empty()) {
            const char mark = rest.front();
            rest.remove_prefix(1);
            const auto end = rest.find_first_of(":*@");
            const std::string_view value = rest.substr(0, end);
            if (mark == ':')
                op.costs = {{"", toNumber(value)}};
            else if (mark == '*')
                m_builder.tensor(m_builder.output(found->second, 0)).bytes = static_cast<std::int64_t>(toNumber(value));
            else
                op.device = value;
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
        }
        return found->second;
    }

    void statement(std::string_view line) {
        OpId previous;
        bool control = false;
        while (!line.empty()) {
            const auto arrow = line.find(">");
            std::string_view token = line.substr(0, arrow);
            const bool nextControl = !token.empty() && token.back() == '=';
            if (arrow != std::string_view::npos)
                token.remove_suffix(1);
            const OpId id = mention(text::trim(token));
            if (previous.isValid()) {
                if (control)
                    m_builder.addControl(previous, id);
                else
                    m_builder.addInput(id, m_builder.output(previous, 0));
            }
            previous = id;
            control = nextControl;
            line = arrow == std::string_view::npos ? std::string_view() : line.substr(arrow + 1);
        }
    }

    GraphPtr finish() {
        auto built = std::move(m_builder).build();
        if (!built)
            throw std::runtime_error(built.error().toString());
        return *built;
    }

private:
    GraphBuilder m_builder{"test", "test"};
    std::map<std::string, OpId> m_ids;
};

/// Builds the worked graphs: op cost [outputs] <- inputs.
class Worked {
public:
    explicit Worked(std::string name) : m_builder(std::move(name), "test") {}

    OpId op(std::string name, double costUs, std::vector<std::int64_t> outputs) {
        Op op;
        op.name = std::move(name);
        op.type = "Op";
        op.costs = {{"", costUs}};
        const OpId id = m_builder.addOp(std::move(op));
        for (const auto bytes : outputs) {
            Tensor tensor;
            tensor.bytes = bytes;
            m_builder.addOutput(id, tensor);
        }
        return id;
    }
    /// Reads output `index` of `producer`; a producer without outputs gets an empty one (the reference code does that).
    void reads(OpId consumer, OpId producer, std::size_t index = 0) {
        while (m_builder.outputCount(producer) <= index)
            m_builder.addOutput(producer);
        m_builder.addInput(consumer, m_builder.output(producer, index));
    }
    void waits(OpId consumer, OpId producer) { m_builder.addControl(producer, consumer); }
    GraphPtr finish() { return std::move(m_builder).build().value(); }

private:
    GraphBuilder m_builder;
};

} // namespace

GraphPtr graph(std::string_view source) {
    Reader reader;
    for (std::string_view line : text::split(source, '\n')) {
        for (std::string_view statement : text::split(line, ';')) {
            if (!text::trim(statement).empty())
                reader.statement(text::trim(statement));
        }
    }
    return reader.finish();
}

GraphPtr w1() {
    Worked g("W1");
    const OpId a = g.op("a", 100, {760000});
    const OpId b = g.op("b", 30, {76000});
    const OpId c = g.op("c", 40, {152000});
    const OpId d = g.op("d", 20, {7600});
    const OpId e = g.op("e", 10, {});
    const OpId f = g.op("f", 5, {1000});
    for (const OpId id : {b, c, d, e})
        g.reads(id, a);
    for (const OpId id : {b, c, d, e})
        g.reads(f, id);
    return g.finish();
}

GraphPtr w2() {
    Worked g("W2");
    const OpId p = g.op("p", 50, {76000, 152000});
    const OpId q = g.op("q", 10, {38000});
    const OpId r = g.op("r", 0, {});
    const OpId s = g.op("s", 5, {});
    const OpId u = g.op("u", 7, {});
    g.reads(q, p, 1);
    g.reads(r, p, 0);
    g.waits(s, p);
    g.reads(u, p, 0);
    g.reads(u, p, 1);
    return g.finish();
}

GraphPtr w3() {
    Worked g("W3");
    const OpId n0 = g.op("n0", 40, {380000});
    std::vector<OpId> middle;
    for (const char* name : {"n1", "n2", "n3"}) {
        middle.push_back(g.op(name, 200, {190000}));
        g.reads(middle.back(), n0);
    }
    const OpId n4 = g.op("n4", 60, {7600});
    for (const OpId id : middle)
        g.reads(n4, id);
    const OpId n5 = g.op("n5", 10, {1000});
    g.reads(n5, n4);
    return g.finish();
}

GraphPtr generated(int n) {
    Worked g("generated" + std::to_string(n));
    std::vector<OpId> ids;
    for (int i = 0; i < n; ++i) {
        char name[16];
        std::snprintf(name, sizeof name, "n%03d", i);
        std::vector<std::int64_t> outputs = {(7919LL * i % 50) * 7600 + i};
        if (i % 4 == 2)
            outputs.push_back((104729LL * i % 30) * 3800);
        ids.push_back(g.op(name, i % 7 == 3 ? 0 : (37 * i + 11) % 97 + 1, outputs));
        for (int j = std::max(0, i - 6); j < i; ++j) {
            if ((31 * i + 17 * j) % 5 == 0 || (j == i - 1 && i % 3 != 0))
                g.reads(ids.back(), ids[static_cast<std::size_t>(j)], j % 4 == 2 && i % 2 == 0 ? 1 : 0);
        }
    }
    return g.finish();
}

std::vector<DeviceId> generatedPlacement(int n, int devices) {
    std::vector<DeviceId> placement;
    for (int i = 0; i < n; ++i)
        placement.emplace_back(static_cast<std::size_t>((5 * i + 3 + i / devices) % devices));
    return placement;
}

std::vector<DeviceId> placementOf(std::initializer_list<int> devices) {
    std::vector<DeviceId> placement;
    for (const int device : devices)
        placement.emplace_back(static_cast<std::size_t>(device));
    return placement;
}

} // namespace pw::test
