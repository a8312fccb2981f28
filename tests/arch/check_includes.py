#!/usr/bin/env python3
"""Reads every source file and fails on what the architecture forbids.

    check_includes.py [--root DIR]      prints "file:line: rule: what" per finding, exit code 1 if there is any

The arrows between layers come from the PW_MAY_ lines of resources/cmake/PwLibrary.cmake, so that there is one truth.
test_check_includes.py shows every rule a violation that it must report.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

TOP_FOLDERS = ("app", "core", "storage", "ui", "viz", "tests")
HEADER_ENDINGS = (".h", ".hpp")
SOURCE_ENDINGS = HEADER_ENDINGS + (".cpp", ".cc")

# Headers of core/learn that are plain C++; the rest of that folder needs LibTorch and stays behind them.
DOOR_HEADERS = {
    "core/learn/learn.h": ("experiment", "ui", "app"),
    "core/learn/learn_loader.h": ("experiment", "app"),
}

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<raw>R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<char>(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)
INCLUDE = re.compile(r"""^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]""", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    what: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.what}"


def layer_of(path):
    """Layer of a file by its path from the root; "tests" may see everything that it tests."""
    parts = path.split("/")
    return parts[1] if parts[0] == "core" and len(parts) > 2 else parts[0]


def under(path, *folders):
    return any(path.startswith(folder + "/") for folder in folders)


def blank(text):
    """Same length and lines, nothing in it."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    return TOKEN.sub(lambda m: blank(m.group()) if m.lastgroup == "comment" or m.group("comment") else m.group(), text)


def code_only(text):
    """Comments and texts blanked, so that words in them are not taken for code."""
    return TOKEN.sub(lambda m: blank(m.group()), text)


# --- rules over one #include: (path, target, quoted) -> what is wrong, or None ---------------------------------------


def qt_in_core(path, target, quoted):
    if under(path, "core", "storage") and not quoted and re.match(r"Q[A-Z]|Qt[A-Z]?", target):
        return f"<{target}>: core and storage know no Qt"


def torch_outside_learn(path, target, quoted):
    if re.match(r"(torch|ATen|c10)/", target) and not under(path, "core/learn", "tests/learn"):
        return f"<{target}>: LibTorch stays in core/learn and its tests"


def sqlite_outside_storage(path, target, quoted):
    if target == "sqlite3.h" and not under(path, "storage"):
        return "sqlite3.h stays in storage"


def plot_outside_plots(path, target, quoted):
    if target.endswith("qcustomplot.h") and not under(path, "viz/plots"):
        return "qcustomplot.h stays in viz/plots"


def graphviz_elsewhere(path, target, quoted):
    if re.match(r"graphviz/|(cgraph|gvc)\.h$", target) and not under(path, "core/formats", "viz/graph"):
        return f"<{target}>: Graphviz stays in core/formats and viz/graph"


def umbrella_header(path, target, quoted):
    if re.match(r"(QtWidgets|QtCore|QtGui)(/\1)?$", target):
        return f"<{target}>: include the classes that are used"


INCLUDE_RULES = {
    "qt-in-core": qt_in_core,
    "torch-outside-learn": torch_outside_learn,
    "sqlite-outside-storage": sqlite_outside_storage,
    "qcustomplot-outside-plots": plot_outside_plots,
    "graphviz-outside": graphviz_elsewhere,
    "umbrella-header": umbrella_header,
}

# --- rules over code: pattern, where it holds, why --------------------------------------------------------------------

CODE_RULES = {
    "process-events": (r"\bprocessEvents\b", lambda p: True, "the event loop is not a thread"),
    "blocking-connection": (r"\bBlockingQueuedConnection\b", lambda p: True, "no thread waits for the GUI"),
    "sleep-in-tests": (
        r"\bqWait\s*\(|\bqSleep\s*\(|\bQThread::(sleep|msleep|usleep)\b|\bsleep_(for|until)\b|\b(u|nano)?sleep\s*\(",
        lambda p: under(p, "tests"),
        "wait for a condition (QTRY_VERIFY, QSignalSpy::wait, condition variables)",
    ),
    "using-namespace-in-header": (
        r"\busing\s+namespace\b",
        lambda p: p.endswith(HEADER_ENDINGS),
        "it would reach whoever includes the header",
    ),
    "settings-elsewhere": (
        r"\bQSettings\b",
        lambda p: not under(p, "ui/settings", "tests"),
        "settings are declared in ui/settings",
    ),
}


