#include "core/formats/tf_shape_rules.h"
namespace pw::formats::tf {
void applyShapeRule(RuleContext&) {}
}
