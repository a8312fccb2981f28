#include "core/devices/cost_model.h"
#include "core/devices/op_rules.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace pw {

namespace {

using devices::OpRule;
using devices::WorkRule;
using Dims = std::vector<std::int64_t>;

constexpr std::size_t kMaxRank = 64;
constexpr double kUnknown = -1.0;
constexpr double kMaxWork = 1e30; ///< why: shapes come from files; sums and costs must stay finite

double elementsOf(std::span<const std::int64_t> dims) {
    double count = 1.0;
    for (const std::int64_t dim : dims)
        count = std::min(kMaxWork, count * (dim < 0 ? 1.0 : static_cast<double>(dim))); // unknown counts as 1
    return count;
}

double at(const Dims& dims, std::size_t index) {
    return index < dims.size() && dims[index] >= 0 ? static_cast<double>(dims[index]) : 1.0;
}

double last(const Dims& dims, std::size_t fromEnd = 0) {
    return fromEnd < dims.size() ? at(dims, dims.size() - 1 - fromEnd) : 1.0;
}

/// "3x?x224" -> {3, -1, 224}; nothing for an empty or odd text. "scalar" shapes are written as "1" or as an empty slot.
std::optional<Dims> parseShape(std::string_view text) {
    if (text.empty())
        return std::nullopt;
    Dims dims;
    for (const std::string_view part : text::split(text, 'x')) {
        std::int64_t value = -1;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        const bool isNumber = error == std::errc() && end == part.data() + part.size() && value >= 0;
        dims.push_back(isNumber ? value : -1);
        if (dims.size() > kMaxRank)
            return std::nullopt;
    }
    return dims;
}

/// Everything the formulas ask about one op: shapes of inputs and outputs, attributes, byte totals.
class OpView {
public:
    OpView(const OpGraph& graph, OpId id) : m_graph(graph), m_id(id), m_op(graph.op(id)) {
        readInputShapes();
        readOutputs();
    }

    const Dims* input(std::size_t slot) const {
        for (const auto& [s, dims] : m_inputs) {
            if (s == slot)
                return &dims;
        }
        return nullptr;
    }
    std::size_t inputCount() const { return m_inputs.size(); }
    const std::vector<std::pair<std::size_t, Dims>>& inputs() const { return m_inputs; }
    const Dims* output() const { return m_output.has_value() ? &*m_output : nullptr; }
    double outputElements() const { return m_outputElements; } ///< all outputs, kUnknown if unknown
    double inputElements(std::size_t slot) const {
        const Dims* dims = input(slot);
        return dims ? elementsOf(*dims) : kUnknown;
    }
    double firstInputElements() const {
        return m_inputs.empty() ? kUnknown : elementsOf(m_inputs.front().second);
    }
    double lastInputElements() const { return m_inputs.empty() ? kUnknown : elementsOf(m_inputs.back().second); }
    double inputBytes() const { return m_inputBytes; }
    double outputBytes() const { return m_outputBytes; }

    const std::string* attribute(std::string_view key) const {
        for (const auto& [name, value] : m_op.attributes) {
            if (name == key)
                return &value;
        }
        return nullptr;
    }
    /// All whole numbers in an attribute's text, whatever the list is written with.
    Dims numbers(std::string_view key) const {
        Dims values;
        const std::string* text = attribute(key);
        if (!text)
            return values;
        for (const char* p = text->data(); p < text->data() + text->size() && values.size() < kMaxRank;) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(p, text->data() + text->size(), value);
            if (error == std::errc())
                values.push_back(value);
            p = end > p ? end : p + 1;
        }
        return values;
    }
    bool flag(std::string_view key) const {
        const std::string* text = attribute(key);
        return text && *text != "0" && *text != "false" && !text->empty();
    }
    const Op& op() const { return m_op; }

private:
    void readInputShapes();
    void readOutputs();

    const OpGraph& m_graph;
    OpId m_id;
    const Op& m_op;
    std::vector<std::pair<std::size_t, Dims>> m_inputs; ///< known shapes only, by slot
    std::optional<Dims> m_output;
    double m_inputBytes = 0.0;
    double m_outputBytes = 0.0;
    double m_outputElements = kUnknown;
};

double itemBytes(const Tensor& tensor) {
    const std::int64_t size = dtypeBytes(tensor.dtype);
    return size > 0 ? static_cast<double>(size) : 4.0;
}

/// Bytes as the file says, else from a shape with unknown dimensions.
double bytesOf(const Tensor& tensor) {
    if (tensor.bytes > 0 || !tensor.shapeKnown)
        return static_cast<double>(tensor.bytes);
    return elementsOf(tensor.dims) * itemBytes(tensor);
}

