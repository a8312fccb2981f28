#!/usr/bin/env python3
"""Self-test of check_includes.py: a clean tree passes, and one violation per rule is reported where it is.

A rule without a fixture here fails the test: a gate that cannot fail is not a gate.
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

import check_includes

ROOT = pathlib.Path(__file__).resolve().parents[2]

CLEAN = {
    "core/base/README.md": "base",
    "core/base/text.h": "#pragma once\n#include <string>\n// a comment may say processEvents and using namespace std\n",
    "core/sim/README.md": "sim",
    "core/sim/sim.h": '#pragma once\n#include "core/base/text.h"\n#include "core/graph/graph.h"\n',
    "core/experiment/README.md": "experiment",
    "core/experiment/driver.cpp": '#include "core/learn/learn.h"\n#include "core/formats/formats.h"\n',
    "core/learn/README.md": "learn",
    "core/learn/net.cpp": "#include <torch/torch.h>\n",
    "storage/README.md": "storage",
    "storage/file.cpp": '#include <sqlite3.h>\n#include "core/experiment/driver.h"\n',
    "viz/plots/README.md": "plots",
    "viz/plots/plot.cpp": "#include <qcustomplot.h>\n#include <QWidget>\n",
    "viz/plots/src/inner.cpp": "int x;\n",
    "ui/settings/README.md": "settings",
    "ui/settings/store.cpp": '#include <QSettings>\n#include "core/learn/learn.h"\nQSettings settings;\n',
    "app/README.md": "app",
    "app/main.cpp": '#include "ui/window.h"\n#include "storage/project_file.h"\n#include "core/learn/learn_loader.h"\n'
                    "using namespace pw;\n",
    "tests/README.md": "tests",
    "tests/sim/tst_sim.cpp": '#include "core/sim/sim.h"\nconst char* t = "qWait(100)"; char c = \'"\'; // sleep_for(1)\n',
}

# rule, file, content, line: each is the clean tree with one thing wrong.
VIOLATIONS = [
    ("arrow", "core/graph/graph.cpp", '#include "core/sim/sim.h"\n', 1),
    ("arrow", "core/sim/again.cpp", '\n/* two\nlines */\n  #  include "core/place/placer.h"\n', 4),
    ("arrow", "viz/graph/view.cpp", '#include "storage/project_file.h"\n', 1),
    ("arrow", "ui/window.cpp", '#include "storage/project_file.h"\n', 1),
    ("arrow", "ui/window.cpp", '#include "core/learn/learn_loader.h"\n', 1),
    ("arrow", "core/place/placer.cpp", '#include "core/learn/learn.h"\n', 1),
    ("arrow", "app/cli/train.cpp", '#include "core/learn/net.h"\n', 1),
    ("arrow", "core/sim/sim.cpp", '#include "tests/support/graph_dsl.h"\n', 1),
    ("qt-in-core", "core/sim/sim.cpp", "#include <QString>\n", 1),
    ("qt-in-core", "storage/file2.cpp", "#include <QtSql/QSqlDatabase>\n", 1),
    ("torch-outside-learn", "app/main2.cpp", "#include <torch/script.h>\n", 1),
    ("torch-outside-learn", "core/place/placer.cpp", "#include <ATen/ATen.h>\n", 1),
    ("torch-outside-learn", "viz/plots/a.cpp", "#include <c10/util/Optional.h>\n", 1),
    ("sqlite-outside-storage", "tests/storage/tst_a.cpp", "#include <sqlite3.h>\n", 1),
    ("qcustomplot-outside-plots", "ui/window.cpp", '#include "qcustomplot.h"\n', 1),
    ("graphviz-outside", "core/graph/graph.cpp", "#include <graphviz/cgraph.h>\n", 1),
    ("graphviz-outside", "ui/window.cpp", "#include <gvc.h>\n", 1),
    ("umbrella-header", "ui/window.cpp", "#include <QWidget>\n#include <QtWidgets>\n", 2),
    ("process-events", "ui/window.cpp", "void f() {\n    QCoreApplication::processEvents();\n}\n", 2),
    ("blocking-connection", "ui/window.cpp", "auto c = Qt::BlockingQueuedConnection;\n", 1),
    ("sleep-in-tests", "tests/ui/tst_a.cpp", 'f("//");\nQTest::qWait(100);\n', 2),
    ("sleep-in-tests", "tests/ui/tst_a.cpp", "QThread::msleep(1);\n", 1),
    ("sleep-in-tests", "tests/ui/tst_a.cpp", "std::this_thread::sleep_for(1ms);\n", 1),
    ("using-namespace-in-header", "core/base/names.h", "#pragma once\nusing namespace std;\n", 2),
    ("settings-elsewhere", "ui/window.cpp", "QSettings settings;\n", 1),
    ("folder-readme", "core/zoo/zoo.cpp", "int x;\n", 1),
    ("architecture-table", "ARCHITECTURE.md", "| layer | may use |\n| --- | --- |\n| base | sim |\n", 3),
    ("architecture-table", "ARCHITECTURE.md", "| layer | may use |\n| --- | --- |\n| base | - |\n", 1),
]


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pw-arch-"))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "resources/cmake").mkdir(parents=True)
        shutil.copy(ROOT / "resources/cmake/PwLibrary.cmake", self.root / "resources/cmake")
        for path, content in CLEAN.items():
            self.write(path, content)

    def write(self, path, content):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def test_clean_tree_passes(self):
        files, findings = check_includes.check_tree(self.root)
        self.assertEqual([], findings)
        self.assertEqual(sum(not path.endswith(".md") for path in CLEAN), len(files))

    def test_every_violation_is_reported(self):
        for rule, path, content, line in VIOLATIONS:
            with self.subTest(rule=rule, path=path, content=content):
                folder = path.rsplit("/", 1)[0]
                if "/" in path and rule != "folder-readme" and not path.startswith("tests/"):
                    self.write(folder + "/README.md", "there")
                self.write(path, content)
                _, findings = check_includes.check_tree(self.root)
                where = folder if rule == "folder-readme" else path
                self.assertIn((rule, where, line), [(f.rule, f.path, f.line) for f in findings])
                self.assertEqual({rule}, {f.rule for f in findings})
                (self.root / path).unlink()

    def test_every_rule_has_a_violation(self):
        self.assertEqual(set(check_includes.RULES), {violation[0] for violation in VIOLATIONS})


if __name__ == "__main__":
    sys.exit(unittest.main())
