#pragma once

#include "core/formats/pw_tensorflow.pb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the parts of the TensorFlow importer share about its messages.
namespace pw::formats::tf {

using Dims = std::vector<std::int64_t>;

/// Type and shape of a value. `dims` holds -1 for what is not known.
struct TensorType {
    int dtype = 0; ///< DataType without the mark of a reference, 0 = unknown
    bool shapeKnown = false; ///< rank is known
    Dims dims;
};

int withoutRef(int dtype);                 ///< DT_FLOAT_REF -> DT_FLOAT
std::string_view dtypeName(int dtype);     ///< "f32"; "" if unknown
/// "DT_FLOAT" -> 1, 0 if there is no such type.
int dtypeNumber(std::string_view name);

/// Nothing where the rank is not known or cannot be.
std::optional<Dims> dimsOf(const tensorflow::TensorShapeProto& shape);

const tensorflow::AttrValue* findAttr(const tensorflow::NodeDef& node, std::string_view key);

/// Elements times item size by the shape, whatever is stored; texts count what they hold. Nothing for sizes that cannot
/// be (negative, beyond 2^50).
std::optional<std::int64_t> tensorBytes(const tensorflow::TensorProto& tensor);
std::optional<std::int64_t> tensorBytes(int dtype, const Dims& dims);

/// Values of an integer tensor whose data is at hand and complete.
std::optional<Dims> tensorIntegers(const tensorflow::TensorProto& tensor);

/// A node's input "name:2" or "^name"; in functions "name:out:2".
struct InputName {
    std::string_view node;
    std::string_view output; ///< named output, functions only
    int index = 0;
    bool isControl = false;
};
InputName splitInput(std::string_view input);

} // namespace pw::formats::tf
