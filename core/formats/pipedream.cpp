#include "core/base/text.h"
#include "core/formats/published.h"

#include <algorithm>
#include <charconv>
#include <cmath>

/// Profiles of PipeDream (msr-fiddle/pipedream), `graph.txt`:
///   nodeN -- DESCRIPTION -- forward_compute_time=F, backward_compute_time=B, activation_size=S, parameter_size=P[ --
///   stage_id=K] <TAB>nodeA -- nodeB
namespace pw::formats {

namespace {

constexpr std::string_view kSeparator = " -- ";
constexpr double kUsPerMs = 1000.0;

/// One line of a node, in pieces.
struct NodeLine {
    std::string_view id;
    std::string_view description;
    std::string_view numbers;
    std::string_view stage; ///< empty = not partitioned
};

Result<NodeLine> splitNodeLine(std::string_view line, const std::string& where) {
    const auto bad = [&] {
        return fail(ErrorCode::Parse, "expected \"node -- description -- forward_compute_time=...\"", where);
    };
    NodeLine node;
    const auto idEnd = line.find(kSeparator);
    if (idEnd == std::string_view::npos)
        return bad();
    node.id = text::trim(line.substr(0, idEnd));
    line.remove_prefix(idEnd + kSeparator.size());
    // The description may hold anything, the separator, too: what is known stands at the end.
    auto last = line.rfind(kSeparator);
    if (last != std::string_view::npos && line.substr(last + kSeparator.size()).starts_with("stage_id=")) {
        node.stage = text::trim(line.substr(last + kSeparator.size() + 9));
        line = line.substr(0, last);
        last = line.rfind(kSeparator);
    }
    if (last == std::string_view::npos || node.id.empty())
        return bad();
    node.description = text::trim(line.substr(0, last));
    node.numbers = line.substr(last + kSeparator.size());
    return node;
}

Result<double> numberFrom(std::string_view text, const std::string& where) {
    text = text::trim(text);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
        value < 0.0)
        return fail(ErrorCode::Parse,
                    "expected a number, 0 or more, found \"" + text::toValidUtf8(text.substr(0, 40)) + "\"", where);
    return value;
}

/// The value after "key="; a list "[a; b]" counts as its sum.
Result<double> valueOf(std::string_view numbers, std::string_view key, const std::string& line) {
    const std::string where = line + ", " + std::string(key);
    const auto at = numbers.find(std::string(key) + "=");
    if (at == std::string_view::npos)
        return fail(ErrorCode::Parse, "missing", where);
    std::string_view rest = numbers.substr(at + key.size() + 1);
    if (!rest.starts_with('['))
        return numberFrom(rest.substr(0, rest.find(',')), where);
    const auto close = rest.find(']');
    if (close == std::string_view::npos)
        return fail(ErrorCode::Parse, "the list does not end", where);
    rest = rest.substr(1, close - 1);
    double sum = 0.0;
    while (true) {
        const auto end = std::min(rest.find_first_of(";,"), rest.size());
        PW_TRY(const double value, numberFrom(rest.substr(0, end), where));
        sum += value;
        if (end == rest.size())
            return sum;
        rest.remove_prefix(end + 1);
    }
}

/// "Conv2d" of "Conv2d(3, 64, ...)".
std::string leadingIdentifier(std::string_view description) {
    const auto end = std::find_if(description.begin(), description.end(), [](unsigned char c) {
        return std::isalnum(c) == 0 && c != '_' && c != '.' && c != ':' && c < 0x80;
    });
    return std::string(description.begin(), end);
}

class ProfileGraphReader {
public:
    ProfileGraphReader(const Source& source, const LoadOptions& options)
        : m_builder(source.baseName, "pipedream")
        , m_options(options) {}

