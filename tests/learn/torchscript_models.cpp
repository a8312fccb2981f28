#include "tests/learn/torchscript_models.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>

namespace pw::test {

namespace {

namespace jit = torch::jit;
using Unit = std::shared_ptr<jit::CompilationUnit>;

jit::Module linear(const Unit& unit, const std::string& type, std::int64_t in, std::int64_t out) {
    jit::Module module(type, unit);
    module.register_parameter("weight", at::rand({out, in}), false);
    module.register_parameter("bias", at::rand({out}), false);
    module.define("def forward(self, x):\n    return torch.linear(x, self.weight, self.bias)\n");
    return module;
}

/// conv + batch norm + relu, as torchvision builds its blocks: layer1.0.conv1, layer1.0.bn1.
jit::Module convNet() {
    const auto unit = std::make_shared<jit::CompilationUnit>();
    jit::Module conv("__torch__.Conv", unit);
    conv.register_parameter("weight", at::rand({8, 3, 3, 3}), false);
    conv.define("def forward(self, x):\n    return torch.conv2d(x, self.weight, None, [2, 2], [1, 1], [1, 1], 1)\n");
    jit::Module norm("__torch__.Norm", unit);
    norm.register_attribute("training", c10::BoolType::get(), false);
    norm.register_parameter("weight", at::rand({8}), false);
    norm.register_parameter("bias", at::rand({8}), false);
    norm.register_buffer("running_mean", at::rand({8}));
    norm.register_buffer("running_var", at::rand({8}));
    norm.register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
    norm.define(R"(
def forward(self, x):
    if self.training:
        self.num_batches_tracked.add_(1)
    assert x.dim() == 4
    return torch.batch_norm(x, self.weight, self.bias, self.running_mean, self.running_var, self.training, 0.1, 1e-5, True)
)");
    jit::Module block("__torch__.Block", unit);
    block.register_module("conv1", conv);
    block.register_module("bn1", norm);
    block.define("def forward(self, x):\n    return torch.relu_(self.bn1.forward(self.conv1.forward(x)))\n");
    jit::Module layer("__torch__.Sequential", unit);
    layer.register_module("0", block);
    layer.define("def forward(self, x):\n    return getattr(self, \"0\").forward(x)\n");
    jit::Module net("__torch__.Net", unit);
    net.register_module("layer1", layer);
    net.register_module("fc", linear(unit, "__torch__.Linear", 8 * 4 * 4, 10));
    net.define(R"(
def forward(self, x):
    y = torch.max_pool2d(self.layer1.forward(x), [2, 2], [2, 2])
    return torch.softmax(self.fc.forward(torch.flatten(y, 1)), 1)
)");
    return net;
}

jit::Module lstm() {
    jit::Module net("__torch__.Lstm");
    std::string weights;
    for (int layer = 0; layer < 2; ++layer) {
        for (const char* direction : {"", "_reverse"}) {
            const auto suffix = "l" + std::to_string(layer) + direction;
            const std::int64_t in = layer == 0 ? 16 : 64;
            net.register_parameter("w_ih_" + suffix, at::rand({128, in}), false);
            net.register_parameter("w_hh_" + suffix, at::rand({128, 32}), false);
            net.register_parameter("b_ih_" + suffix, at::rand({128}), false);
            net.register_parameter("b_hh_" + suffix, at::rand({128}), false);
            for (const char* part : {"w_ih_", "w_hh_", "b_ih_", "b_hh_"})
                weights += (weights.empty() ? "self." : ", self.") + std::string(part) + suffix;
        }
    }
    net.define("def forward(self, x):\n    h = torch.zeros([4, x.size(1), 32])\n"
               "    y, hn, cn = torch.lstm(x, [h, h], [" + weights + "], True, 2, 0.0, False, True, False)\n"
               "    return y + hn[0][0][0]\n");
    return net;
}

jit::Module control() {
    jit::Module net("__torch__.Control");
    net.register_parameter("weight", at::rand({16, 16}), false);
    net.register_parameter("other", at::rand({16, 16}), false);
    net.define(R"(
def forward(self, x):
    if bool(x.sum() > 0.0):
        y = torch.matmul(x, self.weight)
    else:
        y = torch.relu(x)
    for i in range(3):
        y = torch.tanh(torch.matmul(y, self.other)) + x
    return y
)");
    return net;
}

jit::Module twoInputs() {
    jit::Module net("__torch__.Two");
    net.register_parameter("table", at::rand({100, 32}), false);
    net.register_parameter("unused", at::rand({1000}), false);
    net.register_buffer("scale", at::rand({32}));
    net.define(R"(
def forward(self, x, ids):
    e = torch.embedding(self.table, ids) * self.scale
    return torch.matmul(torch.softmax(torch.bmm(e, x.transpose(1, 2)), -1), x)
)");
    return net;
}

jit::Module shared() {
    const auto unit = std::make_shared<jit::CompilationUnit>();
    jit::Module net("__torch__.SharedNet", unit);
    net.register_module("fc", linear(unit, "__torch__.Linear", 8, 8));
    net.define("def forward(self, x):\n    return self.fc.forward(torch.relu(self.fc.forward(x)))\n");
    return net;
}

jit::Module shapeBranch() {
    jit::Module net("__torch__.Shapes");
    net.define(R"(
def forward(self, x):
    if x.dim() == 3:
        y = torch.relu(x)
    else:
        y = torch.tanh(x)
    assert x.size(-1) == 8
    return y.reshape([x.size(0) * x.size(1), x.size(2)])
)");
    return net;
}

jit::Module inPlace() {
    jit::Module net("__torch__.InPlace");
    net.define(R"(
def forward(self, x):
    y = torch.relu(x)
    y[0].fill_(1.0)
    z = torch.tanh(y)
    z.add_(y)
    return z
)");
    return net;
}

jit::Module transposed() {
    jit::Module net("__torch__.Transposed");
    net.register_parameter("weight", at::rand({4, 6, 2, 2}), false);
    net.register_parameter("matrix", at::rand({8, 5}), false);
    net.register_parameter("bias", at::rand({5}), false);
    net.define(R"(
def forward(self, x):
    y = torch._convolution(x, self.weight, None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1, False, False, False)
    return torch.addmm(self.bias, y.reshape([-1, 8]), self.matrix)
)");
    return net;
}

jit::Module plain(const std::string& source) {
    jit::Module net("__torch__.Plain");
    net.define(source);
    return net;
}

jit::Module wide() {
    const auto unit = std::make_shared<jit::CompilationUnit>();
    jit::Module net("__torch__.Wide", unit);
    std::string body = "def forward(self, x):\n";
    for (const char* name : {"a", "b", "c", "d"}) {
        net.register_module(name, linear(unit, std::string("__torch__.Linear_") + name, 2500, 2500));
        body += std::string("    x = self.") + name + ".forward(x)\n";
    }
    net.define(body + "    return x\n");
    return net;
}

jit::Module make(TorchModel model) {
    switch (model) {
    case TorchModel::ConvNet: return convNet();
    case TorchModel::Lstm: return lstm();
    case TorchModel::Control: return control();
    case TorchModel::TwoInputs: return twoInputs();
    case TorchModel::Shared: return shared();
    case TorchModel::ShapeBranch: return shapeBranch();
    case TorchModel::InPlace: return inPlace();
    case TorchModel::Transposed: return transposed();
    case TorchModel::Prints: return plain("def forward(self, x):\n    print(\"Ohello\")\n    return torch.relu(x)\n");
    case TorchModel::Endless:
        return plain("def forward(self, x):\n    while bool(x.sum() > -1.0):\n        x = x + 1.0\n    return x\n");
    case TorchModel::Wide: return wide();
    }
    return plain("def forward(self, x):\n    return x\n");
}

} // namespace

std::string writeTorchModel(TorchModel model, const std::string& path) {
    at::manual_seed(1);
    make(model).save(path);
    return path;
}

std::string writeStateDict(const std::string& path) {
    // The records of torch.save({"weight": ...}): nobody looks into them, their names say what the archive is.
    caffe2::serialize::PyTorchStreamWriter writer(path);
    const std::string pickle = "\x80\x02}q\x00.";
    const std::string weights(4096, 'w');
    writer.writeRecord("data.pkl", pickle.data(), pickle.size());
    writer.writeRecord("data/0", weights.data(), weights.size());
    writer.writeEndOfFile();
    return path;
}

} // namespace pw::test
