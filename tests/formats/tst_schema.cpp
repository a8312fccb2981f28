// The schemas in resources/schema say what the readers read and the writers write.

#include "core/formats/formats.h"
#include "core/formats/graph_json_keys.h"
#include "core/graph/graph_builder.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <cmath>
#include <span>

using namespace pw;
using namespace pw::test;

namespace {

QJsonObject jsonFile(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}
QJsonObject schemaOf(const QString& name) {
    return jsonFile(QStringLiteral(PW_SCHEMAS "/%1.schema.json").arg(name));
}
QJsonValue json(const std::string& text) {
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(text));
    return document.isArray() ? QJsonValue(document.array()) : QJsonValue(document.object());
}

/// The part of JSON Schema that the schemas use. Returns the first complaint.
class Validator {
public:
    explicit Validator(QJsonObject root)
        : m_root(std::move(root)) {}

    QString complaint(const QJsonValue& value) const { return check(m_root, value, "$"); }

    /// Closed: an object may hold nothing that its schema does not name.
    bool closed = false;

private:
    static bool isType(const QString& type, const QJsonValue& value) {
        return (type == "object" && value.isObject()) || (type == "array" && value.isArray()) ||
               (type == "string" && value.isString()) || (type == "boolean" && value.isBool()) ||
               (type == "null" && value.isNull()) || (type == "number" && value.isDouble()) ||
               (type == "integer" && value.isDouble() && std::floor(value.toDouble()) == value.toDouble());
    }

    QString check(const QJsonObject& schema, const QJsonValue& value, const QString& path) const {
        if (schema.contains("$ref")) {
            const QString name = schema["$ref"].toString().section('/', -1);
            const QJsonObject target = m_root["$defs"].toObject()[name].toObject();
            if (target.isEmpty())
                return path + ": no definition " + name;
            if (const QString found = check(target, value, path); !found.isEmpty())
                return found;
        }
        if (const QJsonValue types = schema["type"]; !types.isUndefined()) {
            const QJsonArray list = types.isArray() ? types.toArray() : QJsonArray{types};
            if (std::none_of(list.begin(), list.end(),
                             [&](const QJsonValue& type) { return isType(type.toString(), value); }))
                return path + ": type";
        }
        if (schema.contains("const") && schema["const"] != value)
            return path + ": const";
        if (schema.contains("enum") && !schema["enum"].toArray().contains(value))
            return path + ": enum";
        if (value.isDouble() && (value.toDouble() < schema["minimum"].toDouble(-INFINITY) ||
                                 value.toDouble() > schema["maximum"].toDouble(INFINITY) ||
                                 value.toDouble() <= schema["exclusiveMinimum"].toDouble(-INFINITY)))
            return path + ": range";
        if (const QJsonArray choices = schema["oneOf"].toArray(); !choices.isEmpty()) {
            const auto fits = std::count_if(choices.begin(), choices.end(), [&](const QJsonValue& choice) {
                return check(choice.toObject(), value, path).isEmpty();
            });
            if (fits != 1)
                return path + ": oneOf";
        }
        return value.isObject() ? checkObject(schema, value.toObject(), path)
                                : checkItems(schema, value.toArray(), path);
    }

    QString checkItems(const QJsonObject& schema, const QJsonArray& list, const QString& path) const {
        for (qsizetype i = 0; i < list.size() && schema.contains("items"); ++i) {
            if (const QString found = check(schema["items"].toObject(), list[i], path + "[" + QString::number(i) + "]");
                !found.isEmpty())
                return found;
        }
        return {};
    }

    QString checkObject(const QJsonObject& schema, const QJsonObject& object, const QString& path) const {
        for (const QJsonValue& key : schema["required"].toArray()) {
            if (!object.contains(key.toString()))
                return path + ": " + key.toString() + " is missing";
        }
        if (!schema.contains("properties") && !schema.contains("additionalProperties"))
            return {};
        const QJsonObject properties = schema["properties"].toObject();
        const QJsonValue others = schema["additionalProperties"];
        for (auto member = object.begin(); member != object.end(); ++member) {
            const QString place = path + "." + member.key();
            const bool isKnown = properties.contains(member.key());
            if (!isKnown && (others.isBool() ? !others.toBool() : others.isUndefined() && closed))
                return place + ": unknown";
            const QJsonObject inner = isKnown ? properties[member.key()].toObject() : others.toObject();
            if (const QString found = check(inner, member.value(), place); !found.isEmpty())
                return found;
        }
        return {};
    }

    QJsonObject m_root;
};