    Result<GraphPtr> read(std::string_view content) {
        for (std::size_t number = 1; !content.empty(); ++number) {
            if (m_options.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            const auto end = std::min(content.find('\n'), content.size());
            const std::string_view line = content.substr(0, end);
            content.remove_prefix(std::min(end + 1, content.size()));
            if (text::trim(line).empty())
                continue;
            if (line.front() == '\t' || line.front() == ' ')
                m_edges.push_back({text::trim(line), number});
            else
                PW_CHECK(addNode(line, "line " + std::to_string(number)));
        }
        PW_CHECK(addEdges());
        return std::move(m_builder).build();
    }

private:
    struct EdgeLine {
        std::string_view text;
        std::size_t number = 0;
    };

    Status addNode(std::string_view line, const std::string& where) {
        PW_TRY(const NodeLine node, splitNodeLine(line, where));
        PW_TRY(const double forwardMs, valueOf(node.numbers, "forward_compute_time", where));
        PW_TRY(const double backwardMs, valueOf(node.numbers, "backward_compute_time", where));
        PW_TRY(const double activation, valueOf(node.numbers, "activation_size", where));
        PW_TRY(const double parameters, valueOf(node.numbers, "parameter_size", where));
        Op op;
        op.name = text::toValidUtf8(node.id);
        op.type = text::toValidUtf8(leadingIdentifier(node.description));
        if (op.type.empty())
            op.type = "Op";
        op.costs = {{"", (forwardMs + backwardMs) * kUsPerMs}}; // one training step through the layer
        PW_TRY(op.paramBytes, wholeBytes(parameters, where + ", parameter_size"));
        if (!node.stage.empty())
            op.device = "stage:" + text::toValidUtf8(node.stage);
        op.attributes = {{"module", text::toValidUtf8(node.description)},
                         {"forward_ms", text::number(forwardMs)},
                         {"backward_ms", text::number(backwardMs)}};
        Tensor tensor;
        PW_TRY(tensor.bytes, wholeBytes(activation, where + ", activation_size"));
        const OpId id = m_builder.addOp(std::move(op));
        m_builder.addOutput(id, std::move(tensor));
        return m_nodes.add(text::toValidUtf8(node.id), id, where);
    }

    Status addEdges() {
        for (const EdgeLine& edge : m_edges) {
            const std::string where = "line " + std::to_string(edge.number);
            const auto middle = edge.text.find(kSeparator);
            if (middle == std::string_view::npos)
                return fail(ErrorCode::Parse, "expected \"node -- node\"", where);
            PW_TRY(const OpId from, m_nodes.find(text::toValidUtf8(text::trim(edge.text.substr(0, middle))), where));
            PW_TRY(const OpId to,
                   m_nodes.find(text::toValidUtf8(text::trim(edge.text.substr(middle + kSeparator.size()))), where));
            m_builder.addInput(to, m_builder.output(from, 0));
        }
        return {};
    }

    GraphBuilder m_builder;
    const LoadOptions& m_options;
    NodeTable m_nodes;
    std::vector<EdgeLine> m_edges;
};

} // namespace

Result<GraphPtr> importPipeDream(const Source& source, const LoadOptions& options) {
    PW_TRY(const std::string content, source.text());
    return ProfileGraphReader(source, options).read(content);
}

Result<PlacementFile> readPipeDreamStages(std::string_view content) {
    PlacementFile file;
    for (std::size_t number = 1; !content.empty(); ++number) {
        const auto end = std::min(content.find('\n'), content.size());
        const std::string_view line = content.substr(0, end);
        content.remove_prefix(std::min(end + 1, content.size()));
        if (text::trim(line).empty() || line.front() == '\t' || line.front() == ' ')
            continue;
        const std::string where = "line " + std::to_string(number);
        PW_TRY(const NodeLine node, splitNodeLine(line, where));
        if (node.stage.empty())
            return fail(ErrorCode::Invalid, "has no stage_id: the graph is not partitioned", where);
        const std::string stage = "stage:" + text::toValidUtf8(node.stage);
        if (!file.assignment.emplace(text::toValidUtf8(node.id), stage).second)
            return fail(ErrorCode::Invalid, "node \"" + text::toValidUtf8(node.id) + "\" is named twice", where);
        if (file.devices.size() < 1024 &&
            std::find(file.devices.begin(), file.devices.end(), stage) == file.devices.end())
            file.devices.push_back(stage);
    }
    std::sort(file.devices.begin(), file.devices.end());
    return file;
}

} // namespace pw::formats
