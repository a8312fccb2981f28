#include "app/cli/inputs.h"

#include "core/base/text.h"
#include "core/learn/learn_loader.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace pw::cli {

namespace {

Json deviceSetJson(const DeviceSet& set) {
    return Json::parse(formats::toDevicesJson(set));
}

Result<int> runList(const Cli& cli) {
    Json sets = Json::array();
    Table table({"preset", "devices", "memory each", "links"});
    for (const std::string& name : devicePresetNames()) {
        const DeviceSet set = *devicePreset(name);
        Json json = deviceSetJson(set);
        sets.push_back({{"name", name}, {"devices", json["devices"]}, {"links", json["links"]}});
        std::string devices;
        for (const Device& device : set.devices())
            devices += (devices.empty() ? "" : ", ") + device.name;
        table.add({name, devices, text::bytes(static_cast<double>(set.devices().back().memoryBytes)),
                   std::to_string(set.links().size())});
    }
    if (cli.json)
        printJson({{"presets", sets}});
    else
        table.print();
    return kDone;
}

Result<int> runShow(const Cli& cli, const std::string& name) {
    PW_TRY(const DeviceSet set, openDevices(name, {}));
    const Json json = deviceSetJson(set);
    if (cli.json) {
        printJson(json);
        return kDone;
    }
    std::cout << set.name() << "\n";
    Table devices({"device", "kind", "model", "memory", "peak GFLOP/s", "GB/s", "launch us"});
    for (const Device& d : set.devices()) {
        devices.add({d.name, d.kind, d.model, d.memoryBytes > 0 ? text::bytes(static_cast<double>(d.memoryBytes)) : "no limit",
                     text::number(d.flopsPerUs / 1e3), text::number(d.bytesPerUs / 1e3), text::number(d.launchUs)});
    }
    devices.print();
    Table links({"link", "GB/s", "latency us", "shared"});
    for (const Link& link : set.links()) {
        links.add({set.device(link.from).name + " -> " + set.device(link.to).name, text::number(link.bytesPerUs / 1e3),
                   text::number(link.latencyUs), link.shared});
    }
    links.print();
    return kDone;
}

Result<int> runLocal(const Cli& cli) {
    PW_TRY(const learn::Library* library, learn::load());
    const learn::LocalInfo info = library->localInfo(true);
    Json devices = Json::array();
    for (const learn::LocalDevice& device : info.devices)
        devices.push_back({{"name", device.name}, {"model", device.model}, {"memory_bytes", device.memoryBytes}});
    if (cli.json) {
        printJson({{"devices", devices},
                   {"links", Json::array()},
                   {"local",
                    {{"blas", info.blas}, {"core", info.core}, {"gflops", info.gflops},
                     {"cuda", info.cuda.empty() ? Json(nullptr) : Json(info.cuda)}, {"torch", info.torchVersion}}}});
        return kDone;
    }
    Table table({"device", "model", "memory"});
    for (const learn::LocalDevice& device : info.devices)
        table.add({device.name, device.model, text::bytes(static_cast<double>(device.memoryBytes))});
    table.print();
    char gflops[32];
    std::snprintf(gflops, sizeof gflops, "%.1f", info.gflops);
    std::cout << "LibTorch " << info.torchVersion << ", " << info.blas << ", core " << info.core << ", " << gflops
              << " GFLOP/s measured (float32 matrix product)\n"
              << "CUDA: " << (info.cuda.empty() ? "not in this LibTorch" : info.cuda) << "\n";
    return kDone;
}

} // namespace

void addDevicesCommand(CLI::App& app, Cli& cli) {
    CLI::App* command = app.add_subcommand("devices", "Device presets and this machine's devices");
    CLI::App* list = command->add_subcommand("list", "The presets (what 'devices' alone prints)");
    setBody(list, cli, [&cli] { return runList(cli); });

    auto name = std::make_shared<std::string>();
    CLI::App* show = command->add_subcommand("show", "One preset or device-set file, with its links");
    show->add_option("name", *name, "preset name, 'local', or a file")->required();
    setBody(show, cli, [&cli, name] { return runShow(cli, *name); });

    CLI::App* local = command->add_subcommand("local", "What LibTorch sees here, and how fast its BLAS is");
    setBody(local, cli, [&cli] { return runLocal(cli); });

    setBody(command, cli, [&cli, command]() -> Result<int> {
        return command->get_subcommands().empty() ? runList(cli) : Result<int>(cli.exitCode);
    });
    setExample(command, "devices show 2xK80",
               "  2xK80\n"
               "  device  kind      model   memory  peak GFLOP/s  GB/s  launch us\n"
               "  gpu:0    gpu  Tesla K80  12.0 GB          4370   240        5.7\n"
               "  gpu:1    gpu  Tesla K80  12.0 GB          4370   240        5.7\n"
               "  link            GB/s  latency us  shared\n"
               "  gpu:0 -> gpu:1   7.6          25\n"
               "  gpu:1 -> gpu:0   7.6          25");
}

} // namespace pw::cli
