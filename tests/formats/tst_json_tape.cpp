// The tape accepts, refuses and means what nlohmann-json does.

#include "core/formats/json_tape.h"
#include "core/formats/json_util.h"

#include <QtTest>

#include <random>

using namespace pw;
using namespace pw::formats;

namespace {

/// A tape as the other library's tree.
Json treeOf(JsonValue value) {
    switch (value.kind()) {
    case JsonValue::Kind::Null:
        return nullptr;
    case JsonValue::Kind::False:
        return false;
    case JsonValue::Kind::True:
        return true;
    case JsonValue::Kind::Text:
    case JsonValue::Kind::DecodedText:
        return std::string(value.text());
    case JsonValue::Kind::Number:
        return Json::parse(value.number());
    case JsonValue::Kind::Array: {
        Json list = Json::array();
        (void)value.forEachElement([&](JsonValue element) { return list.push_back(treeOf(element)), Status(); });
        return list;
    }
    case JsonValue::Kind::Object:
        break;
    }
    Json object = Json::object();
    (void)value.forEachMember([&](std::string_view key, JsonValue member) {
        object[std::string(key)] = treeOf(member);
        return Status();
    });
    return object;
}

/// Complains about any difference between the two readers.
std::string difference(const std::string& text) {
    const auto tree = parseJson(text, "f");
    const auto tape = JsonTape::parse(text, "f");
    if (tree.has_value() != tape.has_value())
        return tape ? "accepted" : "refused: " + tape.error().toString();
    if (!tree)
        return tree.error().toString() == tape.error().toString() ? "" : tape.error().toString();
    const Json back = treeOf(tape->root());
    return back == *tree && Json::parse(tape->root().toJson()) == *tree ? "" : "differs: " + back.dump();
}

} // namespace

class TestJsonTape : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sameAsTheTree_data() {
        QTest::addColumn<QByteArray>("text");
        const char* const texts[] = {
            "",
            " ",
            "null",
            " true ",
            "false",
            "nul",
            "[]",
            "{}",
            "[1,2]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\" 1}",
            "{\"a\":}",
            "[}",
            "{]",
            "]",
            "[",
            "{",
            "[1]x",
            "\"",
            "\"a",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u00e9\\n\\t\\b\\f\\r\\/\\\\\\\"\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\ud83d\\u0041\"",
            "\"\\u-123\"",
            "\"a\tb\"",
            "\"\x7f\"",
            "\"\xc3\xa9\"",
            "\"\xc3\"",
            "\"\xc0\x80\"",
            "\"\xed\xa0\x80\"",
            "\"\xf4\x90\x80\x80\"",
            "\"\xc3\\n\xa9\"",
            "0",
            "-0",
            "-",
            "01",
            "1.",
            ".5",
            "1.5e",
            "1e+",
            "1e400",
            "-1e400",
            "1e-400",
            "0.0e999",
            "18446744073709551616",
            "-9223372036854775809",
            "1E5",
            "+1",
            "\xef\xbb\xbf[1]",
            "\xef\xbb[1]",
            "{\"a\":1,\"a\":2}",
            "{\"a\":{\"b\":[{},[],\"\"]}}",
            "// x\n1",
            "\f1",
            "NaN",
            "[\"\\u0000\"]",
        };
        int row = 0;
        for (const char* text : texts)
            QTest::newRow(qPrintable(QString::number(row++))) << QByteArray(text);
        QTest::newRow("long number") << QByteArray(400, '9');
        QTest::newRow("long fraction") << "0." + QByteArray(400, '3');
    }
    void sameAsTheTree() {
        QFETCH(QByteArray, text);
        const std::string found = difference(text.toStdString());
        QVERIFY2(found.empty(), found.c_str());
    }

    /// Any damage to any byte of a text that uses everything.
    void sameAsTheTreeWhenDamaged() {
        const std::string whole = " {\"a\": [1, -2.5e3, true, null], \"\\u00e9\\\"\": \"x\\ud83d\\ude00y\", "
                                  "\"\xc3\xa9\": {\"b\": \"\", \"c\": [[], {}]}} ";
        QCOMPARE(difference(whole), std::string());
        std::mt19937 random(1);
        for (int round = 0; round < 20'000; ++round) {
            std::string damaged = whole;
            for (unsigned k = 0; k <= random() % 3; ++k) {
                const std::size_t at = random() % damaged.size();
                switch (random() % 3) {
                case 0:
                    damaged[at] = static_cast<char>(1 + random() % 255);
                    break;
                case 1:
                    damaged.erase(at, 1 + random() % 3);
                    break;
                default:
                    damaged.insert(at, 1, "{}[],:\"\\0e-u "[random() % 13]);
                }
            }
            const std::string found = difference(damaged);
            QVERIFY2(found.empty(), (damaged + "\n" + found).c_str());
        }
    }

    void pathsAreSpelledOut() {
        const JsonPath root;
        const JsonPath ops = root.member("ops");
        const JsonPath op = ops.element(3);
        const JsonPath bytes = op.member("bytes");
        QCOMPARE(root.toString(), std::string());
        QCOMPARE(bytes.toString(), std::string("ops[3].bytes"));
        QCOMPARE(root.element(0).toString(), std::string("[0]"));
    }
};

QTEST_APPLESS_MAIN(TestJsonTape)
#include "tst_json_tape.moc"