def read_arrows(root):
    """layer -> layers that it may include, from the CMake table."""
    text = (root / "resources/cmake/PwLibrary.cmake").read_text(encoding="utf-8")
    arrows = {}
    for layer, may in re.findall(r"^set\(PW_MAY_(\w+)\s+([^)]*)\)", text, re.MULTILINE):
        arrows[layer] = set(may.replace('"', "").split())
    if not arrows:
        raise SystemExit("no PW_MAY_ line in resources/cmake/PwLibrary.cmake")
    return arrows


def check_arrow(path, target, arrows):
    if target.split("/")[0] not in TOP_FOLDERS:
        return None
    source, goal = layer_of(path), layer_of(target)
    if source == "tests" or goal == source:
        return None
    if goal == "learn":
        if target not in DOOR_HEADERS:
            return f"{target}: only {', '.join(DOOR_HEADERS)} may be seen outside core/learn"
        if source not in DOOR_HEADERS[target]:
            return f"{source} must not include {target}"
        return None
    if source not in arrows:
        return f"layer {source} has no PW_MAY_ line"
    if goal not in arrows[source]:
        return f"{source} must not include {goal} ({target})"
    return None


def check_file(path, text, arrows):
    def line_of(offset):
        return text.count("\n", 0, offset) + 1

    findings = []
    for match in INCLUDE.finditer(without_comments(text)):
        quoted, target = match.group(1) == '"', match.group(2)
        line = line_of(match.start(1))
        what = check_arrow(path, target, arrows)
        if what:
            findings.append(Finding(path, line, "arrow", what))
        for rule, check in INCLUDE_RULES.items():
            what = check(path, target, quoted)
            if what:
                findings.append(Finding(path, line, rule, what))
    code = code_only(text)
    for rule, (pattern, applies, why) in CODE_RULES.items():
        if not applies(path):
            continue
        for match in re.finditer(pattern, code):
            findings.append(Finding(path, line_of(match.start()), rule, f"{match.group().strip()}: {why}"))
    return findings


def check_readmes(root, files):
    """Every folder of code says what it is for; tests share the one at their top, a src folder its parent's."""
    folders = {
        "tests" if under(path, "tests") else path.rsplit("/", 1)[0].removesuffix("/src") for path in files
    }
    return [
        Finding(folder, 1, "folder-readme", "no README.md here")
        for folder in sorted(folders)
        if not (root / folder / "README.md").is_file()
    ]


def check_architecture_page(root, arrows):
    """The table on ARCHITECTURE.md says the same as the CMake table (where it has a row)."""
    page = root / "ARCHITECTURE.md"
    if not page.is_file():
        return []
    findings, seen = [], set()
    in_table = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"\|\s*layer\s*\|\s*may use\s*\|", line):
            in_table = True
            continue
        row = re.match(r"\|\s*(\w+)\s*\|\s*([\w\s-]*?)\s*\|$", line) if in_table else None
        if not row:
            in_table = in_table and line.startswith("| ---")
            continue
        layer, may = row.group(1), set(row.group(2).replace("-", " ").split())
        seen.add(layer)
        if layer not in arrows or may != arrows[layer]:
            findings.append(Finding("ARCHITECTURE.md", number, "architecture-table",
                                    f"row {layer} differs from PwLibrary.cmake"))
    for layer in sorted(set(arrows) - seen - {"app"}):
        findings.append(Finding("ARCHITECTURE.md", 1, "architecture-table", f"no row for {layer}"))
    return findings


RULES = ("arrow", *INCLUDE_RULES, *CODE_RULES, "folder-readme", "architecture-table")


def source_files(root):
    for top in TOP_FOLDERS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCE_ENDINGS and path.is_file():
                yield path.relative_to(root).as_posix()


def check_tree(root):
    root = pathlib.Path(root)
    arrows = read_arrows(root)
    files = list(source_files(root))
    findings = []
    for path in files:
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        findings += check_file(path, text, arrows)
    findings += check_readmes(root, files)
    findings += check_architecture_page(root, arrows)
    return files, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    files, findings = check_tree(parser.parse_args().root)
    for finding in findings:
        print(finding)
    print(f"{len(files)} files, {len(findings)} findings")
    if not files:
        print("nothing was checked: wrong --root?")
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main())
