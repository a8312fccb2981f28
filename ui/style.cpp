#include "ui/style.h"

#include "viz/theme/icon.h"

#include <QApplication>
#include <QFont>
#include <QPalette>
#include <QImage>
#include <QPainter>
#include <QStyleFactory>
#include <QTemporaryDir>

#include <map>

namespace pw::ui {

namespace {

bool g_desktopIsDark = false;

const char* const kSheet = R"(
QWidget { font-size: 12px; }
QToolTip { background: @panel; color: @text; border: 1px solid @control; padding: 4px; }
QMainWindow, QDialog { background: @chrome; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @accent; }
QMenuBar { background: @chrome; padding: 0 8px; }
QMenuBar::item { padding: 4px 8px; background: transparent; border-radius: 3px; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @panel; border: 1px solid @control; padding: 4px 0; }
QMenu::item { padding: 5px 24px 5px 12px; }
QMenu::item:selected { background: @accentbg; color: @text; }
QMenu::item:disabled { color: @muted; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: @line; margin: 4px 0; }
QToolBar { background: @chrome; border: none; border-bottom: 1px solid @line; spacing: 2px; padding: 3px 8px; }
QToolBar::separator { background: @line; width: 1px; margin: 4px 6px; }
QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 3px 7px; background: transparent; color: @text; }
QToolButton:hover { background: @hover; }
QToolButton:pressed { background: @track; }
QToolButton:focus { border-color: @accent; }
QToolButton:disabled { color: @muted; }
QToolButton:checked { background: @accentbg; }
QToolButton[popupMode="2"] { padding-right: 18px; }
QToolButton::menu-indicator { subcontrol-position: right center; subcontrol-origin: padding; right: 4px; }
QToolButton[segment="true"] { border: 1px solid @control; border-radius: 0; padding: 3px 12px; background: @panel; }
QToolButton[segment="true"]:hover { background: @hover; }
QToolButton[segment="true"]:checked { background: @accent; color: @onaccent; border-color: @accent; font-weight: bold; }
QToolButton[framed="true"] { border: 1px solid @control; background: @panel; padding: 3px 8px; }
QToolButton[framed="true"]:hover { background: @hover; }
QToolButton[small="true"] { padding: 2px; }
QToolButton[framed="true"][small="true"] { padding: 2px; }
QPushButton { border: 1px solid @control; border-radius: 4px; background: @panel; color: @text; padding: 0 12px; min-height: 24px; }
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @track; }
QPushButton:focus { border: 1px solid @accent; }
QPushButton:disabled { color: @muted; border-color: @line; background: @chrome; }
QPushButton[primary="true"] { background: @accent; color: @onaccent; border-color: @accent; font-weight: bold; }
QPushButton[primary="true"]:hover { background: @accenthover; }
QPushButton[primary="true"]:disabled { background: @track; color: @muted; border-color: @line; }
QPushButton[small="true"] { min-height: 20px; padding: 0 8px; }
QPushButton[link="true"] { border: none; background: transparent; color: @accent; padding: 0; text-align: left; min-height: 18px; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox { border: 1px solid @control; border-radius: 4px; background: @panel; color: @text;
  padding: 0 6px; min-height: 24px; selection-background-color: @accent; selection-color: @onaccent; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus { border-color: @accent; }
QLineEdit:disabled, QComboBox:disabled, QSpinBox:disabled { color: @muted; background: @chrome; }
QLineEdit[small="true"], QComboBox[small="true"], QDoubleSpinBox[small="true"] { min-height: 20px; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(@arrowdown); width: 12px; height: 12px; }
QSpinBox::up-button, QSpinBox::down-button { border: none; background: transparent; width: 18px; }
QSpinBox::up-arrow { image: url(@arrowup); width: 10px; height: 10px; }
QSpinBox::down-arrow { image: url(@arrowdown); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @control; selection-background-color: @accentbg; selection-color: @text; outline: 0; }
QPlainTextEdit, QTextEdit { border: 1px solid @control; border-radius: 4px; background: @panel; selection-background-color: @accent; selection-color: @onaccent; }
QTreeView, QTableView, QListView { background: @panel; border: none; outline: 0; selection-background-color: @accentbg;
  selection-color: @text; alternate-background-color: @lane; gridline-color: @line; }
QTreeView::item { height: 22px; border: none; }
QTreeView::item:hover, QTableView::item:hover, QListView::item:hover { background: @hover; }
QTreeView::item:selected, QTableView::item:selected, QListView::item:selected { background: @accentbg; color: @text; }
QTableView::item { padding: 0 6px; border: none; }
QHeaderView { background: @panel; border: none; }
QHeaderView::section { background: @panel; color: @muted; border: none; border-bottom: 1px solid @line; padding: 3px 6px; font-size: 11px; font-weight: normal; }
QHeaderView::section:hover { background: @hover; }
QTableCornerButton::section { background: @panel; border: none; }
QTabBar { background: @header; }
QTabBar::tab { background: transparent; color: @text2; padding: 0 12px; height: 27px; border: none; border-top: 2px solid transparent; }
QTabBar::tab:selected { background: @panel; color: @text; border-top: 2px solid @accent; }
QTabBar::tab:hover:!selected { background: @hover; }
QScrollArea { border: none; background: transparent; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @control; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { border: 1px solid @control; border-radius: 0; background: @track; max-height: 8px; min-height: 8px; text-align: center; }
QProgressBar::chunk { background: @accent; }
QSlider::groove:horizontal { height: 2px; background: @control; }
QSlider::sub-page:horizontal { background: @accent; height: 2px; }
QSlider::handle:horizontal { background: @panel; border: 1px solid @control; width: 10px; height: 12px; margin: -6px 0; border-radius: 3px; }
QSlider::handle:horizontal:focus { border-color: @accent; }
QStatusBar { background: @chrome; border-top: 1px solid @line; min-height: 24px; }
QStatusBar::item { border: none; }
QSplitter::handle { background: @line; }
QGroupBox { border: none; font-weight: bold; margin-top: 20px; }
QGroupBox::title { subcontrol-origin: margin; left: 0; }
QCheckBox, QRadioButton { spacing: 6px; }
QCheckBox::indicator, QTableView::indicator, QListView::indicator { width: 13px; height: 13px; border: 1px solid @control; border-radius: 3px; background: @panel; }
QCheckBox::indicator:checked, QTableView::indicator:checked, QListView::indicator:checked { background: @accent; border-color: @accent; image: url(@check); }
QCheckBox::indicator:focus { border-color: @accent; }
QCheckBox::indicator:disabled { border-color: @line; }
QLabel[role="muted"] { color: @muted; font-size: 11px; }
QLabel[role="secondary"] { color: @text2; }
QLabel[role="title"] { font-size: 13px; font-weight: bold; }
QLabel[role="page"] { font-size: 21px; font-weight: bold; }
QLabel[role="warning"] { color: @warning; }
QLabel[role="danger"] { color: @danger; }
QFrame[role="card"] { background: @panel; border: 1px solid @control; border-radius: 6px; }
QFrame[role="line"] { background: @line; border: none; }
QWidget[surface="panel"] { background: @panel; }
QWidget[surface="canvas"] { background: @canvas; }
QWidget[surface="chrome"] { background: @chrome; }
QWidget[surface="header"] { background: @header; }
)";

struct SheetImages {
    QString arrowDown;
    QString arrowUp;
    QString check;
};

/// A style sheet takes pictures from files only. Drawn from the icons once per theme, into a folder that goes with the
/// program.
const SheetImages& sheetImages(const viz::Theme& theme) {
    static QTemporaryDir folder;
    static std::map<viz::Theme::Kind, SheetImages> made;
    const auto found = made.find(theme.kind);
    if (found != made.end())
        return found->second;
    const auto draw = [&](const QString& glyph, const QColor& color, int turns) {
        const QString file = folder.filePath(QStringLiteral("%1-%2-%3").arg(glyph, color.name().mid(1)).arg(turns));
        for (const int ratio : {1, 2}) {
            QImage image(16 * ratio, 16 * ratio, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::transparent);
            QPainter painter(&image);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.translate(8 * ratio, 8 * ratio);
            painter.rotate(90.0 * turns);
            viz::paintIcon(painter, QRectF(-8 * ratio, -8 * ratio, 16 * ratio, 16 * ratio), glyph, color);
            painter.end();
            image.save(file + (ratio == 1 ? QStringLiteral(".png") : QStringLiteral("@2x.png")));
        }
        return file + QStringLiteral(".png");
    };
    SheetImages images;
    images.arrowDown = draw(QStringLiteral("open-scope"), theme.text2, 0);
    images.arrowUp = draw(QStringLiteral("open-scope"), theme.text2, 2);
    images.check = draw(QStringLiteral("valid"), theme.onAccent, 0);
    return made[theme.kind] = images;
}

} // namespace

QString styleSheetFor(const viz::Theme& theme) {
    QString sheet = QString::fromLatin1(kSheet);
    const QColor accentHover = theme.isDark() ? theme.accent.lighter(112) : theme.accent.darker(112);
    // why in this order: a longer name must be replaced before one that it begins with
    const std::pair<const char*, QColor> tokens[] = {
        {"@accenthover", accentHover}, {"@accentbg", theme.accentBg}, {"@accent", theme.accent},
        {"@onaccent", theme.onAccent}, {"@chrome", theme.chrome},     {"@panel", theme.panel},
        {"@canvas", theme.canvas},     {"@control", theme.control},   {"@header", theme.header},
        {"@hover", theme.hover},       {"@lane", theme.lane},         {"@track", theme.track},
        {"@line", theme.line},         {"@text2", theme.text2},       {"@text", theme.text},
        {"@muted", theme.muted},       {"@danger", theme.danger},     {"@warning", theme.warning},
    };
    const SheetImages& images = sheetImages(theme);
    sheet.replace(QLatin1String("@arrowdown"), images.arrowDown);
    sheet.replace(QLatin1String("@arrowup"), images.arrowUp);
    sheet.replace(QLatin1String("@check"), images.check);
    for (const auto& [name, color] : tokens)
        sheet.replace(QLatin1String(name), color.name());
    return sheet;
}

void rememberDesktopPalette() {
    g_desktopIsDark = QApplication::palette().color(QPalette::Window).lightness() < 128;
}

viz::Theme::Kind themeKindFor(const QString& setting) {
    if (setting == QLatin1String("light"))
        return viz::Theme::Kind::Light;
    if (setting == QLatin1String("dark"))
        return viz::Theme::Kind::Dark;
    if (setting == QLatin1String("contrast"))
        return viz::Theme::Kind::HighContrast;
    return g_desktopIsDark ? viz::Theme::Kind::Dark : viz::Theme::Kind::Light;
}

void applyStyle(QApplication& app, const viz::Theme& theme) {
    app.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    app.setPalette(theme.palette());
    QFont font = QApplication::font();
    font.setPixelSize(12);
    app.setFont(font);
    app.setStyleSheet(styleSheetFor(theme));
}

} // namespace pw::ui
