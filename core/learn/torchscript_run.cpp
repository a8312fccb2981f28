#include "core/learn/torchscript_module.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <array>
#include <optional>
#include <unordered_map>

namespace pw::learn {

namespace {

namespace jit = torch::jit;

constexpr const char* kProbe = "placewright::probe";

/// What one value looked like in all the times it was made.
struct Seen {
    jit::Value* value = nullptr;
    std::int64_t times = 0;
    bool isTensor = false;
    bool varies = false; ///< rank, type or (for a scalar) the value itself
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> dims; ///< -1 where it varies
    c10::IValue plain;              ///< the value itself, where it is no tensor
};

using Record = std::vector<Seen>;

/// The record of the run on this thread. A model's own threads (prim::fork) have none, and see nothing.
thread_local Record* t_record = nullptr;

void note(Seen& seen, const at::Tensor& tensor) {
    const bool isFirst = seen.times++ == 0;
    if (isFirst) {
        seen.isTensor = true;
        seen.type = tensor.scalar_type();
        seen.dims = tensor.sizes().vec();
        return;
    }
    seen.varies = seen.varies || !seen.isTensor || seen.type != tensor.scalar_type() ||
                  seen.dims.size() != static_cast<std::size_t>(tensor.dim());
    for (std::size_t d = 0; d < seen.dims.size() && !seen.varies; ++d) {
        if (seen.dims[d] != tensor.size(static_cast<std::int64_t>(d)))
            seen.dims[d] = -1;
    }
}

void note(Seen& seen, const c10::IValue& value) {
    if (value.isTensor() && value.toTensor().defined() && !value.toTensor().is_sparse()) {
        note(seen, value.toTensor());
        return;
    }
    const bool isPlain = value.isInt() || value.isBool() || value.isDevice() || value.isIntList();
    if (seen.times++ == 0 && isPlain) {
        // A list is copied: the model may change the one it got.
        seen.plain = value.isIntList() ? c10::IValue(value.toIntVector()) : value;
        return;
    }
    seen.varies = seen.varies || seen.isTensor || !isPlain || seen.plain.isNone() || seen.plain != value;
}

/// `placewright::probe(value, number)`: an op of our own that the interpreter runs between the model's.
void registerProbe() {
    static const jit::RegisterOperators kRegistered({jit::Operator(
        std::string(kProbe) + "(t value, int number) -> ()",
        [](jit::Stack& stack) {
            const auto number = static_cast<std::size_t>(jit::pop(stack).toInt());
            const c10::IValue value = jit::pop(stack);
            if (t_record != nullptr && number < t_record->size())
                note((*t_record)[number], value);
        },
        c10::AliasAnalysisKind::CONSERVATIVE)});
}

/// Ops whose answer depends on the shape or type of a tensor only, never on its values.
bool asksAboutShape(const jit::Node& node) {
    static constexpr std::array kQuestions = {
        "aten::size",        "aten::dim",          "aten::numel",     "aten::len",         "aten::is_floating_point",
        "aten::is_complex",  "aten::stride",       "prim::dtype",     "prim::device",      "prim::is_cuda",
        "prim::layout",      "prim::is_quantized", "prim::is_sparse", "prim::is_mkldnn",   "prim::is_nested",
        "prim::is_meta",     "prim::is_mps",       "prim::shape",     "aten::is_contiguous", "aten::get_device",
        "prim::requires_grad"};
    const std::string_view kind = node.kind().toQualString();
    const bool isQuestion = std::find(kQuestions.begin(), kQuestions.end(), kind) != kQuestions.end();
    return isQuestion && !node.inputs().empty() && node.input(0)->type()->isSubtypeOf(*c10::TensorType::get());
}

/// Probes put into a graph, and taken out again.
class Instrument {
public:
    explicit Instrument(jit::Graph& graph)
        : m_graph(graph) {
        registerProbe();
        instrument(*graph.block());
    }
    ~Instrument() {
        for (auto probe = m_probes.rbegin(); probe != m_probes.rend(); ++probe) {
            jit::Node* const number = (*probe)->input(1)->node();
            (*probe)->destroy();
            number->destroy();
        }
    }
    Instrument(const Instrument&) = delete;
    Instrument& operator=(const Instrument&) = delete;

    Record& record() { return m_record; }

