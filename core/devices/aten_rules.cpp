#include "core/devices/op_rules.h"

#include "core/base/text.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <unordered_map>

namespace pw::devices {

namespace {

struct RuleGroup {
    WorkRule rule;
    double k;
    std::initializer_list<const char*> types; ///< without domain and underscores
};

using Table = std::unordered_map<std::string, OpRule>;

/// PyTorch's operators that other frameworks do not have under the same name, or mean something else by. FLOPs per
/// element are chosen as in op_rules.cpp.
Table makeTable() {
    const RuleGroup groups[] = {
        // Views share memory with their input; the rest is arithmetic on sizes.
        {WorkRule::Metadata, 0, {"select", "slice", "narrow", "transpose", "permute", "t", "numpyt", "expand", "expandas",
            "view", "viewas", "reshape", "reshapeas", "unsafeview", "unflatten", "unbind", "chunk", "split",
            "splitwithsizes", "tensorsplit", "unsafechunk", "unsafesplit", "unfold", "movedim", "swapaxes", "detach",
            "alias", "asstrided", "diagonal", "dim", "numel", "len", "item", "bool", "int", "float", "intimplicit",
            "floatimplicit", "scalarimplicit", "numtotensor", "device", "dtype", "layout", "data", "tolist", "append",
            "setitem", "isfloatingpoint", "iscomplex", "is", "isnot", "iscuda", "list", "stride", "tupleindex",
            "featuredropout", "resolveconj", "resolveneg", "wait", "fork", "format", "percentformat", "contains",
            "keys", "values", "dict", "ord", "str", "copylist", "isgradenabled", "setgradenabled", "requiresgrad"}},
        {WorkRule::Elementwise, 1, {"rsub", "eq", "ne", "lt", "le", "gt", "ge", "bitwisenot", "bitwiseand", "bitwiseor",
            "bitwisexor", "logicalxor", "clamp", "clampmin", "clampmax", "hardtanh", "maskedfill", "to", "typeas", "tril",
            "triu", "threshold", "trunc", "frac", "fmod", "remainder", "floordivide", "truedivide", "addcmul", "addcdiv",
            "lerp", "nantonum", "isfinite", "cumprod", "alphadropout", "dropoutnp", "rrelu", "fillmask"}},
        {WorkRule::Elementwise, 8, {"logsigmoid", "exp2", "log2", "log10", "erfinv", "erfc", "glu", "expm1", "instancenorm",
            "nativelayernorm", "nativebatchnorm", "nativegroupnorm", "upsamplebilinear2d", "upsamplelinear1d",
            "upsampletrilinear3d", "gridsampler", "atan2", "hypot", "normalize", "rand", "randlike", "randn", "randnlike",
            "randint", "normal", "uniform", "xlogy", "sinc", "logit"}},
        {WorkRule::Elementwise, 64, {"upsamplebicubic2d"}},
        {WorkRule::Reduce, 1, {"max", "min", "amax", "amin", "nansum", "adaptiveavgpool1d", "adaptiveavgpool2d",
            "adaptiveavgpool3d", "adaptivemaxpool1d", "adaptivemaxpool2d", "adaptivemaxpool3d", "nllloss", "nllloss2d",
            "nlllossnd", "count_nonzero", "countnonzero", "bincount", "equal"}},
        {WorkRule::Reduce, 3, {"norm", "linalgvectornorm", "frobeniusnorm", "var", "std", "varmean", "stdmean", "mseloss",
            "l1loss", "smoothl1loss", "huberloss", "logsumexp"}},
        {WorkRule::Reduce, 6, {"crossentropyloss", "binarycrossentropy", "binarycrossentropywithlogits", "kldiv",
            "cosinesimilarity", "cdist", "pairwisedistance"}},
        {WorkRule::Move, 0, {"cat", "hstack", "vstack", "dstack", "concat", "contiguous", "clone", "copy", "repeat",
            "repeatinterleave", "roll", "flip", "index", "indexselect", "maskedselect", "takealongdim", "zeros", "zeroslike",
            "ones", "oneslike", "empty", "emptylike", "full", "fulllike", "newzeros", "newones", "newfull", "newempty",
            "arange", "linspace", "eye", "fill", "zero", "tensor", "constantpadnd", "reflectionpad1d", "reflectionpad2d",
            "replicationpad1d", "replicationpad2d", "upsamplenearest1d", "upsamplenearest2d", "upsamplenearest3d",
            "pixelshuffle", "pixelunshuffle", "channelshuffle", "embeddingbag", "meshgrid", "rot90", "dequantize",
            "packpaddedsequence", "padpackedsequence", "broadcasttensors"}},
        {WorkRule::Scatter, 1, {"indexput", "indexadd", "indexcopy", "indexfill", "maskedscatter", "scatterreduce"}},
        {WorkRule::Pool, 1, {"maxpool1d", "avgpool1d", "maxpool2dwithindices", "maxpool1dwithindices",
            "maxpool3dwithindices"}},
        {WorkRule::MatMul, 1, {"mm", "bmm", "mv", "inner", "chainmatmul"}},
        {WorkRule::AddMatMul, 1, {"addmm", "addmv", "addbmm", "baddbmm", "sparseaddmm"}},
        {WorkRule::Conv, 1, {"convolutionmode", "mkldnnconvolution", "cudnnconvolution", "convolutionoverrideable"}},
        {WorkRule::ConvTranspose, 1, {"convtranspose1d", "convtranspose3d"}},
        {WorkRule::ScaledAttention, 1, {"scaleddotproductattention", "scaleddotproductattentionmath",
            "scaleddotproductflashattention"}},
        {WorkRule::WeightedRecurrent, 4, {"lstm", "lstmcell"}},
        {WorkRule::WeightedRecurrent, 3, {"gru", "grucell"}},
        {WorkRule::WeightedRecurrent, 1, {"rnntanh", "rnnrelu", "rnntanhcell", "rnnrelucell"}},
    };
    Table table;
    for (const RuleGroup& group : groups) {
        for (const char* type : group.types)
            table.emplace(type, OpRule{group.rule, group.k});
    }
    return table;
}

} // namespace

std::string torchOpKey(std::string_view opType) {
    if (!opType.starts_with("aten::") && !opType.starts_with("prim::"))
        return {};
    std::string key = text::toLower(opType.substr(6));
    key.erase(std::remove(key.begin(), key.end(), '_'), key.end()); // "add_" works in place, which costs the same
    return key;
}

std::optional<OpRule> torchRule(const std::string& key) {
    static const Table table = makeTable();
    const auto found = table.find(key);
    return found != table.end() ? std::optional(found->second) : std::nullopt;
}

} // namespace pw::devices
