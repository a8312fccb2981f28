#include "core/learn/torchscript_values.h"

#include "core/base/text.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <array>
#include <functional>

namespace pw::learn {

namespace {

namespace jit = torch::jit;

constexpr std::size_t kMaxListedElements = 64;
constexpr std::size_t kMaxAttributeText = 256;

bool isOneOf(std::string_view kind, std::initializer_list<std::string_view> kinds) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool holdsTensors(const c10::Type& type) {
    if (type.isSubtypeOf(*c10::TensorType::get()))
        return true;
    const auto inner = type.containedTypes();
    return std::any_of(inner.begin(), inner.end(), [](const c10::TypePtr& element) { return holdsTensors(*element); });
}

/// The dims that a type says, -1 for those it leaves open; nothing without a rank.
std::optional<std::vector<std::int64_t>> dimsOf(const c10::Type& type) {
    const auto tensor = type.cast<c10::TensorType>();
    if (tensor == nullptr || !tensor->sizes().size().has_value())
        return std::nullopt;
    std::vector<std::int64_t> dims;
    for (std::size_t d = 0; d < *tensor->sizes().size(); ++d)
        dims.push_back(tensor->sizes()[d].value_or(-1));
    return dims;
}

template<class List, class ToText>
std::string joined(const List& list, ToText toText) {
    if (list.size() > kMaxListedElements)
        return {};
    std::string out;
    for (const auto& item : list)
        out += (out.empty() ? "" : ",") + toText(item);
    return out;
}

std::string attributeText(const c10::IValue& value) {
    const auto wholeText = [](std::int64_t number) { return std::to_string(number); };
    if (value.isBool())
        return value.toBool() ? "1" : "0";
    if (value.isInt())
        return wholeText(value.toInt());
    if (value.isDouble())
        return text::number(value.toDouble());
    if (value.isString() && value.toStringRef().size() <= kMaxAttributeText)
        return text::toValidUtf8(value.toStringRef());
    if (value.isIntList())
        return joined(value.toIntVector(), wholeText);
    if (value.isDoubleList())
        return joined(value.toDoubleVector(), [](double number) { return text::number(number); });
    return {};
}

/// A constant, or a list of constants: what an attribute can be.
std::optional<c10::IValue> constantOf(const jit::Value& value) {
    if (const auto constant = jit::toIValue(&value))
        return c10::IValue(*constant);
    const jit::Node& node = *value.node();
    if (node.kind() != c10::prim::ListConstruct || node.inputs().size() > kMaxListedElements)
        return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const jit::Value* element : node.inputs()) {
        const auto number = jit::toIValue(element);
        if (!number || !number->isInt())
            return std::nullopt;
        numbers.push_back(number->toInt());
    }
    return c10::IValue(numbers);
}

std::string attributeName(const std::string& argument) {
    static const std::unordered_map<std::string, std::string> kNames = {
        {"kernel_size", "kernel_shape"}, {"stride", "strides"}, {"padding", "pads"},
        {"dilation", "dilations"},       {"groups", "group"},
    };
    const auto found = kNames.find(argument);
    return found != kNames.end() ? found->second : text::toValidUtf8(argument);
}

} // namespace

TorchWeights::TorchWeights(const TorchModule& module)
    : m_module(module) {
    m_objects.emplace(module.graph->inputs().at(0), Object{c10::IValue(module.module._ivalue()), {}});
    collect(*module.graph->block());
}

void TorchWeights::collect(const jit::Block& block) {
    for (const jit::Node* node : block.nodes()) {
        if (node->kind() == c10::prim::GetAttr)
            addAttribute(*node);
        if (node->kind() == c10::prim::Constant && node->output()->type()->isSubtypeOf(*c10::TensorType::get())) {
            if (const auto value = jit::toIValue(node->output()); value && value->isTensor())
                add(*node->output(), torchScope(*node) + "/constant", value->toTensor());
        }
        for (const jit::Block* inner : node->blocks())
            collect(*inner);
    }
}

void TorchWeights::addAttribute(const jit::Node& node) {
    const auto owner = m_objects.find(node.input());
    if (owner == m_objects.end() || !owner->second.value.isObject())
        return;
    const std::string& name = node.s(c10::attr::name);
    const auto object = owner->second.value.toObject();
    if (!object->type()->hasAttribute(name))
        return;
    const c10::IValue value = object->getAttr(name);
    const std::string& outerPath = owner->second.path;
    std::string path = outerPath.empty() ? name : outerPath + "/" + name;
    if (value.isTensor())
        add(*node.output(), std::move(path), value.toTensor());
    else if (value.isObject())
        m_objects.emplace(node.output(), Object{value, std::move(path)});
}