    /// How often the bodies of loops ran, per arrival at the loop.
    void setTripCounts() const {
        for (const auto& [loop, probes] : m_loops) {
            const auto arrivals = m_record[probes.first].times;
            if (arrivals > 0)
                loop->f_(c10::Symbol::attr(kTripsAttribute),
                         static_cast<double>(m_record[probes.second].times) / static_cast<double>(arrivals));
        }
    }

private:
    void instrument(jit::Block& block) {
        jit::Node* const first = *block.nodes().begin(); // the return node where there is no other
        for (jit::Value* input : block.inputs())
            probe(*input, *first);
        std::vector<jit::Node*> nodes(block.nodes().begin(), block.nodes().end());
        for (jit::Node* node : nodes) {
            // Weights are read from the module itself, and constants are known.
            if (node->kind() == c10::prim::Constant || node->kind() == c10::prim::GetAttr)
                continue;
            if (node->kind() == c10::prim::Loop && !node->inputs().empty()) {
                const std::size_t arrivals = probe(*node->input(0), *node);
                m_loops.emplace_back(node, std::pair(arrivals, m_record.size())); // its first block input: the counter
            }
            for (jit::Block* inner : node->blocks())
                instrument(*inner);
            for (jit::Value* output : node->outputs())
                probe(*output, *node->next());
        }
    }

    std::size_t probe(jit::Value& value, jit::Node& before) {
        const jit::WithInsertPoint guard(&before);
        jit::Value* const number = m_graph.insertConstant(static_cast<std::int64_t>(m_record.size()));
        m_probes.push_back(
            m_graph.insertNode(m_graph.create(c10::Symbol::fromQualString(kProbe), {&value, number}, 0)));
        m_record.push_back({});
        m_record.back().value = &value;
        return m_record.size() - 1;
    }

    jit::Graph& m_graph;
    Record m_record;
    std::vector<jit::Node*> m_probes;
    std::vector<std::pair<jit::Node*, std::pair<std::size_t, std::size_t>>> m_loops;
};

void setType(const Seen& seen) {
    c10::VaryingShape<std::int64_t>::ListOfOptionalElements sizes;
    for (const std::int64_t dim : seen.dims) {
        sizes.emplace_back();
        if (dim >= 0)
            sizes.back() = dim;
    }
    seen.value->setType(c10::TensorType::create(seen.type, c10::Device(c10::kCPU),
                                                c10::VaryingShape<std::int64_t>(std::move(sizes)),
                                                c10::VaryingShape<std::int64_t>(), false));
}

/// Types from what was seen; questions about shapes become their answers.
void applyRecord(const std::shared_ptr<jit::Graph>& graph, const Record& record) {
    for (const Seen& seen : record) {
        if (seen.times == 0 || seen.varies)
            continue;
        if (seen.isTensor) {
            setType(seen);
        } else if (asksAboutShape(*seen.value->node()) && !seen.plain.isNone()) {
            const jit::WithInsertPoint guard(seen.value->node());
            if (const auto constant = jit::tryInsertConstant(*graph, seen.plain))
                seen.value->replaceAllUsesWith(*constant);
        }
    }
    auto folded = graph;
    jit::ConstantPropagation(folded);
    jit::EliminateDeadCode(graph);
}

std::optional<at::ScalarType> scalarType(const std::string& dtype) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                                      at::kChar, at::kByte, at::kBool, at::kComplexFloat, at::kComplexDouble}) {
        if (torchDtype(type) == dtype)
            return type;
    }
    return std::nullopt;
}

/// Values for forward's arguments, made from the descriptions in order.
class Arguments {
public:
    /// `whole`: what integers hold. One is an index, a length and a "yes" at once, which suits most models.
    Arguments(const TorchScriptSpec& spec, std::int64_t whole)
        : m_spec(spec)
        , m_whole(whole) {}