/// A graph that uses every key.
GraphPtr everything() {
    GraphBuilder inner("inner", "test");
    inner.addOp(Op());
    inner.addUnattachedParameterBytes(4);
    GraphBuilder builder("every", "test");
    Op op;
    op.name = "a:0";
    op.type = "T";
    op.phase = Phase::Backward;
    op.flops = 1.5;
    op.bytesMoved = 2;
    op.paramBytes = 3;
    op.stateBytes = 4;
    op.workspaceBytes = 5;
    op.colocation = "c";
    op.allowedKinds = {"gpu"};
    op.costs = {{"gpu", 1.0}, {"cpu", 2.0}};
    op.tripCount = 6.0;
    op.device = "gpu:0";
    op.attributes = {{"k", "v"}};
    op.bodies = {{"body", std::move(inner).build().value()}};
    const OpId a = builder.addOp(op);
    builder.setScope(a, "s");
    Op other;
    other.costs = {{"", 3.0}};
    const OpId b = builder.addOp(other);
    Tensor tensor;
    tensor.bytes = 8;
    tensor.name = "t";
    tensor.dtype = "f32";
    tensor.shapeKnown = true;
    tensor.dims = {-1, 2};
    const TensorId t = builder.addOutput(a, tensor);
    builder.addInput(b, builder.addOutput(a), 2);
    builder.addCapture(b, t);
    builder.addControl(a, b);
    builder.addUnattachedParameterBytes(7);
    return std::move(builder).build().value();
}

DeviceSet twoGpus() {
    return DeviceSet::create("two",
                             {{"gpu:0", "gpu", "m", 10, 1.0, 2.0, 3.0}, {"gpu:1", "gpu", "m", 10, 1.0, 2.0, 3.0}},
                             {{DeviceId(0), DeviceId(1), 5.0, 6.0, "bus"}})
        .value();
}

formats::PlacementFile fullPlacement() {
    formats::PlacementFile file;
    file.graphName = "g";
    file.graphHash = "h";
    file.devices = {"gpu:0"};
    file.defaultDevice = "gpu:0";
    file.assignment = {{"a", "gpu:0"}};
    file.pinned = {"a"};
    file.method = "m";
    file.seed = 18446744073709551615ULL;
    return file;
}

QStringList sorted(std::span<const std::string_view> keys) {
    QStringList list;
    for (const std::string_view key : keys)
        list.append(QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size())));
    return list;
}

} // namespace

class TestSchema : public QObject {
    Q_OBJECT

    TempFolder m_folder;

private Q_SLOTS:
    void initTestCase() {
        for (const char* name : {"graph", "placement", "devices"}) {
            const QJsonObject schema = schemaOf(name);
            QVERIFY2(!schema.isEmpty(), name);
            QCOMPARE(schema["$schema"].toString(), QString("https://json-schema.org/draft/2020-12/schema"));
        }
    }

    /// Key by key, both ways: the lists are the ones that the reader looks keys up in.
    void graphKeys() {
        namespace keys = formats::graph_json;
        const QJsonObject defs = schemaOf("graph")["$defs"].toObject();
        const auto propertiesOf = [&](const QString& name) {
            return defs[name].toObject()["properties"].toObject().keys();
        };
        QCOMPARE(propertiesOf("graph"), sorted(keys::kGraphKeys));
        QCOMPARE(propertiesOf("op"), sorted(keys::kOpKeys));
        QCOMPARE(propertiesOf("output"), sorted(keys::kOutputKeys));
        QCOMPARE(propertiesOf("body"), sorted(keys::kBodyKeys));
        QCOMPARE(defs["input"].toObject()["oneOf"].toArray()[1].toObject()["properties"].toObject().keys(),
                 sorted(keys::kInputKeys));
    }

    void whatIsWrittenIsValid() {
        Validator graph(schemaOf("graph"));
        Validator placement(schemaOf("placement"));
        Validator devices(schemaOf("devices"));
        graph.closed = placement.closed = devices.closed = true;
        for (const GraphPtr& sample : {everything(), w1(), w2(), w3(), generated(100)})
            QCOMPARE(graph.complaint(json(formats::toGraphJson(*sample))), QString());
        QCOMPARE(placement.complaint(json(formats::toPlacementJson(fullPlacement()))), QString());
        QCOMPARE(devices.complaint(json(formats::toDevicesJson(twoGpus()))), QString());
    }