void TorchWeights::add(const jit::Value& value, std::string path, const at::Tensor& tensor) {
    if (!tensor.defined())
        return;
    TorchWeight weight{text::toValidUtf8(path), tensor.sizes().vec(), 0, tensor.unsafeGetTensorImpl(), 0};
    if (tensor.layout() == at::kStrided) {
        weight.bytes = static_cast<std::int64_t>(tensor.nbytes());
        weight.storage = tensor.storage().unsafeGetStorageImpl();
        weight.offset = tensor.storage_offset();
    }
    m_weights.emplace(&value, std::move(weight));
}

const TorchWeight* TorchWeights::find(const jit::Value& value) const {
    const auto found = m_weights.find(&value);
    return found != m_weights.end() ? &found->second : nullptr;
}

std::string TorchWeights::claim(const TorchWeight& weight, const std::string& reader) {
    const auto [first, isNew] = m_firstReader.try_emplace({weight.storage, weight.offset}, reader);
    return isNew ? std::string() : first->second;
}

std::int64_t TorchWeights::unclaimedBytes() const {
    std::unordered_set<Identity, IdentityHash> counted;
    std::int64_t bytes = 0;
    const auto add = [&](const at::Tensor& tensor) {
        if (!tensor.defined() || tensor.layout() != at::kStrided)
            return;
        const Identity identity(tensor.storage().unsafeGetStorageImpl(), tensor.storage_offset());
        if (m_firstReader.count(identity) == 0 && counted.insert(identity).second)
            bytes += static_cast<std::int64_t>(tensor.nbytes());
    };
    for (const at::Tensor& tensor : m_module.module.parameters())
        add(tensor);
    for (const at::Tensor& tensor : m_module.module.buffers())
        add(tensor);
    return bytes;
}

std::size_t TorchWeights::IdentityHash::operator()(const Identity& identity) const {
    return std::hash<const void*>()(identity.first) ^ (std::hash<std::int64_t>()(identity.second) * 31U);
}

Folding foldingOf(const jit::Node& node) {
    const std::string_view kind = node.kind().toQualString();
    if (isTorchConstruct(node) ||
        isOneOf(kind, {"prim::Constant", "prim::GetAttr", "prim::SetAttr", "prim::Uninitialized", "prim::Print",
                       "prim::RaiseException", "prim::AutogradZero", "prim::Drop", "aten::warn", "prim::Return"}))
        return Folding::Nothing;
    if (isOneOf(kind, {"prim::unchecked_cast", "prim::unchecked_unwrap_optional", "aten::_unwrap_optional"}))
        return Folding::Alias;
    if (isOneOf(kind, {"prim::ListUnpack", "prim::TupleUnpack"}))
        return Folding::Unpack;
    // `if ...: raise` and its like: nothing comes out, nothing is left inside.
    if (kind == "prim::If" && node.outputs().empty()) {
        const auto isEmpty = [](const jit::Block* block) {
            return std::all_of(block->nodes().begin(), block->nodes().end(), [](const jit::Node* inner) {
                return foldingOf(*inner) == Folding::Nothing && inner->kind() != c10::prim::SetAttr;
            });
        };
        if (std::all_of(node.blocks().begin(), node.blocks().end(), isEmpty))
            return Folding::Nothing;
    }
    return Folding::Op;
}

bool isTorchConstruct(const jit::Node& node) {
    return node.kind() == c10::prim::ListConstruct || node.kind() == c10::prim::TupleConstruct ||
           node.kind() == c10::prim::DictConstruct;
}

bool isOpaque(const jit::Node& node) {
    return isOneOf(node.kind().toQualString(),
                   {"prim::CallMethod", "prim::CallFunction", "prim::PythonOp", "prim::CreateObject"});
}

const jit::Node* onlyUnpackOf(const jit::Value& value) {
    if (value.uses().size() != 1)
        return nullptr;
    const jit::Node* user = value.uses().front().user;
    const bool isUnpack = user->kind() == c10::prim::ListUnpack || user->kind() == c10::prim::TupleUnpack;
    return isUnpack && !user->outputs().empty() && user->owningBlock() == value.node()->owningBlock() ? user : nullptr;
}