    Result<jit::Stack> make(const jit::Module& module) {
        jit::Stack stack{module._ivalue()};
        const auto& arguments = module.get_method("forward").function().getSchema().arguments();
        for (std::size_t i = 1; i < arguments.size(); ++i) {
            const bool isLeft = m_next < m_spec.inputs.size();
            if (!isLeft && arguments[i].default_value()) {
                stack.push_back(*arguments[i].default_value());
                continue;
            }
            PW_TRY(c10::IValue value, valueOf(arguments[i].type(), arguments[i].name()));
            stack.push_back(std::move(value));
        }
        if (m_next < m_spec.inputs.size())
            return fail(ErrorCode::Invalid, "forward takes fewer inputs than the " +
                                                std::to_string(m_spec.inputs.size()) + " given: " + forwardInputs(module));
        return stack;
    }

private:
    Result<c10::IValue> valueOf(const c10::TypePtr& type, const std::string& name) {
        if (const auto optional = type->cast<c10::OptionalType>())
            return valueOf(optional->getElementType(), name);
        if (const auto tuple = type->cast<c10::TupleType>()) {
            std::vector<c10::IValue> elements;
            for (const c10::TypePtr& element : tuple->elements()) {
                PW_TRY(c10::IValue value, valueOf(element, name));
                elements.push_back(std::move(value));
            }
            return c10::IValue(c10::ivalue::Tuple::create(std::move(elements)));
        }
        if (const auto list = type->cast<c10::ListType>();
            list && list->getElementType()->isSubtypeOf(*c10::TensorType::get())) {
            c10::List<at::Tensor> tensors; // takes what is left: its length is not in the type
            do {
                PW_TRY(const at::Tensor tensor, next(name));
                tensors.push_back(tensor);
            } while (m_next < m_spec.inputs.size());
            return c10::IValue(tensors);
        }
        if (type->isSubtypeOf(*c10::TensorType::get())) {
            PW_TRY(at::Tensor tensor, next(name));
            return c10::IValue(std::move(tensor));
        }
        return scalarOf(type, name);
    }

    Result<c10::IValue> scalarOf(const c10::TypePtr& type, const std::string& name) {
        const auto kind = type->kind();
        if (kind != c10::TypeKind::IntType && kind != c10::TypeKind::FloatType && kind != c10::TypeKind::BoolType &&
            kind != c10::TypeKind::NumberType)
            return fail(ErrorCode::Unsupported,
                        "input \"" + name + "\" is of type " + type->repr_str() + ", which cannot be made up");
        if (m_next < m_spec.inputs.size())
            ++m_next; // its description says no more than that it is there
        if (kind == c10::TypeKind::FloatType)
            return c10::IValue(1.0);
        return kind == c10::TypeKind::BoolType ? c10::IValue(false) : c10::IValue(m_whole);
    }

    Result<at::Tensor> next(const std::string& name) {
        if (m_next >= m_spec.inputs.size())
            return fail(ErrorCode::Invalid, "input \"" + name + "\" is not described (" +
                                                std::to_string(m_spec.inputs.size()) + " given)");
        const TorchSampleInput& input = m_spec.inputs[m_next++];
        const auto type = scalarType(input.dtype);
        if (!type)
            return fail(ErrorCode::Invalid, "no element type \"" + input.dtype + "\" for input \"" + name + "\"");
        for (const std::int64_t dim : input.dims) {
            if (dim < 0)
                return fail(ErrorCode::Invalid, "input \"" + name + "\" has a negative size");
        }
        const at::TensorOptions options(*type);
        if (at::isFloatingType(*type) || at::isComplexType(*type))
            return at::full(input.dims, 0.5, options);
        return at::full(input.dims, *type == at::kBool ? 1 : m_whole, options);
    }

    const TorchScriptSpec& m_spec;
    std::int64_t m_whole;
    std::size_t m_next = 0;
};

Result<jit::Stack> makeArguments(const TorchModule& module, const TorchScriptSpec& spec, std::int64_t whole) {
    try {
        return Arguments(spec, whole).make(module.module);
    } catch (const std::exception& error) { // the allocator's
        return fail(ErrorCode::Invalid, "the described inputs cannot be made: " + torchReason(error));
    }
}

Status runOnce(const TorchModule& module, Instrument& instrument, jit::Stack stack) {
    struct Recording {
        explicit Recording(Record& record) { t_record = &record; }
        ~Recording() { t_record = nullptr; }
    } const recording(instrument.record());
    const c10::AutoGradMode noGradients(false);
    try {
        jit::InterpreterState(jit::Code(module.graph, "forward")).run(stack);
        return {};
    } catch (const std::exception& error) {
        return fail(ErrorCode::External, torchReason(error));
    }
}

} // namespace

Status recordShapes(const TorchModule& module, const TorchScriptSpec& spec) {
    Status status;
    for (const std::int64_t whole : {1, 0}) {
        PW_TRY(jit::Stack stack, makeArguments(module, spec, whole));
        Record record;
        {
            Instrument instrument(*module.graph);
            status = runOnce(module, instrument, std::move(stack));
            instrument.setTripCounts();
            record = std::move(instrument.record());
        }
        const bool isLast = status.has_value() || whole == 0;
        if (isLast)
            applyRecord(module.graph, record);
        if (isLast)
            break; // else once more: zero is an index where one is not, as in a table of one row
    }
    return status;
}

} // namespace pw::learn
