#include "ui/manual_text.h"
#include "ui/settings/settings.h"
#include "ui/style.h"
#include "ui/words.h"

#include <QSet>
#include <QTemporaryDir>
#include <QtTest>

using namespace pw;
using namespace pw::ui;

class TstUiWordsSettings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyErrorCodeHasWords();
    void aMessageNamesFilePlaceAndReason();
    void figuresAreForPeople_data();
    void figuresAreForPeople();
    void pathsAreShortenedByWholeComponents();
    void allSettingsComeBack();
    void wrongStoredValuesGiveTheDefault();
    void recentFilesAreNewestFirstAndFew();
    void styleSheetLeavesNoToken();
    void manualPlacementsComeBack();
    void damagedManualTextIsRefused_data();
    void damagedManualTextIsRefused();
};

void TstUiWordsSettings::everyErrorCodeHasWords() {
    QSet<QString> titles;
    for (const ErrorCode code : allErrorCodes()) {
        const Message message = messageFor({code, {}, {}, {}});
        QVERIFY2(!message.title.isEmpty() && !message.sentence.isEmpty() && !message.nextStep.isEmpty(), errorCodeName(code));
        titles.insert(message.title);
    }
    QCOMPARE(titles.size(), 9);
    QCOMPARE(allErrorCodes().size(), 9U);
    QCOMPARE(allErrorCodes().back(), ErrorCode::Internal); // the last of the enum: a new one must be listed
}

void TstUiWordsSettings::aMessageNamesFilePlaceAndReason() {
    const Message message = messageFor({ErrorCode::Parse, "the text ends inside a string", "/some/where/net.json", "line 12"});
    QCOMPARE(message.sentence, QStringLiteral("net.json, line 12: the text ends inside a string."));
}

void TstUiWordsSettings::figuresAreForPeople_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    QTest::newRow("ms") << words::milliseconds(3333600) << QStringLiteral("3,333.6");
    QTest::newRow("minus") << words::signedFixed(-455.1, 1) << QStringLiteral("−455.1");
    QTest::newRow("plus") << words::signedFixed(10.06, 1) << QStringLiteral("+10.1");
    QTest::newRow("no minus zero") << words::signedFixed(-0.04, 1) << QStringLiteral("0.0");
    QTest::newRow("infinite") << words::milliseconds(std::numeric_limits<double>::infinity()) << QStringLiteral("–");
    QTest::newRow("bytes") << words::bytes(60.2e6) << QStringLiteral("60.2 MB");
    QTest::newRow("count") << words::count(2344) << QStringLiteral("2,344");
    QTest::newRow("duration") << words::duration(223) << QStringLiteral("3 min 43 s");
    QTest::newRow("method") << words::methodTitle(QStringLiteral("cross_entropy")) << QStringLiteral("Cross entropy");
    QTest::newRow("devices") << words::deviceSetTitle(*devicePreset("2xK80")) << QStringLiteral("2 × K80");
}

void TstUiWordsSettings::figuresAreForPeople() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    QCOMPARE(text, expected);
}

void TstUiWordsSettings::pathsAreShortenedByWholeComponents() {
    const QFontMetrics metrics{QFont()};
    const QString path = QStringLiteral("InceptionV3/Mixed_5c/Branch_1/Conv2d_0b_5x5/Relu");
    const QString shorter = QStringLiteral("…/Conv2d_0b_5x5/Relu");
    QCOMPARE(words::shortPath(path, metrics, metrics.horizontalAdvance(path)), path);
    QCOMPARE(words::shortPath(path, metrics, metrics.horizontalAdvance(shorter)), shorter);
    QCOMPARE(words::shortPath(path, metrics, metrics.horizontalAdvance(shorter) - 1), QStringLiteral("…/Relu"));
    const QString flat = QStringLiteral("a_name_without_any_component_at_all");
    QVERIFY(metrics.horizontalAdvance(words::shortPath(flat, metrics, 90)) <= 90);
}