std::string torchScope(const jit::Node& node) {
    std::string path;
    const auto stack = node.callstack();
    if (!stack)
        return path;
    for (const auto& entry : (*stack)->vec()) {
        const auto& instance = std::get<jit::kModuleInstanceInfo>(entry);
        if (!instance)
            continue;
        const std::string name = instance->instance_name();
        if (!name.empty() && name != "SELF" && name != "INSTANCE_NAME_UNKNOWN")
            path += (path.empty() ? "" : "/") + name;
    }
    return text::toValidUtf8(path);
}

std::vector<const jit::Value*> torchOperands(const jit::Node& node) {
    std::vector<const jit::Value*> operands;
    const auto* schema = node.maybeSchema();
    const auto isData = [&](std::size_t i) {
        const bool isDeclared = schema != nullptr && i < schema->arguments().size() &&
                                holdsTensors(*schema->arguments()[i].type()); // also where a None is passed
        return isDeclared || holdsTensors(*node.input(i)->type());
    };
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
        if (isData(i))
            operands.push_back(node.input(i));
    }
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
        const jit::Value* input = node.input(i);
        if (!isData(i) && !constantOf(*input) && input->node()->kind() != c10::prim::GetAttr)
            operands.push_back(input);
    }
    return operands;
}

std::vector<std::pair<std::string, std::string>> torchAttributes(const jit::Node& node) {
    std::vector<std::pair<std::string, std::string>> attributes;
    const auto* schema = node.maybeSchema();
    if (schema == nullptr)
        return attributes;
    const auto& arguments = schema->arguments();
    for (std::size_t i = 0; i < std::min(arguments.size(), node.inputs().size()); ++i) {
        const auto constant = constantOf(*node.input(i));
        if (!constant)
            continue;
        if (std::string value = attributeText(*constant); !value.empty())
            attributes.emplace_back(attributeName(arguments[i].name()), std::move(value));
    }
    return attributes;
}

double torchTripCount(const jit::Node& node) {
    if (node.kind() != c10::prim::Loop)
        return -1.0;
    if (node.hasAttribute(c10::Symbol::attr(kTripsAttribute)))
        return node.f(c10::Symbol::attr(kTripsAttribute));
    const auto bound = jit::toIValue(node.input(0));
    const auto goesOn = jit::toIValue(node.blocks().at(0)->outputs().at(0)); // a constant for every `for`
    const bool isCounted = bound && bound->isInt() && goesOn && goesOn->isBool() && goesOn->toBool();
    return isCounted ? static_cast<double>(std::max<std::int64_t>(0, bound->toInt())) : -1.0;
}

Tensor torchTensor(const jit::Value& value) {
    Tensor tensor;
    if (value.hasDebugName())
        tensor.name = text::toValidUtf8(value.debugName());
    const c10::Type& type = *value.type();
    if (type.kind() == c10::TypeKind::IntType || type.kind() == c10::TypeKind::FloatType ||
        type.kind() == c10::TypeKind::BoolType || type.kind() == c10::TypeKind::NumberType) {
        tensor.shapeKnown = true; // a number is a scalar
        tensor.dtype = type.kind() == c10::TypeKind::BoolType ? "bool" : type.kind() == c10::TypeKind::FloatType ? "f64" : "i64";
        tensor.bytes = dtypeBytes(tensor.dtype);
        return tensor;
    }
    const auto dims = dimsOf(type);
    if (!dims)
        return tensor;
    tensor.shapeKnown = true;
    tensor.dims = *dims;
    if (const auto element = type.expect<c10::TensorType>()->scalarType())
        tensor.dtype = torchDtype(*element);
    auto counted = *dims;
    std::replace_if(counted.begin(), counted.end(), [](std::int64_t dim) { return dim < 0; }, 1);
    tensor.bytes = elementCount(counted).value_or(0) * dtypeBytes(tensor.dtype);
    return tensor;
}

std::string shapeText(const std::vector<std::int64_t>& dims) {
    if (dims.empty())
        return "1"; // a scalar; an empty text would mean "unknown"
    std::string out;
    for (const std::int64_t dim : dims)
        out += (out.empty() ? "" : "x") + (dim < 0 ? std::string("?") : std::to_string(dim));
    return out;
}

std::string shapeText(const c10::Type& type) {
    const auto dims = dimsOf(type);
    return dims ? shapeText(*dims) : std::string();
}

} // namespace pw::learn
