#include "core/learn/torchscript_module.h"

#include "core/base/text.h"

#include <c10/util/Exception.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>

#include <unordered_map>
#include <unordered_set>

namespace pw::learn {

namespace {

namespace jit = torch::jit;

constexpr std::size_t kMaxReason = 300;

void collectWrittenAttributes(const jit::Block& block, std::unordered_set<std::string>& names) {
    for (const jit::Node* node : block.nodes()) {
        if (node->kind() == c10::prim::SetAttr)
            names.insert(node->s(c10::attr::name));
        for (const jit::Block* inner : node->blocks())
            collectWrittenAttributes(*inner, names);
    }
}

/// Reads of attributes that nothing writes ("training", sizes, flags) become constants. Tensors stay reads, because the
/// graph names its weights by them.
class AttributeFolder {
public:
    AttributeFolder(jit::Graph& graph, const jit::Module& module)
        : m_graph(graph) {
        m_objects.emplace(graph.inputs().at(0), c10::IValue(module._ivalue()));
        collectWrittenAttributes(*graph.block(), m_written);
    }

    void run() { run(*m_graph.block()); }

private:
    void run(jit::Block& block) {
        for (auto it = block.nodes().begin(); it != block.nodes().end();) {
            jit::Node* const node = *it++;
            for (jit::Block* inner : node->blocks())
                run(*inner);
            if (node->kind() == c10::prim::GetAttr)
                fold(*node);
        }
    }

    void fold(jit::Node& node) {
        const auto object = m_objects.find(node.input());
        const std::string& name = node.s(c10::attr::name);
        if (object == m_objects.end() || !object->second.isObject() || m_written.count(name) != 0)
            return;
        const auto owner = object->second.toObject();
        if (!owner->type()->hasAttribute(name))
            return;
        const c10::IValue value = owner->getAttr(name);
        if (value.isObject())
            m_objects.emplace(node.output(), value);
        else if (isPlain(value))
            replace(node, value);
    }

    static bool isPlain(const c10::IValue& value) {
        return value.isInt() || value.isDouble() || value.isBool() || value.isString() || value.isNone() ||
               value.isIntList() || value.isDoubleList() || value.isBoolList() || value.isDevice();
    }

    void replace(jit::Node& node, const c10::IValue& value) {
        const jit::WithInsertPoint guard(&node);
        if (const auto constant = jit::tryInsertConstant(m_graph, value))
            node.output()->replaceAllUsesWith(*constant);
    }

    jit::Graph& m_graph;
    std::unordered_map<const jit::Value*, c10::IValue> m_objects;
    std::unordered_set<std::string> m_written;
};

} // namespace

std::string torchDtype(at::ScalarType type) {
    switch (type) {
    case at::kFloat: return "f32";
    case at::kDouble: return "f64";
    case at::kHalf: return "f16";
    case at::kBFloat16: return "bf16";
    case at::kLong: return "i64";
    case at::kInt: return "i32";
    case at::kShort: return "i16";
    case at::kChar:
    case at::kQInt8: return "i8";
    case at::kByte:
    case at::kQUInt8: return "u8";
    case at::kQInt32: return "i32";
    case at::kBool: return "bool";
    case at::kComplexFloat: return "c64";
    case at::kComplexDouble: return "c128";
    default: return "";
    }
}

std::string torchReason(const std::exception& error) {
    const auto* ours = dynamic_cast<const c10::Error*>(&error);
    const std::string all = ours != nullptr ? ours->what_without_backtrace() : error.what();
    // The interpreter puts a traceback before the reason, so the last line that names an error is the one.
    std::string reason;
    for (const std::string_view line : text::split(all, '\n')) {
        const std::string_view trimmed = text::trim(line);
        const auto error_at = trimmed.find("Error: ");
        if (error_at != std::string_view::npos)
            reason = trimmed.substr(error_at + 7);
        else if (reason.empty() && !trimmed.empty())
            reason = trimmed;
    }
    return text::toValidUtf8(reason.substr(0, kMaxReason));
}

std::string forwardInputs(const torch::jit::Module& module) {
    std::string list;
    const auto method = module.find_method("forward");
    if (!method)
        return list;
    const auto& arguments = method->function().getSchema().arguments();
    for (std::size_t i = 1; i < arguments.size(); ++i)
        list += (i > 1 ? ", " : "") + arguments[i].name() + " (" + arguments[i].type()->repr_str() + ")";
    return text::toValidUtf8(list);
}

Result<TorchModule> loadTorchModule(const std::string& path) {
    TorchModule loaded;
    loaded.module = jit::load(path, c10::Device(c10::kCPU));
    const auto method = loaded.module.find_method("forward");
    if (!method)
        return fail(ErrorCode::Unsupported, "the module has no method \"forward\"");
    loaded.graph = method->graph()->copy();
    jit::Inline(*loaded.graph);
    AttributeFolder(*loaded.graph, loaded.module).run();
    jit::ConstantPropagation(loaded.graph);
    jit::EliminateDeadCode(loaded.graph);
    return loaded;
}

} // namespace pw::learn
