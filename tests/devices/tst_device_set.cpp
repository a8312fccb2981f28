#include "core/devices/device_set.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace pw;

namespace {

Device gpu(std::string name) {
    Device device;
    device.name = std::move(name);
    device.kind = "gpu";
    device.flopsPerUs = 1e6;
    device.bytesPerUs = 1e5;
    return device;
}

Link wire(std::size_t from, std::size_t to, double rate = 1000.0, double latency = 1.0) {
    return {DeviceId(from), DeviceId(to), rate, latency, ""};
}

Result<DeviceSet> pairWith(std::vector<Link> links) {
    return DeviceSet::create("pair", {gpu("a"), gpu("b")}, std::move(links));
}

} // namespace

class TestDeviceSet : public QObject {
    Q_OBJECT

private Q_SLOTS:
    // Every value of every preset.
    void presets_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("flops");
        QTest::addColumn<double>("memoryRate");
        QTest::addColumn<double>("memory");
        QTest::addColumn<double>("launch");
        QTest::addColumn<double>("rate");
        QTest::addColumn<double>("latency");
        QTest::newRow("2xK80") << "2xK80" << 2 << 4.37e6 << 240e3 << 12e9 << 5.7 << 7600.0 << 25.0;
        QTest::newRow("4xK80") << "4xK80" << 4 << 4.37e6 << 240e3 << 12e9 << 5.7 << 7600.0 << 25.0;
        QTest::newRow("2xP100") << "2xP100" << 2 << 9.3e6 << 732e3 << 16e9 << 5.0 << 11000.0 << 15.0;
        QTest::newRow("4xP100") << "4xP100" << 4 << 9.3e6 << 732e3 << 16e9 << 5.0 << 11000.0 << 15.0;
        QTest::newRow("8xP100") << "8xP100" << 8 << 9.3e6 << 732e3 << 16e9 << 5.0 << 11000.0 << 15.0;
        QTest::newRow("8xV100-NVLink") << "8xV100-NVLink" << 8 << 15.7e6 << 900e3 << 16e9 << 5.0 << 22000.0 << 10.0;
    }

    void presets() {
        QFETCH(QString, name);
        QFETCH(int, count);
        const auto set = devicePreset(name.toStdString());
        QVERIFY(set);
        QCOMPARE(set->name(), name.toStdString());
        QCOMPARE(set->count(), static_cast<std::size_t>(count));
        QCOMPARE(set->links().size(), static_cast<std::size_t>(count * (count - 1)));
        for (std::size_t i = 0; i < set->count(); ++i) {
            const Device& device = set->device(DeviceId(i));
            QCOMPARE(device.name, "gpu:" + std::to_string(i));
            QCOMPARE(device.kind, std::string("gpu"));
            QTEST(device.flopsPerUs, "flops");
            QTEST(device.bytesPerUs, "memoryRate");
            QTEST(static_cast<double>(device.memoryBytes), "memory");
            QTEST(device.launchUs, "launch");
        }
        const Link& first = set->link(set->linkBetween(DeviceId(0), DeviceId(1)));
        QTEST(first.bytesPerUs, "rate");
        QTEST(first.latencyUs, "latency");
    }

    void nvlinkFollowsTheCube() {
        const auto set = devicePreset("8xV100-NVLink");
        const auto rate = [&](std::size_t from, std::size_t to) {
            return set->link(set->linkBetween(DeviceId(from), DeviceId(to))).bytesPerUs;
        };
        QCOMPARE(rate(0, 3), 22000.0);
        QCOMPARE(rate(2, 6), 22000.0);
        QCOMPARE(rate(7, 3), 22000.0);
        QCOMPARE(rate(0, 5), 10000.0);
        QCOMPARE(set->link(set->linkBetween(DeviceId(3), DeviceId(4))).latencyUs, 20.0);
    }

    void hostPresetHasTheCpuFirst() {
        const auto set = devicePreset("CPU+1xP100");
        QCOMPARE(set->count(), std::size_t{2});
        QCOMPARE(set->device(DeviceId(0)).name, std::string("cpu:0"));
        QCOMPARE(set->device(DeviceId(0)).kind, std::string("cpu"));
        QCOMPARE(set->device(DeviceId(0)).memoryBytes, std::int64_t{128'000'000'000});
        QCOMPARE(set->device(DeviceId(1)).name, std::string("gpu:0"));
        QCOMPARE(set->device(DeviceId(1)).flopsPerUs, 9.3e6);
        QVERIFY(set->linkBetween(DeviceId(1), DeviceId(0)).isValid());
    }

    void everyNameIsAPreset() {
        const auto names = devicePresetNames();
        QCOMPARE(names.size(), std::size_t{7});
        for (const std::string& name : names)
            QVERIFY(devicePreset(name));
        QVERIFY(!devicePreset("2xk80"));
        QVERIFY(!devicePreset(""));
    }

    void badSetsAreRefused() {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        QVERIFY(!DeviceSet::create("x", {}, {}));
        QVERIFY(!DeviceSet::create("x", {gpu("a"), gpu("a")}, {}));
        QVERIFY(!DeviceSet::create("x", {gpu("")}, {}));
        QVERIFY(!DeviceSet::create("x", std::vector<Device>(1025, gpu("a")), {}));
        for (double Device::*field : {&Device::flopsPerUs, &Device::bytesPerUs, &Device::launchUs}) {
            for (const double value : {-1.0, kInfinity, std::nan("")}) {
                Device bad = gpu("guilty");
                bad.*field = value;
                const auto set = DeviceSet::create("x", {gpu("a"), bad}, {});
                QVERIFY(!set);
                QVERIFY(set.error().where.find("guilty") != std::string::npos);
            }
        }
        Device negative = gpu("a");
        negative.memoryBytes = -1;
        QVERIFY(!DeviceSet::create("x", {negative}, {}));
    }

    void badLinksAreRefused() {
        QVERIFY(pairWith({wire(0, 1), wire(1, 0)}));
        QVERIFY(!pairWith({wire(0, 0)}));
        QVERIFY(!pairWith({wire(0, 2)}));
        QVERIFY(!pairWith({Link{DeviceId(0), DeviceId(), 1.0, 0.0, ""}}));
        QVERIFY(!pairWith({wire(0, 1), wire(0, 1)}));
        QVERIFY(!pairWith({wire(0, 1, 0.0)}));
        QVERIFY(!pairWith({wire(0, 1, -5.0)}));
        QVERIFY(!pairWith({wire(0, 1, std::nan(""))}));
        QVERIFY(!pairWith({wire(0, 1, 1.0, -1.0)}));
        QCOMPARE(pairWith({wire(0, 1), wire(0, 1)}).error().where, std::string("links[1]"));
    }

    void linksAreDirected() {
        const auto set = pairWith({wire(0, 1)});
        QVERIFY(set->linkBetween(DeviceId(0), DeviceId(1)).isValid());
        QVERIFY(!set->linkBetween(DeviceId(1), DeviceId(0)).isValid());
        QCOMPARE(set->find("b"), std::optional(DeviceId(1)));
        QVERIFY(!set->find("c"));
    }

    void hashFollowsWhatTheSimulatorSees() {
        const std::string base = pairWith({wire(0, 1)})->hash();
        QCOMPARE(base, pairWith({wire(0, 1)})->hash());
        QVERIFY(base != pairWith({wire(1, 0)})->hash());
        QVERIFY(base != pairWith({wire(0, 1, 1001.0)})->hash());
        QVERIFY(base != pairWith({})->hash());
        QVERIFY(devicePreset("2xK80")->hash() != devicePreset("2xP100")->hash());
    }

    void lettersGoOnAfterZ() {
        QCOMPARE(deviceLetter(DeviceId(0)), std::string("A"));
        QCOMPARE(deviceLetter(DeviceId(25)), std::string("Z"));
        QCOMPARE(deviceLetter(DeviceId(26)), std::string("AA"));
        QCOMPARE(deviceLetter(DeviceId(27)), std::string("AB"));
        QCOMPARE(deviceLetter(DeviceId(701)), std::string("ZZ"));
        QCOMPARE(deviceLetter(DeviceId(702)), std::string("AAA"));
    }
};

QTEST_APPLESS_MAIN(TestDeviceSet)
#include "tst_device_set.moc"