void OpView::readInputShapes() {
    std::vector<std::size_t> fed;
    for (const Edge& edge : m_graph.inEdges(m_id)) {
        if (edge.kind == EdgeKind::Control)
            continue;
        const Tensor& tensor = m_graph.tensor(edge.tensor);
        m_inputBytes += bytesOf(tensor);
        if (edge.kind != EdgeKind::Data)
            continue;
        fed.push_back(edge.slot);
        if (tensor.shapeKnown)
            m_inputs.emplace_back(edge.slot, tensor.dims);
    }
    double otherBytes = 0.0;
    if (const std::string* shapes = attribute("input_shapes")) {
        // Weights are as wide as what comes out (f32, f16, i8): the attribute has no types.
        const auto outputs = m_graph.outputs(m_id);
        const double item = outputs.empty() ? 4.0 : itemBytes(m_graph.tensor(outputs.front()));
        std::size_t slot = 0;
        for (const std::string_view part : text::split(*shapes, ';')) {
            const std::size_t at = slot++;
            const bool isFed = std::find(fed.begin(), fed.end(), at) != fed.end();
            auto dims = parseShape(part);
            if (!dims)
                continue;
            if (!isFed)
                otherBytes += elementsOf(*dims) * item;
            if (!input(at))
                m_inputs.emplace_back(at, std::move(*dims));
        }
        std::sort(m_inputs.begin(), m_inputs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    m_inputBytes += otherBytes > 0.0 ? otherBytes : static_cast<double>(m_op.paramBytes);
}

void OpView::readOutputs() {
    for (const TensorId id : m_graph.outputs(m_id)) {
        const Tensor& tensor = m_graph.tensor(id);
        m_outputBytes += bytesOf(tensor);
        if (!tensor.shapeKnown && tensor.bytes == 0)
            continue;
        const double elements = tensor.shapeKnown ? elementsOf(tensor.dims) : bytesOf(tensor) / itemBytes(tensor);
        m_outputElements = m_outputElements < 0.0 ? elements : m_outputElements + elements;
    }
    const auto outputs = m_graph.outputs(m_id);
    if (!outputs.empty() && m_graph.tensor(outputs.front()).shapeKnown)
        m_output = m_graph.tensor(outputs.front()).dims;
}

/// TensorFlow keeps convolution weights as height, width, in, out and names the op with a capital D; ONNX and PyTorch keep
/// out, in, height, width.
bool outChannelsLast(const OpView& view) {
    return !view.op().type.empty() && view.op().type.back() == 'D';
}

/// Multiply-adds per output element: in-channels per group times window.
double convWindow(const OpView& view, std::size_t weightSlot) {
    if (const Dims* weight = view.input(weightSlot); weight && weight->size() >= 2) {
        const double outChannels = outChannelsLast(view) ? last(*weight) : at(*weight, 0);
        return elementsOf(*weight) / std::max(1.0, outChannels);
    }
    const Dims kernel = view.numbers("kernel_shape");
    const Dims* data = view.input(0);
    if (kernel.empty() || !data || data->size() < 3)
        return kUnknown;
    const Dims group = view.numbers("group");
    return elementsOf(kernel) * at(*data, 1) / std::max(1.0, group.empty() ? 1.0 : static_cast<double>(group.front()));
}

double product(double a, double b) {
    return a < 0.0 || b < 0.0 ? kUnknown : a * b;
}

double convFlops(const OpView& view, WorkRule rule) {
    switch (rule) {
    case WorkRule::QLinearConv: return 2.0 * product(view.outputElements(), convWindow(view, 3));
    case WorkRule::ConvTranspose: return 2.0 * product(view.inputElements(0), convWindow(view, 1));
    case WorkRule::DepthwiseConv: {
        const Dims* weight = view.input(1);
        return weight ? 2.0 * product(view.outputElements(), at(*weight, 0) * at(*weight, 1)) : kUnknown;
    }
    case WorkRule::DepthwiseBackpropInput: { // sizes, filter, dy
        const Dims* weight = view.input(1);
        return weight ? 2.0 * product(view.inputElements(2), at(*weight, 0) * at(*weight, 1)) : kUnknown;
    }
    case WorkRule::DepthwiseBackpropFilter: { // x, sizes, dy -> filter
        const Dims* weight = view.output();
        return weight ? 2.0 * product(view.inputElements(2), at(*weight, 0) * at(*weight, 1)) : kUnknown;
    }
    case WorkRule::ConvBackpropInput: { // sizes, filter, dy
        const Dims* weight = view.input(1);
        return weight ? 2.0 * product(view.inputElements(2), elementsOf(*weight) / last(*weight)) : kUnknown;
    }
    case WorkRule::ConvBackpropFilter: { // x, sizes, dy -> filter
        const Dims* weight = view.output();
        return weight ? 2.0 * product(view.inputElements(2), elementsOf(*weight) / last(*weight)) : kUnknown;
    }
    case WorkRule::ConvGrad: return 4.0 * product(view.inputElements(0), convWindow(view, 2)); // dy, x, weight
    default:
        if (view.flag("transposed")) // PyTorch's _convolution goes both ways
            return 2.0 * product(view.inputElements(0), convWindow(view, 1));
        return 2.0 * product(view.outputElements(), convWindow(view, 1));
    }
}

double poolWindow(const OpView& view) {
    Dims kernel = view.numbers("kernel_shape");
    if (kernel.empty())
        kernel = view.numbers("ksize"); // TensorFlow, with ones for batch and channel
    return kernel.empty() ? 4.0 : std::max(1.0, elementsOf(kernel)); // 2 x 2 where the file does not say
}

double matMulFlops(const OpView& view, std::size_t slotA) {
    const Dims* a = view.input(slotA);
    double depth = kUnknown;
    if (a && !a->empty())
        depth = view.flag("transpose_a") || view.flag("transA") || view.flag("adj_x") ? last(*a, 1) : last(*a);
    if (const Dims k = view.numbers("K"); !k.empty()) // MatMulNBits says it
        depth = static_cast<double>(std::max<std::int64_t>(0, k.front()));
    double outputs = view.outputElements();
    if (outputs < 0.0 && a && !a->empty() && view.input(slotA + 1))
        outputs = elementsOf(*a) / std::max(1.0, last(*a)) * last(*view.input(slotA + 1));
    return 2.0 * product(outputs, depth);
}

/// One multiply-add per combination of all labels of the equation.
double einsumFlops(const OpView& view) {
    const std::string* equation = view.attribute("equation");
    if (!equation)
        return kUnknown;
    const std::string_view inputs = std::string_view(*equation).substr(0, equation->find("->"));
    double sizes[128] = {};
    std::size_t slot = 0;
    for (const std::string_view term : text::split(inputs, ',')) {
        const Dims* dims = view.input(slot++);
        if (!dims)
            return kUnknown;
        std::size_t axis = 0;
        for (const char c : term) {
            if (std::isalpha(static_cast<unsigned char>(c)) != 0)
                sizes[static_cast<unsigned char>(c) & 127] = at(*dims, axis++);
        }
    }
    double flops = 2.0;
    for (const double size : sizes)
        flops = std::min(kMaxWork, flops * (size > 0.0 ? size : 1.0));
    return flops;
}

/// Self-attention in one op: projections to Q, K, V, then scores and values.
double attentionFlops(const OpView& view) {
    const Dims* data = view.input(0);
    if (!data || data->size() != 3)
        return kUnknown;
    const double rows = at(*data, 0) * at(*data, 1);
    const double width = at(*data, 2);
    const Dims* weight = view.input(1);
    return 2.0 * rows * width * (weight ? last(*weight) : 3.0 * width) + 4.0 * rows * at(*data, 1) * width;
}

/// ONNX LSTM, GRU, RNN: X is [time, batch, input], R is [directions, gates * hidden, hidden].
double recurrentFlops(const OpView& view, double gates) {
    const Dims* x = view.input(0);
    const Dims* r = view.input(2);
    if (!x || x->size() != 3)
        return kUnknown;
    const Dims hiddenAttribute = view.numbers("hidden_size");
    double hidden = hiddenAttribute.empty() ? kUnknown : static_cast<double>(hiddenAttribute.front());
    double directions = 1.0;
    if (r && r->size() == 3) {
        hidden = at(*r, 2);
        directions = at(*r, 0);
    }
    if (hidden < 0.0)
        return kUnknown;
    const double cellSteps = at(*x, 0) * at(*x, 1) * directions;
    return cellSteps * (2.0 * gates * hidden * (at(*x, 2) + hidden) + 14.0 / 4.0 * gates * hidden);
}

/// Query [..., L, E], key [..., S, E], value [..., S, F]: scores and the sum that they weigh.
double scaledAttentionFlops(const OpView& view) {
    const Dims* key = view.input(1);
    const Dims* query = view.input(0);
    if (!query || !key || key->size() < 2 || view.outputElements() < 0.0)
        return kUnknown;
    const double length = last(*key, 1);
    return 2.0 * length * (elementsOf(*query) + view.outputElements());
}

/// PyTorch's lstm, gru and rnn: every matrix among the inputs meets every step of every sequence once. The input is
/// [time, batch, width] or the other way round, or [rows, width] for one step of a cell.
double weightedRecurrentFlops(const OpView& view, double gates) {
    const Dims* x = view.input(0);
    if (!x || x->size() < 2)
        return kUnknown;
    const double rows = elementsOf(*x) / std::max(1.0, last(*x));
    double weights = 0.0;
    double gateRows = 0.0; // of all layers and directions
    for (const auto& [slot, dims] : view.inputs()) {
        const bool isState = slot <= 2 && x->size() == 2; // of a cell: as flat as its weights
        if (slot == 0 || dims.size() != 2 || (isState && (slot == 1 || gates == 4.0)))
            continue;
        weights += elementsOf(dims);
        gateRows += at(dims, 0) / 2.0; // one matrix for the input, one for the state
    }
    return weights > 0.0 ? rows * (2.0 * weights + 14.0 / 4.0 * gateRows) : kUnknown;
}

/// TensorFlow's LSTMBlockCell: x, cs_prev, h_prev, w [input + hidden, 4 hidden], ...; `k` times the forward product.
double recurrentCellFlops(const OpView& view, double k) {
    const Dims* x = view.input(0);
    const Dims* w = view.input(3);
    return x && w ? 2.0 * k * at(*x, 0) * elementsOf(*w) : kUnknown;
}

double flopsOf(const OpView& view, OpRule rule) {
    const double shape = view.outputElements() >= 0.0 ? view.outputElements() : view.firstInputElements();
    switch (rule.rule) {
    case WorkRule::Unknown:
    case WorkRule::Metadata: return 0.0;
    case WorkRule::Elementwise: return product(rule.k, shape);
    case WorkRule::Move: return shape < 0.0 ? kUnknown : 0.0;
    case WorkRule::Scatter: return product(rule.k, view.lastInputElements());
    case WorkRule::Reduce: return product(rule.k, view.firstInputElements());
    case WorkRule::Pool: return product(poolWindow(view), view.outputElements());
    case WorkRule::PoolGrad: return product(poolWindow(view), view.lastInputElements());
    case WorkRule::MatMul: return matMulFlops(view, 0);
    case WorkRule::Gemm: return matMulFlops(view, 0);
    case WorkRule::AddMatMul: return matMulFlops(view, 1);
    case WorkRule::ScaledAttention: return scaledAttentionFlops(view);
    case WorkRule::WeightedRecurrent: return weightedRecurrentFlops(view, rule.k);
    case WorkRule::QLinearMatMul: return product(view.outputElements(), view.input(0) ? 2.0 * last(*view.input(0)) : kUnknown);
    case WorkRule::Einsum: return einsumFlops(view);
    case WorkRule::Attention: return attentionFlops(view);
    case WorkRule::Recurrent: return recurrentFlops(view, rule.k);
    case WorkRule::RecurrentCell: return recurrentCellFlops(view, rule.k);
    case WorkRule::Update: return product(rule.k, view.firstInputElements());
    default: return convFlops(view, rule.rule);
    }
}

double bytesMovedOf(const OpView& view, OpRule rule) {
    switch (rule.rule) {
    case WorkRule::Metadata: return 0.0;
    case WorkRule::Move: return 2.0 * view.outputBytes(); // reads what it writes, not the whole table or tensor
    case WorkRule::Scatter: return 3.0 * 4.0 * std::max(0.0, view.lastInputElements());
    default: return view.inputBytes() + view.outputBytes();
    }
}

} // namespace

OpWork opWork(const OpGraph& graph, OpId id) {
    const Op& op = graph.op(id);
    OpWork work;
    if (op.flops >= 0.0 && op.bytesMoved >= 0) // as every op of the zoo: no need to look at shapes
        return {op.flops, static_cast<double>(op.bytesMoved), true};
    const OpRule rule = devices::ruleFor(op.type);
    const OpView view(graph, id);
    const double flops = op.flops >= 0.0 ? op.flops : flopsOf(view, rule);
    work.known = (rule.rule != WorkRule::Unknown && flops >= 0.0) || op.flops >= 0.0;
    work.flops = std::clamp(flops, 0.0, kMaxWork);
    if (op.bytesMoved >= 0)
        work.bytesMoved = static_cast<double>(op.bytesMoved);
    else if (work.known)
        work.bytesMoved = bytesMovedOf(view, rule);
    else
        work.bytesMoved = view.inputBytes() + view.outputBytes();
    work.bytesMoved = std::min(work.bytesMoved, kMaxWork);
    return work;
}

} // namespace pw
