// Prints how long graphs of each format take to open, and with how much memory:
//   bench_formats [path of placewright-cli] [--written]
// Makes its own inputs in a temporary folder. Every file is opened in a process of its own, so that the peak is that of
// one file; with the path of placewright-cli also the whole process `placewright-cli info FILE` is timed. The weights
// of the 1 GB model are holes of the file unless --written is given.

#include "core/base/clock.h"
#include "core/formats/formats.h"
#include "core/zoo/zoo.h"
#include "tests/formats/onnx_wire.h"
#include "tests/formats/temp_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

using namespace pw;
namespace wire = pw::test::wire;

namespace {

constexpr int kRuns = 5;

/// A file to open. `graphBytes` is its size without the weights.
struct Input {
    std::string title;
    std::string path;
    std::int64_t graphBytes = 0;
    std::size_t ops = 0;
};

[[noreturn]] void giveUp(const std::string& reason) {
    std::fprintf(stderr, "bench_formats: %s\n", reason.c_str());
    std::exit(1);
}

/// Peak resident size of this process in bytes.
std::int64_t peakBytes() {
    std::FILE* status = std::fopen("/proc/self/status", "r");
    std::array<char, 256> line = {};
    long long kilobytes = 0;
    while (status != nullptr && std::fgets(line.data(), line.size(), status) != nullptr) {
        if (std::sscanf(line.data(), "VmHWM: %lld kB", &kilobytes) == 1)
            break;
    }
    if (status != nullptr)
        std::fclose(status);
    return kilobytes * 1024;
}

double cpuSeconds(const rusage& usage) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double cpuSecondsHere() {
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return cpuSeconds(usage);
}

/// The child's side: opens one file and says what it took.
int measureHere(const std::string& path) {
    const std::int64_t before = peakBytes();
    const double cpuBefore = cpuSecondsHere();
    const Stopwatch watch;
    const auto graph = formats::loadGraph(path);
    const double seconds = watch.seconds();
    const double cpu = cpuSecondsHere() - cpuBefore;
    if (!graph)
        giveUp(graph.error().toString());
    std::printf("%.6f %.6f %lld %zu\n", seconds, cpu, static_cast<long long>(peakBytes() - before),
                (*graph)->opCount());
    return 0;
}

/// Seconds by the clock, and of processors: the second ones also count on a machine that is busy with other things.
struct Times {
    double wall = 0.0;
    double cpu = 0.0;
};

/// Standard output of a command line; the time it took in `times`.
std::string runProgram(const std::vector<std::string>& command, Times& times) {
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        giveUp("no pipe");
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0); // warnings
    pid_t pid = -1;
    const Stopwatch watch;
    if (::posix_spawn(&pid, command.front().c_str(), &actions, nullptr, arguments.data(), environ) != 0)
        giveUp("cannot start " + command.front());
    ::close(ends[1]);
    std::string output;
    std::array<char, 65536> buffer;
    for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        output.append(buffer.data(), static_cast<std::size_t>(got));
    int status = 0;
    rusage usage = {};
    ::wait4(pid, &status, 0, &usage);
    times = {watch.seconds(), cpuSeconds(usage)};
    ::close(ends[0]);
    posix_spawn_file_actions_destroy(&actions);
    return status == 0 ? output : std::string();
}

Times median(std::vector<Times> values) {
    const auto middle = [&values](double Times::*field) {
        std::sort(values.begin(), values.end(),
                  [field](const Times& a, const Times& b) { return a.*field < b.*field; });
        return values[values.size() / 2].*field;
    };
    return {middle(&Times::wall), middle(&Times::cpu)};
}