    void whatIsReadIsValid_data() {
        QTest::addColumn<QString>("op");
        QTest::addColumn<bool>("isValid");
        QTest::newRow("empty") << "{}" << true;
        QTest::newRow("references")
            << R"({"name": "x", "outputs": [{}], "inputs": ["x", "x:0", "^x", {"op": "x", "slot": 3}]})" << true;
        QTest::newRow("shape") << R"({"outputs": [{"shape": [1, null, "batch", -1], "dtype": "f32"}]})" << true;
        QTest::newRow("attributes") << R"({"attributes": {"a": 1, "b": [2]}})" << true;
        QTest::newRow("body") << R"({"bodies": [{"graph": {"ops": [{}]}}]})" << true;
        QTest::newRow("name") << R"({"name": 1})" << false;
        QTest::newRow("phase") << R"({"phase": "sideways"})" << false;
        QTest::newRow("negative") << R"({"param_bytes": -1})" << false;
        QTest::newRow("fraction") << R"({"bytes_moved": 1.5})" << false;
        QTest::newRow("cost") << R"({"cost_us": {"gpu": "fast"}})" << false;
        QTest::newRow("input") << R"({"inputs": [{"out": 1}]})" << false;
        QTest::newRow("slot") << R"({"name": "x", "inputs": [{"op": "x", "slot": 1000001}]})" << false;
        QTest::newRow("control") << R"({"name": "x", "inputs": [{"op": "x", "control": 1}]})" << false;
        QTest::newRow("bodies") << R"({"bodies": [{"name": "b"}]})" << false;
    }
    /// The reader and the schema agree.
    void whatIsReadIsValid() {
        QFETCH(QString, op);
        QFETCH(bool, isValid);
        const std::string text = R"({"format": "placewright-graph", "ops": [)" + op.toStdString() + "]}";
        const QString complaint = Validator(schemaOf("graph")).complaint(json(text));
        QVERIFY2(complaint.isEmpty() == isValid, qPrintable(complaint));
        const auto graph = formats::fromGraphJson(text);
        QVERIFY2(graph.has_value() == isValid, graph ? "" : graph.error().toString().c_str());
    }

    /// Every key of the schemas is known to its reader: with a value of a wrong type it complains about it.
    void readersKnowEveryKey() {
        const auto wrong = [](const QJsonObject& whole, const QStringList& path) {
            const std::function<QJsonValue(const QJsonValue&, qsizetype)> put = [&](const QJsonValue& at,
                                                                                    qsizetype depth) {
                if (depth == path.size())
                    return QJsonValue(at.isBool() ? QJsonValue("no") : QJsonValue(true));
                if (at.isArray()) {
                    QJsonArray list = at.toArray();
                    list[0] = put(list[0], depth);
                    return QJsonValue(list);
                }
                QJsonObject object = at.toObject();
                object[path[depth]] = put(object[path[depth]], depth + 1);
                return QJsonValue(object);
            };
            return QJsonDocument(put(whole, 0).toObject()).toJson().toStdString();
        };
        const QJsonObject devices = json(formats::toDevicesJson(twoGpus())).toObject();
        const QJsonObject placement = json(formats::toPlacementJson(fullPlacement())).toObject();
        const auto checkAll = [&](const QJsonObject& schema, const QJsonObject& whole, const QStringList& prefix,
                                  const auto& reads) {
            for (const QString& key : schema["properties"].toObject().keys()) {
                const std::string text = wrong(whole, prefix + QStringList{key});
                QVERIFY2(!reads(text), qPrintable(prefix.join('.') + "." + key));
            }
        };
        const auto readsDevices = [](const std::string& text) { return formats::fromDevicesJson(text).has_value(); };
        const auto readsPlacement = [this](const std::string& text) {
            return formats::loadPlacement(m_folder.write("p.json", text)).has_value();
        };
        QVERIFY(readsDevices(QJsonDocument(devices).toJson().toStdString()));
        const QJsonObject deviceSchema = schemaOf("devices");
        const QJsonObject deviceDefs = deviceSchema["$defs"].toObject();
        checkAll(deviceSchema, devices, {}, readsDevices);
        checkAll(deviceDefs["device"].toObject(), devices, {"devices"}, readsDevices);
        checkAll(deviceDefs["link"].toObject(), devices, {"links"}, readsDevices);
        const QJsonObject placementSchema = schemaOf("placement");
        checkAll(placementSchema, placement, {}, readsPlacement);
        for (const char* part : {"graph", "made_by"})
            checkAll(placementSchema["properties"].toObject()[part].toObject(), placement, {part}, readsPlacement);
    }
};

QTEST_APPLESS_MAIN(TestSchema)
#include "tst_schema.moc"
