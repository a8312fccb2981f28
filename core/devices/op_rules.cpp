#include "core/devices/op_rules.h"

#include "core/base/text.h"

#include <cctype>
#include <initializer_list>
#include <unordered_map>

namespace pw::devices {

namespace {

struct RuleGroup {
    WorkRule rule;
    double k;
    std::initializer_list<const char*> types; ///< lower case, without version suffix
};

using Table = std::unordered_map<std::string, OpRule>;

/// FLOPs per element; chosen, and they only matter for ops that are bound by
/// bandwidth anyway.
Table makeTable() {
    const RuleGroup groups[] = {
        {WorkRule::Metadata, 0, {"shape", "shapen", "reshape", "constant", "const", "noop", "identity", "identityn", "squeeze",
            "unsqueeze", "flatten", "expanddims", "placeholder", "placeholderwithdefault", "variable", "varhandleop",
            "readvariableop", "parameter", "input", "input0", "input1", "input2", "result", "view", "rank", "size",
            "stopgradient", "preventgradient", "assert", "enter", "exit", "nextiteration", "loopcond", "switch", "merge",
            "refswitch", "isvariableinitialized", "varisinitializedop", "broadcastgradientargs", "concatoffset",
            "bitcast", "ensureshape", "checknumerics", "stopgradients", "controltrigger", "globalstep"}},
        // Files, strings, queues, data sets, summaries: host work that placement does not decide.
        {WorkRule::Metadata, 0, {"shardedfilename", "shardedfilespec", "save", "saveslices", "restore", "restoreslice",
            "mergev2checkpoints", "stringjoin", "reducejoin", "staticregexfullmatch",
            "matchingfiles", "hashtable", "lookuptableimport", "fifoqueue", "randomshufflequeue", "queuedequeuemany",
            "iterator", "makeiterator", "iteratorgetnext", "iteratortostringhandle", "scalarsummary", "histogramsummary",
            "imagesummary", "mergesummary", "tensorarray", "tensorarraysize", "tensorlistreserve", "stage", "unstage",
            "send", "recv", "optionalgetvalue", "sequenceempty", "optional", "parseexample", "stringtohashbucketfast",
            "experimentalthreadpoolhandle", "multideviceiterator", "multideviceiteratorinit",
            "multideviceiteratortostringhandle"}},
        {WorkRule::Elementwise, 1, {"add", "sub", "mul", "div", "realdiv", "divnonan", "floordiv", "floormod", "mod",
            "multiply", "divide", "subtract", "negative", "neg", "abs", "sign", "floor", "ceil", "round", "relu", "relu6",
            "leakyrelu", "prelu", "thresholdedrelu", "clip", "clipbyvalue", "min", "max", "minimum", "maximum", "less",
            "lessequal", "greater", "greaterequal", "equal", "notequal", "not", "and", "or", "xor", "logicalnot",
            "logicaland", "logicalor", "where", "select", "square", "squareddifference", "reciprocal", "inv", "biasadd",
            "addn", "cast", "relugrad", "relu6grad", "inplaceaccumulator", "isnan", "isinf", "bitshift",
            "qlinearadd", "qlinearmul", "zeroslike", "scaler", "imputer", "accumulaten", "dropoutgrad", "reversesequence",
            "trilu", "matrixbandpart", "cumsum", "eyelike"}},
        {WorkRule::Elementwise, 2, {"quantizelinear", "dequantizelinear", "dynamicquantizelinear", "hardsigmoid",
            "hardswish", "dropout", "fakequantwithminmaxvars", "shrink", "softsign", "mulgrad"}},
        {WorkRule::Elementwise, 3, {"sigmoidgrad", "tanhgrad", "elugrad", "gelugrad", "sqrtgrad", "rsqrtgrad", "divgrad"}},
        {WorkRule::Elementwise, 8, {"sigmoid", "tanh", "exp", "log", "log1p", "expm1", "erf", "sqrt", "rsqrt", "pow", "sin",
            "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "elu", "selu", "celu", "gelu",
            "fastgelu", "biasgelu", "quickgelu", "softplus", "silu", "swish", "mish", "logistic", "randomuniform",
            "randomnormal", "randomuniformlike", "randomnormallike", "truncatednormal", "bernoulli", "multinomial",
            "randomstandardnormal"}},
        {WorkRule::Elementwise, 8, {"batchnormalization", "batchnorm2d", "batchnorm", "fusedbatchnorm", "batchnorminternal",
            "instancenormalization", "layernormalization", "simplifiedlayernormalization", "skiplayernormalization",
            "embedlayernormalization", "groupnormalization", "groupnorm", "meanvariancenormalization", "lpnormalization",
            "rmsnormalization", "layernorm", "resizebilinear", "resize", "upsample"}},
        {WorkRule::Elementwise, 12, {"batchnormalizationgrad", "fusedbatchnormgrad", "batchnorm2dgrad", "lrn",
            "batchnormgrad"}},
        {WorkRule::Elementwise, 14, {"layernormalizationgrad", "layernormgrad", "lrngrad"}},
        {WorkRule::Elementwise, 5, {"softmax", "logsoftmax", "hardmax", "normalizer"}},
        {WorkRule::Elementwise, 4, {"softmaxgrad", "logsoftmaxgrad", "softmaxgrad_13"}},
        // Trees compare along one path each, audio features are a few transforms: a handful of FLOPs per input value, chosen.
        {WorkRule::Reduce, 16, {"treeensembleclassifier", "treeensembleregressor", "treeensemble", "mfcc", "audiospectrogram"}},
        {WorkRule::Reduce, 6, {"softmaxcrossentropywithlogits", "sparsesoftmaxcrossentropywithlogits",
            "softmaxcrossentropyloss", "softmaxcrossentropylossgrad", "negativeloglikelihoodloss",
            "sparsesoftmaxcrossentropy"}},
        {WorkRule::Reduce, 1, {"sum", "mean", "prod", "all", "any", "reducesum", "reducemean", "reducemax", "reducemin",
            "reduceprod", "reducel1", "reducel2", "reducelogsum", "reducelogsumexp", "reducesumsquare", "argmax", "argmin",
            "l2loss", "biasaddgrad", "globalaveragepool", "globalmaxpool", "globallppool", "globalaveragepoolgrad",
            "globalmaxpoolgrad", "unsortedsegmentsum", "segmentsum", "sparsesegmentsum", "sparsesegmentmean",
            "sparsesegmentmeangrad", "nonmaxsuppression", "unique", "listdiff", "nonzero", "dynamicstitch",
            "featurevectorizer", "normgrad"}},
        {WorkRule::Reduce, 16, {"topk", "nonmaxsuppressionwithoverlaps", "sort", "argsort"}}, // about log2(n)
        {WorkRule::Move, 0, {"concat", "split", "splitv", "slice", "stridedslice", "stridedslicegrad", "slicegrad", "pad",
            "mirrorpad", "transpose", "tile", "expand", "broadcast", "broadcastto", "gather", "gathernd",
            "gatherelements", "resourcegather", "embedding", "pack", "unpack", "stack", "unstack", "fill", "constantofshape",
            "constantfill", "range", "onehot", "reverse", "depthtospace", "spacetodepth", "batchtospacend",
            "spacetobatchnd", "assign", "assignvariableop", "assignadd", "assignaddvariableop", "assignsub",
            "resizenearestneighbor", "tensorarrayread", "tensorarraywrite", "tensorarraygather", "tensorarrayscatter",
            "tensorlistfromtensor", "tensorliststack", "compress", "sparsetodense", "sparsereorder", "sparsereshape",
            "sparsefillemptyrows", "__getitem__", "lookuptablefind", "im2col", "concatgrad", "copy", "memcpyfromhost",
            "memcpytohost", "invertpermutation"}},
        {WorkRule::Scatter, 1, {"scatter", "scatternd", "scatterelements", "scatteradd", "scattersub", "scatterupdate",
            "resourcescatteradd", "sparseapplygradientdescent", "sparseapplymomentum", "sparseapplyrmsprop", "gathergrad"}},
        {WorkRule::Pool, 1, {"maxpool", "averagepool", "avgpool", "maxpool2d", "avgpool2d", "lppool", "maxpool3d",
            "avgpool3d", "maxunpool", "qlinearaveragepool"}},
        {WorkRule::PoolGrad, 1, {"maxpoolgrad", "averagepoolgrad", "avgpoolgrad"}},
        {WorkRule::MatMul, 1, {"matmul", "batchmatmul", "matmulinteger", "matmulnbits", "fusedmatmul", "dot", "linear",
            "matmulinteger16", "fullyconnected", "transposematmul", "dynamicquantizematmul"}},
        {WorkRule::Gemm, 1, {"gemm", "fusedgemm"}},
        {WorkRule::QLinearMatMul, 1, {"qlinearmatmul"}},
        {WorkRule::Einsum, 1, {"einsum"}},
        {WorkRule::Attention, 1, {"attention", "qattention"}},
        {WorkRule::Conv, 1, {"conv", "conv1d", "conv2d", "conv3d", "fusedconv", "fusedconv2d", "convinteger", "nhwcconv",
            "convolution"}},
        {WorkRule::QLinearConv, 1, {"qlinearconv"}},
        {WorkRule::ConvTranspose, 1, {"convtranspose", "convtranspose2d", "deconvolution"}},
        {WorkRule::DepthwiseConv, 1, {"depthwiseconv2dnative", "fuseddepthwiseconv2dnative", "depthwiseconv2d"}},
        {WorkRule::DepthwiseBackpropInput, 1, {"depthwiseconv2dnativebackpropinput"}},
        {WorkRule::DepthwiseBackpropFilter, 1, {"depthwiseconv2dnativebackpropfilter"}},
        {WorkRule::ConvBackpropInput, 1, {"conv2dbackpropinput", "conv1dbackpropinput"}},
        {WorkRule::ConvBackpropFilter, 1, {"conv2dbackpropfilter", "conv1dbackpropfilter"}},
        {WorkRule::ConvGrad, 1, {"convgrad"}},
        {WorkRule::Recurrent, 4, {"lstm", "dynamicquantizelstm"}},
        {WorkRule::Recurrent, 3, {"gru"}},
        {WorkRule::Recurrent, 1, {"rnn"}},
        {WorkRule::RecurrentCell, 1, {"lstmblockcell"}},
        {WorkRule::RecurrentCell, 2, {"lstmblockcellgrad"}},
        {WorkRule::Update, 2, {"applygradientdescent", "resourceapplygradientdescent", "sgdoptimizer"}},
        {WorkRule::Update, 4, {"applymomentum", "resourceapplymomentum", "applyadagrad", "resourceapplyadagrad",
            "resourcesparseapplyadagrad"}},
        {WorkRule::Update, 10, {"applyrmsprop", "resourceapplyrmsprop", "applyftrl", "resourceapplyftrl", "sparseapplyftrl",
            "resourcesparseapplyftrl"}},
        {WorkRule::Update, 12, {"applyadam", "resourceapplyadam", "adamoptimizer", "lamboptimizer"}},
    };
    Table table;
    for (const RuleGroup& group : groups) {
        for (const char* type : group.types)
            table.emplace(type, OpRule{group.rule, group.k});
    }
    return table;
}

/// "fooV2" -> "foo".
std::string_view withoutVersion(std::string_view name) {
    std::size_t end = name.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])))
        --end;
    return end > 1 && end < name.size() && name[end - 1] == 'v' ? name.substr(0, end - 1) : name;
}