void report(const Input& input, const std::string& program) {
    std::vector<Times> loads(kRuns);
    long long memory = 0;
    std::size_t ops = 0;
    for (Times& load : loads) {
        Times whole;
        const std::string answer = runProgram({"/proc/self/exe", "--measure", input.path}, whole);
        if (std::sscanf(answer.c_str(), "%lf %lf %lld %zu", &load.wall, &load.cpu, &memory, &ops) != 4) {
            std::printf("%-34s refused\n", input.title.c_str());
            return;
        }
    }
    if (input.ops != 0 && ops != input.ops)
        giveUp(input.path + " has " + std::to_string(ops) + " ops");
    const Times load = median(loads);
    std::printf("%-34s %7zu ops %6.2f MB graph  load %7.1f ms (cpu %7.1f)  memory %6.1f MB = %5.1f x graph",
                input.title.c_str(), ops, static_cast<double>(input.graphBytes) / 1e6, load.wall * 1e3, load.cpu * 1e3,
                static_cast<double>(memory) / 1e6, static_cast<double>(memory) / static_cast<double>(input.graphBytes));
    if (!program.empty()) {
        std::vector<Times> wholes(kRuns);
        for (Times& times : wholes)
            runProgram({program, "info", input.path}, times);
        const Times whole = median(wholes);
        std::printf("  info %7.1f ms (cpu %7.1f)", whole.wall * 1e3, whole.cpu * 1e3);
    }
    std::printf("\n");
    std::fflush(stdout);
}

/// A chain MatMul, Relu, MatMul, ... of `width` features. As exporters write it: named nodes with a scope, typed
/// values.
struct ChainModel {
    std::size_t nodes = 0;
    std::int64_t width = 0;
    bool typed = true;
    bool weights = true;

    std::int64_t weightBytes() const { return weights ? 4 * width * width : 0; }
};

std::string chainNodes(const ChainModel& model) {
    std::string out;
    std::string value = "input";
    const std::vector<std::string> shape = {"1", std::to_string(model.width)};
    for (std::size_t i = 0; i < model.nodes; ++i) {
        const std::string block = "/layers." + std::to_string(i / 2);
        const std::string made = block + (i % 2 == 0 ? "/fc/MatMul_output_0" : "/act/Relu_output_0");
        if (i % 2 == 0)
            out += wire::bytes(1, wire::node("MatMul", {value, "layers." + std::to_string(i / 2) + ".fc.weight"},
                                             {made}, block + "/fc/MatMul"));
        else
            out += wire::bytes(1, wire::node("Relu", {value}, {made}, block + "/act/Relu"));
        if (model.typed)
            out += wire::bytes(13, wire::valueInfo(made, 1, shape));
        value = made;
    }
    return out + wire::bytes(11, wire::valueInfo("input", 1, shape)) +
           wire::bytes(12, wire::valueInfo(value, 1, shape)) + wire::bytes(2, "chain");
}

/// A tensor record up to and including the length of its raw data.
std::string weightHead(std::size_t index, const ChainModel& model) {
    const std::string name = "layers." + std::to_string(index) + ".fc.weight";
    const std::string fields = wire::tensor(name, 1, {model.width, model.width}) + wire::varint((9U << 3U) | 2U) +
                               wire::varint(static_cast<std::uint64_t>(model.weightBytes()));
    return wire::varint((5U << 3U) | 2U) + wire::varint(fields.size() + static_cast<std::size_t>(model.weightBytes())) +
           fields;
}

/// Appends to a file; weights are written, or left as holes.
class Output {
public:
    explicit Output(const std::string& path)
        : m_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() { ::close(m_fd); }

    void write(std::string_view bytes) {
        if (::pwrite(m_fd, bytes.data(), bytes.size(), static_cast<off_t>(m_size)) !=
            static_cast<ssize_t>(bytes.size()))
            giveUp("cannot write the inputs");
        m_size += static_cast<std::int64_t>(bytes.size());
    }
    void hole(std::int64_t bytes) { m_size += bytes; }
    std::int64_t finish() {
        if (::ftruncate(m_fd, static_cast<off_t>(m_size)) != 0)
            giveUp("cannot write the inputs");
        return m_size;
    }

private:
    int m_fd;
    std::int64_t m_size = 0;
};