void TstUiWordsSettings::allSettingsComeBack() {
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("s.ini"));
    const auto other = [](const SettingInfo& info) -> QVariant {
        if (!info.choices.isEmpty())
            return info.choices.last();
        switch (info.defaultValue.typeId()) {
        case QMetaType::Bool: return !info.defaultValue.toBool();
        case QMetaType::Int: return info.defaultValue.toInt() + 3;
        case QMetaType::QStringList: return QStringList{QStringLiteral("a, b"), QStringLiteral("c")};
        case QMetaType::QByteArray: return QByteArray("\0\1\2 x", 5);
        default: return QStringLiteral("text, with comma");
        }
    };
    {
        Settings settings(file);
        for (const SettingInfo& info : Settings::all()) {
            QCOMPARE(settings.value(info.id), info.defaultValue);
            settings.setValue(info.id, other(info));
        }
        settings.sync();
    }
    Settings again(file);
    QSet<QString> keys;
    for (const SettingInfo& info : Settings::all()) {
        QCOMPARE(again.value(info.id), other(info));
        keys.insert(QLatin1String(info.key));
    }
    QCOMPARE(keys.size(), qsizetype(Settings::all().size()));
    QVERIFY(again.unknownKeys().isEmpty());
    again.reset(SettingId::Theme);
    QCOMPARE(again.value(SettingId::Theme), Settings::info(SettingId::Theme).defaultValue);
}

void TstUiWordsSettings::wrongStoredValuesGiveTheDefault() {
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("s.ini"));
    QFile raw(file);
    QVERIFY(raw.open(QIODevice::WriteOnly));
    raw.write("[look]\ntheme=purple\n[window]\nlayout_version=many\n[old]\nkey=1\n");
    raw.close();
    Settings settings(file);
    QCOMPARE(settings.value(SettingId::Theme).toString(), QStringLiteral("system"));
    QCOMPARE(settings.value(SettingId::LayoutVersion).toInt(), 0);
    QCOMPARE(settings.unknownKeys(), QStringList{QStringLiteral("old/key")});
}

void TstUiWordsSettings::recentFilesAreNewestFirstAndFew() {
    QTemporaryDir folder;
    Settings settings(folder.filePath(QStringLiteral("s.ini")));
    for (int i = 0; i < 14; ++i)
        settings.addRecentFile(QString::number(i));
    settings.addRecentFile(QStringLiteral("9"));
    QCOMPARE(settings.recentFiles().size(), 10);
    QCOMPARE(settings.recentFiles().mid(0, 2), (QStringList{QStringLiteral("9"), QStringLiteral("13")}));
}

void TstUiWordsSettings::styleSheetLeavesNoToken() {
    for (const auto kind : {viz::Theme::Kind::Light, viz::Theme::Kind::Dark, viz::Theme::Kind::HighContrast})
        QVERIFY(!styleSheetFor(viz::Theme::of(kind)).contains(QLatin1Char('@')));
}

void TstUiWordsSettings::manualPlacementsComeBack() {
    ManualPlacement manual;
    manual.name = "METIS, edited";
    manual.ops = {DeviceId(0), DeviceId(0), DeviceId(3), DeviceId(0)};
    manual.pinned = {1, 3};
    const auto again = manualFromText(manualToText(manual), 4, 4);
    QVERIFY(again);
    QVERIFY(*again == manual);
}

void TstUiWordsSettings::damagedManualTextIsRefused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("too few ops") << QByteArray("n\n0*3\n");
    QTest::newRow("too many ops") << QByteArray("n\n0*5\n");
    QTest::newRow("absurd count") << QByteArray("n\n0*18446744073709551615\n");
    QTest::newRow("unknown device") << QByteArray("n\n2*4\n");
    QTest::newRow("no star") << QByteArray("n\n0 0 0 0\n");
    QTest::newRow("pin outside") << QByteArray("n\n0*4\n4");
    QTest::newRow("pins not ascending") << QByteArray("n\n0*4\n2 1");
}

void TstUiWordsSettings::damagedManualTextIsRefused() {
    QFETCH(QByteArray, text);
    QVERIFY(!manualFromText(text.toStdString(), 4, 2));
}

QTEST_MAIN(TstUiWordsSettings)
#include "tst_ui_words_settings.moc"
