#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/base/result.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace pw;

namespace {

template<class... Values>
std::string hashOf(const Values&... values) {
    Hasher hasher;
    (hasher.add(values), ...);
    return hasher.finishHex();
}

} // namespace

class TestBase : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void hashFramesItsValues() {
        QVERIFY(hashOf("ab", "c") != hashOf("a", "bc"));
        QVERIFY(hashOf("") != hashOf("", ""));
        QVERIFY(hashOf(std::string(1, '\0')) != hashOf(std::string(2, '\0')));
        QVERIFY(hashOf(1, 2) != hashOf(2, 1));
        QCOMPARE(hashOf(0.0), hashOf(-0.0));
        QVERIFY(hashOf(0.1) != hashOf(0.2));
        QCOMPARE(hashOf("abc").size(), std::size_t{32});
    }

    void hashHasNoEasyCollisions() {
        std::set<std::string> seen;
        for (int i = 0; i < 20000; ++i)
            QVERIFY(seen.insert(hashOf(i)).second);
        for (int i = 0; i < 2000; ++i)
            QVERIFY(seen.insert(hashOf("op" + std::to_string(i), i % 7)).second);
    }

    /// The hash names graphs in project files: it must never change.
    void hashIsStable() {
        const std::string now = hashOf("placewright", 42, 0.5);
        QCOMPARE(now, std::string("1ffbabf8a1eb048f35a88b5f3befbd93"));
    }

    void rngRepeatsAndStreamsDiffer() {
        Rng a(7);
        Rng b(7);
        for (int i = 0; i < 100; ++i)
            QCOMPARE(a.next(), b.next());
        QVERIFY(Rng::derive(1, "x").next() != Rng::derive(1, "y").next());
        QVERIFY(Rng::derive(1, "x").next() != Rng::derive(2, "x").next());
        const Rng::State saved = a.state();
        const auto next = a.next();
        a.setState(saved);
        QCOMPARE(a.next(), next);
    }

    void rngIsUniformEnough() {
        Rng rng(3);
        std::vector<int> counts(10, 0);
        double sum = 0.0;
        double squares = 0.0;
        const int n = 100000;
        for (int i = 0; i < n; ++i) {
            ++counts[rng.below(10)];
            const double u = rng.uniform();
            QVERIFY(u >= 0.0 && u < 1.0);
            const double z = rng.normal();
            sum += z;
            squares += z * z;
        }
        for (const int count : counts)
            QVERIFY(std::abs(count - n / 10) < 500); // 5 standard deviations
        QVERIFY(std::abs(sum / n) < 0.02);
        QVERIFY(std::abs(squares / n - 1.0) < 0.03);
        QCOMPARE(rng.below(1), std::uint64_t{0});
    }

    void textSplitsAndTrims() {
        const auto parts = text::split("a;;b;", ';');
        QCOMPARE(parts.size(), std::size_t{4});
        QCOMPARE(std::string(parts[1]), std::string());
        QCOMPARE(std::string(text::trim(" \t a b \n")), std::string("a b"));
        QCOMPARE(std::string(text::trim("  ")), std::string());
        QCOMPARE(text::toLower("Conv2D"), std::string("conv2d"));
    }

    void utf8IsCheckedAndRepaired() {
        QVERIFY(text::isValidUtf8("plain"));
        QVERIFY(text::isValidUtf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
        for (const char* bad : {"\xc3", "\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "a\xe2\x82"}) {
            QVERIFY(!text::isValidUtf8(bad));
            QVERIFY(text::isValidUtf8(text::toValidUtf8(bad)));
        }
        QCOMPARE(text::toValidUtf8("a\xff"
                                   "b"),
                 std::string("a\xef\xbf\xbd"
                             "b"));
    }

    void numbersReadBack() {
        for (const double value : {0.1, 1e-7, 12.0, 332.1, 2100.446842105264, -0.0, 1e300}) {
            const std::string written = text::number(value);
            QCOMPARE(std::stod(written), value);
        }
        QCOMPARE(text::number(0.1), std::string("0.1"));
        QCOMPARE(text::number(12.0), std::string("12"));
    }

    void numbersForPeople() {
        QCOMPARE(text::grouped(12345678), std::string("12,345,678"));
        QCOMPARE(text::grouped(-1234), std::string("-1,234"));
        QCOMPARE(text::grouped(0), std::string("0"));
        QCOMPARE(text::grouped(std::numeric_limits<std::int64_t>::min()), std::string("-9,223,372,036,854,775,808"));
        QCOMPARE(text::bytes(12e9), std::string("12.0 GB"));
        QCOMPARE(text::bytes(76000), std::string("76.0 kB"));
        QCOMPARE(text::bytes(12), std::string("12 B"));
        QCOMPARE(text::duration(12.34), std::string("12.3 us"));
        QCOMPARE(text::duration(3333600), std::string("3,333.6 ms"));
    }

    void errorsSayWhere() {
        const Error error{ErrorCode::Parse, "not a number", "a.json", "ops[3].cost_us"};
        QCOMPARE(error.toString(), std::string("a.json: ops[3].cost_us: not a number"));
        QCOMPARE(Error({ErrorCode::Io, "disk full", "", ""}).toString(), std::string("disk full"));
        QCOMPARE(std::string(errorCodeName(ErrorCode::TooLarge)), std::string("too_large"));
    }
};

QTEST_APPLESS_MAIN(TestBase)
#include "tst_base.moc"