Input onnxChain(std::string title, const std::string& path, const ChainModel& model, bool written) {
    const std::string nodes = chainNodes(model);
    std::vector<std::string> heads;
    std::uint64_t graphSize = nodes.size();
    for (std::size_t i = 0; i < (model.nodes + 1) / 2 && model.weights; ++i) {
        heads.push_back(weightHead(i, model));
        graphSize += heads.back().size() + static_cast<std::uint64_t>(model.weightBytes());
    }
    Output out(path);
    out.write(wire::number(1, 8) + wire::varint((7U << 3U) | 2U) + wire::varint(graphSize) + nodes);
    const std::string weights(static_cast<std::size_t>(written ? model.weightBytes() : 0), '\x3d');
    for (const std::string& head : heads) {
        out.write(head);
        written ? out.write(weights) : out.hole(model.weightBytes());
    }
    out.write(wire::bytes(8, wire::bytes(1, "") + wire::number(2, 13)));
    const std::int64_t size = out.finish();
    return {std::move(title), path, size - static_cast<std::int64_t>(heads.size()) * model.weightBytes(), model.nodes};
}

/// The same chain in protobuf's text format.
Input onnxText(const std::string& path, std::size_t nodes) {
    std::string out = "ir_version: 8\nopset_import { domain: \"\" version: 13 }\ngraph {\n  name: \"chain\"\n";
    std::string value = "input";
    for (std::size_t i = 0; i < nodes; ++i) {
        const std::string made = "/layers." + std::to_string(i) + "/act/Relu_output_0";
        out += "  node {\n    input: \"" + value + "\"\n    output: \"" + made + "\"\n    name: \"/layers." +
               std::to_string(i) + "/act/Relu\"\n    op_type: \"Relu\"\n  }\n";
        value = made;
    }
    Output file(path);
    file.write(out + "}\n");
    return {"ONNX text, 10,000 nodes", path, file.finish(), nodes};
}

/// One fact per record, nothing else: what costs most memory for its size.
Input tinyRecords(const std::string& path, std::size_t nodes) {
    std::string graph;
    for (std::size_t i = 0; i < nodes; ++i)
        graph += wire::bytes(1, wire::node("Add", {i == 0 ? "" : std::to_string(i - 1)}, {std::to_string(i)}));
    Output file(path);
    file.write(wire::model(graph));
    return {"ONNX, tiny records", path, file.finish(), nodes};
}

Input tinyJson(const std::string& path, std::size_t ops) {
    Output file(path);
    std::string out = R"({"format":"placewright-graph","version":1,"ops":[{})";
    for (std::size_t i = 1; i < ops; ++i)
        out += ",{}";
    file.write(out + "]}");
    return {"graph JSON, empty ops", path, file.finish(), ops};
}

Input fromZoo(std::string title, const std::string& spec, const std::string& path) {
    const auto graph = zoo::makeFromSpec(spec);
    if (!graph)
        giveUp(graph.error().toString());
    if (const Status saved = formats::saveGraph(**graph, path); !saved)
        giveUp(saved.error().toString());
    return {std::move(title), path, static_cast<std::int64_t>(std::filesystem::file_size(path)), (*graph)->opCount()};
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string_view(argv[1]) == "--measure")
        return measureHere(argv[2]);
    std::string program;
    bool written = false;
    for (int i = 1; i < argc; ++i)
        (std::string_view(argv[i]) == "--written" ? written = true : (program = argv[i], true));
    const test::TempFolder folder(test::TempFolder::Place::Disk);
    const std::string onnx = folder.path("m.onnx");
    report(onnxChain("ONNX, 10,000 nodes, 20 MB weights", onnx, {10'000, 32, true, true}, true), program);
    report(onnxChain("ONNX, the same without types", onnx, {10'000, 32, false, true}, true), program);
    report(onnxChain("ONNX, 2,000 nodes, no weights", onnx, {2'000, 512, true, false}, false), program);
    report(onnxChain("ONNX, 2,000 nodes, 1 GB weights", onnx, {2'000, 512, true, true}, written), program);
    report(tinyRecords(onnx, 80'000), program);
    report(onnxText(folder.path("m.onnxtxt"), 10'000), program);
    report(fromZoo("graph JSON, RNNLM 20 layers", "zoo:rnnlm?layers=20", folder.path("m.graph.json")), program);
    report(fromZoo("graph JSON, chain of 50,000", "zoo:chain?n=50000", folder.path("m.graph.json")), program);
    report(tinyJson(folder.path("m.graph.json"), 80'000), program);
    report(fromZoo("DOT, RNNLM 20 layers", "zoo:rnnlm?layers=20", folder.path("m.dot")), program);
    return 0;
}