bool endsWith(std::string_view name, std::string_view ending) {
    return name.size() >= ending.size() && name.substr(name.size() - ending.size()) == ending;
}

} // namespace

OpRule ruleFor(std::string_view opType) {
    static const Table table = makeTable();
    if (const std::string key = torchOpKey(opType); !key.empty()) {
        if (const auto rule = torchRule(key))
            return *rule;
        const auto found = table.find(key);
        return found != table.end() ? found->second : OpRule{};
    }
    const auto domainEnd = opType.rfind("::");
    std::string name = text::toLower(domainEnd == std::string_view::npos ? opType : opType.substr(domainEnd + 2));
    if (name.compare(0, 2, "__") != 0 && name.size() > 1 && name.front() == '_')
        name.erase(0, 1);
    for (const std::string& key : {name, std::string(withoutVersion(name))}) {
        if (const auto found = table.find(key); found != table.end())
            return found->second;
    }
    if (endsWith(name, "dataset") || endsWith(withoutVersion(name), "dataset"))
        return {WorkRule::Metadata, 0};
    return {};
}

OpClass classOf(WorkRule rule) {
    switch (rule) {
    case WorkRule::MatMul:
    case WorkRule::Gemm:
    case WorkRule::AddMatMul:
    case WorkRule::ScaledAttention:
    case WorkRule::WeightedRecurrent:
    case WorkRule::QLinearMatMul:
    case WorkRule::Einsum:
    case WorkRule::Attention:
    case WorkRule::Conv:
    case WorkRule::QLinearConv:
    case WorkRule::ConvTranspose:
    case WorkRule::ConvBackpropInput:
    case WorkRule::ConvBackpropFilter:
    case WorkRule::ConvGrad:
    case WorkRule::Recurrent:
    case WorkRule::RecurrentCell: return OpClass::Dense;
    case WorkRule::DepthwiseConv:
    case WorkRule::DepthwiseBackpropInput:
    case WorkRule::DepthwiseBackpropFilter: return OpClass::Depthwise;
    default: return OpClass::Bandwidth;
    }
}

} // namespace pw::devices
